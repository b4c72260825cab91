"""What came of deriving a kept run's numbers again."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dialogauge.evaluation.forms import Forms
from dialogauge.tables import Cell, Header, Table, counted

SCHEMA = "dialogauge.verification/1"
CLOSE = 1e-9
"""Two numbers agree where they differ by no more than this share of them: other processors round otherwise."""
SHOWN = 20
"""As many numbers that differ are named in a table."""
MEASURES, JUDGED, TURNS, SCORES, TESTS = "measures", "judgements", "values of turns", "scores", "tests between systems"
AGREEMENT, CEILINGS, CONTRASTS = "correlations", "agreement among people", "tests between metrics"
SOURCES = {
    MEASURES: "the kept texts",
    JUDGED: "the kept answers",
    TURNS: "the kept measures",
    SCORES: "the kept measures",
    TESTS: "the kept measures",
    AGREEMENT: "the kept values and ratings",
    CEILINGS: "the kept ratings",
    CONTRASTS: "the kept values and ratings",
}
"""What each kind of number is derived from."""


@dataclass(frozen=True)
class CheckedNumbers:
    """One kind of number of one system, or scope of agreement, under one metric: how many there are, and how many do
    not follow."""

    metric: str
    system: str
    kind: str
    numbers: int
    differ: int
    example: str = ""
    """One that differs: what is kept, and what follows."""


@dataclass(frozen=True, repr=False)
class Verification(Forms):
    """What `verify_run` gives."""

    run: str
    checks: list[CheckedNumbers]
    underived: list[str]
    """What does not follow from anything the run holds, and why."""

    @property
    def agrees(self) -> bool:
        """Whether any number was derived again, and none differs."""
        return any(check.numbers for check in self.checks) and not any(check.differ for check in self.checks)

    def contents(self) -> str:
        return self.sentence()

    def sentence(self) -> str:
        """What it comes to."""
        numbers, differ = (sum(getattr(check, name) for check in self.checks) for name in ("numbers", "differ"))
        if not numbers:
            return "no number could be derived again"
        if not differ:
            return f"all {counted(numbers, 'number')} derived again agree with what is kept"
        return f"{differ} of {counted(numbers, 'number')} derived again differ from what is kept"

    def to_records(self) -> list[dict[str, Any]]:
        """One per kind of number, metric and system."""
        return [asdict(check) for check in self.checks]

    def to_dict(self) -> dict[str, Any]:
        """What `--format json` prints."""
        found = {"schema": SCHEMA, "run": self.run, "agrees": self.agrees}
        return found | {"checks": self.to_records(), "not_derived": self.underived}

    def to_table(self) -> Table:
        """One row for each metric and kind of number."""
        headers = [
            Header("metric", align="left"),
            Header("numbers of", align="left"),
            Header("derived from", align="left"),
        ]
        headers += [Header("derived"), Header("agree"), Header("differ")]
        counts: dict[tuple[str, str], tuple[int, int]] = {}
        for check in self.checks:
            numbers, differ = counts.get((check.metric, check.kind), (0, 0))
            counts[check.metric, check.kind] = numbers + check.numbers, differ + check.differ
        rows = [
            [Cell(text) for text in (metric, kind, SOURCES[kind], str(numbers), str(numbers - differ), str(differ))]
            for (metric, kind), (numbers, differ) in counts.items()
        ]
        wrong = [check for check in self.checks if check.differ]
        notes = [self.sentence()]
        notes += [f"{check.metric} of {check.system}, {check.kind}: {check.example}" for check in wrong[:SHOWN]]
        notes += [f"and {len(wrong) - SHOWN} more: --format json"] if len(wrong) > SHOWN else []
        notes += [f"not derived: {text}" for text in self.underived]
        return Table(headers, rows, notes, "verification")


def pairs_of(kept: Any, derived: Any, names: Sequence[str]) -> list[tuple[str, Any, Any]]:
    """The numbers of these names, but for those that neither has."""
    pairs = [(name, getattr(kept, name), getattr(derived, name, None)) for name in names]
    return [pair for pair in pairs if pair[1] is not None or pair[2] is not None]


def array_pairs(arrays: Iterable[tuple[str, Any, Any]]) -> Iterator[tuple[str, Any, Any]]:
    """The numbers of arrays one by one; arrays of different shapes count as one number that differs."""
    for name, kept, derived in arrays:
        if derived is None or np.shape(kept) != np.shape(derived):
            yield name, f"{np.shape(kept)} numbers", "none" if derived is None else f"{np.shape(derived)}"
            continue
        for place, (one, other) in enumerate(zip(np.ravel(kept).tolist(), np.ravel(derived).tolist(), strict=True)):
            yield f"{name} {place}", one, other


def check_numbers(metric: str, system: str, kind: str, pairs: Iterable[tuple[str, Any, Any]]) -> CheckedNumbers:
    numbers = differ = 0
    example = ""
    for name, kept, derived in pairs:
        numbers += 1
        if not _same(kept, derived):
            differ += 1
            example = example or f"{name} is {_said(kept)}, and {_said(derived)} follows"
    return CheckedNumbers(metric, system, kind, numbers, differ, example)


def _same(kept: Any, derived: Any) -> bool:
    if isinstance(kept, float | int) and isinstance(derived, float | int):
        if math.isnan(kept) or math.isnan(derived):
            return math.isnan(kept) and math.isnan(derived)
        return math.isclose(kept, derived, rel_tol=CLOSE, abs_tol=1e-12)
    return bool(kept == derived)


def _said(value: Any) -> str:
    return "nothing" if value is None else repr(value)
