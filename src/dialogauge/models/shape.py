"""What a relatedness network is made of: all that is needed to build it, before its weights are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from dialogauge.corpus.quote import quote
from dialogauge.errors import InputError, unknown

RuberKind = Literal["ruber", "towers"]
"""RUBER's network, which looks at both sentences together; or two towers, each of which sees one alone."""
Sentence = Literal["rnn", "max", "mean"]
"""How the vectors of a text's words become one: by a recurrent network, or by pooling."""
KINDS, SENTENCES = get_args(RuberKind), get_args(Sentence)

WIDEST = 2**16
UNITS = 128
"""Of the recurrent network, each way (Ghazarian et al. 2019, section 4.3)."""


@dataclass(frozen=True)
class RuberShape:
    """`width` is that of the encoder's vectors."""

    width: int
    network: RuberKind = "ruber"
    sentence: Sentence = "mean"
    layers: tuple[int, ...] = ()
    """Layers of the encoder whose pooled vectors stand side by side; none for the last alone."""
    dropout: float = 0.0

    def __post_init__(self) -> None:
        if self.network not in KINDS:
            raise unknown("network", str(self.network), KINDS)
        if self.sentence not in SENTENCES:
            raise unknown("sentence representation", str(self.sentence), SENTENCES)
        if type(self.width) is not int or not 0 < self.width <= WIDEST:
            raise InputError(f"width: expected a whole number from 1 to {WIDEST}, found {self.width!r}")
        if not isinstance(self.dropout, int | float) or not 0 <= self.dropout < 1:
            raise InputError(f"dropout: expected a number from 0 to below 1, found {self.dropout!r}")
        if not all(isinstance(layer, int) and layer >= 0 for layer in self.layers):
            raise InputError(f"layers: expected whole numbers of at least 0, found {quote(str(list(self.layers)))}")
        if self.sentence_width > WIDEST:
            raise InputError(f"layers: expected at most {WIDEST} numbers a text, found {self.sentence_width}")
        if self.sentence == "rnn" and (self.network == "towers" or self.layers):
            raise InputError("sentence rnn: expected the network ruber on the last layer alone")

    @property
    def sentence_width(self) -> int:
        return 2 * UNITS if self.sentence == "rnn" else self.width * max(len(self.layers), 1)
