"""Turns in, samples out: with rows where they fit in memory, as a stream of which only summaries are kept where they do
not."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from dialogauge.corpus.chunks.plan import surely_more_turns
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.load import Loading, watched
from dialogauge.corpus.turn import Turn
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.engines.make import DEFAULT_ENGINE, EngineChoice
from dialogauge.evaluation import caveats
from dialogauge.evaluation.kept.texts import RunTexts, SpooledTexts, TextsInMemory
from dialogauge.evaluation.kept.turn_values import VALUES, Buffer, SpooledParts, TurnValuesWriter
from dialogauge.evaluation.measured import Measured
from dialogauge.evaluation.measuring.asking import ask_ahead
from dialogauge.evaluation.measuring.chunked_run import ChunkOptions, first_turns, note_chunks
from dialogauge.evaluation.measuring.run import MeasuringRun, prepare, real_side, stream_samples
from dialogauge.evaluation.measuring.stream import tally_turns
from dialogauge.evaluation.sample import Sample, measure_rows
from dialogauge.metrics.prepared import AnyPrepared
from dialogauge.metrics.registry import Request
from dialogauge.progress import progress_bar

if TYPE_CHECKING:
    from dialogauge.endpoint.endpoint import AskOptions

ROWS_FIT = 200_000
"""Up to this many turns are kept with their rows; of more, only group summaries."""
HEAD = 20_000
"""So many turns are looked at first where there are surely more than fit."""


def measure(
    corpus: Corpus | Loading,
    requests: Sequence[Request],
    systems: Sequence[str] | None = None,
    compat: str | None = None,
    cache: bool = True,
    progress: bool = False,
    real: Corpus | Loading | None = None,
    *,
    for_agreement: bool = False,
    keep_texts: bool = False,
    keep_values: bool = True,
    asking: AskOptions | None = None,
    engine: EngineChoice = DEFAULT_ENGINE,
    language: str | None = None,
) -> Measured:
    """Reads a corpus as far as rows fit, and only past that lets go of them. Groups of metrics are looked through once
    so much is read. `for_agreement`: a turn counts only where all metrics have a value. `keep_texts`, `keep_values`:
    whether texts and values of turns that are too many for memory are written to temporary files. `asking`: how
    language models behind endpoints may be asked. `engine`: who measures files that are too large for one process.
    `language`: that of all texts; by default they tell."""
    encoders = Encoders(Cache() if cache else None, progress, asking)
    beside = real_side(real, requests, progress)
    run = MeasuringRun(requests, systems, compat, encoders, progress, for_agreement, *beside, language=language)
    keep = ChunkOptions(cache, keep_texts, keep_values, asking)
    rest = corpus.files_at_rest if isinstance(corpus, Loading) else None
    if rest is not None and not for_agreement and surely_more_turns(*rest, 2 * ROWS_FIT):
        known = first_turns(run, rest, min(HEAD, ROWS_FIT + 1))
        return note_chunks(run, known, rest, engine, keep).concluded(run, rest[0])
    turns = run.census_of(corpus)
    first = islice(turns, ROWS_FIT + 1)
    head = deque(watched(first) if progress else first)
    large = len(head) > ROWS_FIT
    if large and rest is not None:
        return note_chunks(run, Corpus(list(head)), rest, engine, keep).concluded(run, rest[0])
    known = Corpus(list(head))
    if not large:
        known = known.select(list(run.census.systems))
    choice = run.choose(known, large)
    metrics = prepare(choice, known, run.real, encoders, run.languages)
    remarks = [] if for_agreement else caveats.ratings_caveats(choice.requests, known.turns)
    texts: RunTexts | None
    if large:
        del known
        keep_texts = keep_texts and not isinstance(corpus, Corpus)
        samples, texts = _as_stream(run, metrics, _drain(head, turns), keep_texts, keep_values)
        texts = texts or _in_memory(corpus, head, run.census.systems)
    else:
        ask_ahead(metrics.values(), known)
        samples = measure_rows(metrics, known, run.units, run.real_units, progress)
        texts = _in_memory(corpus, head, run.census.systems)
    return run.measured(choice, metrics, samples, corpus.files, [*remarks, *corpus.caveats], large, texts)


def _as_stream(
    run: MeasuringRun, metrics: dict[str, AnyPrepared], turns: Iterator[Turn], keep_texts: bool, keep_values: bool
) -> tuple[list[Sample], SpooledTexts | None]:
    """What passes once and cannot be cut: in this process."""
    texts = SpooledTexts() if keep_texts else None
    spooled, kept = (SpooledParts(), Buffer()) if keep_values else (None, None)
    with progress_bar(shown=run.progress, unit="score") as bar:
        values = TurnValuesWriter(kept) if kept is not None else None
        tallies = tally_turns(metrics, texts.watch(turns) if texts else turns, run.units, bar, values)
    if spooled is not None and kept is not None and values is not None:
        values.close()
        spooled.put(VALUES, 0, kept.getvalue())
    return stream_samples(run, metrics, tallies, spooled), texts


def _in_memory(corpus: Corpus | Loading, head: Iterable[Turn], systems: Collection[str]) -> TextsInMemory | None:
    """The texts of these systems, unless they are a stream's of which nothing is left in the head."""
    turns = corpus.turns if isinstance(corpus, Corpus) else list(head)
    return TextsInMemory(turns, systems) if turns else None


def _drain(head: deque[Turn], rest: Iterator[Turn]) -> Iterator[Turn]:
    """All turns, letting go of those that have passed."""
    while head:
        yield head.popleft()
    yield from rest
