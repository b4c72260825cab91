"""Whether studies of the size that `dialogauge plan` asks for have the power it promises, and whether the rule for
stopping early keeps its error.

    python benchmarks/plan_power.py [STUDIES]

Power: plans from a large pilot of made-up ratings, and from real ones (USR, GRADE, BERT-RUBER, where they stand beside
the checkout), each carried out STUDIES times and tested as `dialogauge estimate` tests. Real studies draw contexts with
replacement, and of each turn as many of its ratings as the plan has raters; the two systems are moved to the difference
planned for. Promised and got should be within three points.

Error: two equal systems, looked at after every ten ratings up to 500 contexts, with the interval that is good for one
look and with the one for any number of looks, planned for 100 contexts. The second should leave out 0 at some time in
less than five studies of a hundred.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from dialogauge import Corpus, Turn, load, plan
from dialogauge.evaluation.options import RunOptions, Settings
from dialogauge.people.estimate.interval import powered_estimate
from dialogauge.people.estimate.powered import UnitTotals
from dialogauge.people.plan.components import rater_names
from dialogauge.people.plan.turn_values import turn_values
from dialogauge.people.sequence import FEWEST, PLANNED, anytime_reach
from dialogauge.stats.arrays import Floats
from dialogauge.tables import Cell, Header, Table, to_text

SHARED = Path(os.environ.get("DIALOGAUGE_SHARED") or Path(__file__).resolve().parents[2] / "shared")
PILOT = 4000
"""Contexts of a made-up pilot, so many that its variances are those of the population."""
ABOUT = 80
"""Contexts that a real study would take without a metric: differences are chosen so."""
MORE = 5
"""Times as many contexts as are rated have a score, where there is a metric."""
LONGEST, EVERY = 500, 10
METRIC = "column[name=score]"

Study = Callable[[int, int, np.random.Generator], tuple[Floats, Floats]]
"""Of so many contexts, the first few of them rated: mean ratings (2, contexts), NaN of the others, and scores."""


@dataclass(frozen=True)
class MadeUp:
    """How ratings come about; the numbers are standard deviations but for the last four."""

    name: str
    context: float = 0.6
    system_context: float = 0.6
    rater: float = 0.5
    rating: float = 0.8
    difference: float = 0.3
    knows: float = 0.0
    """Correlation of the metric's score with what is the system's and the context's own."""
    raters: int = 1
    middle: float = 3.0
    whole: bool = False
    """Whether ratings are whole numbers from 1 to 5."""

    def ratings(self, contexts: int, raters: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """(2, contexts, raters), the same people for both systems, others for each context; and scores."""
        known, unknown = rng.normal(size=(2, 2, contexts))
        own = self.system_context * (self.knows * known + (1 - self.knows**2) ** 0.5 * unknown)
        mean = self.middle + self.context * rng.normal(size=contexts) + own + np.array([[self.difference], [0]])
        given = mean[:, :, None] + self.rater * rng.normal(size=(contexts, raters))
        given = given + self.rating * rng.normal(size=given.shape)
        return np.clip(np.round(given), 1, 5) if self.whole else given, known

    def study(self, contexts: int, rated: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        given, scores = self.ratings(contexts, self.raters, rng)
        means = given.mean(2)
        means[:, rated:] = np.nan
        return means, scores

    def pilot(self, rng: np.random.Generator) -> Corpus:
        given, scores = self.ratings(PILOT, 3, rng)
        turns = [
            Turn(
                str(c),
                "yes",
                context=(str(c),),
                system=f"s{s}",
                ratings={"overall": given[s, c].tolist()},
                extra={"score": float(scores[s, c]), "raters": [f"{c}.{r}" for r in range(3)]},
            )
            for c in range(PILOT)
            for s in range(2)
        ]
        return Corpus(turns)

    def truth(self, rng: np.random.Generator) -> float:
        """The difference, which rounding and the ends of the scale make smaller."""
        if not self.whole:
            return self.difference
        given, _ = self.ratings(400_000, 1, rng)
        return float(given[0].mean() - given[1].mean())


MADE_UP = [
    MadeUp("normal"),
    MadeUp("normal, 3 raters", raters=3),
    MadeUp("normal, metric .7", knows=0.7, raters=3),
    MadeUp("normal, metric .7, small difference", knows=0.7, raters=3, difference=0.15),
    MadeUp("normal, useless metric", knows=0.0, raters=1, difference=0.25),
    MadeUp("1 to 5", whole=True),
    MadeUp("1 to 5, 3 raters, metric .7", whole=True, knows=0.7, raters=3),
    MadeUp("1 to 5, most of them 5, 3 raters", whole=True, middle=4.6, raters=3, difference=0.4),
    MadeUp("1 to 5, lenient and strict people", whole=True, rater=1.2, raters=2),
]


@dataclass(frozen=True)
class Real:
    """Two systems of a corpus on the contexts they share."""

    name: str
    corpus: Corpus
    given: list[list[Floats]]
    """[system][context]: the ratings of a turn."""
    scores: Floats
    named: bool
    """Whether raters stand in the same order for both systems."""
    raters: int
    shift: float = 0.0
    """Added to the first system's ratings."""

    @property
    def difference(self) -> float:
        means = [np.mean([ratings.mean() for ratings in own]) for own in self.given]
        return float(means[0] - means[1])

    def study(self, contexts: int, rated: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        drawn = rng.integers(len(self.given[0]), size=contexts)
        means = np.full((2, contexts), np.nan)
        for place, context in enumerate(drawn[:rated]):
            order = None
            for system in range(2):
                ratings = self.given[system][context]
                if order is None or not self.named or len(order) != len(ratings):
                    order = rng.permutation(len(ratings))
                means[system, place] = ratings[order[: self.raters]].mean()
        means[0] += self.shift
        return means, self.scores[:, drawn]


def real_pairs() -> Iterator[Real]:
    """Every two systems of each corpus that share forty contexts or more."""
    folder = SHARED / "corpora"
    where = [
        ("USR, Overall", "usr_persona/pc_usr_data.json", "Overall", (1, 3)),
        ("GRADE, DailyDialog", "grade/eval_data/dailydialog", "coherence", (1, 5)),
        ("GRADE, EmpatheticDialogues", "grade/eval_data/empatheticdialogues", "coherence", (1, 5)),
        ("GRADE, ConvAI2", "grade/eval_data/convai2", "coherence", (1, 5)),
        ("BERT-RUBER", "bert_ruber/Eng_Scores_queries_gen_gtruth_replies.csv", "appropriateness", (1, 3)),
    ]
    for name, file, dimension, raters in where:
        if not (folder / file).exists():
            print(f"without {name}: not in {folder}", file=sys.stderr)
            continue
        corpus = load(folder / file)
        values, _ = turn_values(corpus, "gauge", RunOptions())
        scored = [
            replace(turn, extra={**turn.extra, "score": float(value)})
            for turn, value in zip(corpus, values["gauge"], strict=True)
        ]
        for pair in combinations(corpus.systems, 2):
            yield from _pair(name, Corpus(scored).select(pair), dimension, raters)


def _pair(name: str, corpus: Corpus, dimension: str, raters: tuple[int, ...]) -> Iterator[Real]:
    first, second = ({turn.context: turn for turn in corpus.by_system[system]} for system in corpus.systems)
    shared = [context for context in first if context in second]
    if len(shared) < 40:
        return
    turns = [[own[context] for context in shared] for own in (first, second)]
    given = [
        [np.array([rating for rating in turn.ratings[dimension] if rating is not None]) for turn in own]
        for own in turns
    ]
    scores = np.array([[turn.extra["score"] for turn in own] for own in turns])
    named = all(rater_names(turn, dimension) for own in turns for turn in own)
    kept = Corpus([replace(turn, ratings={"overall": turn.ratings[dimension]}) for own in turns for turn in own])
    for count in raters:
        yield Real(name, kept, given, scores, named, count)


@dataclass(frozen=True)
class Power:
    """A plan, what it promised and what was got."""

    name: str
    raters: int
    metric: bool
    difference: float
    contexts: int
    got: float


def power_of(study: Study, name: str, raters: int, pilot: Corpus, difference: float, studies: int) -> Iterator[Power]:
    """Without and with the metric."""
    for metric in (None, METRIC):
        size = plan(pilot, METRIC, difference=difference, raters=[raters]).size(raters, metric)
        if metric:  # as many contexts have a score as will have one
            pool = MORE * (size.contexts or 0)
            size = plan(pilot, METRIC, difference=difference, raters=[raters], pool=pool).size(raters, metric)
        if size.contexts is None:
            raise SystemExit(f"{name}: no plan")
        rng = np.random.default_rng(1)
        found = sum(
            decided(*study(pool if metric else size.contexts, size.contexts, rng), bool(metric)) for _ in range(studies)
        )
        yield Power(name, raters, bool(metric), difference, size.contexts, found / studies)


def decided(means: Floats, scores: Floats, metric: bool, planned: int | None = None) -> bool:
    """Whether the first system is found to be better, as `estimate` would."""
    count = means.shape[1]
    units = np.arange(count)
    terms = [
        (sign, UnitTotals.from_turns(units, count, means[system], scores[system] if metric else np.zeros(count)))
        for system, sign in enumerate((1.0, -1.0))
    ]
    found = powered_estimate(terms, Settings(), planned=planned)
    return (found.powered if metric else found.classical).low > 0


def show_power(studies: int) -> None:
    rows: list[Power] = []
    for made_up in MADE_UP:
        rng = np.random.default_rng(0)
        rows += power_of(made_up.study, made_up.name, made_up.raters, made_up.pilot(rng), made_up.truth(rng), studies)
    by_corpus: dict[tuple[str, int, bool], list[Power]] = {}
    for real in real_pairs():
        variance = plan(real.corpus, difference=1.0, raters=[1]).bases[0].components.of_difference(real.raters)
        difference = 2.85 * (variance / ABOUT) ** 0.5
        moved = replace(real, shift=difference - real.difference)
        for power in power_of(moved.study, real.name, real.raters, real.corpus, difference, studies):
            by_corpus.setdefault((real.name, real.raters, power.metric), []).append(power)
    headers = [Header("ratings", align="left"), Header("raters"), Header("metric", align="left")]
    headers += [Header(name) for name in ("pairs", "difference", "contexts", "promised", "got")]
    lines = [_power_row([power]) for power in rows] + [_power_row(powers) for powers in by_corpus.values()]
    print(to_text(Table(headers, lines, [f"{studies} studies of each plan; of several pairs their means"])), flush=True)


def _power_row(powers: list[Power]) -> list[Cell]:
    first = powers[0]
    spread = [100 * power.got for power in powers]
    return [
        Cell(first.name),
        Cell(str(first.raters)),
        Cell("yes" if first.metric else "no"),
        Cell(str(len(powers))),
        Cell(f"{np.mean([power.difference for power in powers]):.2f}"),
        Cell(f"{np.mean([power.contexts for power in powers]):.0f}"),
        Cell("80 %"),
        Cell(f"{np.mean(spread):.1f} %", f"({min(spread):.0f} to {max(spread):.0f})" if len(powers) > 1 else ""),
    ]


def differences(made_up: MadeUp, rng: np.random.Generator) -> Floats:
    """Of one study: the mean difference of each context after each of its raters, (contexts, raters)."""
    given, _ = made_up.ratings(LONGEST, made_up.raters, rng)
    apart = given[0] - given[1]
    return np.asarray(apart.cumsum(axis=1) / np.arange(1, made_up.raters + 1))


def looks(seen: Floats) -> Iterator[tuple[int, float, float]]:
    """After every ten ratings: contexts, mean difference and its standard error. A context counts as soon as one person
    has rated both systems."""
    contexts, raters = seen.shape
    each = 2 * raters
    sums, squares = np.append(0, seen[:, -1].cumsum()), np.append(0, (seen[:, -1] ** 2).cumsum())
    for ratings in range(EVERY, contexts * each + 1, EVERY):
        whole, left = divmod(ratings, each)
        n, total, square = whole, sums[whole], squares[whole]
        if left >= 2:
            partial = seen[whole, left // 2 - 1]
            n, total, square = n + 1, total + partial, square + partial**2
        if n >= 2:
            yield n, total / n, max((square - total**2 / n) / (n - 1) / n, 0.0) ** 0.5


def first_decided(seen: Floats, reach: NDArray[np.float64]) -> int | None:
    """The contexts at which the interval first leaves out 0."""
    return next((n for n, mean, error in looks(seen) if error > 0 and abs(mean) > reach[n] * error), None)


def show_stopping(studies: int) -> None:
    from scipy.special import stdtrit

    once, always = np.full(LONGEST + 1, np.inf), np.full(LONGEST + 1, np.inf)
    for n in range(FEWEST, LONGEST + 1):
        once[n], always[n] = stdtrit(n - 1, 0.975), anytime_reach(n)
    rows = []
    for made_up in (
        MADE_UP[0],
        MADE_UP[1],
        MADE_UP[5],
        replace(MADE_UP[5], name="1 to 5, 3 raters", raters=3),
        *MADE_UP[7:],
    ):
        rng = np.random.default_rng(2)
        equal = [differences(replace(made_up, difference=0.0), rng) for _ in range(studies)]
        unequal = [differences(made_up, rng) for _ in range(studies // 4)]
        rows.append(_stopping_row(made_up.name, equal, unequal, once, always))
    for real in real_pairs():
        if real.raters == 1 and not any(real.name == row[0].text for row in rows):
            rng = np.random.default_rng(3)
            equal = [_swapped(real, rng) for _ in range(studies)]
            rows.append(_stopping_row(real.name, equal, [], once, always))
    rows.append(_with_metric(studies // 4))
    headers = [Header("equal systems", align="left"), Header("one-look interval"), Header("at any look")]
    headers += [Header("decided"), Header("after contexts"), Header("a plan for one look")]
    note = (
        f"{studies} studies of two equal systems, looked at after every {EVERY} ratings, {FEWEST} to {LONGEST} contexts"
    )
    print("\n" + to_text(Table(headers, rows, [note])), flush=True)


def _swapped(real: Real, rng: np.random.Generator) -> Floats:
    """Systems that change places by chance in each context are equal."""
    means, _ = real.study(LONGEST, LONGEST, rng)
    return np.asarray((means[0] - means[1])[:, None] * rng.choice([-1, 1], size=(LONGEST, 1)))


def _stopping_row(name: str, equal: list[Floats], unequal: list[Floats], once: Floats, always: Floats) -> list[Cell]:
    errors = [np.mean([first_decided(seen, reach) is not None for seen in equal]) for reach in (once, always)]
    cells = [Cell(name), *(Cell(f"{100 * error:.1f} %") for error in errors)]
    if not unequal:
        return [*cells, Cell(""), Cell(""), Cell("")]
    stopped = [first_decided(seen, always) for seen in unequal]
    early = [n for n in stopped if n is not None]
    everything = np.concatenate([seen[:, -1] for seen in unequal])
    planned = (2.8 * everything.std() / everything.mean()) ** 2
    decided = f"{100 * len(early) / len(stopped):.0f} %"
    return [*cells, Cell(decided), Cell(f"{np.mean(early):.0f}"), Cell(f"{planned:.0f}")]


def _with_metric(studies: int) -> list[Cell]:
    """As `estimate --anytime` does with a metric: of 1,000 contexts up to 300 are rated, looked at after every ten
    ratings from the thirtieth context on."""
    made_up = replace(MADE_UP[6], difference=0.0, raters=1)
    rng = np.random.default_rng(4)
    wrong = 0
    for _ in range(studies):
        means, scores = made_up.study(1000, 300, rng)
        for rated in range(FEWEST, 301, EVERY // 2):
            seen = means.copy()
            seen[:, rated:] = np.nan
            if decided(seen, scores, True, PLANNED) or decided(-seen, -scores, True, PLANNED):
                wrong += 1
                break
    name = "1 to 5, metric .7, up to 300 contexts"
    return [Cell(name), Cell(""), Cell(f"{100 * wrong / studies:.1f} %"), *[Cell("")] * 3]


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    show_power(wanted)
    show_stopping(wanted)
