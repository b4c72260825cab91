"""One run of metrics over a corpus: what was asked for, what is counted on the way, and what is said in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from dialogauge.corpus.corpus import Corpus, SourceFile, users_left_out
from dialogauge.corpus.load import Loading
from dialogauge.corpus.turn import Turn
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import Caveat, InputError, MissingPackage, MissingWeights, UnsuitedEncoder
from dialogauge.evaluation import caveats
from dialogauge.evaluation.kept.texts import RunTexts
from dialogauge.evaluation.kept.turn_values import SpooledFiles, SpooledValues
from dialogauge.evaluation.measured import Measured
from dialogauge.evaluation.measuring.census import Census
from dialogauge.evaluation.measuring.language_fit import foreign_labels, language_caveats, splitting_caveats
from dialogauge.evaluation.measuring.real_turns import read_real
from dialogauge.evaluation.measuring.stream import STREAM_BATCH, Tallies
from dialogauge.evaluation.measuring.whole_dialogues import of_whole_dialogues, refuse_scattered
from dialogauge.evaluation.sample import Sample, refuse_unusable
from dialogauge.evaluation.units import Keys, Units
from dialogauge.metrics.base import AnyMetric
from dialogauge.metrics.default_set import Choice
from dialogauge.metrics.prepared import AnyPrepared
from dialogauge.metrics.registry import Request
from dialogauge.text.fitting import named_language
from dialogauge.text.languages import Languages


@dataclass
class MeasuringRun:
    """What measuring has to say beside the samples, however it goes about it."""

    requests: Sequence[Request]
    systems: Sequence[str] | None
    compat: str | None
    encoders: Encoders
    progress: bool
    for_agreement: bool
    real: Corpus | None
    real_units: Keys | None
    real_caveats: list[Caveat]
    units: Units = field(default_factory=Units)
    not_kept_because: Caveat = caveats.TOO_MANY
    language: str | None = None
    """That of all texts, where the user says it."""

    def __post_init__(self) -> None:
        self.census = Census(self.systems, frozenset())

    def census_of(self, corpus: Corpus | Loading) -> Iterator[Turn]:
        """The turns, counted as they pass."""
        self.census = Census(self.systems, corpus.users)
        for number, turn in enumerate(self.real or ()):
            self.census.look(turn, number)
        return self.census.watch(iter(corpus) if isinstance(corpus, Corpus) else corpus.turns())

    @property
    def languages(self) -> Languages:
        """Those of the texts that passed, unless the user has said in which all are."""
        found = self.census.languages
        return found if self.language is None else found.all_in(named_language(self.language))

    def watched(self, corpus: Loading, count: int) -> Corpus:
        """The first turns alone."""
        return Corpus(list(islice(self.census_of(corpus), count)))

    def choose(self, known: Corpus, large: bool) -> Choice:
        choice = Choice.by_input(
            self.requests, known.turns, self.real is not None, on_most=self.for_agreement, first=large
        )
        if large and (whole_for := of_whole_dialogues(request.metric for request in choice.requests)):
            refuse_scattered(known, STREAM_BATCH, whole_for)
        return choice

    def measured(
        self,
        choice: Choice,
        metrics: dict[str, AnyPrepared],
        samples: list[Sample],
        files: Iterable[SourceFile],
        remarks: Sequence[Caveat],
        large: bool,
        texts: RunTexts | None,
        *,
        learned_from_part: bool = True,
    ) -> Measured:
        census, asked = self.census, [ready.asked for ready in metrics.values()]
        turns = sum(census.systems.values())
        refuse_unusable(asked, samples, turns)
        order = list(census.systems)
        samples.sort(key=lambda sample: order.index(sample.system))
        kind = self.units.kind
        found = [
            *choice.caveats(),
            *remarks,
            *users_left_out(census.left_out),
            *self.real_caveats,
            *caveats.corpus_caveats(
                census.systems, census.empty, kind, asked, self.not_kept_because if large else None, learned_from_part
            ),
            *caveats.unit_caveats(samples, kind),
            *caveats.sample_caveats(samples, metrics, turns),
            *caveats.coverage_caveats(samples, metrics, self.languages),
            *language_caveats(self.languages, metrics),
            *splitting_caveats(metrics),
            *caveats.compat_caveats(choice.requests, self.compat),
            *caveats.plug_in_caveats(self.requests),
            *self.encoders.caveats(),
        ]
        return Measured(
            samples=samples,
            systems=census.systems,
            unit=kind,
            files=(*files, *(self.real.files if self.real is not None else ())),
            caveats=found,
            requests=choice.requests,
            baselines=dict.fromkeys(order[1:], order[0]),
            foreign=foreign_labels(self.languages, metrics),
            texts=texts,
            endpoints=self.encoders.endpoints if any(metric.asks_endpoints for metric in asked) else None,
        )


def prepare(
    choice: Choice, corpus: Corpus, real: Corpus | None, encoders: Encoders, languages: Languages
) -> dict[str, AnyPrepared]:
    return opened(choice, lambda metric: metric.prepare(corpus, real, encoders), languages)


def opened(choice: Choice, ready: Callable[[AnyMetric], AnyPrepared], languages: Languages) -> dict[str, AnyPrepared]:
    """The chosen metrics by label; the choice leaves out what cannot be prepared, or says nothing of such texts."""
    metrics: dict[str, AnyPrepared] = {}
    for request in list(choice.requests):
        try:
            opened = ready(request.metric)
        except (MissingPackage, MissingWeights, UnsuitedEncoder) as error:
            choice.leave_out_missing(request, error)
        else:
            choice.leave_out_foreign(request, opened.made_for, languages)
            if request in choice.requests:
                metrics[request.label] = opened
    choice.refuse_nothing()
    return metrics


def stream_samples(
    run: MeasuringRun, metrics: dict[str, AnyPrepared], tallies: Tallies, spooled: SpooledFiles | None
) -> list[Sample]:
    values = SpooledValues(spooled) if spooled else None
    samples = [
        tally.sample(label, system, metrics[label], run.real_units) for (system, label), tally in tallies.items()
    ]
    return [replace(sample, spooled=values) for sample in samples]


def real_side(
    real: Corpus | Loading | None, requests: Sequence[Request], progress: bool
) -> tuple[Corpus | None, Keys | None, list[Caveat]]:
    """The real conversations, their units and caveats, where any are given; refused where no metric looks at them."""
    if real is None:
        return None, None, []
    if not Choice(list(requests)).take_real:
        names = ", ".join(dict.fromkeys(request.metric.name for request in requests))
        raise InputError(f"real conversations are given, and none of the metrics takes any: {names}")
    return read_real(real, progress)
