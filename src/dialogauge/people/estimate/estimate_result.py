"""What people would say: the estimate of every system and of every two, and the tables of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import Caveat
from dialogauge.evaluation.digits import fixed, format_estimates
from dialogauge.evaluation.forms import Citation, MetricForms, cite, corpus_record, find
from dialogauge.evaluation.options import Settings
from dialogauge.people.estimate.interval import FEW, Method
from dialogauge.tables import Cell, Header, Table, printable, wrapped
from dialogauge.tables.forest import ForestPanel, ForestRow

SCHEMA = "dialogauge.estimate/1"
Form = Literal["rating", "preference"]
"""What people gave: a number for a reply, or a choice between two."""
COLUMN = {"rating": "people would say", "preference": "win rate"}
BETWEEN = {"rating": "difference", "preference": "first preferred"}


@dataclass(frozen=True)
class SystemEstimate:
    """What people would say of one system on all its turns: the mean rating, or how often it is preferred to another
    system (a tie counts half), mean over the others. None where a number is undefined."""

    dimension: str
    form: Form
    system: str
    value: float
    low: float | None
    high: float | None
    error: float | None
    """The standard error."""
    classical: float
    """From the ratings alone, like its interval."""
    classical_low: float | None
    classical_high: float | None
    worth: float | None
    """As many times the ratings would be needed without the metric."""
    slope: float
    """By how much the rating was taken to rise with the metric (with several, with what they predict); 0 where the
    metric was left out."""
    rated: int
    turns: int
    """Of pairs, the contexts that both systems answered, over all pairs."""
    units: int
    """Rated dialogues or contexts."""
    method: Method
    strength: float | None = None
    """Of preferences: the logarithm of the strength in Bradley and Terry's model, from the ratings alone; mean 0."""


@dataclass(frozen=True)
class PairEstimate:
    """The mean rating of the first system less that of the second, or how often people prefer the first, a tie as
    half."""

    dimension: str
    form: Form
    first: str
    second: str
    value: float
    low: float | None
    high: float | None
    p: float | None
    """Two-sided, that people like both as much."""
    p_holm: float | None
    """After Holm's correction over all pairs of the dimension."""
    better: str | None
    """The system that is shown to be better; None where neither is."""
    classical: float
    classical_low: float | None
    classical_high: float | None
    worth: float | None
    units: int
    method: Method


@dataclass(frozen=True)
class MetricWorth:
    """As many times the ratings would be needed without the metric: the geometric mean over systems (of preferences,
    over pairs of systems). 1 where it was left out."""

    dimension: str
    form: Form
    metric: str
    worth: float | None


@dataclass(frozen=True, repr=False)
class PeopleEstimate(MetricForms):
    """What `estimate` gives."""

    by_system: list[SystemEstimate]
    pairs: list[PairEstimate]
    worths: list[MetricWorth]
    metrics: list[str]
    signatures: dict[str, str]
    systems: dict[str, int]
    """Turns per system."""
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]
    settings: Settings
    unit: str
    """What may depend on each other: turns of one dialogue, or answers to one context."""
    level: str
    these_turns: bool
    anytime: int | None

    def system(self, name: str, dimension: str | None = None) -> SystemEstimate:
        """The first that fits."""
        return find(self.by_system, system=name, **({} if dimension is None else {"dimension": dimension}))

    def pair(self, first: str, second: str, dimension: str | None = None) -> PairEstimate:
        """The first that fits."""
        return find(self.pairs, first=first, second=second, **({} if dimension is None else {"dimension": dimension}))

    def names(self) -> list[str]:
        return list(dict.fromkeys([*self.metrics, *self.systems]))

    def contents(self) -> str:
        return f"{len(self.systems)} systems, {len(self.by_system)} estimates"

    def sentences(self, digits: int | None = None) -> list[str]:
        """Which system people would prefer and how sure that is, then what the metric was worth: two for each
        dimension."""
        from dialogauge.people.estimate.sentences import sentences

        return sentences(self, digits)

    def to_records(self) -> list[dict[str, Any]]:
        """One per system; the pairs are in `to_dict`."""
        return [asdict(row) for row in self.by_system] or [asdict(row) for row in self.pairs]

    def to_dict(self) -> dict[str, Any]:
        """What `--format json` prints."""
        return {
            "schema": SCHEMA,
            "corpus": corpus_record(self.systems, self.files),
            "settings": {
                **asdict(self.settings),
                "unit": self.unit,
                "level": self.level,
                "these_turns": self.these_turns,
                "anytime": self.anytime,
            },
            "answer": self.sentences(),
            "systems": [asdict(row) for row in self.by_system],
            "pairs": [asdict(row) for row in self.pairs],
            "worth": [asdict(row) for row in self.worths],
            "signatures": self.signatures,
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }

    def render(self, form: str, *, width: int | None = None, **how: Any) -> str:
        """As every result; a table has the sentences above it."""
        text = super().render(form, width=width, **how)
        if form != "table":
            return text
        said = self.renamed(how.get("names") or {}).sentences(how.get("digits"))
        lines = [line for sentence in said for line in wrapped(printable(sentence), width)]
        return "\n".join([*lines, "", text] if lines else [text])

    def all_tables(self, digits: int | None = None) -> list[Table]:
        tables = [self.to_table(digits)] if self.by_system else []
        tables += [self._pairs_table(digits)] if self.pairs else []
        return tables + ([self._worth_table()] if len(self.metrics) > 1 else [])

    def to_table(self, digits: int | None = None) -> Table:
        forms = list(dict.fromkeys(row.form for row in self.by_system))
        dimensions = list(dict.fromkeys((row.dimension, row.form) for row in self.by_system))
        headers = [Header("dimension", align="left")] if len(dimensions) > 1 else []
        value = COLUMN[forms[0]] if len(forms) == 1 else "people would say, or win rate"
        if len(dimensions) == 1:
            value = f"{value} ({dimensions[0][0]})"
        headers += [Header("system", align="left"), Header(value, better="higher"), Header("ratings alone", spare=True)]
        headers += [Header("worth"), Header("rated"), Header("turns", spare=True)]
        rows = []
        for scope in dimensions:
            mine = [row for row in self.by_system if (row.dimension, row.form) == scope]
            texts = format_estimates([(row.value, row.low, row.high) for row in mine], digits)
            alone = format_estimates([(row.classical, row.classical_low, row.classical_high) for row in mine], digits)
            best = max(row.value for row in mine)
            for row, text, other in zip(mine, texts, alone, strict=True):
                cells = [Cell(f"{row.dimension} (pairs)" if row.form == "preference" else row.dimension)]
                cells = cells if len(dimensions) > 1 else []
                cells += [Cell(row.system), Cell(*text, best=row.value == best and len(mine) > 1), Cell(*other)]
                rows.append([*cells, Cell(times(row.worth)), Cell(str(row.rated)), Cell(str(row.turns))])
        return Table(headers, rows, self._notes(), "estimate")

    def _pairs_table(self, digits: int | None) -> Table:
        dimensions = list(dict.fromkeys((row.dimension, row.form) for row in self.pairs))
        forms = list(dict.fromkeys(row.form for row in self.pairs))
        value = " or ".join(BETWEEN[form] for form in forms)
        headers = [Header("dimension", align="left")] if len(dimensions) > 1 else []
        headers += [Header("first", align="left"), Header("second", align="left"), Header(value)]
        headers += [Header("ratings alone", spare=True), Header("p (Holm)"), Header("better", align="left")]
        rows = []
        for scope in dimensions:
            mine = [row for row in self.pairs if (row.dimension, row.form) == scope]
            texts = format_estimates([(row.value, row.low, row.high) for row in mine], digits)
            alone = format_estimates([(row.classical, row.classical_low, row.classical_high) for row in mine], digits)
            for row, text, other in zip(mine, texts, alone, strict=True):
                cells = [Cell(row.dimension)] if len(dimensions) > 1 else []
                cells += [Cell(row.first), Cell(row.second), Cell(*text), Cell(*other)]
                rows.append([*cells, Cell(p_text(row.p_holm)), Cell(row.better or "")])
        notes = [] if self.by_system else self._notes()
        tested = (
            f"p: that people like both as much, two-sided, after Holm's correction over the {counted_pairs(self.pairs)}"
        )
        return Table(headers, rows, [tested, *notes], "estimate-pairs")

    def _worth_table(self) -> Table:
        dimensions = list(dict.fromkeys((row.dimension, row.form) for row in self.worths))
        headers = [Header("dimension", align="left")] if len(dimensions) > 1 else []
        headers += [Header("metric", align="left"), Header("worth", better="higher")]
        rows = [
            [*([Cell(row.dimension)] if len(dimensions) > 1 else []), Cell(row.metric), Cell(times(row.worth))]
            for row in self.worths
        ]
        return Table(headers, rows, ["worth of each metric by itself, and of what they predict together"], "worth")

    def forest_panels(self) -> list[ForestPanel]:
        panels = []
        for scope in dict.fromkeys((row.dimension, row.form) for row in self.by_system):
            mine = [row for row in self.by_system if (row.dimension, row.form) == scope]
            texts = format_estimates([(row.value, row.low, row.high) for row in mine])
            rows = [
                ForestRow(row.system, row.value, row.low, row.high, text[0], f"{row.system}: {' '.join(text).strip()}")
                for row, text in zip(mine, texts, strict=True)
            ]
            panels.append(ForestPanel(f"{scope[0]}: {COLUMN[scope[1]]}", "higher is better", rows))
        return panels

    def citation(self) -> Citation:
        """What to write and cite of it."""
        inference = ("angelopoulos2023prediction", "angelopoulos2023ppi")
        said: list[list[str | tuple[str, ...]]] = [
            [f"Estimates and intervals are those of prediction-powered inference over {self.unit}", inference, "."]
        ]
        if any(row.form == "preference" for row in self.by_system):
            said.append(
                ["Win rates are those of Davidson's model of comparisons with ties", ("davidson1970extending",), "."]
            )
        return cite("What people would say", self.signatures, said)

    def _notes(self) -> list[str]:
        confidence = f"{100 * self.settings.confidence:.4g}% interval"
        methods = {row.method for row in self.by_system} | {row.method for row in self.pairs}
        about = "of these turns alone" if self.these_turns else f"of {self.unit} such as these"
        made = f"prediction-powered inference over {self.unit}, from {' and '.join(self.metrics)}"
        if "anytime" in methods:
            made += f"; holds at every look, planned for {self.anytime} {self.unit}"
        elif "bootstrap" in methods:
            made += f"; with fewer than {FEW} rated {self.unit} by bootstrap ({self.settings.resamples} resamples)"
        notes = [f"[low, high]: {confidence} {about}: {made}; seed {self.settings.seed}"]
        notes.append("ratings alone: the classical estimate and interval")
        notes.append("worth: as good as so many times as many ratings without the metric")
        if any(row.form == "preference" for row in self.by_system):
            notes.append("win rate: against each other system, mean (Bradley-Terry with ties); a tie is half a win")
        return [*notes, *(f"signature: {signature}" for signature in dict.fromkeys(self.signatures.values()))]


def times(worth: float | None) -> str:
    return "" if worth is None else f"×{fixed(worth, 2)}"


def p_text(p: float | None) -> str:
    return "" if p is None else "< 0.001" if p < 0.001 else fixed(p, 3)


def counted_pairs(pairs: Sequence[PairEstimate]) -> str:
    most = max(sum((other.dimension, other.form) == (row.dimension, row.form) for other in pairs) for row in pairs)
    return f"{most} pairs" if most > 1 else "1 pair"
