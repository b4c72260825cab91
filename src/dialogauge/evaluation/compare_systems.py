"""Compares systems with each other, from files or from runs that were saved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from dialogauge.corpus.frames import CorpusLike
from dialogauge.errors import Caveat, InputError, quote, quote_all
from dialogauge.evaluation.answer import MOST_SYSTEMS, answer_by_default
from dialogauge.evaluation.caveats import FEW
from dialogauge.evaluation.comparison import Comparison
from dialogauge.evaluation.evaluate_corpus import measure_run, score_all
from dialogauge.evaluation.exchanges import exchanges_for
from dialogauge.evaluation.kept.saved import Names, load_runs, texts_of_runs
from dialogauge.evaluation.measured import Measured
from dialogauge.evaluation.options import Metrics, RunKeywords, RunOptions, Settings, chosen_systems, takes_run_options
from dialogauge.evaluation.pairs import Pair, all_pairs
from dialogauge.evaluation.result import Result
from dialogauge.evaluation.sample import Sample
from dialogauge.metrics.registry import Request
from dialogauge.progress import progress_bar
from dialogauge.stats.arrays import one_blas_thread


@takes_run_options
@one_blas_thread()
def compare(
    corpus: CorpusLike,
    metrics: Metrics | None = None,
    *,
    against: Sequence[str] | None = None,
    **options: Unpack[RunKeywords],
) -> Comparison:
    """Compares every pair of systems under every metric.

    Args:
        corpus: Whatever holds turns, as for `evaluate`.
        metrics: As for `evaluate`; left out, the default set.
        against: Texts "A=B" where only some pairs are wanted: B against A.
        **options: The fields of `RunOptions`.

    Returns:
        The scores, and for each pair the difference with its interval, a test corrected for the number of pairs, and
        the size of the effect.

    Examples:
        >>> import dialogauge
        >>> comparison = dialogauge.compare("examples/everyday.jsonl", "rouge_l")
        >>> comparison.beats("good", "rouge_l")
        ['dull', 'offtopic']
        >>> pair = comparison.pair("good", "dull", "rouge_l")
        >>> round(pair.difference, 3), round(pair.p_holm, 3), pair.better
        (0.386, 0.003, 'good')
    """
    run = RunOptions(**options)
    measured = measure_run(corpus, metrics, run)
    names = {system: system for system in measured.systems}
    asked = _baselines_asked_for(against, names, [names]) if against else None
    return compare_measured(measured, run.settings, asked)


@one_blas_thread()
def compare_runs(
    paths: Sequence[str | Path],
    metrics: str | Iterable[str | Request] | None = None,
    *,
    systems: Sequence[str] | None = None,
    seed: int = 0,
    resamples: int = 1000,
    confidence: float = 0.95,
    against: Sequence[str] | None = None,
    keep_texts: bool = False,
) -> Comparison:
    """Like `compare`, for runs that were kept, in which the same metrics were measured the same way.

    Args:
        paths: Directories that `score --out` or `Result.save` wrote.
        metrics: Those that count; by default all that the runs have in common.
        systems: Only these systems, in this order.
        seed: Of the tests and intervals, as are `resamples` and `confidence`.
        against: As for `compare`; also the name of a system in the first run and in another.
        keep_texts: Whether what the runs keep of single turns is read as well, for `write_report`.

    Examples:
        >>> import dialogauge
        >>> result = dialogauge.evaluate("examples/everyday.jsonl", "length")
        >>> runs = [result.save("runs/monday"), result.save("runs/tuesday")]
        >>> dialogauge.compare_runs(runs, against=["good"]).pairs[0].difference
        0.0
    """
    settings = Settings(seed, resamples, confidence)
    measured, names = load_runs(paths, metrics, turns=keep_texts)
    asked = _baselines_asked_for(against, names[0], names[1:] or names) if against else None
    chosen = chosen_systems(systems)
    comparison = compare_measured(measured.select(chosen) if chosen else measured, settings, asked)
    return replace(comparison, texts=texts_of_runs(paths, names)) if keep_texts else comparison


def compare_measured(measured: Measured, settings: Settings, asked: dict[str, str] | None = None) -> Comparison:
    """`asked` has, for a system, the one it stands against, where not every pair is wanted."""
    if asked:
        chosen = {*asked, *asked.values()}
        measured = replace(
            measured.select([system for system in measured.systems if system in chosen]), baselines=asked
        )
    if len(measured.systems) < 2:
        raise InputError(f"nothing to compare: there is only the system {next(iter(measured.systems))!r}")
    pairs: list[Pair] = []
    for request in measured.requests:
        mine = [sample for sample in measured.samples if sample.label == request.label]
        pairs += all_pairs(mine, request.part or "", settings, asked)
    scores = score_all(measured.samples, measured.requests, settings, measured.foreign)
    return Comparison(
        pairs=pairs,
        scores=scores,
        columns=[request.name for request in measured.requests],
        systems=measured.systems,
        files=measured.files,
        caveats=[*measured.caveats, *_pair_caveats(pairs, measured), *_many_systems(measured, settings)],
        settings=settings,
        unit=measured.unit,
        baselines={name: base for name, base in measured.baselines.items() if {name, base} <= measured.systems.keys()},
        answer=None if asked else answer_by_default(measured, scores, settings, pairs),
        samples=measured.samples,
        texts=measured.texts,
    )


@one_blas_thread()
def compare_result(result: Result, *, progress: bool = False) -> Comparison | None:
    """The systems of a result against each other, on what its metrics noted. None where there is one, or where they are
    too many (`MOST_SYSTEMS`) or kept nothing to test."""
    if not 2 <= len(result.systems) <= MOST_SYSTEMS or not result.samples:
        return None
    places = {system: place for place, system in enumerate(result.systems)}
    pairs: list[Pair] = []
    with progress_bar(result.columns, shown=progress, unit="metric") as bar:
        for metric in bar:
            if result.answer and result.answer.metric == metric:
                known = result.answer.pairs
                ordered = [pair if places[pair.first] < places[pair.second] else pair.turned() for pair in known]
                pairs += sorted(ordered, key=lambda pair: (places[pair.first], places[pair.second]))
                continue
            label, part = _label_and_part(metric, result.samples)
            pairs += all_pairs([sample for sample in result.samples if sample.label == label], part, result.settings)
    return Comparison(
        pairs=pairs,
        scores=result.scores,
        columns=result.columns,
        systems=result.systems,
        files=result.files,
        caveats=result.caveats,
        settings=result.settings,
        unit=result.unit,
        baselines={},
        answer=result.answer,
        samples=result.samples,
        texts=result.texts,
    )


def _label_and_part(metric: str, samples: Sequence[Sample]) -> tuple[str, str]:
    """Of "distinct.1"; an option of a metric may hold a dot, too."""
    labels = {sample.label for sample in samples}
    if metric in labels:
        return metric, ""
    label, _, part = metric.rpartition(".")
    return label, part


def _pair_caveats(pairs: Sequence[Pair], measured: Measured) -> list[Caveat]:
    """What the reader of the pairs must know beyond what holds for the scores."""
    caveats = []
    names = {(pair.first, pair.second) for pair in pairs if pair.p is None}
    if names:
        message = (
            f"without a test, since a system has fewer than two {measured.unit} or no value, or the metric learned "
            "from more turns of one than of the other: "
        )
        caveats.append(Caveat("untested_pairs", message + ", ".join(f"{a} and {b}" for a, b in sorted(names)[:5])))
    few = min((pair.units for pair in pairs if pair.p is not None and pair.paired), default=FEW)
    if few < FEW:
        message = f"some pairs share only {few} {measured.unit}: below {FEW}, intervals and p are rough"
        caveats.append(Caveat("few_shared", message))
    if any(sample.groups for sample in measured.samples) and "unpaired" in {c.code for c in measured.caveats}:
        message = f"too many turns to keep: differences are over all {measured.unit}, shared or not"
        caveats.append(Caveat("not_only_shared", message))
    return caveats


def _many_systems(measured: Measured, settings: Settings) -> list[Caveat]:
    """Which metrics are tested in another way than with fewer systems."""
    count = len(measured.systems)
    others = [
        request.name
        for request in measured.requests
        if request.metric.resampling == "bootstrap"
        and not exchanges_for(request.metric, request.part or "", count, settings)
    ]
    if not others:
        return []
    message = (
        f"{count} systems are too many to exchange their replies for every pair: tests and intervals of "
        f"{', '.join(others)} are Student's, on the jackknife; --system A=B names pairs"
    )
    return [Caveat("many_systems", message)]


def _baselines_asked_for(asked: Sequence[str], first: Names, others: Sequence[Names]) -> dict[str, str]:
    """For each system the one it is held against. `asked` has texts `A=B`, B of the other inputs against A of the
    first, or `NAME`, against that of the same name."""
    found: dict[str, str] = {}
    for text in chosen_systems(asked, "against") or ():
        pairs = [pair for other in others for pair in _pairs(text, first, other)]
        if not pairs:
            raise InputError(
                f"--system {text}: expected NAME of both inputs, or A=B with A of the first and B of another; the first"
                f" has {quote_all(first)}, the others {quote_all(dict.fromkeys(n for other in others for n in other))}"
            )
        for baseline, system in pairs:
            if baseline == system:
                raise InputError(f"--system {text}: a system cannot stand against itself; say {text}=OTHER")
            if found.setdefault(system, baseline) != baseline:
                raise InputError(f"--system {text}: {quote(system)} stands against {quote(found[system])} already")
    return found


def _pairs(text: str, first: Names, other: Names) -> Iterator[tuple[str, str]]:
    """At most one pair: a name may hold `=` itself, and then another place may divide the text."""
    pieces = text.split("=")
    for place in range(1, len(pieces)):
        a, b = "=".join(pieces[:place]).strip(), "=".join(pieces[place:]).strip()
        if a in first and b in other:
            yield first[a], other[b]
            return
    if text in first and text in other:
        yield first[text], other[text]
