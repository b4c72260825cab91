"""Which turns to ask people about next: contexts drawn by chance, stratified by a metric's score, each with the
probability with which it was drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from dialogauge.agreement.points import choose_dimensions, mean_rating
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.frames import CorpusLike
from dialogauge.corpus.rated_pairs import RatedPair
from dialogauge.corpus.turn import Turn
from dialogauge.errors import COUNT, Caveat, InputError, check_number, check_whole, quote, unknown
from dialogauge.evaluation.digits import fixed
from dialogauge.evaluation.forms import Forms
from dialogauge.evaluation.options import Metrics, RunKeywords, RunOptions, takes_run_options
from dialogauge.people.estimate.gather import Paths, gather
from dialogauge.people.plan.strata import Counts, Places, allocate, by_score, spread_by_stratum
from dialogauge.people.plan.turn_values import turn_values
from dialogauge.stats.arrays import Floats
from dialogauge.tables import Cell, Header, Table, counted, in_words

STRATA = 5
"""More than half a dozen gain little (Cochran 1977, section 5A.8)."""
LEAST = 2
"""Contexts of each stratum, so that its spread can be seen."""
PROBABILITY, STRATUM = "probability", "stratum"
Allocation = Literal["proportional", "neyman"]
ALLOCATIONS: tuple[Allocation, ...] = ("proportional", "neyman")
DRAW = 3
"""The stream of random numbers that contexts are drawn with."""

INSTEAD = (
    'estimate from one choice alone, or give all ratings of before "probability": 1, here and for `estimate`: they '
    "then stand for themselves, and the new ones for all others"
)

Mask = NDArray[np.bool_]
ContextKey = tuple[str, tuple[str, ...]]
"""What turns of different systems share where they are paired: id and context."""


@dataclass(frozen=True)
class Stratum:
    """Contexts of about one score."""

    stratum: str
    low: float | None
    high: float | None
    """The lowest and highest score of a context; None without a metric."""
    contexts: int
    rated: int
    """Of them, before."""
    chosen: int
    probability: float
    """Of each context that was chosen now."""


@dataclass(frozen=True, repr=False)
class Chosen(Forms):
    """What `choose` gives: the turns to ask about, and how they were drawn."""

    corpus: Corpus
    """The chosen turns, with `probability` and `stratum` in their `extra`."""
    strata: list[Stratum]
    metric: str | None
    allocation: Allocation
    seed: int
    caveats: list[Caveat]

    def to_records(self) -> list[dict[str, Any]]:
        """One per stratum."""
        return [asdict(stratum) for stratum in self.strata]

    def to_dict(self) -> dict[str, Any]:
        settings = {"metric": self.metric, "allocation": self.allocation, "seed": self.seed}
        warnings = [asdict(caveat) for caveat in self.caveats]
        return {"schema": "dialogauge.chosen/1", **settings, "strata": self.to_records(), "warnings": warnings}

    def to_table(self) -> Table:
        headers = [Header("stratum", align="left"), Header(self.metric or "score")]
        headers += [Header(name) for name in ("contexts", "rated before", "chosen", "probability")]
        rows = [
            [
                Cell(each.stratum),
                Cell("" if each.low is None else f"{fixed(each.low)} to {fixed(each.high)}"),
                *(Cell(str(number)) for number in (each.contexts, each.rated, each.chosen)),
                Cell(f"{each.probability:.4g}"),
            ]
            for each in self.strata
        ]
        return Table(headers, rows, [f"{self.allocation} allocation, seed {self.seed}"], "strata")


@takes_run_options
def choose(
    corpus: CorpusLike,
    n: int,
    metric: Metrics | None = None,
    *,
    rated: Paths | None = None,
    pairs: Sequence[RatedPair] = (),
    dimension: str | None = None,
    strata: int = STRATA,
    allocation: Allocation = "proportional",
    **options: Unpack[RunKeywords],
) -> Chosen:
    """Which turns to ask people about next.

    Contexts are the units: all systems' turns of a chosen one are chosen with it, so that systems stay paired. They are
    drawn by chance within strata of the metric's mean score over systems; without a metric, from all. Contexts of which
    any turn is rated already are left out.

    Every chosen turn has its `probability` in `extra`. Rated turns of before that have none stand for themselves, as
    if chosen for certain, and the new ones for all others. Where all have one below 1, and the strata are those of
    before, each round speaks for all contexts: the new probabilities are brought to the scale of those before by one
    common factor, so that ratings of all rounds weigh alike by 1 / probability. Other rounds are refused.

    Args:
        corpus: Whatever holds turns, as for `evaluate`.
        n: How many contexts.
        metric: One that has values of single turns.
        rated: Files with ratings of earlier studies, as `rate --export` writes them; those of `corpus` count too.
        pairs: Rated pairs that are in memory.
        dimension: What was rated, for `neyman`; by default "overall", else the first.
        strata: How many, of nearly one size; fewer where so many would hold too few contexts.
        allocation: "proportional" to the strata's sizes, or "neyman": also to how much earlier ratings differ in each.
        **options: The fields of `RunOptions`; one seed, one choice.

    Examples:
        >>> import dialogauge
        >>> chosen = dialogauge.choose("examples/everyday.jsonl", 12, "rouge_l", strata=3)
        >>> len(chosen.corpus), round(chosen.corpus.turns[0].extra["probability"], 2), [s.chosen for s in chosen.strata]
        (36, 0.19, [4, 4, 4])
    """
    run = RunOptions(**options)
    check_whole("contexts to choose", n, 1, COUNT)
    check_whole("strata", strata, 1, 1000)
    if allocation not in ALLOCATIONS:
        raise unknown("allocation", allocation, ALLOCATIONS)
    turns, found_pairs = gather(corpus, rated)
    turns = turns.select(run.systems)
    compared = [pair for pair in (*pairs, *found_pairs) if _is_given(pair.preferences)]
    pool = _Pool.from_corpus(turns, [side for pair in compared for side in (pair.a, pair.b)])
    if n > int((~pool.rated).sum()):
        left = counted(int((~pool.rated).sum()), "context")
        raise InputError(f"n: expected no more than the {left} that nobody has rated, found {n}")
    name, scores, caveats = _scores(turns, pool, metric, replace(run, systems=None))
    # Two orders: those who come first among equal scores must not be those who are drawn first.
    rng = np.random.default_rng([run.seed, DRAW])
    ties, order = rng.permutation(len(pool.keys)), rng.permutation(len(pool.keys))
    spread = _Spread.from_corpus(turns, pool, dimension) if allocation == "neyman" else None
    parts, drawn = _feasible(pool, scores, ties, n, strata if name else 1, spread)
    picked = np.zeros(len(order), dtype=bool)
    for part, count in enumerate(drawn):
        members = order[(parts[order] == part) & ~pool.rated[order]]
        picked[members[:count]] = True
    labels = [f"{part + 1}/{len(drawn)}" for part in range(len(drawn))]
    _refuse_other_rounds(pool, parts, labels)
    probability = _probabilities(pool, parts, drawn)
    chosen = [
        replace(turn, extra={**turn.extra, PROBABILITY: float(probability[parts[at]]), STRATUM: labels[parts[at]]})
        for turn, at in zip(turns, pool.places, strict=True)
        if picked[at]
    ]
    found = [
        _stratum(labels[part], parts == part, scores, pool, picked, probability[part]) for part in range(len(drawn))
    ]
    if name and len(drawn) < strata:
        caveats.append(
            Caveat("fewer_strata", f"{counted(len(drawn), 'stratum', 'strata')} in place of {strata}: too few contexts")
        )
    return Chosen(Corpus(chosen, turns.files), found, name, allocation, run.seed, caveats)


@dataclass(frozen=True)
class _Pool:
    """Contexts in the order of their ids, so that the order of files does not matter."""

    keys: list[ContextKey]
    places: Places
    """Of each turn its context."""
    rated: Mask
    probability: Floats
    """Of contexts rated before: that with which they were chosen, 1 where they have none; NaN of the others."""
    strata: list[str | None]
    """Of contexts rated before: the label of that they were chosen from, None where they have none."""

    @classmethod
    def from_corpus(cls, corpus: Corpus, compared: Sequence[Turn]) -> _Pool:
        """`compared` are turns that people chose between."""
        if not len(corpus):
            raise InputError("expected turns to choose from, found none")
        keys = sorted({_key(turn) for turn in corpus})
        place = {key: at for at, key in enumerate(keys)}
        probability = np.full(len(keys), np.nan)
        strata: list[str | None] = [None] * len(keys)
        for turn in (*(turn for turn in corpus if _is_rated(turn)), *compared):
            if _key(turn) in place:
                probability[place[_key(turn)]] = _probability(turn)
                strata[place[_key(turn)]] = turn.extra.get(STRATUM)
        places = np.array([place[_key(turn)] for turn in corpus])
        return cls(keys, places, ~np.isnan(probability), probability, strata)


@dataclass(frozen=True)
class _Spread:
    """Mean ratings of turns and whose they are, of contexts that were rated before."""

    people: Floats
    systems: Places
    contexts: Places

    @classmethod
    def from_corpus(cls, corpus: Corpus, pool: _Pool, dimension: str | None) -> _Spread:
        names = choose_dimensions(corpus, "turn", [dimension] if dimension else None)
        number = {system: at for at, system in enumerate(corpus.systems)}
        rows = [
            (mean_rating(turn.ratings[names[0]]), number[turn.system], at)
            for turn, at in zip(corpus, pool.places, strict=True)
            if names and names[0] in turn.ratings
        ]
        if len(rows) < LEAST:
            what = f" of {dimension!r}" if dimension else ""
            raise InputError(
                f"allocation neyman: needs ratings{what} to see how they differ, found none; take proportional"
            )
        people, systems, contexts = zip(*rows, strict=True)
        return cls(np.array(people), np.array(systems), np.array(contexts))


def _feasible(
    pool: _Pool, scores: Floats, ties: Places, n: int, strata: int, spread: _Spread | None
) -> tuple[Places, Counts]:
    """The stratum of each context and how many to draw of each, with as many strata as have enough contexts."""
    for number in range(min(strata, max(n // LEAST, 1)), 0, -1):
        parts = by_score(scores, number, ties)
        few_unscored = np.count_nonzero(np.isnan(scores) & ~pool.rated) < LEAST
        if number == 1 or few_unscored:
            parts = np.minimum(parts, number - 1)
        count = int(parts.max()) + 1
        sizes = np.bincount(parts, minlength=count)
        available = np.bincount(parts, ~pool.rated, minlength=count).astype(np.int64)
        spreads = np.ones(count)
        if spread is not None:
            spreads = spread_by_stratum(spread.people, spread.systems, parts[spread.contexts], count)
        drawn = allocate(n, sizes, spreads, available, LEAST if number > 1 else 1)
        if drawn is not None:
            return parts, drawn
    raise InputError(f"n: expected fewer contexts, found {n}")  # not reached: one stratum has all that nobody rated


def _refuse_other_rounds(pool: _Pool, parts: Places, labels: Sequence[str]) -> None:
    """Refuses earlier draws that no common factor brings to one scale with a new one: what is left after a draw from
    other strata is no equal-probability sample of the new ones, and contexts chosen for certain would weigh too little
    beside two draws that both stand for all others. One probability without a stratum is a draw from all."""
    by_chance = np.flatnonzero(pool.rated & (pool.probability < 1))
    if not len(by_chance):
        return
    certain = int(np.count_nonzero(pool.rated)) - len(by_chance)
    if certain:
        raise InputError(
            f"of the contexts rated before, {certain} have no probability below 1 (chosen for certain) and "
            f"{len(by_chance)} were drawn by chance; these and a further draw cannot be weighted together; {INSTEAD}"
        )
    unlabelled = {pool.probability[at] for at in by_chance if pool.strata[at] is None}
    for at in by_chance:
        before = pool.strata[at] or (labels[0] if len(labels) == len(unlabelled) == 1 else None)
        if before != labels[parts[at]]:
            where = f"stratum {before}" if before else "no stratum"
            raise InputError(
                f"id {quote(pool.keys[at][0])} was drawn before from {where}, "
                f"and is in stratum {labels[parts[at]]} now; rounds whose strata differ cannot be weighted together; "
                f"take the metric, strata, systems and seed of before, and no fewer than {LEAST} contexts a stratum; "
                f"or {INSTEAD}"
            )


def _probabilities(pool: _Pool, parts: Places, drawn: Counts) -> Floats:
    """By stratum. Of contexts that were rated before without a probability, the new ones do not speak."""
    certain = pool.rated & (pool.probability >= 1)
    others = np.bincount(parts, ~certain, minlength=len(drawn))
    plain = drawn / others
    by_chance = pool.rated & ~certain
    if not by_chance.any():
        return np.asarray(plain)
    weight = float(np.mean(1 / pool.probability[by_chance]))
    scale = min(others.sum() / (drawn.sum() * weight), 1 / plain.max())
    return np.asarray(plain * scale)


def _scores(
    corpus: Corpus, pool: _Pool, metric: Metrics | None, run: RunOptions
) -> tuple[str | None, Floats, list[Caveat]]:
    """The metric's mean over the systems of each context, NaN where it has no value."""
    if metric is None:
        return None, np.zeros(len(pool.keys)), list(corpus.caveats)
    values, caveats = turn_values(corpus, metric, run)
    if len(values) != 1:
        raise InputError(f"metric: expected one to choose by, found {in_words(list(values))}")
    (name, own), *_ = values.items()
    defined = ~np.isnan(own)
    sums = np.bincount(pool.places[defined], own[defined], len(pool.keys))
    counts = np.bincount(pool.places[defined], minlength=len(pool.keys))
    return name, np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0), caveats


def _stratum(label: str, members: Mask, scores: Floats, pool: _Pool, picked: Mask, probability: float) -> Stratum:
    own = scores[members & ~np.isnan(scores)]
    flat = not len(own) or not np.any(scores)
    return Stratum(
        label,
        None if flat else float(own.min()),
        None if flat else float(own.max()),
        int(members.sum()),
        int((members & pool.rated).sum()),
        int((members & picked).sum()),
        float(probability),
    )


def _key(turn: Turn) -> ContextKey:
    return turn.id, turn.context


def _is_rated(turn: Turn) -> bool:
    return _is_given(turn.ratings) or bool(turn.extra.get("dialogue_ratings"))


def _is_given(answers: Mapping[str, Iterable[object]]) -> bool:
    """Whether anyone said anything."""
    return any(value is not None for values in answers.values() for value in values)


def _probability(turn: Turn) -> float:
    given = turn.extra.get(PROBABILITY, 1.0)
    check_number(f"{PROBABILITY} of turn {turn.id!r}", given, 1e-9, 1)
    return float(given)
