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
    "dialogauge": "version of dialogauge",
    "shards": "number of shards",
    "inputs": "files (names, sizes or contents)",
    "cuts": "cutting of the files",
    "reading": "way of reading (--reader, --map, --skip-invalid)",
    "metrics": "metrics",
    "signatures": "signatures of metrics",
    "systems": "choice of --systems",
    "real": "real conversations",
    "settings": "seed, resamples or confidence",
    "compat": "recipe (--compat)",
    "language": "language (--language)",
    "kept": "values or texts kept (--no-texts)",
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
                f"is no shard of the run that {path} is of: another {words}: {_shown(theirs[name], mine[name])}",
                theirs_path,
            )


def _shown(theirs: Any, mine: Any) -> str:
    """What differs, as far as it can be read."""
    if isinstance(theirs, dict) and isinstance(mine, dict):
        name = next(name for name in (*mine, *theirs) if mine.get(name) != theirs.get(name))
        return f"{theirs.get(name)}, not {mine.get(name)}"
    if isinstance(theirs, list) and isinstance(mine, list):
        pairs = ((one, other) for one, other in zip(theirs, mine, strict=False) if one != other)
        one, other = next(pairs, (f"{len(theirs)} of them", f"{len(mine)}"))
        return f"{one}, not {other}"
    return f"{theirs}, not {mine}"


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
