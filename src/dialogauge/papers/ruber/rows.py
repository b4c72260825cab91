"""The numbers of the BERT-RUBER paper (Ghazarian et al. 2019) in `published.toml`, and ours of the same networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from statistics import fmean, stdev
from typing import Any

from dialogauge.evaluation.digits import defined
from dialogauge.learned.ruber.inputs import Sentence
from dialogauge.learned.ruber.recipe import Loss
from dialogauge.metrics.learned.ruber import Blend
from dialogauge.papers.side_by_side import Published, read_published
from dialogauge.stats.arrays import Floats
from dialogauge.stats.correlations import pearson, spearman, uncentred_correlation

WORD2VEC, BERT = "word2vec", "bert"
"""The paper's embeddings."""


@dataclass(frozen=True)
class Variant:
    """A network by what the paper varies; its name is `<embedding>/<sentence>/<loss>`."""

    embedding: str
    sentence: Sentence
    loss: Loss

    @property
    def name(self) -> str:
        return f"{self.embedding}/{self.sentence}/{self.loss}"


@dataclass(frozen=True)
class Coefficients:
    """Of scores with mean ratings, signed."""

    pearson: float
    spearman: float
    cosine: float


@dataclass(frozen=True)
class PaperRow:
    variant: Variant
    blend: Blend | None
    """With the referenced metric; None for the unreferenced metric alone."""
    published: Coefficients


@cache
def ruber_table3() -> Published[PaperRow]:
    """Unreferenced metrics. `about["scores"]` has the columns of the rated file that hold the authors' own scores, with
    the row they belong to."""
    return read_published(__file__, "table3", _row)


@cache
def ruber_table4() -> Published[PaperRow]:
    """Blends of unreferenced and referenced metrics."""
    return read_published(__file__, "table4", _row)


def _row(name: str, numbers: dict[str, float]) -> PaperRow:
    embedding, sentence, loss, *blend = name.split("/")
    variant = Variant(embedding, sentence, loss)  # type: ignore[arg-type]
    return PaperRow(variant, blend[0] if blend else None, Coefficients(**numbers))  # type: ignore[arg-type]


COEFFICIENTS = {"pearson": "Pearson", "spearman": "Spearman", "cosine": "cosine"}
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
