"""A shard: what all metrics noted about one of n parts of the files, kept in a directory until all are there."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from dialogauge.array_file import open_plain
from dialogauge.corpus.load import Loading
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import InputError, require_arrow
from dialogauge.evaluation.kept.save import provenance
from dialogauge.evaluation.kept.texts import TextsOfParts
from dialogauge.evaluation.kept.turn_values import VALUES, SpooledFiles, TurnValuesWriter
from dialogauge.evaluation.measure import HEAD
from dialogauge.evaluation.measuring.chunked_run import ChunkOptions, NotedRun, first_turns, note_chunks
from dialogauge.evaluation.measuring.run import MeasuringRun, real_side
from dialogauge.evaluation.options import Metrics, RunOptions
from dialogauge.files import check_writable, whole_directory
from dialogauge.metrics.function import FunctionMetric
from dialogauge.metrics.registry import Request
from dialogauge.scale.identity import identity_of, with_real
from dialogauge.scale.packing import Packer
from dialogauge.tables import to_json

SCHEMA = "dialogauge.shard/1"
SHARD, ARRAYS, TURNS, TEXTS = "shard.json", "arrays.npz", "turns.parquet", "texts.parquet"
SUMS = "SHA256SUMS"
"""Of the other files, as `sha256sum` writes and checks it."""
FILES = (SHARD, ARRAYS, TURNS, TEXTS, SUMS)
WRITTEN = re.compile(r"(\d+)/(\d+)")
MOST_SHARDS = 100_000


@dataclass(frozen=True)
class ShardNumber:
    """Which part, from 1, of how many."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> ShardNumber:
        match = WRITTEN.fullmatch(text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]) <= MOST_SHARDS:
            raise InputError(f"--shard: expected i/n with i from 1 to n, as 2/7, found {text!r}")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def check_shard_writable(directory: Path, overwrite: bool) -> None:
    require_arrow("keeping a shard")
    check_writable(directory, overwrite, FILES, "a shard")


def measure_shard(
    corpus: Loading,
    metrics: Metrics | None,
    shard: ShardNumber,
    directory: Path,
    run: RunOptions,
    *,
    keep_texts: bool = True,
    overwrite: bool = False,
    command: list[str] | None = None,
) -> dict[str, int]:
    """Measures one part of the files, and keeps what was noted in the directory. What metrics learn from the corpus
    they learn from all of it. Gives the turns of each system."""
    files = corpus.files_at_rest
    if files is None:
        raise InputError("what is piped in cannot be cut into shards; give files")
    check_shard_writable(directory, overwrite)
    requests = run.requests(metrics)
    if asking := [request.label for request in requests if request.metric.asks_endpoints]:
        raise InputError(f"{', '.join(asking)} asks endpoints, and is not measured in shards; use --concurrency")
    encoders = Encoders(Cache() if run.cache else None, run.progress, run.asking)
    beside = real_side(run.real_turns(), requests, run.progress)
    measuring = MeasuringRun(
        requests, run.systems, run.compat, encoders, run.progress, False, *beside, language=run.language
    )
    known = first_turns(measuring, files, HEAD)
    options = ChunkOptions(run.cache, keep_texts)
    found = note_chunks(measuring, known, files, run.engine_choice, options, (shard.number, shard.count))
    identity = with_real(identity_of(found, *files, run, shard.count), measuring.real)
    with whole_directory(directory, overwrite) as new:
        _write(new, shard, identity, found, measuring, provenance(command))
    return dict(found.noted.census.seen)


def _write(
    folder: Path,
    shard: ShardNumber,
    identity: dict[str, Any],
    found: NotedRun,
    run: MeasuringRun,
    made: dict[str, Any],
) -> None:
    packer = Packer()
    tallies = {place: replace(tally, metric=cast(Any, None)) for place, tally in found.noted.tallies.items()}
    record = {
        "schema": SCHEMA,
        "number": shard.number,
        **made,
        "run": identity,
        "requests": [_described(request, found, packer) for request in found.choice.requests],
        "noted": packer.pack(replace(found.noted, tallies=tallies)),
        "remarks": packer.pack(list(found.remarks)),
        "choice": packer.pack(found.choice.caveats()),
        "chunks": packer.pack(list(found.all_chunks)),
        "first": packer.pack(_of_first(found, run) if shard.number == 1 else None),
    }
    np.savez(folder / ARRAYS, allow_pickle=False, **cast(Any, packer.arrays()))
    (folder / SHARD).write_text(to_json(record) + "\n", encoding="utf-8")
    if found.values is not None:
        with (folder / TURNS).open("wb") as target, closing(TurnValuesWriter(target)) as writer:
            for file in found.values.files(VALUES):
                writer.copy(file)
    if found.texts is not None:
        TextsOfParts(found.texts).save(folder / TEXTS)
    sums = [f"{sha256_of(folder / name)}  {name}\n" for name in FILES if (folder / name).is_file()]
    (folder / SUMS).write_text("".join(sums), encoding="utf-8")


def sha256_of(path: Path) -> str:
    with open_plain(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _described(request: Request, found: NotedRun, packer: Packer) -> dict[str, Any]:
    """A metric with its options; one that is a function is known by its signature."""
    function = isinstance(request.metric, FunctionMetric)
    return {
        "label": request.label,
        "metric": None if function else packer.pack(request.metric),
        "signature": found.metrics[request.label].signature,
        "part": request.part,
        "compat": request.compat,
        "group": request.group,
    }


def _of_first(found: NotedRun, run: MeasuringRun) -> dict[str, Any]:
    """What is the same for all shards: the first one alone keeps it."""
    return {
        "known": {label: ready.known for label, ready in found.metrics.items()},
        "real_units": run.real_units,
        "real_files": None if run.real is None else list(run.real.files),
        "real_caveats": list(run.real_caveats),
    }


@dataclass(frozen=True)
class ShardFiles(SpooledFiles):
    """One file of each of several shards, in their order."""

    folders: Sequence[Path]

    def files(self, name: str) -> Iterator[Any]:
        for folder in self.folders:
            with (folder / (TURNS if name == VALUES else TEXTS)).open("rb") as file:
                yield file
