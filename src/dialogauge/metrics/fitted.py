"""Metrics that leave how texts are split to the language of the corpus, as it is given or as its letters tell."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat
from dialogauge.metrics.base import UNSIGNED, Learned, Rows, Summary
from dialogauge.metrics.prepared import PlainMetric, Prepared, PreparedPlain
from dialogauge.text.fitting import LanguageFit, TextScripts, fit_of, named_language
from dialogauge.text.splitters import AUTO, Splitter, installed, split_by, words_recipe

if TYPE_CHECKING:
    from dialogauge.corpus.corpus import Corpus
    from dialogauge.encode.encoders import Encoders

OF_THE_RUN = {**UNSIGNED, "labelled": False}
"""Metadata of an option that all metrics of a run share, and that labels do not repeat."""


@dataclass(frozen=True)
class FittedWay:
    """How texts are split, since they are in this language."""

    option: str
    way: str
    language: str
    guessed: bool
    """Whether the letters told the language, and nobody gave it."""
    better: str | None = None
    """What would fit better, and lacks a package."""


@dataclass(frozen=True)
class FittedMetric(PlainMetric[Rows, Summary]):
    """A metric of which one option is left to the corpus. Unprepared, it splits texts as those in Latin letters are."""

    first_turns_tell = True
    fitted: ClassVar[str]
    """The option's name; its default is "auto"."""

    language: str | None = field(default=None, kw_only=True, metadata=OF_THE_RUN)
    """That of the texts, as a code (zh) or a name; by default their letters tell it."""

    @abstractmethod
    def suited(self, fit: LanguageFit) -> tuple[str, ...]:
        """The ways that suit a language, the best first; the last always works."""

    @abstractmethod
    def at_hand(self, way: str) -> bool:
        """Whether what it needs is installed."""

    @abstractmethod
    def require(self) -> None:
        """Refuses where what the option names is not installed."""

    def fit(self, language: str) -> LanguageFit | None:
        return fit_of(language)

    @property
    def is_open(self) -> bool:
        """Whether the option is left to the language."""
        return bool(getattr(self, self.fitted) == AUTO)

    def survey(self, turns: Iterable[Turn], beside_real: bool = False) -> TextScripts | None:
        if not self.is_open or self.language is not None:
            return None
        return TextScripts.survey(text for turn in turns for text in (turn.response, *turn.references))

    def learn(
        self, surveyed: TextScripts | None, encoders: Encoders, real: Corpus | None = None
    ) -> Learned[Rows, Summary]:
        return Learned(self, self._choose(surveyed) if self.is_open else None)

    def _choose(self, surveyed: TextScripts | None) -> FittedWay | None:
        guess = surveyed.language() if surveyed else None
        language = guess if self.language is None else named_language(self.language)
        fit = None if language is None else self.fit(language)
        if language is None or fit is None:
            return None
        best, *_ = ways = self.suited(fit)
        way = next((way for way in ways if self.at_hand(way)), ways[-1])
        return FittedWay(self.fitted, way, language, self.language is None, None if way == best else best)

    def filled(self, known: FittedWay | None) -> Self:
        """With the option as the language wants it."""
        return self if known is None else replace(self, **{self.fitted: known.way})

    def open(self, encoders: Encoders, known: FittedWay | None) -> Prepared[Rows, Summary]:
        self.filled(known).require()
        return PreparedFitted(self, known)


@dataclass(frozen=True)
class PreparedFitted(PreparedPlain[Rows, Summary]):
    """Measures as the language wants it; the label stays that of what was asked for, and the signature tells."""

    asked: FittedMetric[Rows, Summary]
    known: FittedWay | None

    @cached_property
    def filled(self) -> FittedMetric[Rows, Summary]:
        return self.asked.filled(self.known)

    @property
    def fitted_way(self) -> FittedWay | None:
        return self.known

    def measure(self, turns: Sequence[Turn]) -> Rows:
        return self.filled.measure(turns)

    def caveats(self, summary: Summary) -> list[Caveat]:
        return self.filled.caveats(summary)

    def recipe(self) -> dict[str, str]:
        return self.filled.recipe()


@dataclass(frozen=True)
class WordMetric(FittedMetric[Rows, Summary]):
    """A metric of words, which it finds by `split_by(self.words)`."""

    fitted = "words"

    words: Splitter = field(default="auto", kw_only=True, metadata=UNSIGNED)
    """By which rules, or which segmenter, words are found; by default those that fit the language."""

    def suited(self, fit: LanguageFit) -> tuple[str, ...]:
        return fit.words

    def at_hand(self, way: str) -> bool:
        return installed(way)

    def require(self) -> None:
        split_by(self.words)

    def recipe(self) -> dict[str, str]:
        return words_recipe(self.words)
