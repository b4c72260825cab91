"""Which system people would prefer, how sure that is, and what the metric was worth, in two sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialogauge.evaluation.digits import fixed, format_estimates
from dialogauge.tables import counted, in_words

if TYPE_CHECKING:
    from dialogauge.people.estimate.estimate_result import Form, PairEstimate, PeopleEstimate, SystemEstimate

NAMED = 3
"""As many other systems are named."""
NOTHING = 1.005
"""What is worth less is worth nothing."""


def sentences(found: PeopleEstimate, digits: int | None = None) -> list[str]:
    """Two for each dimension."""
    said = []
    scopes = dict.fromkeys((row.dimension, row.form) for row in found.by_system)
    scopes |= dict.fromkeys((row.dimension, row.form) for row in found.pairs)
    for dimension, form in scopes:
        systems = [row for row in found.by_system if (row.dimension, row.form) == (dimension, form)]
        pairs = [row for row in found.pairs if (row.dimension, row.form) == (dimension, form)]
        said.append(_preferred(dimension, form, systems, pairs, digits))
        said.append(_worth(found, dimension, form, systems))
    return [sentence for sentence in said if sentence]


def _preferred(
    dimension: str, form: Form, systems: Sequence[SystemEstimate], pairs: Sequence[PairEstimate], digits: int | None
) -> str:
    if not systems:
        clear = [row for row in pairs if row.better]
        each = [f"{row.better} to {row.second if row.better == row.first else row.first}" for row in clear]
        which = f"they clearly prefer {in_words(each[:NAMED])}" if each else "no pair is clear of chance"
        return f"On {dimension}, people cannot be said to prefer one system to all others; {which}."
    lost = Counter(_worse(row) for row in pairs if row.better)
    ranked = sorted(systems, key=lambda row: (lost[row.system], -row.value))
    leader = ranked[0]
    (shown,) = format_estimates([(leader.value, leader.low, leader.high)], digits)
    said = " ".join(filter(None, shown))
    value = (
        f"{dimension} {said}" if form == "rating" else f"they would choose it in {said} of comparisons on {dimension}"
    )
    own = [row for row in pairs if leader.system in (row.first, row.second)]
    if not own:
        return f"People would rate {leader.system} {value}."
    ahead = [row for row in own if row.better == leader.system]
    open_ = [row for row in own if row.better is None]
    if lost[leader.system]:
        return f"People would prefer no system to all others on {dimension}: each is behind another."
    if not open_:
        many = len(ahead) > NAMED
        shown_pairs = sorted(ahead, key=lambda row: abs(_gap(row)))[: 1 if many else NAMED]
        most = f"all {len(ahead)} others, the nearest " if many else ""
        each = [_against(row, leader.system, digits) for row in shown_pairs]
        return f"People would prefer {leader.system}: {value}, ahead of {most}{in_words(each)}."
    rivals = sorted(open_, key=lambda row: abs(_gap(row)))
    each = [_against(row, leader.system, digits) for row in rivals[:NAMED]]
    rest = [counted(len(rivals) - NAMED, "other")] if len(rivals) > NAMED else []
    sure = (
        f"; it is clearly ahead of {in_words([_other(row, leader.system) for row in ahead[:NAMED]])}" if ahead else ""
    )
    opening = f"It is not clear which system people would prefer: {leader.system} comes first, {value}"
    return f"{opening}, but no difference from {in_words([*each, *rest], 'or')} is clear of chance{sure}."


def _worth(found: PeopleEstimate, dimension: str, form: Form, systems: Sequence[SystemEstimate]) -> str:
    mine = [row for row in found.worths if (row.dimension, row.form) == (dimension, form)]
    if not mine or mine[-1].worth is None:
        return ""
    worth, rated = mine[-1].worth, sum(row.rated for row in systems) // (2 if form == "preference" else 1)
    many = len(found.metrics) > 1
    who = "the metrics together" if many else found.metrics[0]
    what = {"rating": "rated turn", "preference": "rated pair"}[form]
    what = "rated dialogue" if found.level == "dialogue" and form == "rating" else what
    ratings = counted(rated, what) if rated else "the ratings"
    if worth < NOTHING:
        return f"{who[0].upper() if many else who[0]}{who[1:]} added nothing: {ratings} say as much alone."
    return f"With {who}, {ratings} are as good as {fixed(worth, 1 if worth >= 1.1 else 2)} times as many."


def _worse(row: PairEstimate) -> str:
    return row.second if row.better == row.first else row.first


def _other(row: PairEstimate, leader: str) -> str:
    return row.second if row.first == leader else row.first


def _gap(row: PairEstimate) -> float:
    return row.value - (0.5 if row.form == "preference" else 0.0)


def _against(row: PairEstimate, leader: str, digits: int | None) -> str:
    """ "dull by 0.40 [0.10, 0.70] (p = 0.012)"."""
    value, low, high = row.value, row.low, row.high
    if row.first != leader:
        whole = 1.0 if row.form == "preference" else 0.0
        value, low, high = whole - value, None if high is None else whole - high, None if low is None else whole - low
    (shown,) = format_estimates([(value, low, high)], digits)
    p = row.p_holm
    sure = [] if p is None else ["p < 0.001" if p < 0.001 else f"p = {fixed(p, 3)}"]
    glue = "by" if row.form == "rating" else "in"
    return f"{_other(row, leader)} {glue} {' '.join(filter(None, shown))}" + (f" ({sure[0]})" if sure else "")
