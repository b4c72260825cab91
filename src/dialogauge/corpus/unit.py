"""What turns may depend on each other: those of one dialogue where it is known, else those with one context."""

from __future__ import annotations

from hashlib import blake2b

from dialogauge.corpus.turn import Turn


def unit_of(turn: Turn) -> tuple[str, str]:
    """Turns that may depend on each other have the same unit. A turn without a context stands for itself,
    together with the turns of other systems that have its id."""
    if turn.dialogue is not None:
        return "dialogue", turn.dialogue
    if turn.context:
        return "context", "\0".join(turn.context)
    return "id", turn.id


def unit_key(turn: Turn, prefix: str = "") -> int:
    """64 bits of a hash of the turn's unit: the same for every system, run and process."""
    kind, text = unit_of(turn)
    digest = blake2b(f"{prefix}{kind}\0{text}".encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


def message_key(turn: Turn) -> int:
    """What the turn answers, by which units of two systems are known to be the same: 63 bits of a hash of the last
    utterance of its context, else of its references; 0 where it has neither. The lowest bit is set where the turn has
    no name, and its unit is not its context: a position in a file says nothing about other files."""
    told = turn.context[-1:] or turn.references
    text = "\0".join(("message" if turn.context else "references", *told))
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    content = int.from_bytes(digest, "little") & ~1 if told else 0
    return content | (turn.numbered and unit_of(turn)[0] != "context")


REAL = "real\0"
"""The prefix of real conversations: a dialogue of theirs is never one of the corpus, though both may be called 1."""
