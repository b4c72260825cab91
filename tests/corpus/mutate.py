"""Byte mutations, for fuzzing readers."""

from __future__ import annotations

from random import Random

# Bytes that mean something to one format or another.
_TELLING = b'{}[]":,\\\n\r\t\0 \xff\xc3\xef\xbb\xbf0129-eE.nNuU_/'


def mutate(content: bytes, random: Random, most: int = 8) -> bytes:
    """The content with one to `most` bytes or stretches changed, lost, inserted or doubled."""
    data = bytearray(content)
    for _ in range(random.randint(1, most)):
        start = random.randrange(len(data) + 1)
        end = min(len(data), start + random.choice([0, 1, 1, 2, 8, 40]))
        stretch = bytes(data[start:end])
        match random.randrange(5):
            case 0:
                data[start:end] = bytes(random.choice(_TELLING) for _ in stretch)
            case 1:
                data[start:end] = random.randbytes(len(stretch))
            case 2:
                del data[start:end]
            case 3:
                data[start:start] = bytes([random.choice(_TELLING)]) * random.choice([1, 1, 2, 1000])
            case 4:
                place = random.randrange(len(data) + 1)
                data[place:place] = stretch
    if random.random() < 0.1:
        del data[random.randrange(len(data) + 1) :]
    return bytes(data)


def enlarge(content: bytes, random: Random, size: int = 2_000_000) -> bytes:
    """The content with one short stretch repeated up to this size: a word of a text, an utterance, a column or a
    line."""
    start = random.randrange(len(content))
    stretch = content[start : start + random.choice([1, 2, 4, 10, 40])]
    return content[:start] + stretch * (size // len(stretch)) + content[start:]
