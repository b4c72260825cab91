"""Which metrics notice when responses get worse: scores of a corpus perturbed by every kind at every ratio."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from reprlib import repr as shortened
from typing import Any, Literal, Unpack

from dialogauge import tables
from dialogauge.corpus.corpus import Corpus, SourceFile
from dialogauge.corpus.frames import CorpusLike, as_corpus
from dialogauge.errors import Caveat, InputError, unknown
from dialogauge.evaluation.caveats import number_free
from dialogauge.evaluation.evaluate_corpus import evaluate
from dialogauge.evaluation.forms import ScoreForms, corpus_record, find
from dialogauge.evaluation.options import Metrics, RunKeywords, RunOptions, Settings, takes_run_options
from dialogauge.evaluation.result import Result
from dialogauge.progress import progress_bar
from dialogauge.studies.perturb import KINDS, check_call, perturb, references_as_system
from dialogauge.studies.trend import CONSTANT, STAYS, STEADY, Point, Trend, sensitivity_table, trend_of

SCHEMA = "dialogauge.sensitivity/1"
RATIOS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)

Place = tuple[str, float]
"""A kind of perturbation and a ratio."""


@dataclass(frozen=True, repr=False)
class Sensitivity(ScoreForms):
    """What `sensitivity` gives. The point at ratio 0 is the same for all kinds, and stands with each."""

    points: list[Point]
    trends: list[Trend]
    kinds: list[str]
    ratios: list[float]
    columns: list[str]
    """The metrics that were asked for; parts only where they were."""
    of: str
    systems: dict[str, int]
    """Turns per system."""
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]
    settings: Settings
    unit: str
    """What was resampled: dialogues, contexts or turns."""

    def series(self, kind: str, system: str, metric: str) -> list[Point]:
        """The points of one line, by ratio."""
        trend = self.trend(kind, system, metric)
        return self._series[trend.kind, trend.system, trend.metric]

    def trend(self, kind: str, system: str, metric: str) -> Trend:
        """What becomes of one metric's score of one system under one kind of perturbation."""
        return find(self.trends, kind=kind, system=system, metric=metric)

    def to_records(self) -> list[dict[str, Any]]:
        """One per point."""
        return [asdict(point) for point in self.points]

    def to_dict(self) -> dict[str, Any]:
        """What `--format json` prints."""
        plan = {"unit": self.unit, "of": self.of, "kinds": self.kinds, "ratios": self.ratios, "steady": STEADY}
        return {
            "schema": SCHEMA,
            "corpus": corpus_record(self.systems, self.files),
            "settings": {**asdict(self.settings), **plan},
            "points": self.to_records(),
            "trends": [asdict(trend) for trend in self.trends],
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }

    def to_table(self, digits: int | None = None) -> tables.Table:
        return sensitivity_table(self, digits)

    @cached_property
    def _series(self) -> dict[tuple[str, str, str], list[Point]]:
        return _series(self.points)


@takes_run_options
def sensitivity(
    corpus: CorpusLike,
    metrics: Metrics,
    *,
    kinds: str | Iterable[str] = tuple(KINDS),
    ratios: Iterable[float] = RATIOS,
    of: Literal["response", "reference"] = "response",
    **options: Unpack[RunKeywords],
) -> Sensitivity:
    """Scores the corpus with more and more of its responses made worse, and says which metrics fall.

    Each perturbed corpus is scored by itself: what a metric learns from a corpus it learns anew. Without `cache`, texts
    are encoded anew, too.

    Args:
        corpus: Whatever holds turns, as for `evaluate`.
        metrics: As for `evaluate`.
        kinds: Ways to make responses worse, those of `perturb`; comma-separated or a sequence.
        ratios: Shares of the responses that are changed; 0, the corpus as it is, is always among them.
        of: What is changed: "response", or "reference" for people's replies, which have furthest to fall.
        **options: The fields of `RunOptions`.

    Returns:
        The score at every ratio, and what becomes of it: whether it falls.

    Examples:
        >>> import dialogauge
        >>> study = dialogauge.sensitivity("examples/everyday.jsonl", "rouge_l,length", kinds="truncate", ratios=[1])
        >>> [round(point.value, 1) for point in study.series("truncate", "good", "length")]
        [14.4, 6.9]
        >>> study.trend("truncate", "good", "rouge_l").verdict
        'falls'
    """
    kinds, ratios = check_plan(kinds, ratios)
    if of not in ("response", "reference"):
        raise unknown("text to change", of, ("response", "reference"))
    run = RunOptions(**options)
    requests = run.requests(metrics)
    corpus = as_corpus(corpus).select(run.systems or None)
    if of == "reference":
        corpus = references_as_system(corpus)
    options["systems"] = None
    options["real"] = None if run.real is None else as_corpus(run.real)
    base = evaluate(corpus, requests, **options)
    points = [point for kind in kinds for point in _points(base, kind, 0.0, {})]
    found: dict[Place, list[Caveat]] = {}
    for kind, ratio in _watched([(kind, ratio) for kind in kinds for ratio in ratios if ratio], run.progress):
        worse = perturb(corpus, kind, ratio, run.seed)
        result = evaluate(worse, requests, **options)
        points += _points(result, kind, ratio, _changed(corpus, worse))
        found[kind, ratio] = result.caveats
    points.sort(key=lambda point: (kinds.index(point.kind), point.ratio))
    trends = [trend_of(line) for line in _series(points).values()]
    return Sensitivity(
        points=points,
        trends=trends,
        kinds=kinds,
        ratios=ratios,
        columns=base.columns,
        of=of,
        systems=base.systems,
        files=base.files,
        caveats=[*merge_caveats(base.caveats, found), *_insensitive(trends, base)],
        settings=run.settings,
        unit=base.unit,
    )


def check_plan(kinds: str | Iterable[str], ratios: Iterable[float]) -> tuple[list[str], list[float]]:
    """The kinds, each once, and the ratios from 0 up; refuses what cannot be asked for, before any work is done."""
    if isinstance(kinds, str):
        kinds = [name for name in map(str.strip, kinds.split(",")) if name]
    kinds = list(dict.fromkeys(kinds)) if isinstance(kinds, Iterable) else [kinds]
    try:
        ratios = [float(ratio) for ratio in ratios]
    except (TypeError, ValueError):
        raise InputError(f"ratios: expected a list of numbers from 0 to 1, found {shortened(ratios)}") from None
    if not kinds:
        raise InputError(f"no kind of perturbation named; known: {', '.join(KINDS)}")
    for kind in kinds:
        for ratio in (0.0, *ratios):
            check_call(kind, ratio, 0)
    if not any(ratios):
        raise InputError("expected a ratio above 0, found none; 0, the corpus as it is, is always there")
    return kinds, sorted({0.0, *ratios})


def merge_caveats(base: Sequence[Caveat], perturbed: Mapping[Place, Sequence[Caveat]]) -> list[Caveat]:
    """The caveats of the corpus as it is, then those that only perturbed corpora have. Of these, such as differ in
    their numbers alone become one: that of the largest ratio of the first kind, with where it was found."""
    alike: dict[tuple[str, str], list[tuple[Place, Caveat]]] = {}
    for place, caveats in perturbed.items():
        for caveat in caveats:
            if caveat not in base:
                alike.setdefault((caveat.code, number_free(caveat.message)), []).append((place, caveat))
    return [*dict.fromkeys(base), *map(_one_for_all, alike.values())]


def _watched(places: list[Place], progress: bool) -> Iterable[Place]:
    """The places, with a bar on stderr that names them."""
    with progress_bar(places, shown=progress, unit="corpus") as bar:
        for kind, ratio in bar:
            bar.set_description(f"{kind} {ratio:g}")
            yield kind, ratio


def _points(result: Result, kind: str, ratio: float, changed: Mapping[str, int]) -> list[Point]:
    scores = [result.score(system, metric) for system in result.systems for metric in result.columns]
    return [
        Point(
            kind=kind,
            ratio=ratio,
            system=score.system,
            metric=score.metric,
            value=score.value,
            low=score.low,
            high=score.high,
            n=score.n,
            higher_is_better=score.higher_is_better,
            signature=score.signature,
            changed=changed.get(score.system, 0),
        )
        for score in scores
    ]


def _changed(before: Corpus, after: Corpus) -> dict[str, int]:
    """By system, how many responses have another text."""
    counts = dict.fromkeys(before.systems, 0)
    for old, new in zip(before, after, strict=True):
        counts[old.system] += old.response != new.response
    return counts


def _series(points: Iterable[Point]) -> dict[tuple[str, str, str], list[Point]]:
    lines: dict[tuple[str, str, str], list[Point]] = {}
    for point in points:
        lines.setdefault((point.kind, point.system, point.metric), []).append(point)
    return lines


def _insensitive(trends: Sequence[Trend], base: Result) -> list[Caveat]:
    """One caveat for each metric that does not fall, with the kinds and, where not all are meant, the systems."""
    caveats = []
    for metric in base.columns:
        if base.score(next(iter(base.systems)), metric).higher_is_better is None:
            continue
        mine = [trend for trend in trends if trend.metric == metric]
        clauses = [
            f"{verb} under {where}"
            for verdict, verb in ((STAYS, "does not fall"), (CONSTANT, "stays the same"))
            if (where := _where([trend for trend in mine if trend.verdict == verdict], len(base.systems)))
        ]
        if clauses:
            message = f"{metric} {' and '.join(clauses)}, though responses get worse"
            caveats.append(Caveat("insensitive", message))
    return caveats


def _where(trends: Sequence[Trend], systems: int) -> str:
    by_kind: dict[str, list[str]] = {}
    for trend in trends:
        by_kind.setdefault(trend.kind, []).append(trend.system)
    return ", ".join(
        kind if len(names) == systems else f"{kind} ({', '.join(names)})" for kind, names in by_kind.items()
    )


def _one_for_all(caveats: Sequence[tuple[Place, Caveat]]) -> Caveat:
    (kind, ratio), caveat = max(
        (pair for pair in caveats if pair[0][0] == caveats[0][0][0]), key=lambda pair: pair[0][1]
    )
    others = len({place for place, _ in caveats}) - 1
    more = f"; the like in {others} more of the perturbed corpora" if others else ""
    return Caveat(caveat.code, f"{caveat.message} ({kind} at ratio {ratio:g}{more})")
