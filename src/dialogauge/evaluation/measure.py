"""Turns in, samples out: with rows where they fit in memory, as a stream of which only summaries are kept where they do
not."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import Corpus, SourceFile, only_users, users_left_out
from dialogauge.corpus.load import Loading, watched
from dialogauge.corpus.turn import REAL, Turn
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import Caveat, InputError, MissingPackage, MissingWeights, UnsuitedEncoder, unknown
from dialogauge.evaluation import caveats
from dialogauge.evaluation.asking import ask_ahead
from dialogauge.evaluation.sample import Places, Sample, measure_all, measure_rows, real_beside, refuse_unusable
from dialogauge.evaluation.texts import RunTexts, SpooledTexts, TextsInMemory
from dialogauge.evaluation.units import Answered, Keys, Total, Units, add_all
from dialogauge.evaluation.whole_dialogues import refuse_scattered, stream_batches
from dialogauge.metrics.base import AnyMetric, Floats
from dialogauge.metrics.default_set import Choice
from dialogauge.metrics.prepared import AnyPrepared
from dialogauge.metrics.registry import Request
from dialogauge.progress import progress_bar
from dialogauge.stats.resampling import GROUPS
from dialogauge.text.languages import Languages

if TYPE_CHECKING:
    from dialogauge.endpoint.endpoint import AskOptions
    from dialogauge.endpoint.endpoints import Endpoints

REAL_TURNS = 100_000
"""The most real turns that are kept: their vectors lie in memory."""

STREAM_BATCH = 20_000
"""Large, since every batch is summed up by group."""

ROWS_FIT = 200_000
"""Up to this many turns are kept with their rows; of more, only group summaries."""
LOOKED_AT, ONE_OF = 10_000, 16
"""So many of a system's first turns are looked at for their language, then one of so many."""


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
    if large and (whole_for := _whole_for(request.metric for request in choice.requests)):
        refuse_scattered(known, STREAM_BATCH, whole_for)
    metrics = _prepare(choice, known, real_corpus, encoders, census.languages)
    remarks = [] if for_agreement else caveats.ratings_caveats(choice.requests, known.turns)
    if large:
        del known
        passing = _drain(head, turns)
        samples = measure_stream(metrics, spool.watch(passing) if spool else passing, units, real_units, progress)
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


def read_real(real: Corpus | Loading, progress: bool, limit: int = REAL_TURNS) -> tuple[Corpus, Keys, list[Caveat]]:
    """The real turns, the key of each one's unit, and what the reader must know about them."""
    turns = iter(real) if isinstance(real, Corpus) else real.turns()
    held = RealTurns(limit)
    for turn in watched(turns) if progress else turns:
        held.add(turn)
    kept = held.turns
    if not kept:
        raise InputError("expected real conversations, found no turns")
    caveats = list(real.caveats)
    if len(kept) < held.seen:
        message = f"of {held.seen} real turns {len(kept)} are used: whole {held.units.kind}, drawn by chance"
        caveats.append(Caveat("part_of_real", message))
    return Corpus(kept, tuple(real.files)), held.units.keys(kept), caveats


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


@dataclass
class RealTurns:
    """Of real conversations whole units, as many as fit: those with the smallest keys, which are hashes, and so a
    random draw. The first unit stays even where it alone is too large. What is held of two parts adds, in any order,
    to what is held of the whole."""

    limit: int = REAL_TURNS
    part: int = 0
    """Which part this is, by which the order of turns is found again."""
    seen: int = 0
    units: Units = field(default_factory=lambda: Units(REAL))
    held: dict[int, list[tuple[int, int, Turn]]] = field(default_factory=dict)
    """By unit, each turn after its part and its number there."""
    count: int = 0
    ceiling: int = 2**64
    """Units with this key or a larger one do not fit."""
    largest: list[int] = field(default_factory=list)
    """A heap of the keys that are held, with their signs changed."""

    def add(self, turn: Turn) -> None:
        self.seen += 1
        self._hold(self.units.key(turn), [(self.part, self.seen, turn)])

    def _hold(self, key: int, turns: list[tuple[int, int, Turn]]) -> None:
        if key >= self.ceiling:
            return
        if key not in self.held:
            self.held[key] = []
            heappush(self.largest, -key)
        self.held[key] += turns
        self.count += len(turns)
        while self.count > self.limit and len(self.held) > 1:
            self.ceiling = -heappop(self.largest)
            self.count -= len(self.held.pop(self.ceiling))

    def __add__(self, other: RealTurns) -> RealTurns:
        kinds = self.units.kinds | other.units.kinds
        whole = RealTurns(self.limit, seen=self.seen + other.seen, units=Units(REAL, kinds))
        whole.ceiling = min(self.ceiling, other.ceiling)
        for key, turns in (*self.held.items(), *other.held.items()):
            whole._hold(key, turns)
        return whole

    @property
    def turns(self) -> list[Turn]:
        """As they came."""
        placed = sorted((item for unit in self.held.values() for item in unit), key=itemgetter(0, 1))
        return [turn for _, _, turn in placed]


@dataclass
class Tally:
    """What is kept of one metric on one system."""

    groups: list[Total] = field(default_factory=lambda: [Total() for _ in range(GROUPS)])
    turns: int = 0
    coverage: NDArray[np.int64] | None = None
    keys: list[Keys] = field(default_factory=list)
    messages: list[Keys] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)


def measure_stream(
    metrics: dict[str, AnyPrepared], turns: Iterator[Turn], units: Units, real_units: Keys | None, progress: bool
) -> list[Sample]:
    """Every metric on every system. A unit's group comes from its key, so that no table of units is needed."""
    tallies: defaultdict[tuple[str, str], Tally] = defaultdict(Tally)
    with progress_bar(shown=progress, unit="turn") as bar:
        whole_for = _whole_for(ready.asked for ready in metrics.values())
        for batch in stream_batches(turns, STREAM_BATCH, whole_for):
            by_system: dict[str, list[Turn]] = {}
            for turn in batch:
                by_system.setdefault(turn.system, []).append(turn)
            for system, part in by_system.items():
                keys, messages = units.keys(part), units.messages(part)
                for label, (places, rows) in measure_all(metrics, part, bar).items():
                    metric = metrics[label].metric
                    _note(tallies[system, label], metric, part, keys, messages, places, rows)
                    _settle(tallies[system, label], metric)
    return [_sample(label, system, metrics[label], tally, real_units) for (system, label), tally in tallies.items()]


def _whole_for(metrics: Iterable[AnyMetric]) -> list[str]:
    """The labels of those that look at whole dialogues."""
    return list(dict.fromkeys(metric.label for metric in metrics if metric.level == "dialogue"))


def _note(
    tally: Tally, metric: AnyMetric, turns: Sequence[Turn], keys: Keys, messages: Keys, places: Places, rows: Any
) -> None:
    tally.turns += len(places)
    if (coverage := metric.coverage(rows)) is not None:
        tally.coverage = coverage + (0 if tally.coverage is None else tally.coverage)
    defined = np.flatnonzero(metric.defined(rows))
    places, rows = places[defined], rows[defined]
    _add(tally, metric, keys[places], rows)
    tally.messages.append(messages[places])
    if (values := metric.per_turn(rows)) is not None:
        tally.values.append(values)
        tally.ids.extend(turns[place].id for place in places)


def _add(tally: Tally, metric: AnyMetric, keys: Keys, rows: Any) -> None:
    members = keys % np.uint64(GROUPS)
    for group in np.unique(members):
        tally.groups[group].add(metric.summarise(rows[np.flatnonzero(members == group)]))
    tally.keys.append(keys)


def _settle(tally: Tally, metric: AnyMetric) -> None:
    """One summary for each group, with no more vectors than count: those of distances are large."""
    if metric.distance is None:
        return
    sums = {place: total.sum() for place, total in enumerate(tally.groups)}
    present = {place: total for place, total in sums.items() if total is not None}
    for place, summary in zip(present, metric.distance.bounded(list(present.values())) if present else (), strict=True):
        tally.groups[place] = Total()
        tally.groups[place].add(summary)


def _sample(label: str, system: str, ready: AnyPrepared, tally: Tally, real_units: Keys | None) -> Sample:
    metric = ready.metric
    answered = Answered.noted(np.concatenate(tally.keys), np.concatenate(tally.messages))
    beside = real_beside(ready, system, real_units)
    if beside is not None:
        _add(tally, metric, beside.units, beside.rows)
        tally.coverage = beside.covered(tally.coverage)
    groups = [total.sum() for total in tally.groups]
    present = [group for group in groups if group is not None]
    return Sample(
        label=label,
        system=system,
        metric=metric,
        turns=tally.turns,
        signature=ready.signature,
        units=np.unique(np.concatenate(tally.keys)),
        summary=add_all(present) if present else metric.summarise(ready.measure([])),
        groups=groups,
        ids=tally.ids,
        values=np.concatenate(tally.values) if tally.values else None,
        real_units=None if beside is None else beside.units,
        real_rows=None if beside is None else beside.rows,
        coverage=tally.coverage,
        answered=answered,
    )


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
