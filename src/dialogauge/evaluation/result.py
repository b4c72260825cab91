"""Scores with their intervals, their table, and the forms they can take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dialogauge import tables
from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import Caveat
from dialogauge.evaluation.digits import decimals_of, format_estimates, number
from dialogauge.evaluation.floors import EXCHANGES, SPLITS, SWAPS
from dialogauge.evaluation.forms import Citation, ScoreForms, cite, corpus_record, find
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.sample import Sample
from dialogauge.tables import Cell, Header, Table
from dialogauge.tables.forest import ForestPanel, ForestRow

if TYPE_CHECKING:
    import pandas as pd

    from dialogauge.endpoint.endpoints import Endpoints
    from dialogauge.evaluation.answer import Answer
    from dialogauge.evaluation.comparison import Comparison
    from dialogauge.evaluation.kept.saved import KeptTexts
    from dialogauge.evaluation.kept.texts import RunTexts
    from dialogauge.evaluation.replies import Order, RankedReplies

ABOUT = {
    "expected": "",
    "another_sample": ", which is what another sample of this size would score",
    "population": ", for the distance of the populations",
}
SPLIT = f"the mean over {SPLITS} draws in which the real side is split in two, brought to the sizes at hand"
FLOORS = {
    "swaps": f"the mean over {SWAPS} draws in which response and reference change places in {{unit}} chosen by chance; "
    "p: the share of them as bad as the score",
    "splits": f"{SPLIT}; p: the share of {EXCHANGES} draws as bad as the score in which {{unit}} of both sides are "
    "dealt out anew",
    "exchanges": f"the mean over {EXCHANGES} draws in which {{unit}} of both sides are dealt out anew; "
    "p: the share of them as bad as the score",
    "splits alone": f"{SPLIT}; p: the share of them as bad as the score",
}
DIRECTION = {True: "higher is better ↑", False: "lower is better ↓", None: "neither more nor less is better"}
BETTER: dict[bool | None, Literal["higher", "lower", ""]] = {True: "higher", False: "lower", None: ""}

SCHEMA = "dialogauge.scores/1"


@dataclass(frozen=True)
class Score:
    """One system's value of one metric. None where it is undefined."""

    system: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    higher_is_better: bool | None
    signature: str
    interval: str | None
    """How low and high were found: "bootstrap" or "jackknife"."""
    interval_of: str | None
    """What they are about: "expected" scores of samples of this size, "another_sample" of it, or the "population"."""
    units: int
    """How many independent dialogues, contexts or turns stand behind the value."""
    floor: float | None = None
    """What a distance would be if real and generated were exchangeable; None for metrics that are no distances."""
    p: float | None = None
    """The share of exchanges, the score itself included, that are as bad as the score."""
    needed: float | None = None
    """The score from which on real and generated would be called different."""
    floor_from: str | None = None
    """How the floor was found: by "swaps" of response and reference, or by "splits" of the real conversations ("splits
    alone" where p comes from them too)."""
    other_language: bool = False
    """Whether many of the texts are in languages that the metric was not made for. Then no system is marked best."""


@dataclass(frozen=True, repr=False)
class Result(ScoreForms):
    """What `evaluate` gives. `columns` are the metrics that a table shows; `scores` also holds their parts.

    Printed, it is a table with what the reader must know below; a notebook shows the same.

    Examples:
        >>> import dialogauge
        >>> result = dialogauge.evaluate("examples/everyday.jsonl", "length,distinct.1")
        >>> result
        <Result: 3 systems, 2 metrics, 192 turns>
        >>> result.score("good", "length").n
        64
        >>> list(result.to_frame())[:5]  # one row for each score
        ['system', 'metric', 'value', 'low', 'high']
        >>> result.turns_to_frame().shape  # one row for each turn and metric with a value of single turns
        (192, 4)
    """

    scores: list[Score]
    columns: list[str]
    systems: dict[str, int]
    """Turns per system."""
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]
    settings: Settings
    unit: str
    """What was resampled: dialogues, contexts or turns."""
    samples: list[Sample]
    """What the metrics noted, turn by turn."""
    compat: str | None = None
    answer: Answer | None = None
    """Which of several systems is ahead; where the default set was measured."""
    texts: RunTexts | KeptTexts | None = None
    """The turns that were scored, in the order of the corpus; None for a stream past 200,000 turns, unless it was
    evaluated with `keep_texts`."""
    endpoints: Endpoints | None = field(default=None, compare=False)
    """Those that metrics asked, with their answers."""

    def score(self, system: str, metric: str) -> Score:
        """The score of one system under one metric; an `InputError` suggests names where there is none."""
        return find(self.scores, system=system, metric=metric)

    def to_records(self) -> list[dict[str, Any]]:
        """One per system and metric, parts included."""
        return [asdict(score) for score in self.scores]

    def turns_to_frame(self) -> pd.DataFrame:
        """One row per turn and metric that has per-turn values: id, system, metric, value."""
        import pandas as pd

        parts = [
            pd.DataFrame({"id": ids, "system": s.system, "metric": s.label, "value": values})
            for s in self.samples
            for ids, values in [s.turn_values()]
            if values is not None
        ]
        return (
            pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["id", "system", "metric", "value"])
        )

    def to_dict(self) -> dict[str, Any]:
        """What `--format json` prints."""
        return {
            "schema": SCHEMA,
            "corpus": corpus_record(self.systems, self.files),
            "settings": {**asdict(self.settings), "unit": self.unit},
            **({"answer": self.answer.to_dict()} if self.answer else {}),
            "scores": self.to_records(),
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }

    def citation(self) -> Citation:
        """How the scores were computed, in words for a paper, with BibTeX."""
        return cite("Scores", column_signatures(self), [intervals_in_words(self)])

    def to_table(self, digits: int | None = None) -> tables.Table:
        return score_table(self, digits)

    def forest_panels(self) -> list[ForestPanel]:
        return score_panels(self)

    def save(
        self,
        directory: str | Path,
        *,
        overwrite: bool = False,
        command: list[str] | None = None,
        ranked: Mapping[Order, Sequence[RankedReplies]] | None = None,
        texts: bool = True,
    ) -> Path:
        """Writes scores.json, turns.parquet (a value per turn and metric) and run.json, the turns' texts as
        texts.parquet (unless `texts` is false, or they are not at hand: `Result.texts`), and `ranked` replies as
        worst.jsonl and best.jsonl; and what endpoints answered as answers.jsonl. The directory is either whole or
        absent."""
        from dialogauge.evaluation.kept.save import save_result

        kept = self.texts if texts else None
        return save_result(self, Path(directory), overwrite=overwrite, command=command, ranked=ranked or {}, texts=kept)

    def log_to(self, tracker: Literal["mlflow", "wandb"], *, step: int | None = None) -> None:
        """Writes the scores to the open run of MLflow or of Weights & Biases: `SYSTEM/METRIC`, `.low` and `.high` as
        metrics (those that are undefined are left out), signatures and settings as tags or configuration, and the whole
        beside them (`dialogauge/scores`). `step` is that of a training whose systems are scored again and again."""
        from dialogauge.evaluation.log_to import log_result

        log_result(self, tracker, step)


def score_table(result: Result, digits: int | None = None) -> Table:
    headers = [Header("system", align="left"), Header("turns")]
    columns = []
    for metric in result.columns:
        scores = [result.score(system, metric) for system in result.systems]
        headers.append(Header(metric, BETTER[scores[0].higher_is_better]))
        columns.append(_cells(scores, result.systems, decimals_of_scores(scores) if digits is None else digits))
    names = [[Cell(system), Cell(str(turns))] for system, turns in result.systems.items()]
    rows = [[*name, *cells] for name, *cells in zip(names, *columns, strict=True)]
    return Table(headers, rows, _notes(result), "scores")


def score_panels(result: Result | Comparison) -> list[ForestPanel]:
    """One for each metric that a table shows, with a row for each system."""
    by_name = {(score.system, score.metric): score for score in result.scores}
    panels = []
    for metric in result.columns:
        scores = [by_name[system, metric] for system in result.systems]
        rows = _forest_rows(scores, result.systems)
        key = [f"line: {100 * result.settings.confidence:.4g}% interval over {result.unit}"]
        key += ["diamond: the best score"] if any(row.best for row in rows) else []
        key += ["orange: the floor, what chance alone gives"] if any(row.floor is not None for row in rows) else []
        panels.append(ForestPanel(metric, DIRECTION[scores[0].higher_is_better], rows, key=tuple(key)))
    return panels


def _forest_rows(scores: list[Score], systems: dict[str, int]) -> list[ForestRow]:
    best, decimals = best_value(scores), decimals_of_scores(scores)
    texts = format_estimates([(score.value, score.low, score.high) for score in scores], decimals)
    return [
        ForestRow(
            name=score.system,
            value=score.value,
            low=score.low,
            high=score.high,
            shown=shown,
            said=f"{score.system}: {shown} {_aside(score, interval, systems[score.system], decimals)}".strip(),
            best=best is not None and score.value == best,
            floor=score.floor,
        )
        for score, (shown, interval) in zip(scores, texts, strict=True)
    ]


def decimals_of_scores(scores: Sequence[Score]) -> int:
    """Of one metric, in every table that has them or their differences."""
    return decimals_of([(score.value, score.low, score.high) for score in scores])


def short_p(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}" if p < 0.01 else f"{p:.2f}"


def best_value(scores: Sequence[Score]) -> float | None:
    """The best by the metric's direction; None where there is no direction or nothing to choose from, or the metric was
    made for other languages."""
    values = [score.value for score in scores if score.value is not None]
    if len(values) < 2 or scores[0].higher_is_better is None or any(score.other_language for score in scores):
        return None
    return max(values) if scores[0].higher_is_better else min(values)


def interval_notes(result: Result | Comparison) -> list[str]:
    """One for each way in which intervals were found."""
    return [
        f"[low, high]: {100 * result.settings.confidence:.4g}% interval of {', '.join(names)}{ABOUT[about]}: "
        f"{resampling(result, method)}, seed {result.settings.seed}"
        for method in ("bootstrap", "jackknife")
        for about in ABOUT
        if (names := [name for name in result.columns if any(_made_by(s, name, method, about) for s in result.scores)])
    ]


def resampling(result: Result | Comparison, method: str) -> str:
    """How the intervals of one method were found."""
    how = f" ({result.settings.resamples} resamples)" if method == "bootstrap" else ""
    return f"{method} over {result.unit}{how}"


def intervals_in_words(result: Result | Comparison) -> list[str]:
    """The same for a paper, in one sentence; nothing where no score has an interval."""
    found = []
    for method in ("bootstrap", "jackknife"):
        made = {score.metric for score in result.scores if score.interval == method}
        if names := [name for name in result.columns if name in made]:
            found.append(f"the {resampling(result, method)} for {', '.join(names)}")
    level = f"{100 * result.settings.confidence:.4g}%"
    return [f"The {level} intervals come from {' and '.join(found)}; seed {result.settings.seed}."] if found else []


def column_signatures(result: Result | Comparison) -> dict[str, str]:
    """The signature of each metric that a table shows."""
    by_metric = {score.metric: score.signature for score in result.scores}
    return {metric: by_metric[metric] for metric in result.columns}


def _cells(scores: list[Score], systems: dict[str, int], decimals: int) -> list[Cell]:
    best = best_value(scores)
    texts = format_estimates([(score.value, score.low, score.high) for score in scores], decimals)
    return [
        Cell(value, _aside(score, interval, turns, decimals), best is not None and score.value == best)
        for score, turns, (value, interval) in zip(scores, systems.values(), texts, strict=True)
    ]


def _aside(score: Score, interval: str, turns: int, decimals: int) -> str:
    """The interval; the floor with its p-value; and, where some turns were left out, the number of those that count."""
    floor = (
        "" if score.floor is None or score.p is None else f"floor {number(score.floor, decimals)} p={short_p(score.p)}"
    )
    left_out = "" if score.n == turns else f"n={score.n}"
    return " ".join(filter(None, (interval, floor, left_out)))


def _notes(result: Result) -> list[str]:
    by_metric = {score.metric: score for score in result.scores}
    shown = [by_metric[metric] for metric in result.columns]
    notes = interval_notes(result)
    notes += [
        f"floor of {', '.join(names)}: {FLOORS[way].format(unit=result.unit)}"
        for way in FLOORS
        if (names := [score.metric for score in shown if score.floor_from == way])
    ]
    if len(result.systems) > 1 and any(score.higher_is_better is not None for score in shown):
        notes.append("marked: the best value of its column; where intervals overlap, which system is better stays open")
    signatures = dict.fromkeys(score.signature for score in shown)
    return [*notes, *(f"signature: {signature}" for signature in signatures)]


def _made_by(score: Score, metric: str, method: str, about: str) -> bool:
    return (score.metric, score.interval, score.interval_of) == (metric, method, about)
