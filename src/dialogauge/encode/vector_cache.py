"""Converted word vectors are kept between runs: each file of them is converted once."""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from dialogauge.corpus.source import refuse_missing, sha256
from dialogauge.encode.vector_store import WordVectorStore, convert, load_store
from dialogauge.errors import InputError
from dialogauge.files import NEW, OLD, unfinished, whole_file

State = list[str | int]
"""By which a file is known again without reading it: path, size and time of change."""

_TRIES = 3


def cached_store(source: Path, folder: Path, progress: bool = False) -> WordVectorStore:
    """The vectors of a file, from `folder/<first 16 digits of its sha256>`, converted now if that is absent or
    damaged. Another process may delete or replace that at any time; then it is made again."""
    source = source.absolute()
    refuse_missing(source)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for _ in range(_TRIES):
            state = _state(source)
            digest = _known_hash(source, state, folder)
            target = folder / digest[:16]
            if (store := load_store(target, digest)) is not None:
                return store
            _convert_into(target, source, state, digest, progress)
            if (store := load_store(target, digest)) is not None:
                return store
    except OSError as error:
        message = f"the converted word vectors cannot be kept here: {error.strerror or error}"
        raise InputError(f"{message}; choose another folder with DIALOGAUGE_CACHE", folder) from None
    raise InputError("the converted word vectors vanish as soon as they are written; is it being cleared?", folder)


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
