"""Runs on disk, read back so that they can be compared."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge import __version__
from dialogauge.array_file import open_plain, read_arrays
from dialogauge.corpus.corpus import SourceFile
from dialogauge.corpus.reading.json import parse_object
from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, InputError, require_arrow
from dialogauge.evaluation import caveats
from dialogauge.evaluation.kept.batches import batches_of_values
from dialogauge.evaluation.kept.texts import TEXTS, read_texts
from dialogauge.evaluation.measured import Measured
from dialogauge.evaluation.sample import Sample
from dialogauge.evaluation.units import Answered
from dialogauge.metrics.function import kept_metric
from dialogauge.metrics.registry import Request, parse_request, parse_requests

SCHEMA = "dialogauge.run/1"
REAL_UNITS, ANSWERED = "real_units", "answered"
RUN, TURNS, MEASURES, ANSWERS = "run.json", "turns.parquet", "measures.npz", "answers.jsonl"
ABOUT_ALL = ("few_samples", "unpaired", "different_sizes")
"""Caveats that are found anew when runs are put together."""

Names = Mapping[str, str]
"""The systems of one input, and the names they have in a comparison."""


@dataclass(frozen=True)
class Run:
    """One directory, read back."""

    path: Path
    samples: list[Sample]
    systems: dict[str, int]
    unit: str
    compat: str | None
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]

    @property
    def texts(self) -> KeptTexts | None:
        return kept_texts(self.path)


@dataclass(frozen=True)
class KeptTexts:
    """The turns that a run is about, read from its directory each time they are gone through."""

    run: Path

    def __iter__(self) -> Iterator[Turn]:
        require_arrow("what a kept run holds of single turns")
        try:
            with open_plain(self.run / TEXTS) as file:
                yield from read_texts(file)
        except Exception as error:  # whatever comes of a file that is not as we wrote it
            raise InputError(f"is not a whole run: {TEXTS}: {str(error) or type(error).__name__}", self.run) from error

    def save(self, path: Path) -> None:
        shutil.copyfile(self.run / TEXTS, path)


@dataclass(frozen=True)
class TextsOfRuns:
    """The turns of several runs, whose systems have the names that they have beside each other."""

    parts: Sequence[tuple[KeptTexts, Names]]

    def __iter__(self) -> Iterator[Turn]:
        for texts, names in self.parts:
            for turn in texts:
                yield replace(turn, system=names.get(turn.system, turn.system))


def texts_of_runs(paths: Sequence[str | Path], names: Sequence[Names]) -> TextsOfRuns | None:
    """`names` are those that `load_runs` gave. None where a run keeps no texts."""
    found = [kept_texts(path) for path in paths]
    parts = [(texts, own) for texts, own in zip(found, names, strict=True) if texts is not None]
    return TextsOfRuns(parts) if len(parts) == len(found) else None


def kept_texts(run: str | Path) -> KeptTexts | None:
    """The texts that a directory of `score --out` or `correlate --out` holds; None where they were left out, or the run
    is older than they are."""
    run = Path(run)
    try:
        kept = read_record(run).get("texts", False)
    except Exception as error:
        raise InputError(f"is not a whole run: {str(error) or type(error).__name__}", run) from error
    return KeptTexts(run) if kept is True else None


def is_run(path: str | Path) -> bool:
    """Whether a path is a directory that `score --out` wrote."""
    return (Path(path) / RUN).is_file()


def load_runs(
    paths: Sequence[str | Path], metrics: str | Iterable[str | Request] | None = None, *, turns: bool = False
) -> tuple[Measured, list[Names]]:
    """The samples of several runs under the metrics that all of them have, or those asked for. Where a system's name
    stands in several runs, every system is named after its run too: the second of the two has the names of each run.
    `turns`: whether what is kept of single turns is read as well."""
    if isinstance(paths, str | Path):
        raise InputError(f"expected a list of runs, found one path, {str(paths)!r}")
    paths = list(paths)
    if len({Path(path).resolve() for path in paths}) < len(paths):
        raise InputError("the same run is given twice")
    runs = [load_run(Path(path), turns=turns) for path in paths]
    labels = [dict.fromkeys(sample.label for sample in run.samples) for run in runs]
    common = [label for label in labels[0] if all(label in own for own in labels)]
    if not metrics and not common:
        raise InputError(f"the runs have no metric in common: {'; '.join(', '.join(own) for own in labels)}")
    known = {sample.label: _request(sample.label, sample.signature, runs[0].compat) for sample in runs[0].samples}
    requests = parse_requests(metrics or common, runs[0].compat, known=known)
    requests = [request for request in requests if request.group is None or request.label in common]
    for request in requests:
        if request.label not in common:
            raise InputError(f"{request.label} is not in every run; in all of them: {', '.join(common) or 'none'}")
        _refuse_other_signatures(request, runs)
    names = _names(runs)
    wanted = {request.label for request in requests}
    samples = [
        replace(sample, system=names[run.path, sample.system])
        for run in runs
        for sample in run.samples
        if sample.label in wanted
    ]
    systems = {names[run.path, system]: turns for run in runs for system, turns in run.systems.items()}
    unit = " and ".join(dict.fromkeys(run.unit for run in runs))
    own = [caveat for run in runs for caveat in run.caveats if caveat.code not in ABOUT_ALL]
    found = [
        *caveats.corpus_caveats(systems, 0, unit, [request.metric for request in requests], not_kept_because=None),
        *caveats.unit_caveats(samples, unit),
    ]
    measured = Measured(
        samples=samples,
        systems=systems,
        unit=unit,
        files=tuple(dict.fromkeys(file for run in runs for file in run.files)),
        caveats=list(dict.fromkeys([*own, *found])),
        requests=requests,
        baselines=_baselines(runs, names),
    )
    return measured, [{system: names[run.path, system] for system in run.systems} for run in runs]


def pack_samples(samples: Sequence[Sample]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What run.json says of each sample, and the arrays that measures.npz holds under its place in that list."""
    described, arrays = [], {}
    for place, sample in enumerate(samples):
        described.append({"metric": sample.label, "system": sample.system, "signature": sample.signature})
        arrays[f"{place}.units"] = sample.units
        arrays.update({f"{place}.{name}": array for name, array in sample.metric.pack(sample.rows).items()})
        if sample.real_units is not None:
            arrays[f"{place}.{REAL_UNITS}"] = sample.real_units
        if sample.answered is not None:
            arrays[f"{place}.{ANSWERED}"] = np.stack([sample.answered.units, sample.answered.messages])
    return described, arrays


def _baselines(runs: Sequence[Run], names: dict[tuple[Path, str], str]) -> dict[str, str]:
    """For each system of a later run the one of the first run that it is to be held against: that of the same name,
    or the only one there is."""
    first = runs[0]
    found = {}
    for run in runs[1:]:
        for system in run.systems:
            same = system if system in first.systems else next(iter(first.systems)) if len(first.systems) == 1 else None
            if same is not None:
                found[names[run.path, system]] = names[first.path, same]
    return found


def _refuse_other_signatures(request: Request, runs: Sequence[Run]) -> None:
    """Numbers are comparable only if everything that could change them is the same."""
    expected = next(sample.signature for sample in runs[0].samples if sample.label == request.label)
    for run in runs:
        for sample in run.samples:
            if sample.label == request.label and sample.signature != expected:
                raise InputError(
                    f"{request.label} was measured another way: {sample.signature}, not {expected}", run.path
                )


def _names(runs: Sequence[Run]) -> dict[tuple[Path, str], str]:
    counts = Counter(system for run in runs for system in run.systems)
    short = Counter(run.path.resolve().name for run in runs)
    named = {}
    for run in runs:
        name = run.path.resolve().name
        prefix = name if short[name] == 1 else str(run.path)
        for system in run.systems:
            named[run.path, system] = f"{prefix}/{system}" if max(counts.values()) > 1 else system
    return named


def read_record(path: Path) -> dict[str, Any]:
    with open_plain(path / RUN) as file:
        return parse_object(file.read().decode("utf-8"))


def load_run(path: Path, *, turns: bool = False) -> Run:
    """`turns`: whether samples have the id and the value of each turn again, too."""
    if turns:
        require_arrow("what a kept run holds of single turns")
    try:
        record = read_record(path)
        if record["schema"] != SCHEMA:
            raise InputError(f"expected a run of schema {SCHEMA}, found {record['schema']!r}", path)
        _check_types(record)
        warnings = [Caveat(**caveat) for caveat in record["warnings"]]
        if not record["samples"]:
            raise InputError(f"{caveats.why_no_measures(warnings)}; compare the files themselves", path)
        arrays = read_arrays(path / MEASURES)
        samples = [
            _sample(arrays, place, said, record["compat"], record["systems"])
            for place, said in enumerate(record["samples"])
        ]
        samples = _with_turns(samples, path / TURNS) if turns else samples
        return Run(
            path=path,
            samples=samples,
            systems=dict(record["systems"]),
            unit=record["unit"],
            compat=record["compat"],
            files=tuple(SourceFile(**file) for file in record["files"]),
            caveats=warnings,
        )
    except InputError as error:
        raise error if error.path else InputError(f"is not a whole run: {error.message}", path) from error
    except Exception as error:  # whatever comes of files that are not as we wrote them
        raise InputError(f"is not a whole run: {str(error) or type(error).__name__}", path) from error


def _with_turns(samples: Sequence[Sample], path: Path) -> list[Sample]:
    """turns.parquet has what they noted of single turns, in the order of their rows."""
    found: dict[tuple[str, str], tuple[list[str], list[NDArray[np.float64]]]] = {}
    with open_plain(path) as source:
        for part in batches_of_values(source, TURNS):
            if not len(part):
                continue
            ids, values = found.setdefault((part["metric"][0].as_py(), part["system"][0].as_py()), ([], []))
            ids += part["id"].to_pylist()
            values.append(part["value"].to_numpy(zero_copy_only=False))
    complete = []
    for sample in samples:
        ids, values = found.get((sample.label, sample.system), ([], []))
        if values and len(ids) != sample.turns:
            raise ValueError(f"{TURNS}: expected {sample.turns} turns of {sample.system}, found {len(ids)}")
        complete.append(replace(sample, ids=ids, values=np.concatenate(values)) if values else sample)
    return complete


def _check_types(record: Mapping[str, Any]) -> None:
    expected: dict[str, type | tuple[type, ...]] = {
        "unit": str,
        "compat": (str, type(None)),
        "systems": dict,
        "samples": list,
        "files": list,
        "warnings": list,
    }
    for name, kind in expected.items():
        if not isinstance(record[name], kind):
            raise ValueError(f"{RUN}: {name} is {shortened(record[name])}")
    if not all(isinstance(turns, int) and turns >= 0 for turns in record["systems"].values()):
        raise ValueError(f"{RUN}: systems: expected how many turns each has")
    texts = [item.get(name) for item in record["samples"] for name in ("metric", "system", "signature")]
    texts += [item.get(name) for item in record["warnings"] for name in ("code", "message")]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{RUN}: expected texts in samples and warnings")


def _request(label: str, signature: str, compat: str | None) -> Request:
    """What was measured, as far as a run says it. No file is run for it, whatever the label is."""
    function = kept_metric(signature)
    return Request(function) if function else parse_request(label, compat)


def _sample(arrays: Any, place: int, said: dict[str, str], compat: str | None, systems: dict[str, int]) -> Sample:
    metric = _request(said["metric"], said["signature"], compat).metric
    version = said["signature"].rpartition("|dialogauge:")[2]
    if version != __version__ or not said["signature"].startswith(f"{metric.name}|"):
        raise ValueError(f"{said['signature']} cannot be compared by version {__version__}")
    start = f"{place}."
    own = {name.removeprefix(start): arrays[name] for name in arrays if name.startswith(start)}
    metric, rows = metric.recall(own), metric.unpack(own)
    units, real_units = own["units"], own.get(REAL_UNITS)
    if units.dtype != np.uint64 or units.shape != (len(rows),) or said["system"] not in systems:
        raise ValueError(f"the arrays of {said['metric']} for {said['system']} do not fit together")
    if real_units is not None and not np.array_equal(units[len(units) - len(real_units) :], real_units):
        raise ValueError(f"the real units of {said['metric']} for {said['system']} do not fit")
    answered = own.get(ANSWERED)
    if answered is None:
        raise ValueError("nothing says which dialogues these are; score the files again")
    if answered.dtype != np.uint64 or answered.ndim != 2 or len(answered) != 2 or answered.shape[1] > len(units):
        raise ValueError(f"what the turns of {said['metric']} for {said['system']} answer does not fit")
    sample = Sample(
        label=said["metric"],
        system=said["system"],
        metric=metric,
        turns=len(rows) - (0 if real_units is None else len(real_units)),
        signature=said["signature"],
        units=units,
        summary=metric.summarise(rows),
        rows=rows,
        real_units=real_units,
        answered=Answered.noted(*answered),
    )
    _try_out(sample)
    return sample


def _try_out(sample: Sample) -> None:
    """Rows that do not fit together show in what is done with them: here, and not halfway through the tests."""
    metric, rows = sample.metric, sample.rows
    metric.per_turn(rows)
    if len(metric.defined(rows)) != len(rows):
        raise ValueError("its rows do not fit together")
    half, rest = (metric.summarise(rows[np.arange(start, len(rows), 2)]) for start in (0, 1))
    summary = half + rest
    if metric.resampling == "bootstrap":
        summary = metric.summarise(rows, np.ones((2, len(rows))))
    metric.conclude(summary)
