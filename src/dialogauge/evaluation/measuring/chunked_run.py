"""Files that are too large to keep their rows: what is noted of their chunks, all of them or those of one shard, and
what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dialogauge.corpus.chunks.plan import Chunk
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.how import HowToRead
from dialogauge.corpus.load import Loading
from dialogauge.engines.make import EngineChoice
from dialogauge.errors import Caveat
from dialogauge.evaluation import caveats
from dialogauge.evaluation.kept.texts import TextsOfParts
from dialogauge.evaluation.kept.turn_values import SpooledFiles, SpooledParts
from dialogauge.evaluation.measured import Measured
from dialogauge.evaluation.measuring.chunk_work import Noted
from dialogauge.evaluation.measuring.in_chunks import ChunkedCorpus, refuse_unmeasurable
from dialogauge.evaluation.measuring.run import MeasuringRun, opened, stream_samples
from dialogauge.evaluation.measuring.whole_dialogues import of_whole_dialogues
from dialogauge.evaluation.units import Units
from dialogauge.metrics.base import AnyMetric
from dialogauge.metrics.default_set import Choice
from dialogauge.metrics.prepared import AnyPrepared

if TYPE_CHECKING:
    from dialogauge.endpoint.endpoint import AskOptions

FilesAtRest = tuple[Sequence[Path], HowToRead]


@dataclass(frozen=True)
class ChunkOptions:
    """What is kept of single turns, and how endpoints and vectors are come by."""

    cache: bool = True
    keep_texts: bool = False
    keep_values: bool = True
    asking: AskOptions | None = None


@dataclass(frozen=True)
class NotedRun:
    """What all metrics noted about some chunks of the files, and what is to be said beside it."""

    choice: Choice
    metrics: dict[str, AnyPrepared]
    noted: Noted
    remarks: Sequence[Caveat]
    all_chunks: Sequence[Chunk]
    values: SpooledFiles | None
    texts: SpooledFiles | None

    def concluded(self, run: MeasuringRun, paths: Sequence[Path]) -> Measured:
        """Where the chunks are all of them."""
        noted = self.noted
        noted.notes.check(paths, self.all_chunks)
        run.census, run.units = noted.census, Units(kinds=set(noted.kinds))
        samples = stream_samples(run, self.metrics, noted.tallies, self.values)
        return run.measured(
            self.choice,
            self.metrics,
            samples,
            noted.notes.source_files,
            [*self.remarks, *noted.notes.caveats],
            True,
            TextsOfParts(self.texts) if self.texts else None,
            learned_from_part=False,
        )


def first_turns(run: MeasuringRun, files: FilesAtRest, count: int) -> Corpus:
    """By which is chosen what can be measured."""
    return run.watched(Loading(files[0], **vars(files[1])), count)


def note_chunks(
    run: MeasuringRun,
    known: Corpus,
    files: FilesAtRest,
    engine: EngineChoice,
    keep: ChunkOptions,
    shard: tuple[int, int] = (1, 1),
) -> NotedRun:
    """Of one shard of so many. `known` are the first turns of all."""
    choice = run.choose(known, large=True)
    refuse_unmeasurable([request.metric for request in choice.requests])
    whole = bool(of_whole_dialogues(request.metric for request in choice.requests))
    remarks = caveats.ratings_caveats(choice.requests, known.turns)
    spooled = SpooledParts() if keep.keep_values or keep.keep_texts else None
    with ChunkedCorpus.planned(*files, engine, whole_dialogues=whole, shard=shard, progress=run.progress) as corpus:
        metrics = _learned(choice, corpus, known, run)
        noted = corpus.measure(
            metrics, run.systems, keep.cache, spooled, keep.keep_values, keep.keep_texts, keep.asking
        )
        made_up = [Caveat("made_up_for", note) for note in corpus.engine.notes]
    return NotedRun(
        choice=choice,
        metrics=metrics,
        noted=noted,
        remarks=[*remarks, *corpus.plan_caveats, *made_up],
        all_chunks=corpus.all_chunks,
        values=spooled if keep.keep_values else None,
        texts=spooled if keep.keep_texts else None,
    )


def _learned(choice: Choice, corpus: ChunkedCorpus, first: Corpus, run: MeasuringRun) -> dict[str, AnyPrepared]:
    asked, beside_real = [request.metric for request in choice.requests], run.real is not None
    wide = [metric for metric in asked if not metric.first_turns_tell]
    surveys = corpus.survey(wide, run.systems, beside_real)
    by_label = {metric.label: survey for metric, survey in zip(wide, surveys, strict=True)}
    by_label |= {metric.label: metric.survey(first, beside_real) for metric in asked if metric.first_turns_tell}

    def ready(metric: AnyMetric) -> AnyPrepared:
        return metric.learn(by_label[metric.label], run.encoders, run.real).open(run.encoders)

    return opened(choice, ready, run.languages)
