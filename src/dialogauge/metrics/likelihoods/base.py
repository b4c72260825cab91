"""What metrics of a language model share: the options, the context they give it, and what they say of texts that do not
fit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.turn import Turn
from dialogauge.encode.base import Dtype
from dialogauge.encode.causal.prompt import as_lines
from dialogauge.errors import Caveat, InputError
from dialogauge.metrics.base import UNSIGNED, Floats
from dialogauge.metrics.encoding import NAMED
from dialogauge.metrics.prepared import Prepared, Sums, SumsOfRows
from dialogauge.text.languages import MadeFor
from dialogauge.text.words import visible

if TYPE_CHECKING:
    from dialogauge.encode.causal.language_model import LanguageModel
    from dialogauge.encode.encoders import Encoders

CUTS = 2
"""So many columns at the end of a row say whether its context and its reply were cut."""


def spell_context(context: int | None) -> str:
    return "all" if context is None else str(context)


@dataclass(frozen=True)
class LikelihoodMetric(SumsOfRows):
    """Of turns with something in their response; others have no value. Rows end with whether the context and the
    response were longer than the model takes."""

    needs = (frozenset({"context"}),)
    columns: ClassVar[int]
    """How many numbers a row has before those that tell what was cut."""
    least_context: ClassVar[int] = 0

    context: int | None = field(default=None, metadata={**UNSIGNED, "spell": spell_context})
    """How many utterances before the response the model is given; None for all."""
    model: str = field(default="smollm2", metadata=NAMED)
    """A language model: `smollm2`, a directory, or a name of the Hugging Face hub."""
    dtype: Dtype = field(default="float32", metadata={**UNSIGNED, "of_run": False})

    def __post_init__(self) -> None:
        if self.context is not None and self.context < self.least_context:
            raise InputError(
                f"{self.name}: context is {self.context}; expected a number of utterances, {self.least_context} or more"
            )

    def usable(self, turn: Turn) -> bool:
        return self.context == 0 or super().usable(turn)

    def open(self, encoders: Encoders, known: None) -> PreparedLikelihood:
        return PreparedLikelihood(self, known, encoders.language_model(self.model, self.dtype))

    @abstractmethod
    def rows(self, turns: Sequence[Turn], model: LanguageModel) -> Floats:
        """Of turns that say something."""

    def before(self, turn: Turn) -> str:
        """The utterances before the response, one a line."""
        first = 0 if self.context is None else max(0, len(turn.context) - self.context)
        return as_lines(turn.context[first:])

    def defined(self, measures: Floats) -> NDArray[np.bool_]:
        return np.asarray(~np.isnan(measures).any(axis=1))

    def caveats(self, summary: Sums) -> list[Caveat]:
        context, response = summary.total[-CUTS:].astype(int).tolist()
        cut = [(context, "a context", "its beginning is cut"), (response, "a response", "its end is cut")]
        return [
            Caveat("cut_text", f"{self.label}: {turns} of {int(summary.n)} turns have {what} longer than fits; {which}")
            for turns, what, which in cut
            if turns
        ]


@dataclass(frozen=True)
class PreparedLikelihood(Prepared[Floats, Sums]):
    """With the language model, as the run has it."""

    asked: LikelihoodMetric
    model: LanguageModel

    @property
    def made_for(self) -> tuple[MadeFor, ...]:
        languages = self.model.files.languages
        return () if languages is None else (MadeFor(f"the language model {self.model.identity}", languages),)

    def measure(self, turns: Sequence[Turn]) -> Floats:
        rows = np.full((len(turns), self.asked.columns + CUTS), np.nan)
        places = [place for place, turn in enumerate(turns) if visible(turn.response) and self._has_context(turn)]
        if places:
            rows[places] = self.asked.rows([turns[place] for place in places], self.model)
        return rows

    def _has_context(self, turn: Turn) -> bool:
        """One of blank utterances alone is none."""
        return self.asked.context == 0 or any(map(visible, turn.context))

    def recipe(self) -> dict[str, str]:
        return {**self.model.recipe(), "context": spell_context(self.asked.context)}
