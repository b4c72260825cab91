"""Turns in, samples out: with rows where they fit in memory, as a stream of which only summaries are kept where they do
not."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from dialogauge.corpus.corpus import Corpus, SourceFile, users_left_out
from dialogauge.corpus.load import Loading, watched
from dialogauge.corpus.turn import Turn
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import Caveat, InputError, MissingPackage, MissingWeights, UnsuitedEncoder, unknown
from dialogauge.evaluation import caveats
from dialogauge.evaluation.kept.texts import RunTexts, SpooledTexts, TextsInMemory
from dialogauge.evaluation.measuring.asking import ask_ahead
from dialogauge.evaluation.measuring.census import Census
from dialogauge.evaluation.measuring.real_turns import read_real
from dialogauge.evaluation.measuring.stream import measure_stream
from dialogauge.evaluation.measuring.whole_dialogues import of_whole_dialogues, refuse_scattered
from dialogauge.evaluation.sample import Sample, measure_rows, refuse_unusable
from dialogauge.evaluation.units import Keys, Units
from dialogauge.metrics.default_set import Choice
from dialogauge.metrics.prepared import AnyPrepared
from dialogauge.metrics.registry import Request
from dialogauge.text.languages import Languages

if TYPE_CHECKING:
    from dialogauge.endpoint.endpoint import AskOptions
    from dialogauge.endpoint.endpoints import Endpoints

STREAM_BATCH = 20_000
"""Large, since every batch is summed up by group."""

ROWS_FIT = 200_000
"""Up to this many turns are kept with their rows; of more, only group summaries."""


@dataclass(frozen=True)
class Measured:
    """What all metrics noted about all systems."""

    samples: list[Sample]
    systems: dict[str, int]
    unit: str
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]
    requests: list[Request]
    """What was measured."""
    baselines: dict[str, str]
    """For a system the one it must not fall behind: the first, or in another run the one of its name."""
    texts: RunTexts | None = None
    """The turns themselves; None where they are a long stream's that was not to be kept, or a kept run's."""
    endpoints: Endpoints | None = None
    """Those that were asked."""

    def select(self, systems: Sequence[str]) -> Measured:
        """Only these systems, in this order."""
        for system in systems:
            if system not in self.systems:
                raise unknown("system", system, self.systems)
        samples = [sample for system in systems for sample in self.samples if sample.system == system]
        return replace(self, samples=samples, systems={system: self.systems[system] for system in systems})


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
    asking: AskOptions | None = None,
) -> Measured:
    """Reads a stream as far as rows fit, and only past that lets go of them. Groups of metrics are looked through once
    so much is read. `for_agreement`: a turn counts only where all metrics have a value. `keep_texts`: whether those of
    a long stream are written to a temporary file; others are in memory anyway. `asking`: how language models behind
    endpoints may be asked."""
    encoders = Encoders(Cache() if cache else None, progress, asking)
    real_corpus, real_units, real_caveats = _real(real, requests, progress)
    census, units = Census(systems, corpus.users), Units()
    for number, turn in enumerate(real_corpus or ()):
        census.look(turn, number)
    turns = census.watch(iter(corpus) if isinstance(corpus, Corpus) else corpus.turns())
    first = islice(turns, ROWS_FIT + 1)
    head = deque(watched(first) if progress else first)
    large = len(head) > ROWS_FIT
    spool = SpooledTexts() if large and keep_texts and not isinstance(corpus, Corpus) else None
    known = Corpus(list(head))
    if not large:
        known = known.select(list(census.systems))
    choice = Choice.by_input(requests, known.turns, real_corpus is not None, on_most=for_agreement, first=large)
    if large and (whole_for := of_whole_dialogues(request.metric for request in choice.requests)):
        refuse_scattered(known, STREAM_BATCH, whole_for)
    metrics = _prepare(choice, known, real_corpus, encoders, census.languages)
    remarks = [] if for_agreement else caveats.ratings_caveats(choice.requests, known.turns)
    if large:
        del known
        passing = _drain(head, turns)
        noted = spool.watch(passing) if spool else passing
        samples = measure_stream(metrics, noted, units, real_units, STREAM_BATCH, progress)
    else:
        ask_ahead(metrics.values(), known)
        samples = measure_rows(metrics, known, units, real_units, progress)
    asked = [ready.asked for ready in metrics.values()]
    refuse_unusable(asked, samples, sum(census.systems.values()))
    order = list(census.systems)
    samples.sort(key=lambda sample: order.index(sample.system))
    found = [
        *choice.caveats(),
        *remarks,
        *corpus.caveats,
        *users_left_out(census.left_out),
        *real_caveats,
        *caveats.corpus_caveats(census.systems, census.empty, units.kind, asked, large),
        *caveats.unit_caveats(samples, units.kind),
        *caveats.sample_caveats(samples, metrics, sum(census.systems.values())),
        *caveats.coverage_caveats(samples, metrics),
        *caveats.language_caveats(census.languages, metrics),
        *caveats.compat_caveats(choice.requests, compat),
        *caveats.plug_in_caveats(requests),
        *encoders.caveats(),
    ]
    return Measured(
        samples=samples,
        systems=census.systems,
        unit=units.kind,
        files=(*corpus.files, *(real_corpus.files if real_corpus else ())),
        caveats=found,
        requests=choice.requests,
        baselines=dict.fromkeys(order[1:], order[0]),
        texts=spool or _in_memory(corpus, head, census.systems),
        endpoints=encoders.endpoints if any(metric.asks_endpoints for metric in asked) else None,
    )


def _in_memory(corpus: Corpus | Loading, head: Iterable[Turn], systems: Collection[str]) -> TextsInMemory | None:
    """The texts of these systems, unless they are a stream's of which nothing is left in the head."""
    turns = corpus.turns if isinstance(corpus, Corpus) else list(head)
    return TextsInMemory(turns, systems) if turns else None


def _prepare(
    choice: Choice, corpus: Corpus, real: Corpus | None, encoders: Encoders, languages: Languages
) -> dict[str, AnyPrepared]:
    """The chosen metrics by label; the choice leaves out what cannot be prepared, or says nothing of such texts."""
    metrics: dict[str, AnyPrepared] = {}
    for request in list(choice.requests):
        try:
            ready = request.metric.prepare(corpus, real, encoders)
        except (MissingPackage, MissingWeights, UnsuitedEncoder) as error:
            choice.leave_out_missing(request, error)
        else:
            choice.leave_out_foreign(request, ready.made_for, languages)
            if request in choice.requests:
                metrics[request.label] = ready
    choice.refuse_nothing()
    return metrics


def _real(
    real: Corpus | Loading | None, requests: Sequence[Request], progress: bool
) -> tuple[Corpus | None, Keys | None, list[Caveat]]:
    """The real conversations, their units and caveats, where any are given; refused where no metric looks at them."""
    if real is None:
        return None, None, []
    if not Choice(list(requests)).take_real:
        names = ", ".join(dict.fromkeys(request.metric.name for request in requests))
        raise InputError(f"real conversations are given, and none of the metrics takes any: {names}")
    return read_real(real, progress)


def _drain(head: deque[Turn], rest: Iterator[Turn]) -> Iterator[Turn]:
    """All turns, letting go of those that have passed."""
    while head:
        yield head.popleft()
    yield from rest
