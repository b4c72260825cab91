"""Word vectors on disk in a form that opens at once: arrays mapped into memory, words found by their hash."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dialogauge.encode.base import Vectors
from dialogauge.encode.vector_files import blocks
from dialogauge.encode.vector_layout import layout_of
from dialogauge.progress import progress_bar

SCHEMA = "dialogauge.vectors/1"
ABOUT, VECTORS, WORDS, ROWS = "about.json", "vectors.npy", "words.npy", "rows.npy"


@dataclass(frozen=True, slots=True)
class WordVectorStore:
    """Converted word vectors. Row `rows[i]` of the vectors is that of the word whose hash is `words[i]`; the
    hashes are sorted. Rows of words that came twice are there but nothing points at them."""

    vectors: Vectors
    words: NDArray[np.uint64]
    rows: NDArray[np.int32]
    about: dict[str, Any]

    def find(self, words: Sequence[str]) -> NDArray[np.int32]:
        """The row of each word, -1 where there is none. That a word which is not there is taken for another has
        a chance of 1 in 9 trillion with two million words."""
        wanted = hashes(words)
        places = np.minimum(np.searchsorted(self.words, wanted), len(self.words) - 1)
        return np.where(self.words[places] == wanted, self.rows[places], np.int32(-1))


def hashes(words: Sequence[str], salt: bytes = b"") -> NDArray[np.uint64]:
    digests = (blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8, salt=salt).digest() for word in words)
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64, copy=False)


def load_store(folder: Path, sha256: str) -> WordVectorStore | None:
    """The vectors converted from the file with that hash; None where they are absent, damaged or of another
    version."""
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        vectors, words, rows = (
            # Indexing a plain array is faster than indexing a memmap, and reads the file just the same.
            np.asarray(np.load(folder / name, mmap_mode="r", allow_pickle=False))
            for name in (VECTORS, WORDS, ROWS)
        )
    except (OSError, ValueError, EOFError):
        return None
    if not isinstance(about, dict) or (about.get("schema"), about.get("sha256")) != (SCHEMA, sha256):
        return None
    count = about.get("count")
    shapes = {"vectors": (about.get("rows"), about.get("dim")), "words": (count,), "rows": (count,)}
    fits = {"vectors": vectors.shape, "words": words.shape, "rows": rows.shape} == shapes
    typed = [array.dtype for array in (vectors, words, rows)] == [np.float32, np.uint64, np.int32]
    return WordVectorStore(vectors, words, rows, about) if fits and typed and count else None


def convert(source: Path, sha256: str, folder: Path, progress: bool) -> None:
    """Writes the store of a file of word vectors into an empty folder. Beside one block of vectors only two hashes
    a word are held in memory: the second tells a word that came twice from two words with the same hash. Of
    either kind the first counts."""
    layout = layout_of(source)
    keys, checks = [], []
    with (
        (folder / VECTORS).open("wb") as out,
        progress_bar(None, f"converting {source.name}", total=layout.count, shown=progress, unit="word") as bar,
    ):
        _write_header(out, 0, layout.dim)
        for words, values in blocks(source, layout):
            out.write(np.ascontiguousarray(values, "<f4").data)
            keys.append(hashes(words))
            checks.append(hashes(words, b"check"))
            bar.update(len(words))
        rows = sum(map(len, keys))
        _write_header(out, rows, layout.dim)
    repeats = _write_words(np.concatenate(keys), np.concatenate(checks), folder)
    about = {
        "schema": SCHEMA,
        "source": source.name,
        "sha256": sha256,
        "size": source.stat().st_size,
        "format": layout.format,
        "dim": layout.dim,
        "rows": rows,
        "count": rows - sum(repeats.values()),
        **repeats,
    }
    (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    for file in folder.iterdir():
        with file.open("rb") as written:
            os.fsync(written.fileno())


def _write_header(out: BinaryIO, rows: int, dim: int) -> None:
    """At the start of the file. NumPy leaves room in it for any number of rows, so that it can be written first
    with none and again when their number is known."""
    out.seek(0)
    np.lib.format.write_array_header_1_0(out, {"descr": "<f4", "fortran_order": False, "shape": (rows, dim)})


def _write_words(keys: NDArray[np.uint64], checks: NDArray[np.uint64], folder: Path) -> dict[str, int]:
    """Writes the hashes and the rows, and says how many rows are left out and why."""
    order = np.argsort(keys, kind="stable")
    keys, checks = keys[order], checks[order]
    new = np.concatenate([[True], keys[1:] != keys[:-1]])
    first = np.flatnonzero(new)[np.cumsum(new) - 1]
    collisions = int(np.count_nonzero(checks != checks[first]))
    np.save(folder / WORDS, keys[new])
    np.save(folder / ROWS, order[new].astype(np.int32))
    return {"duplicates": int(np.count_nonzero(~new)) - collisions, "collisions": collisions}
