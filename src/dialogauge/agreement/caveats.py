"""What the reader of correlations must know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from dialogauge.agreement.points import COUNTED, Aligned, Points, Scope
from dialogauge.agreement.result import MEAN, AgreementRow
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.trusted import untrusted_turns
from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat
from dialogauge.evaluation.caveats import number_free
from dialogauge.metrics.registry import Request
from dialogauge.stats.arrays import Floats

FEW_SYSTEMS = 8
FEW_POINTS = 20
MANY = 0.05
"""The share of resamples from which on it is said that they have no correlation."""


def score_caveats(caveats: Sequence[tuple[str, Caveat]], several: bool) -> list[Caveat]:
    """Those of the scores of each corpus, with its name where there are several: of those that differ in their numbers
    alone, the first. Known faults name their file."""
    if not several:
        return [caveat for _, caveat in caveats]
    alike: dict[tuple[str, str], dict[str, Caveat]] = {}
    for name, caveat in caveats:
        key = caveat.message if caveat.code == "known_fault" else number_free(caveat.message)
        alike.setdefault((caveat.code, key), {}).setdefault(name, caveat)
    return [_first(by_name) for by_name in alike.values()]


def unrated_caveats(name: str, corpus: Corpus, rated: Corpus) -> list[Caveat]:
    """Turns that nobody rated in any dimension."""
    if len(corpus) == len(rated):
        return []
    message = f"{name}: {len(corpus) - len(rated)} of {len(corpus)} turns have no rating and are left out"
    return [Caveat("missing_ratings", message)]


def turn_caveats(scope: Scope, corpus: Corpus, aligned: Aligned, requests: Sequence[Request]) -> list[Caveat]:
    """What was left out, what failed a study's checks, and what stands in more than once."""
    caveats, metrics = list[Caveat](), [request.name for request in requests]
    unrated = len(corpus) - aligned.rated
    if unrated:
        message = f"{_where(scope)}: {unrated} of {len(corpus)} turns have no rating and are left out"
        caveats.append(Caveat("missing_ratings", message))
    absent = aligned.rated - len(aligned.turns)
    if absent:
        which = f"not every one of {', '.join(metrics)} has" if len(metrics) > 1 else f"{metrics[0]} does not have"
        message = f"{_where(scope)}: {absent} of {aligned.rated} rated turns are left out, since {which} a value there"
        caveats.append(Caveat("missing_scores", message))
    learners = [request.name for request in requests if request.metric.learns]
    if learners and len(aligned.turns) < len(corpus):
        message = f"{_where(scope)}: {', '.join(learners)} learned from all rated turns, those left out included"
        caveats.append(Caveat("learned_from_more", message))
    caveats += untrusted_turns(aligned.turns, scope.dimension, scope.level == "dialogue", _where(scope))
    repeated = _repeated(aligned.turns)
    if repeated:
        message = (
            f"{scope.corpus}: {repeated} of {len(aligned.turns)} turns repeat another one's context, response and"
            " ratings; they are no observations of their own"
        )
        caveats.append(Caveat("duplicated_items", message))
    return caveats


def without_turns(metrics: Sequence[str]) -> Caveat:
    message = f"{', '.join(metrics)}: no value for a single turn, so only the system level has any"
    return Caveat("no_turn_values", message)


def without_dialogue(scope: Scope, n: int, turns: int) -> Caveat:
    return Caveat("no_dialogue", f"{_where(scope)}: {n} of {turns} turns belong to no dialogue and are left out")


def draw_caveats(points: Points, draws: Floats) -> list[Caveat]:
    """Where resamples have no correlation, because all ratings or scores in them are the same."""
    share = np.isnan(draws).mean(0)
    which = [name for name, part in zip(points.metrics, share, strict=True) if MANY < part < 1]
    if not which:
        return []
    message = (
        f"{_where(points.scope)}: {', '.join(which)}: up to {share.max():.0%} of resamples have no correlation, since"
        " ratings or scores hardly differ; intervals come from the others"
    )
    return [Caveat("undefined_resamples", message)]


def too_few(scope: Scope, n: int) -> Caveat:
    return Caveat("too_few", f"{_where(scope)}: {n} {COUNTED[scope.level]} are too few to correlate")


def unrepeated_caveats(scopes: Sequence[Scope]) -> list[Caveat]:
    if not scopes:
        return []
    which = ", ".join(dict.fromkeys(f"{scope.corpus} ({scope.dimension})" for scope in scopes))
    message = f"one rating for each turn, so how well people agree with each other is not known: {which}"
    return [Caveat("no_single_ratings", message)]


def row_caveats(rows: Sequence[AgreementRow]) -> list[Caveat]:
    """What the correlations themselves show."""
    caveats = []
    few = {row.corpus: row.n for row in rows if row.level == "system" and row.corpus != MEAN and row.n < FEW_SYSTEMS}
    if few:
        which = ", ".join(f"{corpus} {n}" for corpus, n in few.items())
        message = f"fewer than {FEW_SYSTEMS} systems ({which}): their correlations are nearly meaningless"
        caveats.append(Caveat("few_systems", message))
    small = {_where(row.scope): row.n for row in rows if row.level != "system" and row.n < FEW_POINTS}
    small = {name: n for name, n in small.items() if not name.startswith(f"{MEAN},")}
    if small:
        which = ", ".join(f"{name}: {n}" for name, n in small.items())
        caveats.append(Caveat("few_samples", f"below {FEW_POINTS} points intervals and p are rough ({which})"))
    for row in rows:
        if row.pearson is None and row.corpus != MEAN:
            message = f"{_where(row.scope)}: {row.metric} or the ratings never differ or are undefined: no correlation"
            caveats.append(Caveat("constant_scores", message))
    return caveats


def _first(by_name: Mapping[str, Caveat]) -> Caveat:
    (name, caveat), *others = by_name.items()
    if caveat.code == "known_fault":
        return caveat
    if len(set(by_name.values())) == 1:
        return Caveat(caveat.code, f"{', '.join(by_name)}: {caveat.message}")
    more = f" (the like: {', '.join(other for other, _ in others)})"
    return Caveat(caveat.code, f"{name}: {caveat.message}{more}")


def _repeated(turns: Sequence[Turn]) -> int:
    """Turns that are the same as an earlier one in all that counts, of whatever system."""
    counts = Counter((turn.context, turn.response, tuple(turn.ratings.items())) for turn in turns)
    return sum(count - 1 for count in counts.values())


def _where(scope: Scope) -> str:
    system = f", {scope.system}" if scope.system else ""
    return f"{scope.corpus}, {scope.dimension}{system}"
