"""How well metrics agree with people, on one corpus or many."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, ValuesView
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, count, pairwise
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from dialogauge.agreement import caveats
from dialogauge.agreement.points import LEVELS, Level, Scope, rated_turns
from dialogauge.agreement.result import MEAN, Agreement, AgreementRow
from dialogauge.agreement.study import Collected, StudyPlan, find_scopes, study
from dialogauge.corpus import known
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.frames import CorpusLike, as_corpus
from dialogauge.corpus.load import corpora_in
from dialogauge.corpus.reading.source import STDIN
from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, InputError, unknown
from dialogauge.evaluation.digits import defined
from dialogauge.evaluation.measure import ROWS_FIT, measure
from dialogauge.evaluation.measuring.real_turns import read_real
from dialogauge.evaluation.options import Metrics, RunKeywords, RunOptions, takes_run_options
from dialogauge.metrics.default_set import Choice
from dialogauge.metrics.registry import Request
from dialogauge.progress import progress_bar
from dialogauge.stats.arrays import one_blas_thread
from dialogauge.stats.resampling import IntervalEstimate, mean_of_estimates

Given = CorpusLike | Iterable[CorpusLike] | Mapping[str, CorpusLike]


@takes_run_options
@one_blas_thread()
def correlate(
    corpora: Given,
    metrics: Metrics | None = None,
    *,
    level: str | Sequence[str] | None = None,
    dimension: str | Sequence[str] | None = None,
    per_system: bool = False,
    **options: Unpack[RunKeywords],
) -> Agreement:
    """Correlates every metric with people's ratings.

    Args:
        corpora: A corpus, several, or several by name, each whatever `evaluate` takes. Paths in a list are corpora of
            their own, as on the command line, and so are the corpora in a folder that holds several, unless it is given
            a name.
        metrics: As for `evaluate`; left out, the default set, less what has no value at the level asked for.
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
        dimensions=None if dimension is None else _names(dimension),
        per_system=per_system,
        settings=run.settings,
        progress=run.progress,
    )
    asking = run.asking
    collected, scored = Collected(), list[tuple[str, Caveat]]()
    named = name_corpora(corpora)
    real = run.real_turns()
    if real is not None and len(named) > 1:  # a stream can be read once
        kept, _, remarks = read_real(real, run.progress)
        real = Corpus(kept.turns, kept.files, tuple(remarks))
    rated = {}
    for name, corpus in named.items():
        with _naming(name, len(named)):
            asked = corpus.select(run.systems or None)
            rated[name] = _rated(asked)
        collected.caveats += caveats.unrated_caveats(name, asked, rated[name])
    scopes, lacking = find_scopes(rated, plan.levels, plan.dimensions)
    collected.caveats += lacking
    for name, corpus in _watched(rated, run.progress):
        if not scopes[name]:
            continue
        with _naming(name, len(named)):
            choice = _choice(requests, scopes[name])
            beside = real if choice.take_real or not Choice(requests).take_real else None
            measured = measure(
                corpus,
                choice.requests,
                None,
                run.compat,
                run.cache,
                run.progress,
                beside,
                for_agreement=True,
                asking=asking,
                language=run.language,
            )
            scored += [(name, caveat) for caveat in (*choice.caveats(), *measured.caveats)]
            study(scopes[name], corpus, measured, replace(plan, requests=measured.requests), collected)
            turns = [turn for turn in named[name] if _is_rated(turn) and turn.system in corpus.by_system]
            collected.rated.append(rated_turns(turns, measured, scopes[name]))
        collected.files += measured.files
        collected.endpoints += [measured.endpoints] if measured.endpoints else []
        collected.units.append(measured.unit)
    if not collected.rows:
        said = "; ".join(dict.fromkeys(caveat.message for caveat in collected.caveats))
        raise InputError(f"nothing to correlate at turn level, and fewer than three systems: {said}")
    rows = [*collected.rows, *mean_rows(collected.rows)]
    used = {name for points in collected.points for name in points.metrics}
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
        metrics=[request.name for request in requests if request.group is None or request.name in used],
        files=tuple(dict.fromkeys(collected.files)),
        caveats=list(dict.fromkeys(found)),
        settings=plan.settings,
        unit=" and ".join(dict.fromkeys(collected.units)),
        rated=collected.rated,
        endpoints=collected.endpoints,
    )


def _choice(requests: Sequence[Request], scopes: Sequence[Scope]) -> Choice:
    """Where no systems are correlated, metrics of a group must have values for turns."""
    systems = any(scope.level == "system" for scope in scopes)
    return Choice(list(requests)) if systems else Choice.of_turns(requests)


def check_levels(level: str | Sequence[str] | None) -> list[Level] | None:
    """The levels asked for, each once; refuses an unknown one."""
    if level is None:
        return None
    wanted = _names(level)
    for name in wanted:
        if name not in LEVELS:
            raise unknown("level", name, LEVELS)
    return [known for known in LEVELS if known in wanted]


def name_corpora(given: Given) -> dict[str, Corpus]:
    """By the names given, else by their own."""
    if isinstance(given, Mapping):
        named = {name: as_corpus(corpus) for name, corpus in given.items()}
    else:
        named = {}
        for item in _corpora(given):
            for part in corpora_in(item) if isinstance(item, str | PathLike) else [item]:
                corpus = as_corpus(part)
                path = part if isinstance(part, Path) else None
                named[free_name(corpus_name(corpus, path), named)] = corpus
    if not named:
        raise InputError("expected at least one corpus, found none")
    if unnamed := [name for name in named if not isinstance(name, str)]:
        raise InputError(f"expected texts as names of corpora, found {unnamed[0]!r}")
    if MEAN in named:
        raise InputError(f"no corpus can be called {MEAN!r}: the mean over corpora is")
    return named


def free_name(name: str, taken: Container[str]) -> str:
    """The name, with a number where it is taken."""
    return next(found for found in chain([name], (f"{name} ({n})" for n in count(2))) if found not in taken)


def corpus_name(corpus: Corpus, path: Path | None = None) -> str:
    """That of the public corpus that it is, else the path's or the first file's."""
    public = known.with_contents({file.sha256 for file in corpus.files})
    if len(public) == 1:
        return public[0].name
    if path is None:
        path = Path(corpus.files[0].path) if corpus.files else Path("corpus")
    path = Path("stdin") if path == STDIN else path.resolve()
    name = path.name if path.is_dir() else path.with_suffix("").stem if path.suffix == ".gz" else path.stem
    return name if name and name != MEAN else f"corpus {name}".strip()


def mean_rows(rows: Sequence[AgreementRow]) -> list[AgreementRow]:
    """For each level, dimension and metric that two corpora or more have a correlation for. Corpora with one dimension
    each are averaged whatever they call it."""
    return [
        _mean(dimension, members)
        for level in dict.fromkeys(row.level for row in rows)
        for dimension, chosen in _dimensions([row for row in rows if row.level == level and row.system is None])
        for metric in dict.fromkeys(row.metric for row in chosen)
        for members in [[row for row in chosen if row.metric == metric and row.pearson is not None]]
        if len({row.corpus for row in members}) > 1
    ]


def _corpora(given: Any) -> list[Any]:
    """The corpora in a list of them; a list of records is one corpus."""
    if not isinstance(given, list | tuple | ValuesView | Iterator):
        return [given]
    items = list(given)
    return [items] if any(isinstance(item, Mapping | Turn) for item in items) else items


def _dimensions(rows: Sequence[AgreementRow]) -> Iterator[tuple[str, list[AgreementRow]]]:
    """What is averaged together: corpora's only dimensions, or dimensions of one name."""
    dimensions = dict.fromkeys((row.corpus, row.dimension) for row in rows)
    if len(dimensions) == len({row.corpus for row in rows}):
        names: dict[str, str] = {}
        for row in rows:
            names.setdefault(row.dimension.casefold(), row.dimension)
        yield ", ".join(names.values()), list(rows)
        return
    for name in dict.fromkeys(row.dimension.casefold() for row in rows):
        yield name, [row for row in rows if row.dimension.casefold() == name]


def _mean(dimension: str, rows: Sequence[AgreementRow]) -> AgreementRow:
    bounds = {name: mean_of_estimates(_bounds(rows, name)) for name in ("pearson", "spearman", "kendall")}
    numbers = {
        field: defined(value)
        for name, found in bounds.items()
        for field, value in zip((name, f"{name}_low", f"{name}_high", f"{name}_p"), (*found, np.nan), strict=True)
    }
    means = {
        name: defined(np.mean([np.nan if (value := getattr(row, name)) is None else value for row in rows]))
        for name in ("cosine", "pairwise_accuracy")
    }
    return AgreementRow(
        corpus=MEAN,
        dimension=dimension,
        level=rows[0].level,
        system=None,
        metric=rows[0].metric,
        n=len({row.corpus for row in rows}),
        pearson_top=False,
        spearman_top=False,
        higher_is_better=rows[0].higher_is_better,
        signature=rows[0].signature,
        **numbers,
        **means,
    )


def _bounds(rows: Sequence[AgreementRow], name: str) -> list[IntervalEstimate]:
    fields = (name, f"{name}_low", f"{name}_high")
    found = ([getattr(row, field) for field in fields] for row in rows)
    return [IntervalEstimate(*(np.nan if value is None else value for value in values)) for values in found]


@contextmanager
def _naming(name: str, corpora: int) -> Iterator[None]:
    """What goes wrong is said with the corpus's name, where there are several and no file is named."""
    try:
        yield
    except InputError as error:
        raise error if corpora == 1 or error.path else InputError(f"{name}: {error.message}") from None


def _names(names: str | Sequence[str]) -> list[str]:
    pieces = names.split(",") if isinstance(names, str) else names
    if not isinstance(pieces, Iterable) or not all(isinstance(piece, str) for piece in pieces):
        raise InputError(f"expected names, found {names!r}")
    found = list(dict.fromkeys(filter(None, map(str.strip, pieces))))
    if not found:
        raise InputError("expected a name, found none")
    return found


def _watched(named: Mapping[str, Corpus], progress: bool) -> Iterator[tuple[str, Corpus]]:
    with progress_bar(named.items(), shown=progress and len(named) > 1, unit="corpus") as bar:
        for name, corpus in bar:
            bar.set_description(name)
            yield name, corpus


def _is_rated(turn: Turn) -> bool:
    return bool(turn.ratings or turn.extra.get("dialogue_ratings"))


def _rated(corpus: Corpus) -> Corpus:
    """The turns with any rating at all."""
    places = {system: place for place, system in enumerate(corpus.systems)}
    rated = [turn for turn in corpus if _is_rated(turn)]
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
