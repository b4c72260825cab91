"""The metric contract: asking is kept apart from measuring, and noting (`measure`) from concluding (`conclude`).

    surveyed = metric.survey(turns)              # bounded; the surveys of two parts of a corpus add
    learned = metric.learn(surveyed, encoders)   # once; can be pickled and sent to other processes
    ready = learned.open(encoders)               # in each process: what measures (`prepared.py`)
    rows = ready.measure(turns)                  # row i is what is noted about turn i
    summary = ready.metric.summarise(rows)       # summaries add: a + b is the summary of both
    values = ready.metric.conclude(summary)      # "" is the main value, then the parts

From this come, for every metric and with no code of its own: intervals, paired tests, per-turn output, streaming, and
merging across workers.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, fields
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, InputError
from dialogauge.stats.arrays import Floats as Floats
from dialogauge.text.languages import MadeFor

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders
    from dialogauge.metrics.distance.distribution import DistributionMetric
    from dialogauge.metrics.prepared import Prepared

UNSIGNED = {"signed": False}
"""Metadata of an option whose effect the recipe spells out. "spell" says how labels show its value, "labelled" false
that they do not; "of_run" false that what is given for all metrics of a run is not for it."""

IntervalOf = Literal["expected", "another_sample", "population"]
"""The score to be expected of samples of this size; what another sample of this size would score; or the value of the
population, to which samples of any size come near."""
Values = Mapping[str, float | Floats]
"""By part, "" for the main value; arrays where a summary has a leading axis of resamples."""
NEEDS = {"real": "real conversations (--real)"}
"""Inputs whose name says too little."""
GROUP_NAMES = ("overlap", "embedding", "learned", "likelihoods", "distance", "dialogue")
"""Metrics that can be asked for together: those of the folder of this name."""


class Measures(Protocol):
    """What a metric notes about turns: row i belongs to turn i. A NumPy array is one."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: Any, /) -> Any: ...


class Added(Protocol):
    """What is left of many measures. `a + b` is the summary of both; `n` counts the turns in it."""

    @property
    def n(self) -> Any: ...
    def __add__(self, other: Any, /) -> Self: ...


Rows = TypeVar("Rows", bound=Measures)
Summary = TypeVar("Summary", bound=Added)


class Metric(ABC, Generic[Rows, Summary]):
    """What is asked for. Subclasses are frozen dataclasses whose fields are the metric's options.

    Examples:
        >>> from dialogauge import Corpus, Turn
        >>> from dialogauge.metrics.dialogue.length import Length
        >>> turns = [Turn("0", "Hello there!"), Turn("1", "Good morning.")]
        >>> ready = Length().prepare(Corpus(turns))
        >>> ready.measure(turns)  # words and characters
        array([[ 3., 12.],
               [ 3., 13.]])
        >>> ready.metric.conclude(ready.metric.summarise(ready.measure(turns)))
        {'': array(3.), 'characters': array(12.5)}
        >>> ready.signature
        'length|words:nltk-punkt|dialogauge:0.1.0'
    """

    name: ClassVar[str]
    title: ClassVar[str]
    """One line on what it measures, as `dialogauge metrics` prints it."""
    citations: ClassVar[tuple[str, ...]] = ()
    """Whom to cite: keys of data/citations.bib, or whole BibTeX entries."""
    higher_is_better: bool | None
    """None where neither direction is better by itself."""
    bounds: tuple[float, float]
    needs: ClassVar[tuple[frozenset[str], ...]] = (frozenset(),)
    """Sets of inputs ("references", "context", "real") of which any one suffices."""
    level: ClassVar[Literal["turn", "dialogue"]] = "turn"
    """"dialogue" where a row depends on other turns of its dialogue. `measure` is then handed whole dialogues: of each
    all turns of one system that are usable, as they stand in the corpus."""
    resampling: ClassVar[Literal["bootstrap", "jackknife"]] = "bootstrap"
    """"jackknife" where repeated rows would bias the statistic."""
    first_turns_tell: ClassVar[bool] = False
    """Whether the first turns of a corpus that is too large to keep are enough of a survey."""
    not_in_parts: ClassVar[str | None] = None
    """Why it cannot be measured on parts of a corpus by themselves; None where it can."""
    asks_endpoints: ClassVar[bool] = False
    """Whether it asks language models behind endpoints."""
    parts: ClassVar[tuple[str, ...]] = ()
    """Names of the values beside the main one, asked for as `metric.part`."""
    parts_explain: ClassVar[bool] = False
    """Whether the parts of a single turn say why its score is low; their columns are those of `mean_of`."""
    group: ClassVar[str | None] = None
    """For a metric of another package: the group that it belongs to beside `all`, one of `GROUP_NAMES`."""
    main: ClassVar[str] = ""
    """What the main value would be called were it a part: distinct's is distinct-2."""

    @property
    def learns(self) -> bool:
        """Whether what it learns from the corpus changes its score."""
        return False

    @property
    def made_for(self) -> tuple[MadeFor, ...]:
        """The languages that its own word lists were made for."""
        return ()

    @property
    def extrapolates(self) -> bool:
        """Whether the score is what the jackknife expects of ever larger samples, in place of the value."""
        return False

    @property
    def grows(self) -> bool:
        """Whether the score changes with the number of turns, all else equal."""
        return self.resampling == "jackknife" and not self.extrapolates

    @property
    def interval_of(self) -> IntervalOf:
        """What intervals are about."""
        return "expected"

    @classmethod
    def needed(cls) -> str:
        """What it needs, in words."""
        return " or ".join(" and ".join(NEEDS.get(name, name) for name in sorted(need)) for need in cls.needs if need)

    def usable(self, turn: Turn) -> bool:
        """Whether the turn has what the metric needs."""
        return any(all(getattr(turn, name, None) for name in need) for need in self.needs)

    def references(self, turn: Turn) -> tuple[str, ...]:
        """Those of the turn's references that it looks at."""
        return turn.references

    def survey(self, turns: Iterable[Turn], beside_real: bool = False) -> Any:
        """What it must know of the corpus before it measures, from some of its turns. Surveys are bounded and add:
        those of a corpus's parts, added in any order, are that of the whole. `beside_real` says that real conversations
        are given beside the corpus. None where nothing must be known."""
        return None

    def learn(self, surveyed: Any, encoders: Encoders, real: Corpus | None = None) -> Learned[Rows, Summary]:
        """From the survey of the whole corpus, and from real conversations where they are given."""
        return Learned(self)

    @abstractmethod
    def open(self, encoders: Encoders, known: Any) -> Prepared[Rows, Summary]:
        """With the encoder or model it asks for, and what it learned: ready to measure. `Learned.open` calls it."""

    def prepare(
        self, corpus: Corpus, real: Corpus | None = None, encoders: Encoders | None = None
    ) -> Prepared[Rows, Summary]:
        """Ready to measure this corpus, in this process."""
        if encoders is None:
            from dialogauge.encode.encoders import Encoders

            encoders = Encoders()
        return self.learn(self.survey(corpus, real is not None), encoders, real).open(encoders)

    def defined(self, measures: Rows) -> NDArray[np.bool_]:
        """Which rows say something; the others are left out, and counted."""
        return np.ones(len(measures), dtype=np.bool_)

    def coverage(self, measures: Rows) -> NDArray[np.int64] | None:
        """How much of all the texts of these rows the encoder's vocabulary knows: the sum of their `Coverage`, of which
        the last number counts the rows that are undefined because a text of theirs is illegible. None where no encoder
        reads them."""
        return None

    def join(self, batches: Sequence[Rows]) -> Rows:
        """The measures of several batches as one."""
        joined: Any = np.concatenate(list[Any](batches))
        return joined  # type: ignore[no-any-return]

    def bounded(self, summaries: Sequence[Summary]) -> list[Summary]:
        """The summaries of a system's groups without what their sum does not keep, so that they never take more than
        so much memory. Groups that are bounded, added and bounded again are the same as all of them bounded once."""
        return list(summaries)

    def leave_one_out(self, summaries: Sequence[Summary]) -> Iterable[Values]:
        """The values of all summaries but each, from running sums on both sides; there are at least two."""
        before = list(accumulate(summaries, add))
        after = list(accumulate(reversed(summaries), add))[::-1]
        middle = [left + right for left, right in zip(before[:-2], after[2:], strict=True)]
        return map(self.conclude, [after[1], *middle, before[-2]])

    def unseen_variance(self, summaries: Sequence[Summary]) -> Mapping[str, float]:
        """By part, the variance that leaving out each of these summaries does not show: that of sketches, which stand
        for more than they hold. Empty where there is none."""
        return {}

    def pack(self, measures: Rows) -> dict[str, NDArray[Any]]:
        """The measures as named arrays, for disk. This default and those of `unpack` and `join` are for rows that are
        an array."""
        rows: Any = measures
        return {"rows": rows}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Rows:
        """The measures that `pack` took apart."""
        rows: Any = arrays["rows"]
        return rows  # type: ignore[no-any-return]

    def recall(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The metric with the options that it left to the corpus filled in, as `pack` wrote them down."""
        return self

    @abstractmethod
    def summarise(self, measures: Rows, weights: Floats | None = None) -> Summary:
        """The additive summary. Where `resampling` is "bootstrap", weights of shape (resamples, turns)
        give a summary with a leading axis of resamples."""

    @abstractmethod
    def conclude(self, summary: Summary) -> Values:
        """The values: "" is the main one, then the parts; arrays where the summary has a leading axis.
        NaN where the value is undefined."""

    @property
    def distance(self) -> DistributionMetric[Any] | None:
        """Itself where its score holds a real side against a generated one, whose sums can be put together otherwise:
        for such a score there is a floor."""
        return None

    def mean_of(self, part: str) -> int | None:
        """The column of the rows whose mean the main value or a part is; None for what is no mean of rows."""
        return None

    @property
    def no_influences(self) -> str | None:
        """Why nothing says by how much single turns push its score; None where `influences` does."""
        known = type(self).influences is not Metric.influences
        return None if known else "influences are known of fbd alone, and gauge alone is explained by its parts"

    def influences(self, summary: Summary, measures: Rows) -> Floats:
        """By how much the score would fall without each row, to first order; refused unless a metric defines it."""
        raise InputError(f"{self.label}: {self.no_influences}")

    @property
    def scores_turns(self) -> bool:
        """Whether a single turn has a score of its own, known before any is measured."""
        return type(self).per_turn is not Metric.per_turn

    def per_turn(self, measures: Rows) -> Floats | None:
        """One score per row, or None where a single turn has no score of its own."""
        return None

    def caveats(self, summary: Summary) -> list[Caveat]:
        """What the reader of this summary's score must know."""
        return []

    def caveats_of_systems(self, summaries: Mapping[str, Summary], units: Mapping[str, int]) -> list[Caveat]:
        """What the reader must know of the systems' scores, each by itself, by the number of units it stands on."""
        return []

    def direction(self, part: str) -> bool | None:
        """Whether more of the main value or of a part is better; None where neither is."""
        return self.higher_is_better

    def limits(self, part: str) -> tuple[float, float]:
        """Where the main value or a part can lie at all."""
        return self.bounds

    def has_interval(self, summary: Summary, units: int) -> bool:
        """Whether an interval of the score of this summary of so many units would mean what it says."""
        return True

    def recipe(self) -> dict[str, str]:
        """What beside the options could change the number, for the signature."""
        return {}

    @property
    def label(self) -> str:
        """The name with the options that differ from their defaults."""
        changed = [
            f"{name}={field.metadata.get('spell', spell)(getattr(self, field.name))}"
            for name, field in options(type(self)).items()
            if getattr(self, field.name) != field.default and field.metadata.get("labelled", True)
        ]
        return self.name + (f"[{','.join(changed)}]" if changed else "")


@dataclass(frozen=True)
class Learned(Generic[Rows, Summary]):
    """A metric that has learned what it must. It has no encoder and no model, and can be pickled: each process opens it
    with its own."""

    metric: Metric[Rows, Summary]
    known: Any = None
    """What was learned, where anything was."""

    def open(self, encoders: Encoders) -> Prepared[Rows, Summary]:
        return self.metric.open(encoders, self.known)


AnyMetric = Metric[Any, Any]


def options(metric: type[AnyMetric]) -> dict[str, Field[Any]]:
    """A metric's options by the name users give them (a field's name, or its metadata "option")."""
    return {field.metadata.get("option", field.name): field for field in fields(metric)}  # type: ignore[arg-type]


def spell_file(name: str) -> str:
    """A file, a directory or a model on the hub, wherever it is: by the last part of its name, without what has a
    meaning in brackets."""
    kind, colon, rest = name.rpartition(":")
    last = rest.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return kind + colon + re.sub(r"[\[\],=]", "_", last)


def spell(value: Any) -> str:
    """An option's value as it is written in brackets and in signatures."""
    return str(value).lower() if isinstance(value, bool) else str(value)
