"""The metric contract: noting (`measure`) is kept apart from concluding (`conclude`).

From this split come, for every metric and with no code of its own: intervals, paired tests, per-turn
output, streaming, and merging across workers.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import Field, fields
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from dialogauge import __version__
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat
from dialogauge.stats.arrays import Floats as Floats
from dialogauge.text.languages import MadeFor

if TYPE_CHECKING:
    from dialogauge.encode.base import Encoder
    from dialogauge.encode.encoders import Encoders
    from dialogauge.metrics.distribution import DistributionMetric

HIDDEN = {"option": None}
"""Metadata of a field that is no option: what `prepare` found."""
UNSIGNED = {"signed": False}
"""Metadata of an option whose effect the recipe spells out. "spell" says how labels show its value."""

IntervalOf = Literal["expected", "another_sample", "population"]
"""The score to be expected of samples of this size; what another sample of this size would score; or the value of the
population, to which samples of any size come near."""
Values = Mapping[str, float | Floats]
"""By part, "" for the main value; arrays where a summary has a leading axis of resamples."""
NEEDS = {"real": "real conversations (--real)"}
"""Inputs whose name says too little."""


class Measures(Protocol):
    """What a metric notes about turns: row i belongs to turn i. A NumPy array is one."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: Any, /) -> Any: ...


class Metric(ABC):
    """A measure of responses. Subclasses are frozen dataclasses whose fields are the metric's options."""

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
    resampling: ClassVar[Literal["bootstrap", "jackknife"]] = "bootstrap"
    """"jackknife" where repeated rows would bias the statistic."""
    parts: ClassVar[tuple[str, ...]] = ()
    """Names of the values beside the main one, asked for as `metric.part`."""
    main: ClassVar[str] = ""
    """What the main value would be called were it a part: distinct's is distinct-2."""

    @property
    def learns(self) -> bool:
        """Whether `prepare` takes numbers from the corpus."""
        return False

    @property
    def reader(self) -> Encoder | None:
        """The encoder that reads the texts, once `prepare` has asked for it."""
        return None

    @property
    def made_for(self) -> tuple[MadeFor, ...]:
        """The languages that what it stands on was made for, as far as that is known: an encoder, a model, word
        lists. Texts in others are warned of."""
        if self.reader is None or self.reader.languages is None:
            return ()
        return (MadeFor(f"the encoder {self.reader.identity}", self.reader.languages),)

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

    def real_rows(self, system: str) -> Measures | None:
        """The rows of real conversations given beside the corpus, as this system's turns are held against them."""
        return None

    def prepare(self, corpus: Corpus, real: Corpus | None = None, encoders: Encoders | None = None) -> Self:
        """The metric ready to measure this corpus: itself, unless it must look at the corpus first or needs an encoder,
        which it asks the run for."""
        return self

    @abstractmethod
    def measure(self, turns: Sequence[Turn]) -> Measures:
        """Row i is what is noted about turn i."""

    def defined(self, measures: Any) -> NDArray[np.bool_]:
        """Which rows say something; the others are left out, and counted."""
        return np.ones(len(measures), dtype=np.bool_)

    def coverage(self, measures: Any) -> NDArray[np.int64] | None:
        """How much of all the texts of these rows the encoder's vocabulary knows: the sum of their `Coverage`, of which
        the last number counts the rows that are undefined because a text of theirs is illegible. None where no encoder
        reads them."""
        return None

    def join(self, batches: Sequence[Any]) -> Any:
        """The measures of several batches as one."""
        return np.concatenate(batches)

    def leave_one_out(self, summaries: Sequence[Any]) -> Iterable[Values]:
        """The values of all summaries but each, from running sums on both sides; there are at least two."""
        before = list(accumulate(summaries, add))
        after = list(accumulate(reversed(summaries), add))[::-1]
        middle = [left + right for left, right in zip(before[:-2], after[2:], strict=True)]
        return map(self.conclude, [after[1], *middle, before[-2]])

    def pack(self, measures: Any) -> dict[str, NDArray[Any]]:
        """The measures as named arrays, for disk."""
        return {"rows": measures}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Any:
        """The measures that `pack` took apart."""
        return arrays["rows"]

    def recall(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The metric with what `prepare` found, as far as `pack` wrote it down and `conclude` needs it."""
        return self

    @abstractmethod
    def summarise(self, measures: Any, weights: Floats | None = None) -> Any:
        """The additive summary. Where `resampling` is "bootstrap", weights of shape (resamples, turns)
        give a summary with a leading axis of resamples."""

    @abstractmethod
    def conclude(self, summary: Any) -> Values:
        """The values: "" is the main one, then the parts; arrays where the summary has a leading axis.
        NaN where the value is undefined."""

    @property
    def distance(self) -> DistributionMetric | None:
        """Itself where its score holds a real side against a generated one, whose sums can be put together otherwise:
        for such a score there is a floor."""
        return None

    def mean_of(self, part: str) -> int | None:
        """The column of the rows whose mean the main value or a part is; None for what is no mean of rows."""
        return None

    @property
    def no_influences(self) -> str | None:
        """Why nothing says by how much single turns push its score; None where `influences` does."""
        return "influences are known of fbd alone"

    def influences(self, summary: Any, measures: Any) -> Floats:
        """By how much the score would fall without each row, to first order."""
        raise NotImplementedError

    def per_turn(self, measures: Any) -> Floats | None:
        """One score per row, or None where a single turn has no score of its own."""
        return None

    def caveats(self, summary: Any) -> list[Caveat]:
        """What the reader of this summary's score must know."""
        return []

    def caveats_of_systems(self, summaries: Mapping[str, Any], units: Mapping[str, int]) -> list[Caveat]:
        """What the reader must know of the systems' scores, each by itself, by the number of units it stands on."""
        return []

    def direction(self, part: str) -> bool | None:
        """Whether more of the main value or of a part is better; None where neither is."""
        return self.higher_is_better

    def limits(self, part: str) -> tuple[float, float]:
        """Where the main value or a part can lie at all."""
        return self.bounds

    def has_interval(self, summary: Any, units: int) -> bool:
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
            if getattr(self, field.name) != field.default
        ]
        return self.name + (f"[{','.join(changed)}]" if changed else "")

    @property
    def signature(self) -> str:
        """Everything that could change the number, in one line."""
        spelled = {
            name: spell(getattr(self, field.name))
            for name, field in options(type(self)).items()
            if field.metadata.get("signed", True)
        }
        parts = {**self.recipe(), **spelled, "dialogauge": __version__}
        return "|".join([self.name, *(f"{key}:{value}" for key, value in parts.items())])


def options(metric: type[Metric]) -> dict[str, Field[Any]]:
    """A metric's options by the name users give them (a field's name, or its metadata "option")."""
    named = {field.metadata.get("option", field.name): field for field in fields(metric)}  # type: ignore[arg-type]
    return {name: field for name, field in named.items() if name is not None}


def spell_file(name: str) -> str:
    """A file, a directory or a model on the hub, wherever it is: by the last part of its name, without what has a
    meaning in brackets."""
    kind, colon, rest = name.rpartition(":")
    last = rest.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return kind + colon + re.sub(r"[\[\],=]", "_", last)


def spell(value: Any) -> str:
    """An option's value as it is written in brackets and in signatures."""
    return str(value).lower() if isinstance(value, bool) else str(value)
