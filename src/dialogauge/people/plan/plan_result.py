"""A plan: sizes of studies, what they are taken from, and their tables."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation.digits import fixed
from dialogauge.evaluation.forms import Forms
from dialogauge.people.plan.basis import Basis
from dialogauge.people.plan.sizes import FEWEST, Target
from dialogauge.tables import Cell, Header, Table, counted

SCHEMA = "dialogauge.plan/1"
RELIABLE = 0.8
"""What is asked of the mean rating of a single turn where something hangs on it."""
TOO_MANY = "too many"
PARTS = {
    "context": "contexts",
    "system_context": "systems × contexts",
    "turn": "turns of a dialogue",
    "rater": "raters",
    "system_rater": "systems × raters",
    "context_rater": "contexts × raters",
    "rating": "the rest",
}


@dataclass(frozen=True)
class Size:
    """How large a study must be. None where the pool has not enough."""

    like: str
    """The pilot's name, or the corpus's."""
    dimension: str
    metric: str | None
    raters: int
    """Of each turn."""
    contexts: int | None
    """That each system answers and people rate."""
    units: int | None
    """Dialogues, where contexts come in dialogues; else as many as contexts."""
    ratings: int | None
    """Of all systems together."""
    saved: float | None
    """The share of the ratings that the metric saves; None without one."""


@dataclass(frozen=True, repr=False)
class RatingPlan(Forms):
    """What `plan` gives."""

    sizes: list[Size]
    bases: list[Basis]
    target: Target
    metrics: list[str]
    pool: int | None
    people: int | None
    apart: bool
    caveats: list[Caveat]

    def size(self, raters: int, metric: str | None = None, like: str | None = None) -> Size:
        """The first that fits."""
        for size in self.sizes:
            if (size.raters, size.metric) == (raters, metric) and like in (None, size.like):
                return size
        asked = {"raters": raters, "metric": metric, "like": like}
        given = ", ".join(f"{name} {value!r}" for name, value in asked.items() if value is not None)
        raise InputError(f"expected a size that was planned, found none with {given}")

    def to_records(self) -> list[dict[str, Any]]:
        """One per size."""
        return [asdict(size) for size in self.sizes]

    def to_dict(self) -> dict[str, Any]:
        """What `--format json` prints."""
        return {
            "schema": SCHEMA,
            "target": asdict(self.target),
            "pool": self.pool,
            "people": self.people,
            "apart": self.apart,
            "sizes": self.to_records(),
            "from": [
                {**asdict(basis), "raters_for_reliability": {str(RELIABLE): basis.raters_for(RELIABLE)}}
                for basis in self.bases
            ],
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }

    def all_tables(self) -> list[Table]:
        return [self.to_table(), self._components(), self._reliability()]

    def to_table(self) -> Table:
        """Sizes by the number of raters of a turn."""
        dialogues = any(size.units != size.contexts for size in self.sizes)
        headers = [*self._names(), Header("raters a turn")]
        for metric in (None, *self.metrics):
            beside = f" with {metric}" if metric else ""
            headers += [Header(f"dialogues{beside}")] if dialogues else []
            headers += [Header(f"contexts{beside}"), Header(f"ratings{beside}")]
        rows = []
        for basis in self.bases:
            own = [size for size in self.sizes if (size.like, size.dimension) == (basis.name, basis.dimension)]
            for raters in dict.fromkeys(size.raters for size in own):
                cells = [*self._name_cells(basis), Cell(str(raters))]
                for metric in (None, *self.metrics):
                    size = next((s for s in own if s.raters == raters and s.metric == metric), None)
                    cells += _cells(size, dialogues)
                rows.append(cells)
        return Table(headers, rows, self._notes(), "plan")

    def _names(self) -> list[Header]:
        return [Header(name, align="left") for name in ("like", "dimension")] if len(self.bases) > 1 else []

    def _name_cells(self, basis: Basis) -> list[Cell]:
        return [Cell(basis.name), Cell(basis.dimension)] if len(self.bases) > 1 else []

    def _notes(self) -> list[str]:
        target = self.target
        pair = "two systems" if target.among == 2 else f"two of {target.among} systems, each pair tested (Holm)"
        looks = "looked at again and again (estimate --anytime), " if target.anytime else ""
        notes = [
            f"to tell apart {pair} that differ by {target.difference:g}, {looks}with probability {target.power:g} at "
            f"{100 * target.confidence:.4g}% confidence; no fewer than {FEWEST} independent contexts in any case"
        ]
        for basis in self.bases if len(self.bases) == 1 else []:
            units = counted(basis.units, "context" if basis.components.turns == 1 else "dialogue")
            notes.append(
                f"from {basis.name}, {basis.dimension} ({basis.low:g} to {basis.high:g}): {units} of "
                f"{counted(basis.systems, 'system')}, {basis.raters:.3g} ratings a turn"
            )
            notes += [
                f"{metric}: correlation {gain.correlation:.2f} between its differences and the ratings'"
                for metric, gain in basis.gains.items()
                if metric in self.metrics
            ]
        if self.metrics:
            scored = "as many contexts as one likes" if self.pool is None else f"{self.pool} contexts in all"
            notes.append(f"with a metric: ratings of some contexts, its scores of {scored}; see `estimate`")
        if any(size.contexts is None for size in self.sizes):
            notes.append(f"{TOO_MANY}: the contexts there are do not have that power; rate them by more people")
        who = "other people for each system" if self.apart else "the same people for all systems of a context"
        notes.append(who + (f"; {counted(self.people, 'person', 'people')} in all" if self.people else ""))
        return notes

    def _components(self) -> Table:
        """Why ratings differ."""
        found = [{part: getattr(basis.components, part) for part in PARTS} for basis in self.bases]
        shown = [part for part in PARTS if any(each[part] for each in found)]
        rows = []
        for basis, parts in zip(self.bases, found, strict=True):
            total = sum(value or 0.0 for value in parts.values()) or 1.0
            rows.append([*self._name_cells(basis), *(_variance(parts[part], total) for part in shown)])
        headers = [*self._names(), *(Header(PARTS[part]) for part in shown)]
        return Table(headers, rows, ["variance of one rating, in points², by what it comes from"], "variances")

    def _reliability(self) -> Table:
        """How reliable the mean rating of a single turn is, by the number of raters."""
        counts = list(dict.fromkeys(size.raters for size in self.sizes))
        headers = [*self._names(), Header("alpha"), *(Header(counted(count, "rater")) for count in counts)]
        headers.append(Header(f"raters for {RELIABLE:g}"))
        rows = [
            [
                *self._name_cells(basis),
                *(Cell(fixed(value, 2)) for value in (basis.alpha, *(basis.reliability(count) for count in counts))),
                _count(basis.raters_for(RELIABLE)),
            ]
            for basis in self.bases
        ]
        note = "alpha: Krippendorff's, interval; reliability of the mean rating of one turn by Spearman and Brown"
        return Table(headers, rows, [note], "reliability")


def _count(number: int | None, aside: str = "") -> Cell:
    return Cell(TOO_MANY if number is None else f"{number:,}", aside)


def _variance(value: float | None, total: float) -> Cell:
    return Cell(fixed(value), "" if value is None else f"({100 * value / total:.0f} %)")


def _cells(size: Size | None, dialogues: bool) -> list[Cell]:
    """Empty where nothing is known of the metric."""
    if size is None:
        return [Cell("")] * (3 if dialogues else 2)
    saved = "" if size.saved is None else f"(-{100 * size.saved:.0f} %)"
    units = [_count(size.units)] if dialogues else []
    return [*units, _count(size.contexts), _count(size.ratings, saved)]
