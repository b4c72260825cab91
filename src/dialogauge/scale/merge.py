"""Shards put together to the run that they are of."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from dialogauge import __version__
from dialogauge.array_file import open_plain, read_arrays
from dialogauge.corpus.chunks.plan import Chunk
from dialogauge.corpus.corpus import Corpus
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.engines.fold import OrderedSum
from dialogauge.errors import Caveat, DialogaugeError, InputError
from dialogauge.evaluation.caveats import IN_SHARDS
from dialogauge.evaluation.evaluate_corpus import concluded
from dialogauge.evaluation.measuring.chunk_work import Noted
from dialogauge.evaluation.measuring.chunked_run import NotedRun
from dialogauge.evaluation.measuring.run import MeasuringRun
from dialogauge.evaluation.options import RunOptions, Settings
from dialogauge.evaluation.result import Result
from dialogauge.metrics.base import AnyMetric, Learned, Metric
from dialogauge.metrics.default_set import Choice
from dialogauge.metrics.function import kept_metric
from dialogauge.metrics.prepared import AnyPrepared
from dialogauge.metrics.registry import PLUG_INS, Request
from dialogauge.progress import progress_bar
from dialogauge.scale.identity import WORDS, refuse_foreign
from dialogauge.scale.packing import Unpacker
from dialogauge.scale.shard import ARRAYS, FILES, MOST_SHARDS, SCHEMA, SHARD, SUMS, TEXTS, TURNS, ShardFiles, sha256_of


@dataclass(frozen=True)
class KeptShard:
    """What a directory of `score --shard` says of itself."""

    path: Path
    record: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> KeptShard:
        if not (path / SHARD).is_file():
            raise InputError(f"is no shard: expected a directory that `score --shard` wrote, with {SHARD} in it", path)
        try:
            _check_sums(path)
            with open_plain(path / SHARD) as file:
                record = json.loads(file.read())
            if record["schema"] != SCHEMA:
                raise InputError(f"expected a shard of schema {SCHEMA}, found {record['schema']!r}", path)
            shard = cls(path, record)
            if not isinstance(shard.run, dict) or not 1 <= shard.number <= shard.count:
                raise ValueError("its number is none of its run's")
            if (found := shard.run.get("dialogauge")) != __version__:
                raise InputError(f"was made by dialogauge {found}, and cannot be merged by {__version__}", path)
            if not shard.says_enough():
                raise ValueError("it does not say what it is a shard of")
        except DialogaugeError:
            raise
        except Exception as error:
            raise _not_whole(path, error) from error
        return shard

    def says_enough(self) -> bool:
        """What is used before its parts are."""
        run = self.run
        return (
            run.keys() == WORDS.keys()
            and isinstance(run["settings"], dict)
            and run["settings"].keys() == {each.name for each in fields(Settings)}
            and isinstance(run["signatures"], dict)
            and run["signatures"].keys() == {said["label"] for said in self.record["requests"]}
            and len(run["kept"]) == 2
            and all(
                (self.path / name).is_file() for name, kept in zip((TURNS, TEXTS), run["kept"], strict=True) if kept
            )
            and self.count <= MOST_SHARDS
            and (self.number > 1 or isinstance(self.record["first"], dict))
        )

    @property
    def number(self) -> int:
        return int(self.record["number"])

    @property
    def count(self) -> int:
        return int(self.record["run"]["shards"])

    @property
    def run(self) -> dict[str, Any]:
        run: dict[str, Any] = self.record["run"]
        return run

    def unpacked(self, names: Sequence[str], modules: Collection[str]) -> list[Any]:
        """What it holds under these names."""
        try:
            unpacker = Unpacker(read_arrays(self.path / ARRAYS), modules)
            return [unpacker.unpack(self.record[name]) for name in names]
        except DialogaugeError:
            raise
        except Exception as error:  # whatever comes of files that are not as we wrote them
            raise _not_whole(self.path, error) from error


def merge_shards(paths: Sequence[str | Path], *, cache: bool = True, progress: bool = False) -> Result:
    """The result of all shards of one run, whatever order they are given in: the same to the last bit.

    What is missing, there twice, or of another run (other files, metrics, settings or version) is named and refused.
    Nothing is unpickled, and the files that were measured are not read again. Metrics of encoders look at their
    encoder, which must be the one that the shards saw.

    Args:
        paths: Directories that `dialogauge score --shard` wrote.
        cache: Whether vectors that are kept on disk may be used.
        progress: Whether stderr shows how far it has come.
    """
    shards = _all_of_one_run([KeptShard.read(Path(path)) for path in paths])
    try:
        result = _merged(shards, cache, progress)
        if not all(isinstance(caveat, Caveat) for caveat in result.caveats):
            raise ValueError("what it remarks is no caveat")
        return result
    except (DialogaugeError, OSError, MemoryError):
        raise
    except Exception as error:  # parts that do not fit together
        raise _not_whole(shards[0].path, error) from error


def _merged(shards: Sequence[KeptShard], cache: bool, progress: bool) -> Result:
    first = shards[0]
    modules = PLUG_INS.modules()
    requests = _requests(first, modules)
    beginning, chunks, choice = first.unpacked(["first", "chunks", "choice"], modules)
    encoders = Encoders(Cache() if cache else None, progress, hub=False)
    real = None if beginning["real_files"] is None else Corpus([], tuple(beginning["real_files"]))
    asked = {name: first.run[name] for name in ("systems", "compat", "language")}
    run = RunOptions(**first.run["settings"], **asked)
    beside = (real, beginning["real_units"], beginning["real_caveats"])
    measuring = MeasuringRun(
        requests, run.systems, run.compat, encoders, progress, False, *beside, language=run.language
    )
    measuring.not_kept_because = IN_SHARDS
    metrics = _opened(requests, beginning["known"], first, encoders)
    inputs = _inputs(chunks)
    noted, remarks = _added(shards, metrics, modules, inputs, progress)
    with_values, with_texts = first.run["kept"]
    files = ShardFiles([shard.path for shard in shards])
    found = NotedRun(
        choice=Choice(requests, replaced=choice),
        metrics=metrics,
        noted=noted,
        remarks=remarks,
        all_chunks=chunks,
        values=files if with_values else None,
        texts=files if with_texts else None,
    )
    return concluded(found.concluded(measuring, [inputs[file] for file in sorted(inputs)]), run)


def _inputs(chunks: Sequence[Chunk]) -> dict[int, Path]:
    """The files that were given, by their numbers."""
    return {chunk.file: chunk.path for chunk in chunks}


def _check_sums(path: Path) -> None:
    """A copy that broke off, or a disk that did, would show nowhere else."""
    with open_plain(path / SUMS) as file:
        lines = file.read().decode("utf-8").splitlines()
    sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    if not {SHARD, ARRAYS} <= sums.keys() <= set(FILES):
        raise ValueError(f"{SUMS} is not as it was written")
    for name, digest in sums.items():
        if sha256_of(path / name) != digest:
            raise ValueError(f"{name} is not as it was written")


def _not_whole(path: Path, error: Exception) -> InputError:
    return InputError(f"is not a whole shard: {str(error) or type(error).__name__}", path)


def _all_of_one_run(shards: Sequence[KeptShard]) -> list[KeptShard]:
    """In their order."""
    by_number: dict[int, KeptShard] = {}
    for shard in shards:
        refuse_foreign((shards[0].path, shards[0].run), (shard.path, shard.run))
        other = by_number.setdefault(shard.number, shard)
        if other is not shard:
            message = f"is shard {shard.number} of {shard.count}, and so is {other.path}; give each once"
            raise InputError(message, shard.path)
    count = shards[0].count
    if missing := [str(number) for number in range(1, count + 1) if number not in by_number]:
        more = f" and {len(missing) - 10} more" if len(missing) > 10 else ""
        raise InputError(f"of {count} shards there are {len(by_number)}; missing: {', '.join(missing[:10])}{more}")
    return [by_number[number] for number in sorted(by_number)]


def _requests(shard: KeptShard, modules: Collection[str]) -> list[Request]:
    unpacker = Unpacker({}, modules)
    try:
        return [
            Request(_metric(said, unpacker), said["part"], said["compat"], said["group"])
            for said in shard.record["requests"]
        ]
    except Exception as error:  # whatever comes of files that are not as we wrote them
        raise _not_whole(shard.path, error) from error


def _metric(said: Mapping[str, Any], unpacker: Unpacker) -> AnyMetric:
    """One that is a function is made of its signature: it can conclude, which is all that is asked of it."""
    metric = kept_metric(said["signature"]) if said["metric"] is None else unpacker.unpack(said["metric"])
    if not isinstance(metric, Metric):
        raise ValueError(f"{said['label']} is no metric")
    return metric


def _opened(
    requests: Sequence[Request], known: Mapping[str, Any], shard: KeptShard, encoders: Encoders
) -> dict[str, AnyPrepared]:
    metrics: dict[str, AnyPrepared] = {}
    for request in requests:
        ready = Learned(request.metric, known[request.label]).open(encoders)
        expected = shard.run["signatures"][request.label]
        if ready.signature != expected:
            message = f"{request.label} was measured another way: {expected}, here {ready.signature}"
            raise InputError(message, shard.path)
        metrics[request.label] = ready
    return metrics


def _added(
    shards: Sequence[KeptShard],
    metrics: Mapping[str, AnyPrepared],
    modules: Collection[str],
    inputs: Mapping[int, Path],
    progress: bool,
) -> tuple[Noted, list[Any]]:
    """What all of them noted, one in memory at a time beside the sums; and what each said, once."""
    total: OrderedSum[Noted] = OrderedSum(len(shards))
    remarks: list[Any] = []
    with progress_bar(total=len(shards), description="merging", shown=progress, unit="shard") as bar:
        for place, shard in enumerate(shards):
            noted, said, chunks = shard.unpacked(["noted", "remarks", "chunks"], modules)
            try:
                here = _inputs(chunks)
                files = {file: notes.read_at(here[file], inputs[file]) for file, notes in noted.notes.files.items()}
                tallies = {
                    (system, label): replace(tally, metric=metrics[label].metric)
                    for (system, label), tally in noted.tallies.items()
                }
                total.add(place, replace(noted, tallies=tallies, notes=replace(noted.notes, files=files)))
            except DialogaugeError:
                raise
            except Exception as error:  # parts that do not fit together
                raise _not_whole(shard.path, error) from error
            remarks += [caveat for caveat in said if caveat not in remarks]
            bar.update(1)
    return total.total, remarks
