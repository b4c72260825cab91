"""The table of tests for normality: the vectors of references and systems down, one dimension at a time and all
together across."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.evaluation.digits import UNDEFINED, fixed
from dialogauge.stats.gaussian_tests import LEVEL, SAMPLES
from dialogauge.tables import Cell, Header, Table

if TYPE_CHECKING:
    from dialogauge.evaluation.normality import Normality
    from dialogauge.evaluation.normality_row import NormalityRow


def normality_table(result: Normality, digits: int | None = None) -> Table:
    names = ["n", "W", "p", f"p < {LEVEL}", "after Holm", "directions: W", "directions: p"]
    headers = [Header("vectors of", align="left"), *map(Header, names)]
    return Table(headers, [_cells(row, digits) for row in result.rows], _notes(result), "normality")


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


def mean_and_deviation(mean: float | None, sd: float | None, decimals: int) -> str:
    return UNDEFINED if mean is None or sd is None else f"{mean:.{decimals}f} ± {sd:.{decimals}f}"


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
