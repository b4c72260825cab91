"""Word vectors on disk in a form that opens at once, converted once for each file and kept between runs."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.reading.source import refuse_missing, sha256
from dialogauge.encode.base import Vectors
from dialogauge.encode.word_vectors.files import blocks, layout_of
from dialogauge.errors import InputError
from dialogauge.files import NEW, OLD, remove_abandoned, unfinished, whole_file
from dialogauge.progress import progress_bar

SCHEMA = "dialogauge.vectors/1"
ABOUT, VECTORS, WORDS, ROWS = "about.json", "vectors.npy", "words.npy", "rows.npy"

State = list[str | int]
"""By which a file is known again without reading it: path, size and time of change."""

_TRIES = 3
READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)


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


def cached_store(source: Path, folder: Path, progress: bool = False) -> WordVectorStore:
    """The vectors of a file, from `folder/<first 16 digits of its sha256>`, converted now if that is absent or
    damaged. Another process may delete or replace that at any time; then it is made again. Where nothing may be written
    there, it is converted for this process alone."""
    source = source.absolute()
    refuse_missing(source)
    try:
        try:
            return _kept(source, folder, progress)
        except OSError as error:
            if error.errno not in READ_ONLY:
                raise
            # What is mapped into memory outlasts its name.
            with tempfile.TemporaryDirectory(prefix="dialogauge", ignore_cleanup_errors=True) as own:
                return _kept(source, Path(own), progress)
    except OSError as error:
        message = f"the converted word vectors cannot be kept here: {error.strerror or error}"
        raise InputError(f"{message}; choose another folder with DIALOGAUGE_CACHE", folder) from None


def _kept(source: Path, folder: Path, progress: bool) -> WordVectorStore:
    folder.mkdir(parents=True, exist_ok=True)
    remove_abandoned(folder)
    for _ in range(_TRIES):
        state = _state(source)
        digest = _known_hash(source, state, folder)
        target = folder / digest[:16]
        if (store := load_store(target, digest)) is not None:
            return store
        _convert_into(target, source, state, digest, progress)
        if (store := load_store(target, digest)) is not None:
            return store
    raise InputError("the converted word vectors vanish as soon as they are written; is it being cleared?", folder)


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


def hashes(words: Sequence[str], salt: bytes = b"") -> NDArray[np.uint64]:
    digests = (blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8, salt=salt).digest() for word in words)
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64, copy=False)


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
    _write_array(folder / WORDS, keys[new])
    _write_array(folder / ROWS, order[new].astype(np.int32))
    return {"duplicates": int(np.count_nonzero(~new)) - collisions, "collisions": collisions}


def _write_array(path: Path, array: NDArray[Any]) -> None:
    """The bytes of `numpy.save`, which says nothing of it where the last of them find no room on the disk."""
    with path.open("wb") as out:
        np.lib.format.write_array_header_1_0(out, np.lib.format.header_data_from_array_1_0(array))
        out.write(array.data)


def _state(source: Path) -> State:
    try:
        stat = source.stat()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source) from None
    return [str(source), stat.st_size, stat.st_mtime_ns]


def _known_hash(source: Path, state: State, folder: Path) -> str:
    note = folder / f"{blake2b(json.dumps(state).encode(), digest_size=16).hexdigest()}.json"
    with suppress(OSError, ValueError, TypeError, KeyError):
        noted = json.loads(note.read_text(encoding="utf-8"))
        if noted["source"] == state and len(bytes.fromhex(noted["sha256"])) == 32:
            return str(noted["sha256"])
    digest = sha256(source)
    _refuse_changed(source, state)
    with whole_file(note, overwrite=True) as file:
        file.write(json.dumps({"source": state, "sha256": digest}).encode())
    return digest


def _refuse_changed(source: Path, state: State) -> None:
    if _state(source) != state:
        raise InputError("was changed while it was read; try again", source)


def _convert_into(target: Path, source: Path, state: State, digest: str, progress: bool) -> None:
    """Of two that convert the same file at once, the first to end puts its own in place and the other drops its own."""
    with unfinished(target) as partial:
        new = partial / NEW
        new.mkdir()
        convert(source, digest, new, progress)
        _refuse_changed(source, state)
        if load_store(target, digest) is None:
            with suppress(FileNotFoundError):
                target.rename(partial / OLD)
            _rename_unless_there(new, target)


def _rename_unless_there(new: Path, target: Path) -> None:
    try:
        new.rename(target)
    except OSError:
        if not target.exists():
            raise
