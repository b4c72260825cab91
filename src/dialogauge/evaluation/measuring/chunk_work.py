"""What is done with each chunk of a corpus, in whatever process: counting, surveying, measuring."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dialogauge.corpus.chunks.notes import Notes
from dialogauge.corpus.chunks.plan import Chunk
from dialogauge.corpus.chunks.read import ChunkReading, Positions
from dialogauge.corpus.how import HowToRead
from dialogauge.corpus.turn import Turn
from dialogauge.evaluation.kept.texts import TextsWriter
from dialogauge.evaluation.kept.turn_values import Buffer, TurnValuesWriter
from dialogauge.evaluation.measuring.census import Census
from dialogauge.evaluation.measuring.real_turns import RealTurns
from dialogauge.evaluation.measuring.stream import Tallies, tally_turns
from dialogauge.evaluation.units import Units
from dialogauge.metrics.base import AnyMetric, Learned
from dialogauge.progress import progress_bar
from dialogauge.stats.arrays import one_blas_thread

if TYPE_CHECKING:
    from dialogauge.endpoint.endpoint import AskOptions


@dataclass(frozen=True)
class Noted:
    """What is known of some chunks once they are measured; that of two sets of chunks adds."""

    tallies: Tallies
    census: Census
    kinds: frozenset[str]
    notes: Notes

    @classmethod
    def nothing(cls, wanted: Sequence[str] | None) -> Noted:
        return cls({}, Census(wanted, frozenset(), whole=False), frozenset(), Notes())

    def __add__(self, other: Noted) -> Noted:
        tallies = dict(self.tallies)
        for place, tally in other.tallies.items():
            tallies[place] = tallies[place] + tally if place in tallies else tally
        return Noted(tallies, self.census + other.census, self.kinds | other.kinds, self.notes + other.notes)


@dataclass(frozen=True)
class InOrder:
    """Results in the order of their chunks."""

    results: tuple[Any, ...]

    def __add__(self, other: InOrder) -> InOrder:
        return InOrder(self.results + other.results)


@dataclass(frozen=True)
class ChunkWork:
    """How chunks are read."""

    how: HowToRead
    before: Mapping[int, Positions] | None = None
    """By chunk, how many records stand before it; None where nobody counted."""

    def describe(self, item: Chunk) -> str:
        return str(item)

    def reading(self, chunk: Chunk) -> ChunkReading:
        return ChunkReading(chunk, self.how, None if self.before is None else self.before[chunk.number])

    def split(self, item: Chunk) -> list[Chunk]:
        """None where positions count: nobody knows how many records the first half has."""
        return item.halves() if self.before is None else []


@dataclass(frozen=True)
class Counting(ChunkWork):
    """How many positions each chunk's records take."""

    def open(self) -> Callable[[Chunk], tuple[InOrder, None]]:
        return lambda chunk: (InOrder((ChunkReading(chunk, self.how, None).count(),)), None)

    def split(self, item: Chunk) -> list[Chunk]:  # noqa: ARG002
        return []


@dataclass(frozen=True)
class Surveying(ChunkWork):
    """What metrics must know of the corpus before they measure."""

    metrics: tuple[AnyMetric, ...] = ()
    wanted: Sequence[str] | None = None
    beside_real: bool = False

    def open(self) -> Callable[[Chunk], tuple[Surveys, None]]:
        return lambda chunk: (self._surveyed(chunk), None)

    def _surveyed(self, chunk: Chunk) -> Surveys:
        reading = self.reading(chunk)
        turns = list(Census(self.wanted, reading.users, whole=False).watch(reading.turns()))
        return Surveys(tuple(metric.survey(turns, self.beside_real) for metric in self.metrics))


@dataclass(frozen=True)
class Surveys:
    """One of each metric; those of two parts add."""

    found: tuple[Any, ...]

    def __add__(self, other: Surveys) -> Surveys:
        return Surveys(tuple(mine + theirs for mine, theirs in zip(self.found, other.found, strict=True)))


@dataclass(frozen=True)
class Drawing(ChunkWork):
    """Of real conversations, as many whole units as fit."""

    def open(self) -> Callable[[Chunk], tuple[Drawn, None]]:
        return lambda chunk: (self._drawn(chunk), None)

    def _drawn(self, chunk: Chunk) -> Drawn:
        reading, held = self.reading(chunk), RealTurns(part=chunk.number)
        for turn in reading.turns():
            held.add(turn)
        return Drawn(held, reading.notes)


@dataclass(frozen=True)
class Drawn:
    """Real turns, and what was noted while they were read."""

    turns: RealTurns
    notes: Notes

    def __add__(self, other: Drawn) -> Drawn:
        return Drawn(self.turns + other.turns, self.notes + other.notes)


@dataclass(frozen=True)
class Measuring(ChunkWork):
    """Metrics that have learned what they must, on chunks. Beside the tallies come the values and the texts of single
    turns, as Parquet files in memory, where they are to be kept."""

    learned: Mapping[str, Learned[Any, Any]] = field(default_factory=dict)
    wanted: Sequence[str] | None = None
    cache: bool = True
    keep_values: bool = False
    keep_texts: bool = False
    asking: AskOptions | None = None

    def open(self) -> Callable[[Chunk], tuple[Noted, Any]]:
        from dialogauge.encode.cache.cache import Cache
        from dialogauge.encode.encoders import Encoders

        encoders = Encoders(Cache() if self.cache else None, False, self.asking)
        metrics = {label: learned.open(encoders) for label, learned in self.learned.items()}
        measure = one_blas_thread()(self._measured)
        return lambda chunk: measure(metrics, chunk)

    def _measured(self, metrics: dict[str, Any], chunk: Chunk) -> tuple[Noted, tuple[bytes | None, bytes | None]]:
        reading, units = self.reading(chunk), Units()
        census = Census(self.wanted, reading.users, whole=False)
        kept, texts = (Buffer() if wanted else None for wanted in (self.keep_values, self.keep_texts))
        values = TurnValuesWriter(kept) if kept is not None else None
        turns = census.watch(reading.turns())
        if texts is not None:
            turns = _written(turns, TextsWriter(texts))
        with progress_bar(shown=False) as bar:
            tallies = tally_turns(metrics, turns, units, bar, values)
        if values is not None:
            values.close()
        noted = Noted(tallies, census, frozenset(units.kinds), reading.notes)
        return noted, tuple(None if each is None else each.getvalue() for each in (kept, texts))  # type: ignore[return-value]


def _written(turns: Iterator[Turn], writer: TextsWriter) -> Iterator[Turn]:
    """The turns, written as they pass."""
    batch: list[Turn] = []
    for turn in turns:
        batch.append(turn)
        if len(batch) == 4096:
            writer.write(batch)
            batch = []
        yield turn
    writer.write(batch)
    writer.close()
