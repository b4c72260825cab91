"""Turns in, samples out: with rows where they fit in memory, as a stream where they do not."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import islice

from dialogauge.corpus.corpus import Corpus, SourceFile, only_users, users_left_out
from dialogauge.corpus.load import Loading, watched
from dialogauge.corpus.turn import Turn
from dialogauge.encode.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import Caveat, InputError, unknown
from dialogauge.evaluation import caveats
from dialogauge.evaluation.real import read_real
from dialogauge.evaluation.sample import Sample, measure_rows, refuse_unusable
from dialogauge.evaluation.stream import measure_stream
from dialogauge.evaluation.units import Keys, Units
from dialogauge.metrics.registry import Request
from dialogauge.text.languages import Languages

ROWS_FIT = 200_000
"""Up to this many turns are kept with their rows; of more, only group summaries."""
LOOKED_AT, ONE_OF = 10_000, 16
"""So many of a system's first turns are looked at for their language, then one of so many."""


@dataclass
class Census:
    """What is counted of all turns that pass, measured or not."""

    wanted: Sequence[str] | None
    users: Set[str]
    """Systems that are left out unless they are wanted."""
    seen: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    empty: int = 0
    languages: Languages = field(default_factory=Languages)

    def watch(self, turns: Iterator[Turn]) -> Iterator[Turn]:
        """The turns of the wanted systems."""
        for turn in turns:
            if self.wanted is None and turn.system in self.users:
                self.left_out[turn.system] = self.left_out.get(turn.system, 0) + 1
                continue
            self.seen[turn.system] = self.seen.get(turn.system, 0) + 1
            if self.wanted is None or turn.system in self.wanted:
                self.empty += not turn.response.strip()
                self.look(turn, self.seen[turn.system])
                yield turn

    def look(self, turn: Turn, number: int) -> None:
        """At the languages of what metrics hold against each other; not at every one of many turns."""
        if number <= LOOKED_AT or not number % ONE_OF:
            self.languages.note((turn.response, *turn.references, *turn.context[-1:]))

    @property
    def systems(self) -> dict[str, int]:
        """The wanted systems in the order asked for, with their numbers of turns."""
        if self.left_out and not self.seen:
            raise only_users(self.left_out)
        for system in self.wanted or ():
            if system not in self.seen:
                raise unknown("system", system, self.seen)
        return {system: self.seen[system] for system in self.wanted or self.seen}


@dataclass(frozen=True)
class Measured:
    """What all metrics noted about all systems."""

    samples: list[Sample]
    systems: dict[str, int]
    unit: str
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]
    baselines: dict[str, str]
    """For a system the one it must not fall behind: the first, or in another run the one of its name."""

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
) -> Measured:
    """Reads a stream as far as rows fit, and only past that lets go of them."""
    encoders = Encoders(Cache() if cache else None, progress)
    real_corpus, real_units, real_caveats = _real(real, requests, progress)
    census, units = Census(systems, corpus.users), Units()
    for number, turn in enumerate(real_corpus or ()):
        census.look(turn, number)
    turns = census.watch(iter(corpus) if isinstance(corpus, Corpus) else corpus.turns())
    first = islice(turns, ROWS_FIT + 1)
    head = deque(watched(first) if progress else first)
    large = len(head) > ROWS_FIT
    known = Corpus(list(head))
    if not large:
        known = known.select(list(census.systems))
    metrics = {request.label: request.metric.prepare(known, real_corpus, encoders) for request in requests}
    if large:
        del known
        samples = measure_stream(metrics, _drain(head, turns), units, real_units, progress)
    else:
        samples = measure_rows(metrics, known, units, real_units, progress)
    asked = [ready.asked for ready in metrics.values()]
    refuse_unusable(asked, samples, sum(census.systems.values()))
    order = list(census.systems)
    samples.sort(key=lambda sample: order.index(sample.system))
    found = [
        *corpus.caveats,
        *users_left_out(census.left_out),
        *real_caveats,
        *caveats.corpus_caveats(census.systems, census.empty, units.kind, asked, large),
        *caveats.unit_caveats(samples, units.kind),
        *caveats.sample_caveats(samples, metrics, sum(census.systems.values())),
        *caveats.coverage_caveats(samples, metrics),
        *caveats.language_caveats(census.languages, metrics),
        *caveats.compat_caveats(requests, compat),
        *caveats.plug_in_caveats(requests),
        *encoders.caveats(),
    ]
    return Measured(
        samples=samples,
        systems=census.systems,
        unit=units.kind,
        files=(*corpus.files, *(real_corpus.files if real_corpus else ())),
        caveats=found,
        baselines=dict.fromkeys(order[1:], order[0]),
    )


def _real(
    real: Corpus | Loading | None, requests: Sequence[Request], progress: bool
) -> tuple[Corpus | None, Keys | None, list[Caveat]]:
    """The real conversations, their units and caveats, where any are given; refused where no metric looks at them."""
    if real is None:
        return None, None, []
    if not any("real" in need for request in requests for need in request.metric.needs):
        names = ", ".join(dict.fromkeys(request.metric.name for request in requests))
        raise InputError(f"real conversations are given, and none of the metrics takes any: {names}")
    return read_real(real, progress)


def _drain(head: deque[Turn], rest: Iterator[Turn]) -> Iterator[Turn]:
    """All turns, letting go of those that have passed."""
    while head:
        yield head.popleft()
    yield from rest
