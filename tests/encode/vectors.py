"""Files of word vectors for tests, in every form that is read."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

THREE = "hello 1 0\nworld 0 2\n. 0.5 0.5\n"
"""A GloVe file of three words."""

Entries = Sequence[tuple[bytes, Sequence[float]]]


def glove(entries: Entries) -> bytes:
    return b"".join(word + b" " + b" ".join(b"%r" % float(v) for v in values) + b"\n" for word, values in entries)


def word2vec_text(entries: Entries) -> bytes:
    return b"%d %d\n" % (len(entries), len(entries[0][1])) + glove(entries)


def word2vec_binary(entries: Entries) -> bytes:
    """As gensim writes it: no line feed after the values."""
    rows = [word + b" " + np.array(values, "<f4").tobytes() for word, values in entries]
    return b"%d %d\n" % (len(entries), len(entries[0][1])) + b"".join(rows)


def word2vec_tool(entries: Entries) -> bytes:
    """As the original tool writes it: a line feed after each row."""
    rows = [word + b" " + np.array(values, "<f4").tobytes() + b"\n" for word, values in entries]
    return b"%d %d\n" % (len(entries), len(entries[0][1])) + b"".join(rows)


WRITERS: dict[str, Callable[[Entries], bytes]] = {
    "glove": glove,
    "word2vec-text": word2vec_text,
    "word2vec-binary": word2vec_binary,
    "word2vec-tool": word2vec_tool,
    "glove.gz": lambda entries: gzip.compress(glove(entries)),
    "word2vec-text.gz": lambda entries: gzip.compress(word2vec_text(entries)),
    "word2vec-binary.gz": lambda entries: gzip.compress(word2vec_binary(entries)),
}


def write_glove(path: Path, count: int, dim: int) -> Path:
    """Words w0, w1, … with values of a few digits; the same bytes each time."""
    generator = np.random.default_rng(0)
    tails = [" ".join(f"{value:.2f}" for value in generator.normal(size=dim)) for _ in range(97)]
    with path.open("w") as out:
        out.writelines(f"w{number} {tails[number % 97]}\n" for number in range(count))
    return path
