"""Everything a report is made of, from a result at hand or from kept runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TypeVar

import numpy as np

from dialogauge.agreement.load_agreement import is_agreement_run, load_agreement
from dialogauge.agreement.result import Agreement
from dialogauge.corpus.corpus import SourceFile
from dialogauge.corpus.reading.source import refuse_missing
from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation.compare_systems import compare_result, compare_runs
from dialogauge.evaluation.comparison import Comparison
from dialogauge.evaluation.digits import check_names
from dialogauge.evaluation.kept.load_result import load_result
from dialogauge.evaluation.kept.save import provenance
from dialogauge.evaluation.kept.saved import is_run, kept_texts, read_record
from dialogauge.evaluation.result import Result
from dialogauge.figures.report.findings import Finding, agreement_findings, comparison_findings, score_findings
from dialogauge.figures.report.turns import MOST_TURNS, ReportTurns, turns_of_agreement, turns_of_result
from dialogauge.stats.arrays import Floats

Reported = Result | Comparison | Agreement
AnyReported = TypeVar("AnyReported", bound=Result | Comparison | Agreement)
FOLDERS = re.compile(
    r"(?<![\w/.~\\])"
    r"(?:(?:[A-Za-z]:[\\/]|~/|\.{1,2}/)(?:[^\s\\/,|\[\]]+[\\/])*|/(?:[^\s/,|\[\]]+/)+)"
    r"(?=[^\s/,|])"
)
"""What stands before the name of a file, in a path that begins at the root, at home, or at a dot."""


@dataclass(frozen=True)
class Origin:
    """How a result came to be: the command, where there was one, and with what."""

    command: Sequence[str] | None = None
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ReportContent:
    """What a page shows. Nothing in it names a folder of whoever made it."""

    result: Reported
    comparison: Comparison | None
    """Its systems against each other, as far as they were tested."""
    findings: list[Finding]
    turns: ReportTurns | None
    spreads: dict[str, dict[str, Floats]]
    """By metric and system (or corpus, where there are several) the values of single turns."""
    origin: Origin
    digits: int | None = None

    @property
    def why_no_turns(self) -> str:
        """Where there are none."""
        total = 0 if isinstance(self.result, Agreement) else sum(self.result.systems.values())
        if total > MOST_TURNS:
            return (
                f"This page shows no single replies: there are {total:,}, and browsers cannot scroll through more than "
                f"{MOST_TURNS:,}. Make a report of some systems (--systems) or of a part of the files, or list the "
                "worst with `dialogauge score --worst 20`."
            )
        return "This page shows no single replies: no metric has a value of single turns, and no texts were kept."


def report_content(
    result: Reported,
    origin: Origin | None = None,
    *,
    names: Mapping[str, str] | None = None,
    digits: int | None = None,
    texts: bool = True,
    progress: bool = False,
) -> ReportContent:
    """`names` has names to show for metrics and systems. `texts`: whether turns have theirs, as far as they are
    known."""
    check_names(names or {}, result.names())
    result = _without_folders(result if texts else _without_texts(result))
    shown = {**_short_metrics(result), **(names or {})}
    comparison = _compared(result, progress)
    if isinstance(result, Agreement):
        turns, spreads = turns_of_agreement(result, texts), _rated_spreads(result)
    else:
        turns, spreads = turns_of_result(result), _spreads(result)
    spreads = {
        shown.get(metric, metric): {shown.get(system, system): values for system, values in systems.items()}
        for metric, systems in spreads.items()
    }
    result = result.renamed(shown)
    comparison = comparison.renamed(shown) if comparison else None
    return ReportContent(
        result=result,
        comparison=comparison,
        findings=_findings(result, comparison, digits),
        turns=_renamed_turns(turns, shown) if turns and shown else turns,
        spreads=spreads,
        origin=origin or Origin(versions=provenance(None)["versions"]),
        digits=digits,
    )


def runs_content(
    paths: Sequence[str | Path],
    *,
    names: Mapping[str, str] | None = None,
    digits: int | None = None,
    texts: bool = True,
    progress: bool = False,
) -> ReportContent:
    """Of kept runs: one of `score` or `correlate`, or several of `score` beside each other."""
    for path in map(Path, paths):
        _refuse_unless_run(path)
    studies = [path for path in paths if is_agreement_run(path)]
    if studies and len(paths) > 1:
        raise InputError("is a run of `correlate`, of which a report has one; give it alone", studies[0])
    result: Reported
    if studies:
        result = load_agreement(studies[0])
    elif len(paths) == 1:
        result = load_result(paths[0])
    else:
        result = compare_runs(paths, keep_texts=True)
    texts = texts and (not studies or kept_texts(studies[0]) is not None)
    return report_content(result, _kept_origin(paths), names=names, digits=digits, texts=texts, progress=progress)


def _refuse_unless_run(path: Path) -> None:
    """Says what a run is, and how one is made."""
    made = "a run is a directory that `dialogauge score FILE --out DIR` or `dialogauge correlate FILE --out DIR` writes"
    refuse_missing(path, "run", made)
    if path.is_file():
        at_once = f"dialogauge score {shlex.quote(str(path))} --html PAGE"
        raise InputError(f"is a file and no run: {made}; `{at_once}` writes a page of responses at once", path)
    if not is_run(path):
        raise InputError(f"is no run: it has no run.json; {made}", path)


def file_name(path: str) -> str:
    """Of a file that was read; - is standard input."""
    return PurePath(path).name or path


def without_folders(text: str) -> str:
    """The text with the names of files alone where it has paths that begin at the root, at home or at a dot."""
    return FOLDERS.sub("", text)


def _without_folders(result: AnyReported) -> AnyReported:
    files = tuple(SourceFile(file_name(file.path), file.sha256, file.reader) for file in result.files)
    caveats = []
    for caveat in result.caveats:
        message = caveat.message
        for file in result.files:
            message = message.replace(file.path, file_name(file.path))
        caveats.append(Caveat(caveat.code, without_folders(message)))
    return replace(result, files=files, caveats=caveats)


def _without_texts(result: AnyReported) -> AnyReported:
    """Turns keep their id and system."""
    if not isinstance(result, Agreement):
        return replace(result, texts=None)
    bare = [
        replace(part, turns=[Turn(turn.id, "", system=turn.system) for turn in part.turns]) for part in result.rated
    ]
    return replace(result, rated=bare)


def _short_metrics(result: Reported) -> dict[str, str]:
    """Names for metrics whose options hold a path: bertscore[encoder=/home/me/bert]."""
    metrics = result.metrics if isinstance(result, Agreement) else result.columns
    short = {metric: without_folders(metric) for metric in metrics}
    known = set(metrics)
    return {
        metric: name
        for metric, name in short.items()
        if name != metric and list(short.values()).count(name) == 1 and name not in known
    }


def _compared(result: Reported, progress: bool) -> Comparison | None:
    if isinstance(result, Result):
        return compare_result(result, progress=progress)
    return result if isinstance(result, Comparison) else None


def _findings(result: Reported, comparison: Comparison | None, digits: int | None) -> list[Finding]:
    if isinstance(result, Agreement):
        return agreement_findings(result)
    if comparison is not None:
        return comparison_findings(comparison, digits)
    return score_findings(result, digits) if isinstance(result, Result) else []


def _spreads(result: Result | Comparison) -> dict[str, dict[str, Floats]]:
    found: dict[str, dict[str, Floats]] = {}
    for sample in result.samples:
        if sample.values is not None:
            found.setdefault(sample.label, {})[sample.system] = np.asarray(sample.values, dtype=np.float64)
    return found


def _rated_spreads(agreement: Agreement) -> dict[str, dict[str, Floats]]:
    found: dict[str, dict[str, Floats]] = {}
    for part in agreement.rated:
        systems = np.array([part.corpus if len(agreement.rated) > 1 else turn.system for turn in part.turns])
        for metric, values in part.values.items():
            own = found.setdefault(metric, {})
            own |= {str(name): values[systems == name] for name in dict.fromkeys(systems.tolist())}
    return found


def _renamed_turns(turns: ReportTurns, names: Mapping[str, str]) -> ReportTurns:
    def new(name: str) -> str:
        return names.get(name, name)

    return replace(
        turns,
        turns=[replace(turn, system=names[turn.system]) if turn.system in names else turn for turn in turns.turns],
        metrics=[
            replace(metric, name=new(metric.name), part_of=None if metric.part_of is None else new(metric.part_of))
            for metric in turns.metrics
        ],
        values={new(name): values for name, values in turns.values.items()},
        pushes={new(name): values for name, values in turns.pushes.items()},
    )


def _kept_origin(paths: Sequence[str | Path]) -> Origin:
    """As run.json says; of several runs, the command that puts them together, and the versions they have in common."""
    records = [read_record(Path(path)) for path in paths]
    command = records[0].get("command")
    if len(paths) > 1:
        command = ["dialogauge", "report", *map(str, paths), "--out", "report.html"]
    versions = [record["versions"] for record in records if isinstance(record.get("versions"), dict)]
    common = {
        str(name): str(version)
        for name, version in (versions[0] if versions else {}).items()
        if all(other.get(name) == version for other in versions)
    }
    return Origin([str(part) for part in command] if isinstance(command, list) else None, common)
