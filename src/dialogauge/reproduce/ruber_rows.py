"""A row of the BERT-RUBER paper's tables: how far the scores of one network per seed agree with people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import Any

from dialogauge.evaluation.digits import defined
from dialogauge.reproduce.ruber_published import PaperRow
from dialogauge.stats.arrays import Floats
from dialogauge.stats.correlations import pearson, spearman, uncentred_correlation

COEFFICIENTS = ("pearson", "spearman", "cosine")
TESTED = ("pearson", "spearman")


@dataclass(frozen=True)
class Agreed:
    """Scores against mean ratings, signed; None where a coefficient is undefined. The p are SciPy's."""

    pearson: float | None
    pearson_p: float | None
    spearman: float | None
    spearman_p: float | None
    cosine: float | None
    n: int
    """Turns."""


def agree(scores: Floats, ratings: Floats) -> Agreed:
    from scipy.stats import pearsonr, spearmanr

    r, rho = defined(pearson(scores, ratings)), defined(spearman(scores, ratings))
    enough = len(scores) > 2  # of two points there is no p
    return Agreed(
        pearson=r,
        pearson_p=None if r is None or not enough else defined(pearsonr(scores, ratings).pvalue),
        spearman=rho,
        spearman_p=None if rho is None or not enough else defined(spearmanr(scores, ratings).pvalue),
        cosine=defined(uncentred_correlation(scores, ratings)),
        n=len(scores),
    )


@dataclass(frozen=True)
class SeedRun:
    """What one network came to; scores that stand in the file have neither seed nor accuracy."""

    agreed: Agreed
    seed: int | None = None
    ranking_accuracy: float | None = None
    """Of validation pairs."""
    model: str | None = None
    """The network's directory."""
    seconds: float | None = None

    def record(self) -> dict[str, Any]:
        rest = {name: value for name, value in vars(self).items() if name not in ("agreed", "seed")}
        return {"seed": self.seed, **asdict(self.agreed), **rest}


@dataclass(frozen=True)
class RuberRow:
    paper: PaperRow
    runs: list[SeedRun]
    column: str | None = None
    """Where the scores are the authors' own, the file's column that holds them."""

    def values(self, name: str) -> list[float | None]:
        """Of each seed."""
        return [getattr(run.agreed, name) for run in self.runs]

    def mean(self, name: str) -> float | None:
        """Over seeds; None where it is undefined for one of them."""
        return _all(self.values(name), fmean)

    def deviation(self, name: str) -> float | None:
        """The standard deviation over seeds; None of one seed."""
        return _all(self.values(name), stdev) if len(self.runs) > 1 else None

    def p(self, name: str) -> float | None:
        """The largest over the seeds."""
        return _all(self.values(f"{name}_p"), max)

    @property
    def accuracy(self) -> float | None:
        return _all([run.ranking_accuracy for run in self.runs], fmean)

    def record(self) -> dict[str, Any]:
        """In one line; the seeds apart."""
        variant, published = self.paper.variant, self.paper.published
        found: dict[str, Any] = {**asdict(variant), "blend": self.paper.blend, "authors_scores": self.column}
        for name in COEFFICIENTS:
            found |= {f"{name}_published": getattr(published, name), name: self.mean(name)}
            found[f"{name}_sd"] = self.deviation(name)
            if name in TESTED:
                found[f"{name}_p"] = self.p(name)
        return {**found, "ranking_accuracy": self.accuracy, "n": self.runs[0].agreed.n}


def _all(values: Sequence[float | None], summary: Any) -> float | None:
    known = [value for value in values if value is not None]
    return float(summary(known)) if known and len(known) == len(values) else None
