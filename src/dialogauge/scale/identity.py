"""What shards must have in common, so that they can be merged, and who is told which of them does not."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dialogauge import __version__
from dialogauge.corpus.chunks.plan import Chunk
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.how import HowToRead
from dialogauge.errors import InputError
from dialogauge.evaluation.measuring.chunked_run import NotedRun
from dialogauge.evaluation.options import RunOptions

SAMPLE = 1 << 16
"""Bytes at the start of each chunk by which files are known: no shard reads all of them."""
WORDS = {
    "dialogauge": "another version of dialogauge",
    "shards": "another number of shards",
    "inputs": "other files (names, sizes or contents)",
    "cuts": "another cutting of the files",
    "reading": "another way of reading (--reader, --map, --skip-invalid)",
    "metrics": "other metrics",
    "signatures": "other signatures of metrics",
    "systems": "another choice of --systems",
    "real": "other real conversations",
    "settings": "another seed, resamples or confidence",
    "compat": "another recipe (--compat)",
    "language": "another language (--language)",
    "kept": "other values or texts kept (--no-texts)",
}
"""What is compared, in this order."""


def identity_of(found: NotedRun, paths: Sequence[Path], how: HowToRead, run: RunOptions, shards: int) -> dict[str, Any]:
    """Of a shard, as JSON holds it."""
    return {
        "dialogauge": __version__,
        "shards": shards,
        "inputs": [_described(path, _of_file(found.all_chunks, number)) for number, path in enumerate(paths)],
        "cuts": [[chunk.file, chunk.first, chunk.last] for chunk in found.all_chunks],
        "reading": {**asdict(how), "mapping": dict(how.mapping)},
        "metrics": [request.name for request in found.choice.requests],
        "signatures": {label: ready.signature for label, ready in found.metrics.items()},
        "systems": None if run.systems is None else list(run.systems),
        "real": None,
        "settings": asdict(run.settings),
        "compat": run.compat,
        "language": run.language,
        "kept": [found.values is not None, found.texts is not None],
    }


def with_real(identity: Mapping[str, Any], real: Corpus | None) -> dict[str, Any]:
    """`real` are the conversations that systems are held against."""
    return {**identity, "real": None if real is None else [file.sha256 for file in real.files]}


def refuse_foreign(first: tuple[Path, Mapping[str, Any]], other: tuple[Path, Mapping[str, Any]]) -> None:
    """Unless both are shards of one run."""
    (path, mine), (theirs_path, theirs) = first, other
    for name, words in WORDS.items():
        if mine[name] != theirs[name]:
            raise InputError(
                f"is no shard of the run that {path} is of: {words}: {_shown(theirs[name], mine[name])}",
                theirs_path,
            )


def _shown(theirs: Any, mine: Any) -> str:
    """What differs, as far as it can be read."""
    if isinstance(theirs, dict) and isinstance(mine, dict):
        name = next(name for name in (*mine, *theirs) if mine.get(name) != theirs.get(name))
        return f"{theirs.get(name)}, not {mine.get(name)}"
    if isinstance(theirs, list) and isinstance(mine, list):
        if _names(theirs) != _names(mine) and sorted(_names(theirs)) == sorted(_names(mine)):
            return "the same in another order"
        pairs = ((one, other) for one, other in zip(theirs, mine, strict=False) if one != other)
        one, other = next(pairs, (f"{len(theirs)} of them", f"{len(mine)}"))
        return f"{_shown_file(one)}, not {_shown_file(other)}"
    return f"{theirs}, not {mine}"


def _names(parts: list[Any]) -> list[str]:
    """Of files the names alone: in another order they are cut elsewhere, and known by other parts of their content."""
    return [str(part.get("name") if isinstance(part, dict) else part) for part in parts]


def _shown_file(part: Any) -> str:
    """Of a file its name, size and the first digits of its hash; anything else as it is."""
    if not isinstance(part, dict):
        return str(part)
    return f"{part.get('name')} ({part.get('bytes')} bytes, {str(part.get('sample'))[:8]})"


def _of_file(chunks: Sequence[Chunk], number: int) -> list[Chunk]:
    return [chunk for chunk in chunks if chunk.file == number]


def _described(path: Path, chunks: Sequence[Chunk]) -> dict[str, Any]:
    """Name and size, and a hash of some of the content. Directories may lie elsewhere on other machines."""
    digest = hashlib.sha256()
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        sizes = [file.stat().st_size for file in files]
        digest.update(repr([str(file.relative_to(path)) for file in files] + sizes).encode("utf-8", "surrogatepass"))
        return {"name": path.name, "bytes": sum(sizes), "sample": digest.hexdigest()}
    size = path.stat().st_size
    starts = [chunk.first for chunk in chunks if chunk.cut == "lines"]
    with path.open("rb") as file:
        for start in (*starts, max(0, size - SAMPLE)):
            file.seek(start)
            digest.update(file.read(SAMPLE))
    return {"name": path.name, "bytes": size, "sample": digest.hexdigest()}
