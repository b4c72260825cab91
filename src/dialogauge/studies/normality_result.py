"""What the tests for normality found of each set of vectors, and the table of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import Caveat
from dialogauge.evaluation.digits import UNDEFINED, defined, fixed
from dialogauge.evaluation.forms import MetricForms, corpus_record, find
from dialogauge.stats.arrays import Floats
from dialogauge.stats.gaussian_tests import LEVEL, SAMPLES, DimensionTests, along_directions, each_dimension
from dialogauge.tables import Cell, Header, Table

SCHEMA = "dialogauge.normality/1"
VectorsKind = Literal["references", "real", "system"]
HIDDEN = {"record": False}


@dataclass(frozen=True, eq=False)
class Example:
    """One dimension as the figure shows it. Its values have mean 0 and standard deviation 1."""

    dimension: int
    w: float
    p: float
    values: Floats


@dataclass(frozen=True)
class NormalityRow:
    """Means and standard deviations go over the dimensions that vary, all there are: the divisor is their number.
    None where there is nothing to test."""

    name: str
    kind: VectorsKind
    n: int
    """Vectors tested."""
    available: int
    """Vectors there are; more than `n` where only a draw is tested."""
    dimensions: int
    constant: int
    """Dimensions that do not vary, and all of them with fewer than 3 vectors."""
    w_mean: float | None
    w_sd: float | None
    p_mean: float | None
    p_sd: float | None
    rejected: float | None
    """The share of the dimensions that vary with p < 0.05."""
    rejected_holm: int | None
    """The number of dimensions with p < 0.05 after Holm's correction over all that vary."""
    directions: int
    """How many random directions there are; none where there is nothing to test."""
    directions_w: float | None
    """The mean of W along them."""
    directions_p: float | None
    """Of all dimensions together: below 0.05, the vectors are not Gaussian."""
    least: int | None
    """The dimension, counted from 0, with the smallest W."""
    typical: int | None
    """That with the median W."""
    most: int | None
    """That with the largest W."""
    tests: DimensionTests = field(repr=False, compare=False, metadata=HIDDEN)
    examples: tuple[Example, ...] = field(repr=False, compare=False, metadata=HIDDEN)
    """The least normal, a typical and the most normal dimension; none where there is nothing to test."""

    @classmethod
    def from_vectors(
        cls, name: str, kind: VectorsKind, vectors: NDArray[Any], available: int, seed: int
    ) -> NormalityRow:
        tests, together = each_dimension(vectors), along_directions(vectors, seed)
        order = tests.by_w
        chosen = order[[0, (len(order) - 1) // 2, -1]] if len(order) else order
        w, p = (values[order] for values in (tests.w, tests.p))
        known = len(order) > 0
        least, typical, most = chosen.tolist() if known else (None, None, None)
        return cls(
            name=name,
            kind=kind,
            n=len(vectors),
            available=available,
            dimensions=vectors.shape[1],
            constant=vectors.shape[1] - len(order),
            w_mean=float(w.mean()) if known else None,
            w_sd=float(w.std()) if known else None,
            p_mean=float(p.mean()) if known else None,
            p_sd=float(p.std()) if known else None,
            rejected=tests.rejected / len(order) if known else None,
            rejected_holm=tests.rejected_holm if known else None,
            directions=together.directions,
            directions_w=defined(together.w),
            directions_p=defined(together.p),
            least=least,
            typical=typical,
            most=most,
            tests=tests,
            examples=tuple(_example(vectors, tests, dimension) for dimension in chosen.tolist()),
        )

    def record(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self) if f.metadata.get("record", True)}


@dataclass(frozen=True, repr=False)
class Normality(MetricForms):
    """What `normality` gives: the references first, then real conversations, then the systems."""

    rows: list[NormalityRow]
    dimensions: int
    """Of the vectors, those that do not vary included."""
    systems: dict[str, int]
    """Turns per system."""
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]
    seed: int
    signature: str

    def row(self, name: str, kind: VectorsKind = "system") -> NormalityRow:
        """The row of a system or, by its kind, of the references or of real conversations."""
        return find(self.rows, name=name, kind=kind)

    def names(self) -> list[str]:
        return list(self.systems)

    def to_records(self) -> list[dict[str, Any]]:
        """One per row; what single dimensions have stands in the row's `tests`."""
        return [row.record() for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """What `--format json` prints."""
        plan = {"seed": self.seed, "level": LEVEL, "correction": "holm", "samples": SAMPLES}
        return {
            "schema": SCHEMA,
            "corpus": corpus_record(self.systems, self.files),
            "settings": {**plan, "dimensions": self.dimensions, "signature": self.signature},
            "rows": self.to_records(),
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }

    def to_table(self, digits: int | None = None) -> Table:
        names = ["n", "W", "p", f"p < {LEVEL}", "after Holm", "directions: W", "directions: p"]
        headers = [Header("vectors of", align="left"), *map(Header, names)]
        return Table(headers, [_cells(row, digits) for row in self.rows], _notes(self), "normality")


def mean_and_deviation(mean: float | None, sd: float | None, decimals: int) -> str:
    return UNDEFINED if mean is None or sd is None else f"{mean:.{decimals}f} ± {sd:.{decimals}f}"


def _example(vectors: NDArray[Any], tests: DimensionTests, dimension: int) -> Example:
    values = vectors[:, dimension].astype(np.float64)
    values -= values.mean()
    return Example(dimension, float(tests.w[dimension]), float(tests.p[dimension]), values / values.std())


def _cells(row: NormalityRow, digits: int | None) -> list[Cell]:
    of_w, of_p = (3, 2) if digits is None else (digits, digits)
    return [
        Cell(row.name),
        Cell(str(row.n)),
        Cell(mean_and_deviation(row.w_mean, row.w_sd, of_w)),
        Cell(mean_and_deviation(row.p_mean, row.p_sd, of_p)),
        Cell(UNDEFINED if row.rejected is None else f"{100 * row.rejected:.0f}%"),
        Cell(UNDEFINED if row.rejected_holm is None else str(row.rejected_holm)),
        Cell(fixed(row.directions_w, of_w)),
        Cell(fixed(row.directions_p, of_w)),
    ]


def _notes(result: Normality) -> list[str]:
    tested = [row for row in result.rows if row.directions_p is not None]
    shown = [row.name for row in tested if (row.directions_p or 0) <= LEVEL]
    counts = sorted({row.directions for row in tested})
    count = " to ".join(str(number) for number in dict.fromkeys([*counts[:1], *counts[-1:]]))
    notes = [
        f"not Gaussian (directions: p at most {LEVEL}): {', '.join(shown) or 'shown of none'}",
        f"W, p: Shapiro-Wilk's test of each of {result.dimensions} dimensions, mean ± standard deviation over those "
        "that vary",
        "W: 1 where values lie just as a Gaussian's; p: small where they do not; of Gaussian vectors 0.50 ± 0.29",
        f"p < {LEVEL}: the share of dimensions found not to be Gaussian, 5% of Gaussian ones; after Holm: how many "
        "still are, corrected for their number",
        f"directions: all dimensions together: W is the mean along {count} random directions, p the share of "
        f"Gaussian samples with the same covariance that have one as small ({SAMPLES} samples, seed {result.seed})",
        "a large p does not say that vectors are Gaussian, only that n of them do not show otherwise",
    ]
    return [*(notes if tested else []), f"signature: {result.signature}"]
