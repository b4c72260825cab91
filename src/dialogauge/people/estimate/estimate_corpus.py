"""What people would say of every system on all its turns, from ratings of some of them and metrics on all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Unpack

import numpy as np

from dialogauge.agreement.points import OVERALL, Level, Scope, known_dimensions, rated_turns
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.frames import CorpusLike
from dialogauge.corpus.rated_pairs import RatedPair
from dialogauge.corpus.trusted import TRUSTED, untrusted_caveats, untrusted_turns
from dialogauge.errors import COUNT, Caveat, InputError, check_whole, unknown
from dialogauge.evaluation.measure import measure
from dialogauge.evaluation.measured import Measured
from dialogauge.evaluation.options import Metrics, RunKeywords, RunOptions, takes_run_options
from dialogauge.metrics.default_set import Choice
from dialogauge.people.estimate.caveats import estimate_caveats
from dialogauge.people.estimate.estimate_result import PeopleEstimate
from dialogauge.people.estimate.gather import Paths, gather
from dialogauge.people.estimate.rows import EstimateRows, Estimating
from dialogauge.people.estimate.samples import pair_samples, turn_samples
from dialogauge.stats.arrays import one_blas_thread
from dialogauge.tables import in_words

MOST_SYSTEMS = 50
"""Every two systems are compared."""


@takes_run_options
@one_blas_thread()
def estimate(
    corpus: CorpusLike,
    metrics: Metrics | None = None,
    *,
    ratings: Paths | None = None,
    pairs: Sequence[RatedPair] = (),
    level: Literal["turn", "dialogue"] = "turn",
    dimension: str | Sequence[str] | None = None,
    these_turns: bool = False,
    anytime: int | None = None,
    trusted: bool = False,
    **options: Unpack[RunKeywords],
) -> PeopleEstimate:
    """What people would say of each system on all its turns, from ratings of some of them and a metric on all.

    Args:
        corpus: All turns of all systems; of some of them there are ratings, in their field `ratings` or in files apart.
            A file of pairs that people chose between gives win rates.
        metrics: As for `evaluate`, each with a value for single turns; several are combined by cross-fitted regression.
            Left out, the default set.
        ratings: Files with what people said: a study's export, a list of ratings, or rated pairs.
        pairs: Rated pairs that are in memory.
        level: "turn", or "dialogue" for ratings of whole dialogues.
        dimension: What was rated; by default "overall" where there is such a rating, else all there are.
        these_turns: Whether the estimate is about these turns alone, and not about turns such as these.
        anytime: For intervals that hold however often one looks, the number of rated dialogues or contexts that the
            study is planned for; None for intervals that hold once.
        trusted: Whether ratings that failed a study's checks are left out.
        **options: The fields of `RunOptions`.

    Examples:
        >>> import dialogauge
        >>> found = dialogauge.estimate("examples/everyday.jsonl", "meteor", ratings="examples/everyday-ratings.csv")
        >>> row = found.system("offtopic")
        >>> row.rated, row.turns, round(row.value, 2), round(row.worth, 2)
        (36, 64, 1.82, 1.26)
        >>> print(found.sentences()[1])
        With meteor, 108 rated turns are as good as 1.1 times as many.
    """
    run = RunOptions(**options)
    if anytime is not None:
        check_whole("anytime", anytime, 1, COUNT)
    if level not in ("turn", "dialogue"):
        raise unknown("level", level, ("turn", "dialogue"))
    choice = Choice.of_turns(run.requests(metrics))
    if silent := [request.name for request in choice.requests if not request.metric.scores_turns]:
        raise InputError(f"{in_words(silent)}: no value for a single turn, from which ratings could be predicted")
    whole, said = gather(corpus, ratings, trusted=trusted)
    whole, said = whole.select(run.systems or None), [*pairs, *said]
    if len(whole.systems) > MOST_SYSTEMS:
        raise InputError(
            f"expected at most {MOST_SYSTEMS} systems, found {len(whole.systems)}; name those that are meant"
        )
    rated, preferred = _dimensions(whole, said, level, dimension)
    measured = measure(
        whole,
        choice.requests,
        None,
        run.compat,
        run.cache,
        run.progress,
        run.real_turns(),
        for_agreement=True,
        asking=run.asking,
        language=run.language,
    )
    known = rated_turns(whole.turns, measured, [Scope("", "", "turn")]).values
    estimating = Estimating(list(known), run.settings, these_turns, anytime)
    values = np.column_stack([known[name] for name in known])
    rows = EstimateRows()
    for name in rated:
        samples, caveats = turn_samples(whole.turns, values, name, level)
        rows.caveats += [*caveats, *untrusted_turns(whole.turns, name, level == "dialogue", name)]
        estimating.means(name, samples, rows)
    for name in preferred:
        rows.caveats += _untrusted_pairs(said, name, whole)
        estimating.win_rates(name, whole.systems, pair_samples(whole.turns, values, said, name), rows)
    found = [*choice.caveats(), *measured.caveats, *rows.caveats, *estimate_caveats(rows, measured.unit, these_turns)]
    return PeopleEstimate(
        by_system=rows.systems,
        pairs=rows.pairs,
        worths=rows.worths,
        metrics=list(known),
        signatures=_signatures(measured),
        systems=dict(measured.systems),
        files=tuple(dict.fromkeys((*whole.files, *measured.files))),
        caveats=list(dict.fromkeys(found)),
        settings=run.settings,
        unit=measured.unit,
        level=level,
        these_turns=these_turns,
        anytime=anytime,
    )


def _untrusted_pairs(pairs: Sequence[RatedPair], dimension: str, corpus: Corpus) -> list[Caveat]:
    """Of pairs whose systems are both estimated."""
    own = [pair for pair in pairs if {pair.a.system, pair.b.system} <= corpus.by_system.keys()]
    given = [(pair.preferences.get(dimension, ()), pair.extra.get(TRUSTED)) for pair in own]
    return untrusted_caveats(given, dimension, dimension, "preference")


def _dimensions(
    corpus: Corpus, pairs: Sequence[RatedPair], level: Level, wanted: str | Sequence[str] | None
) -> tuple[list[str], list[str]]:
    """What was rated, and by what pairs were told apart, of those that are wanted."""
    rated = known_dimensions(corpus, level)
    preferred = list(dict.fromkeys(name for pair in pairs for name in pair.preferences))
    if not rated and not preferred:
        raise InputError("no turn has ratings; give them with --ratings, or in the field `ratings` of each")
    if wanted is None:
        asked = [OVERALL] if any(name.casefold() == OVERALL for name in (*rated, *preferred)) else ["all"]
    else:
        asked = [name.strip() for name in (wanted.split(",") if isinstance(wanted, str) else wanted)]
    for name in asked:
        if name.casefold() not in {"all", *(each.casefold() for each in (*rated, *preferred))}:
            raise unknown("dimension", name, [*rated, *preferred])
    if [name.casefold() for name in asked] == ["all"]:
        return rated, preferred
    return _spelled(asked, rated), _spelled(asked, preferred)


def _spelled(asked: Sequence[str], known: Sequence[str]) -> list[str]:
    """Those asked for, in any case where none has just this spelling."""
    found = [
        [name] if name in known else [each for each in known if each.casefold() == name.casefold()] for name in asked
    ]
    return list(dict.fromkeys(name for names in found for name in names))


def _signatures(measured: Measured) -> dict[str, str]:
    return {
        request.name: next(sample.signature for sample in measured.samples if sample.label == request.label)
        for request in measured.requests
    }
