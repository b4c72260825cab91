"""How well metrics agree with people, on one corpus or many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Unpack

from dialogauge.agreement import caveats
from dialogauge.agreement.macro import mean_rows
from dialogauge.agreement.names import Given, name_corpora
from dialogauge.agreement.points import LEVELS, Level
from dialogauge.agreement.result import Agreement
from dialogauge.agreement.scopes import find_scopes
from dialogauge.agreement.study import Collected, StudyPlan, study
from dialogauge.corpus.corpus import Corpus
from dialogauge.errors import Caveat, InputError, unknown
from dialogauge.evaluation.measure import ROWS_FIT, measure
from dialogauge.evaluation.real import read_real
from dialogauge.evaluation.settings import Metrics, RunKeywords, RunOptions, takes_run_options
from dialogauge.progress import progress_bar
from dialogauge.stats.arrays import one_blas_thread


@takes_run_options
@one_blas_thread()
def correlate(
    corpora: Given,
    metrics: Metrics,
    *,
    level: str | Sequence[str] | None = None,
    dimension: str | Sequence[str] | None = None,
    per_system: bool = False,
    **options: Unpack[RunKeywords],
) -> Agreement:
    """Correlates every metric with people's ratings.

    Args:
        corpora: A corpus, several, or several by name, each whatever `evaluate` takes. Paths in a list are corpora of
            their own, as on the command line.
        metrics: As for `evaluate`.
        level: "turn", "dialogue" or "system", or several of them; by default turns and, where a corpus has three
            systems or more, systems.
        dimension: What was rated, in any case; by default "overall" where there is such a rating, else all there are;
            "all" for all.
        per_system: Whether each system's turns are correlated by themselves, too.
        **options: The fields of `RunOptions`.

    Returns:
        For each metric Pearson's, Spearman's and Kendall's correlation with intervals and p-values, cosine, and the
        share of pairs ordered as people order them; with two corpora or more, also the mean over them. All are
        oriented: negative says that a metric points the wrong way.

    Examples:
        >>> import dialogauge
        >>> agreement = dialogauge.correlate("examples/rated.jsonl", "rouge_l,length", level="turn")
        >>> row = agreement.row("length")
        >>> round(row.spearman, 2), row.n
        (0.54, 80)
    """
    run = RunOptions(**options)
    requests = run.requests(metrics)
    plan = StudyPlan(
        requests=requests,
        levels=check_levels(level),
        dimensions=None if dimension is None else _listed(dimension),
        per_system=per_system,
        settings=run.settings,
        progress=run.progress,
    )
    collected, scored = Collected(), list[tuple[str, Caveat]]()
    named = name_corpora(corpora)
    real = run.real_turns()
    if real is not None and len(named) > 1:  # a stream can be read once
        kept, _, remarks = read_real(real, run.progress)
        real = Corpus(kept.turns, kept.files, tuple(remarks))
    rated = {}
    for name, corpus in named.items():
        with _told(name, len(named)):
            asked = corpus.select(run.systems or None)
            rated[name] = _rated(asked)
        collected.caveats += caveats.unrated_caveats(name, asked, rated[name])
    scopes, lacking = find_scopes(rated, plan.levels, plan.dimensions)
    collected.caveats += lacking
    for name, corpus in _watched(rated, run.progress):
        if not scopes[name]:
            continue
        with _told(name, len(named)):
            measured = measure(corpus, requests, None, run.compat, run.cache, run.progress, real)
            scored += [(name, caveat) for caveat in measured.caveats]
            study(scopes[name], corpus, measured, plan, collected)
        collected.files += measured.files
        collected.units.append(measured.unit)
    if not collected.rows:
        said = "; ".join(dict.fromkeys(caveat.message for caveat in collected.caveats))
        raise InputError(f"nothing to correlate at turn level, and fewer than three systems: {said}")
    rows = [*collected.rows, *mean_rows(collected.rows)]
    found = [
        *caveats.score_caveats(scored, several=len(named) > 1),
        *collected.caveats,
        *caveats.unrepeated_caveats(collected.unrepeated),
        *caveats.row_caveats(rows),
    ]
    return Agreement(
        rows=rows,
        ceilings=collected.ceilings,
        contrasts=collected.contrasts,
        points=collected.points,
        metrics=[request.name for request in requests],
        files=tuple(dict.fromkeys(collected.files)),
        caveats=list(dict.fromkeys(found)),
        settings=plan.settings,
        unit=" and ".join(dict.fromkeys(collected.units)),
    )


@contextmanager
def _told(name: str, corpora: int) -> Iterator[None]:
    """What goes wrong is said with the corpus's name, where there are several and no file is named."""
    try:
        yield
    except InputError as error:
        raise error if corpora == 1 or error.path else InputError(f"{name}: {error.message}") from None


def check_levels(level: str | Sequence[str] | None) -> list[Level] | None:
    """The levels asked for, each once; refuses an unknown one."""
    if level is None:
        return None
    wanted = _listed(level)
    for name in wanted:
        if name not in LEVELS:
            raise unknown("level", name, LEVELS)
    return [known for known in LEVELS if known in wanted]


def _listed(names: str | Sequence[str]) -> list[str]:
    pieces = names.split(",") if isinstance(names, str) else names
    found = list(dict.fromkeys(filter(None, map(str.strip, pieces))))
    if not found:
        raise InputError("expected a name, found none")
    return found


def _watched(named: Mapping[str, Corpus], progress: bool) -> Iterator[tuple[str, Corpus]]:
    with progress_bar(named.items(), shown=progress and len(named) > 1, unit="corpus") as bar:
        for name, corpus in bar:
            bar.set_description(name)
            yield name, corpus


def _rated(corpus: Corpus) -> Corpus:
    """The turns with any rating at all."""
    places = {system: place for place, system in enumerate(corpus.systems)}
    rated = [turn for turn in corpus if turn.ratings or turn.extra.get("dialogue_ratings")]
    # In whatever order a system's turns come, the same ones are drawn.
    rated.sort(key=lambda turn: (places[turn.system], turn.id))
    for turn, following in pairwise(rated):
        if (turn.system, turn.id) == (following.system, following.id):
            raise InputError(f"id {turn.id!r} of system {turn.system!r} stands there twice; ids must differ")
    if not rated:
        raise InputError("no turn has ratings; give them with --ratings, or in the field `ratings` of each")
    if len(rated) > ROWS_FIT:
        raise InputError(f"{len(rated)} turns are rated, more than the {ROWS_FIT} that can be correlated at once")
    return Corpus(rated, corpus.files, corpus.caveats)
