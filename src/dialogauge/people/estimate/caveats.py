"""What the reader of an estimate must know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.errors import Caveat
from dialogauge.people.estimate.interval import FEW, FEWEST
from dialogauge.tables import first_few, in_words

if TYPE_CHECKING:
    from dialogauge.people.estimate.rows import EstimateRows

MANY = 0.9
"""A share of rated turns from which on a metric has little to add."""


def estimate_caveats(rows: EstimateRows, unit: str, these_turns: bool) -> list[Caveat]:
    found = []
    none = dict.fromkeys(row.system for row in rows.systems if row.method == "none")
    if none:
        message = f"no interval for {first_few(none, 3)}: fewer than {FEWEST} rated {unit}, or ratings that do not vary"
        found.append(Caveat("no_interval", message))
    few = {row.system: row.units for row in rows.systems if row.method == "bootstrap"}
    if few:
        each = first_few([f"{system} ({units})" for system, units in few.items()], 3)
        message = (
            f"few rated {unit}: {each}; below {FEW} of equal size, intervals come from the bootstrap and may hold less "
            "often than they say"
        )
        found.append(Caveat("few_ratings", message))
    early = dict.fromkeys(row.system for row in rows.systems if row.method == "anytime" and row.low is None)
    if early:
        message = (
            f"no interval for {first_few(early, 3)} yet: one that holds at every look begins with {FEW} rated {unit}"
        )
        found.append(Caveat("too_early", message))
    whole = dict.fromkeys(row.system for row in rows.systems if row.rated > MANY * row.turns and not these_turns)
    if whole:
        message = f"{first_few(whole, 3)}: nearly all turns are rated, and a metric has nothing to add"
        found.append(Caveat("nearly_all_rated", message))
    useless = [worth.metric for worth in rows.worths if worth.worth is not None and worth.worth <= 1.0]
    if useless and not whole:
        message = (
            f"{in_words(list(dict.fromkeys(useless)))} made no interval narrower: left out, the ratings speak alone"
        )
        found.append(Caveat("metric_adds_nothing", message))
    return found
