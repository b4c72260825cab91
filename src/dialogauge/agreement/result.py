"""How well metrics agree with people, and the forms this can take."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge import tables
from dialogauge.agreement.points import Level, Points, RatedTurns, Scope
from dialogauge.agreement.table import DECIMALS, agreement_panel, agreement_table
from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import Caveat
from dialogauge.evaluation.forms import Citation, CitationKeys, MetricForms, cite, find
from dialogauge.evaluation.options import Settings
from dialogauge.tables.forest import ForestPanel

if TYPE_CHECKING:
    from dialogauge.endpoint.endpoints import Endpoints

SCHEMA = "dialogauge.agreement/1"
MEAN = "mean"
"""The corpus of rows that average over corpora."""


@dataclass(frozen=True)
class Scoped:
    """Something that belongs to a scope."""

    corpus: str
    dimension: str
    level: Level
    system: str | None
    """The one system whose turns these are; None for all of them."""

    @property
    def scope(self) -> Scope:
        return Scope(self.corpus, self.dimension, self.level, self.system)


@dataclass(frozen=True)
class AgreementRow(Scoped):
    """One metric's agreement with people. Correlations are oriented: more is better agreement, and less than 0 says
    that the metric points the wrong way. None where a number is undefined."""

    metric: str
    n: int
    """Turns, dialogues or systems; of a mean, corpora."""
    pearson: float | None
    pearson_low: float | None
    pearson_high: float | None
    pearson_p: float | None
    spearman: float | None
    spearman_low: float | None
    spearman_high: float | None
    spearman_p: float | None
    kendall: float | None
    kendall_low: float | None
    kendall_high: float | None
    kendall_p: float | None
    cosine: float | None
    """None where lower is better: it has no meaning for numbers that were turned round."""
    pairwise_accuracy: float | None
    pearson_top: bool
    """Whether no other metric is better by Pearson's correlation, as far as a corrected test can tell."""
    spearman_top: bool
    higher_is_better: bool | None
    signature: str


@dataclass(frozen=True)
class Ceiling(Scoped):
    """How well people agree with each other: what can be asked of a metric. None where a number is undefined."""

    n: int
    """Turns with two ratings or more."""
    fewest_raters: int
    most_raters: int
    alpha: float | None
    """Krippendorff's, for intervals; of the turns, whatever the level."""
    split_half: float | None
    """Reliability of the mean rating: half the raters against the other half, after Spearman and Brown."""
    pearson: float | None
    """One rater with the mean of the others."""
    spearman: float | None

    @property
    def reachable(self) -> float | None:
        """What a metric would reach that knew what people think on average: mean ratings are noisy, too. The root of
        their reliability (Spearman 1904, on attenuation)."""
        return None if self.split_half is None or self.split_half < 0 else sqrt(self.split_half)


@dataclass(frozen=True)
class Contrast(Scoped):
    """Two metrics by one coefficient. The difference is the first's correlation minus the second's."""

    coefficient: str
    """"pearson" or "spearman"."""
    first: str
    second: str
    difference: float | None
    low: float | None
    high: float | None
    williams_t: float | None
    williams_p: float | None
    p: float | None
    """Of the permutation test."""
    p_sys: float | None
    """At system level, of PERM-SYS: whether the difference is one of systems in general. PERM-BOTH is about these."""
    p_holm: float | None
    """After Holm's correction over all pairs of metrics; at system level of the larger of the two."""
    test: str | None
    """PERM-BOTH, or PERM-SYS where a metric's score of a system is no mean over turns."""
    better: str | None
    """The metric that agrees better, where the corrected test says so."""
    needed: int | None
    """How many turns, dialogues or systems would show a difference of this size (80 % power at 5 %)."""


@dataclass(frozen=True, repr=False)
class Agreement(MetricForms):
    """What `correlate` gives.

    Examples:
        >>> import dialogauge
        >>> agreement = dialogauge.correlate({"mine": "examples/rated.jsonl"}, "length")
        >>> agreement.row("length", level="system").n
        4
        >>> round(agreement.ceilings[0].alpha, 2)  # how well people agree with each other
        0.91
    """

    rows: list[AgreementRow]
    ceilings: list[Ceiling]
    """For every scope where single ratings are known."""
    contrasts: list[Contrast]
    points: list[Points]
    """What was correlated, for figures: for every scope, means over corpora aside."""
    metrics: list[str]
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]
    settings: Settings
    unit: str
    """What was resampled: dialogues, contexts or turns."""
    rated: list[RatedTurns] = field(default_factory=list)
    """For each corpus every rated turn, with people's ratings and the values of metrics."""
    endpoints: list[Endpoints] = field(default_factory=list, compare=False)
    """Those that metrics asked, with their answers."""

    def row(self, metric: str, **scope: str | None) -> AgreementRow:
        """The first row of this metric whose scope has these values: `row("bleu", corpus="mine", level="turn")`."""
        return find(self.rows, metric=metric, **scope)

    def ceiling(self, scope: Scope) -> Ceiling | None:
        return next((ceiling for ceiling in self.ceilings if ceiling.scope == scope), None)

    @property
    def scopes(self) -> list[Scope]:
        """In the order of the table: each corpus's, then means over corpora."""
        return list(dict.fromkeys(row.scope for row in self.rows))

    def contents(self) -> str:
        corpora = {points.scope.corpus for points in self.points}
        return ", ".join(
            [
                tables.counted(len(self.metrics), "metric"),
                tables.counted(len(corpora), "corpus", "corpora"),
                tables.counted(len(self.rows), "row"),
            ]
        )

    def names(self) -> list[str]:
        systems = [system for points in self.points for system in points.systems]
        return list(dict.fromkeys([*self.metrics, *systems]))

    def to_records(self) -> list[dict[str, Any]]:
        """One per row."""
        return [asdict(row) for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """What `--format json` prints."""
        return {
            "schema": SCHEMA,
            "files": [asdict(file) for file in self.files],
            "settings": {**asdict(self.settings), "unit": self.unit},
            "rows": self.to_records(),
            "ceilings": [{**asdict(ceiling), "reachable": ceiling.reachable} for ceiling in self.ceilings],
            "contrasts": [asdict(contrast) for contrast in self.contrasts],
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }

    def citation(self) -> Citation:
        """How the correlations were computed, in words for a paper, with BibTeX."""
        settings = self.settings
        intervals = (
            f"Their {100 * settings.confidence:.4g}% intervals come from the bootstrap over {self.unit}"
            f" ({settings.resamples} resamples), p-values from permutations of the ratings; seed {settings.seed}."
        )
        tests: list[str | CitationKeys] = ["Metrics were compared by permutation tests", ("deutsch2021statistical",)]
        tests += [" with Holm's correction", ("holm1979simple",), "."]
        signatures = {row.metric: row.signature for row in self.rows}
        return cite("Correlations with human ratings", signatures, [[intervals], tests if self.contrasts else []])

    def to_table(self, digits: int | None = None) -> tables.Table:
        return agreement_table(self, DECIMALS if digits is None else digits)

    def forest_panels(self) -> list[ForestPanel]:
        """Spearman's correlations, one panel for each scope of all systems."""
        return [agreement_panel(self, scope) for scope in self.scopes if scope.system is None]

    def save(
        self, directory: str | Path, *, overwrite: bool = False, command: list[str] | None = None, texts: bool = True
    ) -> Path:
        """Writes agreement.json, turns.parquet (each rated turn's ratings, and its value by each metric), run.json and,
        unless `texts` is false, the rated turns as texts.parquet; the directory is either whole or absent."""
        from dialogauge.agreement.save import save_agreement

        return save_agreement(self, Path(directory), overwrite=overwrite, command=command, texts=texts)
