"""A corpus in chunks: surveyed, learned from and measured by an engine, in this process, in several or on a cluster,
with the same numbers."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dialogauge.corpus.chunks.count import positions_before
from dialogauge.corpus.chunks.plan import Chunk, plan_chunks
from dialogauge.corpus.chunks.read import Positions
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.how import HowToRead
from dialogauge.corpus.reading.reader import PositionsUnknown
from dialogauge.engines.fold import Engine
from dialogauge.engines.here import Here
from dialogauge.engines.make import EngineChoice
from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation.kept.turn_values import TEXTS, VALUES, SpooledParts
from dialogauge.evaluation.measuring.chunk_work import (
    ChunkWork,
    Counting,
    Drawing,
    InOrder,
    Measuring,
    Noted,
    Surveying,
)
from dialogauge.evaluation.measuring.real_turns import of_drawn
from dialogauge.evaluation.units import Keys
from dialogauge.metrics.base import AnyMetric
from dialogauge.metrics.prepared import AnyPrepared, PreparedPlain
from dialogauge.progress import progress_bar

if TYPE_CHECKING:
    from dialogauge.endpoint.endpoint import AskOptions


@dataclass
class ChunkedCorpus:
    """Files in chunks, and where these are worked on. `chunks` are those that are measured, `all_chunks` those that
    metrics learn from: one shard, and all of them."""

    paths: Sequence[Path]
    how: HowToRead
    engine: Engine
    chunks: Sequence[Chunk]
    all_chunks: Sequence[Chunk]
    plan_caveats: Sequence[Caveat] = ()
    progress: bool = False
    before: Mapping[int, Positions] | None = None

    @classmethod
    def planned(
        cls,
        paths: Sequence[Path],
        how: HowToRead,
        engine: EngineChoice,
        *,
        whole_dialogues: bool = False,
        shard: tuple[int, int] = (1, 1),
        progress: bool = False,
        **options: Any,
    ) -> ChunkedCorpus:
        plan = plan_chunks(paths, how, shards=shard[1], whole_dialogues=whole_dialogues, **options)
        chunks = plan.shards[shard[0] - 1]
        return cls(paths, how, engine.make(len(chunks)), chunks, plan.chunks, plan.caveats, progress)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.engine.close()

    def survey(self, metrics: Sequence[AnyMetric], wanted: Sequence[str] | None, beside_real: bool) -> tuple[Any, ...]:
        """What each must know of the whole corpus; None of those that need to know nothing."""
        found: list[Any] = [None] * len(metrics)
        asking = [place for place, metric in enumerate(metrics) if metric.survey((), beside_real) is not None]
        if asking:
            wants = tuple(metrics[place] for place in asking)
            surveys = self._folded(
                lambda before: Surveying(self.how, before, wants, wanted, beside_real), self.all_chunks, "surveying"
            )
            for place, survey in zip(asking, surveys.found, strict=True):
                found[place] = survey
        return tuple(found)

    def measure(
        self,
        metrics: Mapping[str, AnyPrepared],
        wanted: Sequence[str] | None,
        cache: bool,
        spooled: SpooledParts | None,
        keep_values: bool,
        keep_texts: bool,
        asking: AskOptions | None = None,
    ) -> Noted:
        """All metrics on these chunks. `spooled`: where values, and texts, of single turns go."""
        noted: Noted | None = None
        for names, threads, engine in self._apart(metrics):
            learned = {name: metrics[name].learned for name in names}
            job = Measuring(
                how=self.how,
                learned=learned,
                wanted=wanted,
                cache=cache,
                keep_values=keep_values,
                keep_texts=keep_texts and noted is None,
                asking=asking if isinstance(engine, Here) else None,
            )

            def put(index: int, kept: Any) -> None:
                for name, content in zip((VALUES, TEXTS), kept, strict=True):
                    if content is not None and spooled is not None:
                        spooled.put(name, self.chunks[index].number, content)

            found = self._folded(
                lambda before, job=job: replace(job, before=before),  # type: ignore[misc]
                self.chunks,
                "measuring",
                threads=threads,
                aside=put,
                engine=engine,
                anew=spooled.clear if spooled else None,
            )
            if found is not None:
                noted = found if noted is None else replace(noted, tallies={**noted.tallies, **found.tallies})
        return noted or Noted.nothing(wanted)

    def _apart(self, metrics: Mapping[str, AnyPrepared]) -> list[tuple[list[str], bool, Engine]]:
        """Metrics that go over the chunks together: many processes for those of plain words, few for encoders and
        models, this one for what asks endpoints or cannot be sent to another."""
        if isinstance(self.engine, Here):
            return [(list(metrics), False, self.engine)]
        here = [
            name for name, ready in metrics.items() if ready.asked.asks_endpoints or not _can_be_sent(ready.learned)
        ]
        plain = [name for name, ready in metrics.items() if name not in here and isinstance(ready, PreparedPlain)]
        rest = [name for name in metrics if name not in here and name not in plain]
        kinds = [(plain, False, self.engine), (rest, True, self.engine), (here, False, Here())]
        return [kind for kind in kinds if kind[0]]

    def draw_real(self) -> tuple[Corpus, Keys, list[Caveat]]:
        """Where these are real conversations: those that are kept, the key of each one's unit, and what is to be
        known of them."""
        drawn = self._folded(lambda before: Drawing(self.how, before), self.chunks, "reading")
        drawn.notes.check(self.paths, self.chunks)
        caveats = [*self.plan_caveats, *drawn.notes.caveats]
        return of_drawn(drawn.turns, drawn.notes.source_files, caveats)

    def _folded(
        self,
        work: Callable[[Mapping[int, Positions] | None], ChunkWork],
        chunks: Sequence[Chunk],
        what: str,
        *,
        threads: bool = False,
        aside: Callable[[int, Any], None] | None = None,
        engine: Engine | None = None,
        anew: Callable[[], None] | None = None,
    ) -> Any:
        """Again with counted positions, where turns or dialogues turn out to have no names."""
        try:
            return self._fold(work(self.before), chunks, what, threads, aside, engine)
        except PositionsUnknown:
            taken: InOrder = self._fold(Counting(self.how), self.all_chunks, "counting", False, None, None)
            self.before = positions_before(self.all_chunks, taken.results)
            if anew is not None:
                anew()
            return self._fold(work(self.before), chunks, what, threads, aside, engine)

    def _fold(
        self,
        work: Any,
        chunks: Sequence[Chunk],
        what: str,
        threads: bool,
        aside: Callable[[int, Any], None] | None,
        engine: Engine | None,
    ) -> Any:
        total = sum(chunk.size for chunk in chunks)
        with progress_bar(total=total, description=what, shown=self.progress, unit="byte", unit_scale=True) as bar:
            return (engine or self.engine).fold(
                work, chunks, threads=threads, aside=aside, done=lambda chunk: bar.update(chunk.size)
            )


def refuse_unmeasurable(metrics: Sequence[AnyMetric]) -> None:
    """Those that cannot be measured in parts, before they start."""
    for metric in metrics:
        if reason := metric.not_in_parts:
            raise InputError(f"{metric.label} cannot be measured in parts: {reason}")


def _can_be_sent(learned: Any) -> bool:
    try:
        pickle.dumps(learned)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return type(learned.metric).__module__ != "__main__"
