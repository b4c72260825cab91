"""Metrics that are ready to measure; and the bases of those with nothing to prepare, which are functions of sums or
means."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Self

import numpy as np
from numpy.typing import NDArray

from dialogauge import __version__
from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat
from dialogauge.metrics.base import Learned, Metric, Rows, Summary, Values, options, spell
from dialogauge.plugins import foreign
from dialogauge.stats.arrays import Floats
from dialogauge.text.languages import MadeFor

if TYPE_CHECKING:
    from dialogauge.encode.base import Encoder
    from dialogauge.encode.encoders import Encoders
    from dialogauge.endpoint.chat import ChatRequest
    from dialogauge.endpoint.endpoint import Endpoint
    from dialogauge.learned.directory import SavedModel
    from dialogauge.metrics.fitted import FittedWay


@dataclass(frozen=True)
class Prepared(ABC, Generic[Rows, Summary]):
    """Ready to measure.

    Examples:
        A metric that learns: the length of replies, where that of the corpus's references is 1.

        >>> from dataclasses import dataclass
        >>> import numpy
        >>> from dialogauge import Turn, evaluate
        >>> from dialogauge.metrics import Learned, MeansOfRows, Prepared
        >>> @dataclass(frozen=True)
        ... class RelativeLength(MeansOfRows):
        ...     name = "relative_length"
        ...     title = "words per reply, by those per reference"
        ...     higher_is_better = None
        ...     bounds = (0.0, numpy.inf)
        ...     learns = True
        ...
        ...     def survey(self, turns, beside_real=False):
        ...         lengths = [len(text.split()) for turn in turns for text in turn.references]
        ...         return numpy.array([len(lengths), sum(lengths)])
        ...
        ...     def learn(self, surveyed, encoders, real=None):
        ...         return Learned(self, surveyed[1] / surveyed[0])
        ...
        ...     def open(self, encoders, known):
        ...         return PreparedLength(self, known)
        >>> @dataclass(frozen=True)
        ... class PreparedLength(Prepared):
        ...     def measure(self, turns):
        ...         return numpy.array([[len(turn.response.split()) / self.known] for turn in turns])
        ...
        ...     def recipe(self):
        ...         return {"reference": f"{self.known:.6g}"}
        >>> turns = [Turn("1", "no", references="not at all"), Turn("2", "yes yes", references="yes")]
        >>> score = evaluate(turns, RelativeLength()).scores[0]
        >>> score.value, score.signature
        (0.75, 'relative_length|reference:2|dialogauge:0.1.0')
    """

    asked: Metric[Rows, Summary]
    known: Any
    """What the metric learned."""

    @property
    def metric(self) -> Metric[Rows, Summary]:
        """What sums up and concludes: the metric that was asked for, with the options that it left to the corpus or the
        encoder filled in."""
        return self.asked

    @property
    def learned(self) -> Learned[Rows, Summary]:
        """What another process opens."""
        return Learned(self.asked, self.known)

    @property
    def reader(self) -> Encoder | None:
        """The encoder that reads the texts."""
        return None

    @property
    def trained(self) -> SavedModel | None:
        """The model that judges them."""
        return None

    @property
    def made_for(self) -> tuple[MadeFor, ...]:
        """The languages that what it stands on was made for, as far as that is known: word lists, an encoder, a model.
        Texts in others are warned of."""
        read = self.reader
        of_reader = (
            () if read is None or read.languages is None else (MadeFor(f"the encoder {read.identity}", read.languages),)
        )
        return self.asked.made_for + of_reader + (() if self.trained is None else self.trained.made_for)

    @property
    def fitted_way(self) -> FittedWay | None:
        """How it splits texts, where that was left to the language of the corpus."""
        return None

    def usable(self, turn: Turn) -> bool:
        return self.asked.usable(turn)

    @abstractmethod
    def measure(self, turns: Sequence[Turn]) -> Rows:
        """Row i is what is noted about turn i."""

    def asks(self, turns: Sequence[Turn]) -> tuple[Endpoint, list[ChatRequest]] | None:
        """What it would ask a language model's endpoint about these turns; None where it asks none."""
        return None

    @property
    def undefined_because(self) -> str:
        """Why a turn that it can use may have no value, where there is more to say than that."""
        return ""

    def real_rows(self, system: str) -> Rows | None:
        """The rows of real conversations given beside the corpus, as this system's turns are held against them."""
        return None

    def introduced(self, turns: Sequence[Turn]) -> Self:
        """Ready for turns of systems that the survey did not see, too: what must be known of them comes from these."""
        return self

    def caveats(self, summary: Summary) -> list[Caveat]:
        """What the reader of this summary's score must know."""
        return self.asked.caveats(summary)

    def recipe(self) -> dict[str, str]:
        """What beside the options could change the number, for the signature."""
        return self.asked.recipe()

    @property
    def signature(self) -> str:
        """Everything that could change the number, in one line."""
        metric = self.asked
        spelled = {
            name: spell(getattr(metric, field.name))
            for name, field in options(type(metric)).items()
            if field.metadata.get("signed", True)
        }
        parts = {**self.recipe(), **spelled, "dialogauge": __version__}
        return "|".join([metric.name, *(f"{key}:{value}" for key, value in parts.items())])


class PlainMetric(Metric[Rows, Summary]):
    """A metric with nothing to prepare."""

    @abstractmethod
    def measure(self, turns: Sequence[Turn]) -> Rows:
        """Row i is what is noted about turn i."""

    @property
    def signature(self) -> str:
        """Of such a metric it is known before."""
        return PreparedPlain(self, None).signature

    def open(self, encoders: Encoders, known: Any) -> Prepared[Rows, Summary]:
        return PreparedPlain(self, known)


@dataclass(frozen=True)
class PreparedPlain(Prepared[Rows, Summary]):
    """Measures as the metric says."""

    asked: PlainMetric[Rows, Summary]

    def measure(self, turns: Sequence[Turn]) -> Rows:
        if type(self.asked).__module__.startswith("dialogauge."):
            return self.asked.measure(turns)
        with foreign(f"the metric {self.asked.name}"):
            rows: Any = self.asked.measure(turns)
            if isinstance(self.asked, SumsOfRows):
                rows = _checked(rows, self.asked)
            if len(rows) != len(turns):
                raise ValueError(f"measure: expected {len(turns)} rows, one for each turn, found {len(rows)}")
        return rows  # type: ignore[no-any-return]


def _checked(rows: Any, metric: SumsOfRows) -> Floats:
    """The rows that a metric of another package gives, as an array of numbers."""
    found = np.asarray(rows, dtype=np.float64)
    least = 1 + len(metric.parts) if isinstance(metric, MeansOfRows) else 1
    if found.ndim != 2 or found.shape[1] < least:
        raise ValueError(f"measure: expected rows of {least} or more numbers, found an array of shape {found.shape}")
    if np.isinf(found).any():
        raise ValueError("measure: expected finite numbers, or NaN for no value, found an infinite one")
    return found


AnyPrepared = Prepared[Any, Any]


@dataclass(frozen=True)
class Sums:
    """Number of turns and sums of columns; both may have leading axes, one entry per resample."""

    n: Floats
    total: Floats

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.n + other.n, self.total + other.total)


def sum_rows(rows: Floats, weights: Floats | None = None) -> Sums:
    """Sums the rows, each times its weight. A row with NaN is undefined: it adds nothing and is not counted."""
    defined = np.asarray(~np.isnan(rows).any(axis=1))
    if weights is None:
        weights = np.ones(len(rows))
    with np.errstate(over="ignore"):
        return Sums(weights @ defined.astype(np.float64), weights @ np.where(defined[:, None], rows, 0.0))


@dataclass(frozen=True)
class SumsOfRows(Metric[Floats, Sums]):
    """Rows are numbers, and the value is a function of their sums."""

    def summarise(self, measures: Floats, weights: Floats | None = None) -> Sums:
        return sum_rows(measures, weights)


@dataclass(frozen=True)
class SumMetric(SumsOfRows, PlainMetric[Floats, Sums]):
    """With nothing to prepare."""


@dataclass(frozen=True)
class MeansOfRows(SumsOfRows):
    """A row has the main value, the parts, then any counts that `caveats` reports on. A row of NaN is a turn without a
    score."""

    def defined(self, measures: Floats) -> NDArray[np.bool_]:
        return np.asarray(~np.isnan(measures).any(axis=1))

    def conclude(self, summary: Sums) -> Values:
        with np.errstate(invalid="ignore", divide="ignore"):
            means = summary.total / summary.n[..., None]
        return {part: means[..., column] for column, part in enumerate(("", *self.parts))}

    def mean_of(self, part: str) -> int | None:
        return ("", *self.parts).index(part)

    def per_turn(self, measures: Floats) -> Floats:
        return measures[:, 0]


@dataclass(frozen=True)
class MeanMetric(MeansOfRows, SumMetric):
    """With nothing to prepare: `measure` gives an array of such rows.

    Examples:
        >>> from dataclasses import dataclass
        >>> import numpy
        >>> from dialogauge import Turn, evaluate
        >>> from dialogauge.metrics import MeanMetric
        >>> @dataclass(frozen=True)
        ... class Shouts(MeanMetric):
        ...     name = "shouts"
        ...     title = "share of replies that shout"
        ...     higher_is_better = False
        ...     bounds = (0.0, 1.0)
        ...
        ...     mark: str = "!"
        ...
        ...     def measure(self, turns):
        ...         return numpy.array([[float(self.mark in turn.response)] for turn in turns])
        >>> evaluate([Turn("1", "no!"), Turn("2", "yes")], Shouts()).score("system", "shouts").value
        0.5
    """
