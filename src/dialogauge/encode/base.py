"""What an encoder gives: the tokens of a text with a vector each, or one vector for a text or a pair."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dialogauge.errors import InputError

Text = str | tuple[str, str]
"""What is encoded: one text, or a (context, response) pair in the model's own pair format."""
Pool = Literal["cls", "mean", "max"]
"""The first token's state; the mean or the maximum over all tokens but padding, special tokens included."""
Dtype = Literal["float32", "bfloat16"]
Split = Callable[[str], Sequence[str]]
Vectors = NDArray[np.float32]


class Coverage(NamedTuple):
    """How much of a text, or of both texts of a pair, an encoder's vocabulary knows. As a row of numbers it adds."""

    tokens: int = 0
    """Those of its own, without special ones."""
    unknown: int = 0
    """How many of them the vocabulary does not know: a transformer has one token for them all."""
    illegible: bool = False
    """Whether the text, or the response of a pair, has an unknown token and beside it nothing but punctuation (with
    static vectors: nothing at all). It has no vector that would say anything of it."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one text. Row i of each array belongs to token i."""

    ids: NDArray[np.int32]
    offsets: NDArray[np.int32]
    """Where the token stands in the text: first character, and one past the last; (0, 0) where it stands nowhere."""
    special: NDArray[np.bool_]
    """Tokens the model adds, such as [CLS]."""
    states: Vectors
    dropped: int = 0
    """How many tokens the model's limit cut off."""
    unknown: int = 0
    """How many words have no vector and are not among the tokens."""
    coverage: Coverage = field(default_factory=Coverage)

    @property
    def words(self) -> Vectors:
        """The states of the text's own tokens."""
        return self.states[~self.special]


@dataclass(frozen=True, slots=True)
class Pooled:
    """One vector for each text or pair."""

    vectors: Vectors
    dropped: NDArray[np.int32]
    """How many tokens of each the model's limit cut off."""
    coverage: NDArray[np.int32]
    """A row of `Coverage` for each."""


def fully_covered(texts: int) -> NDArray[np.int32]:
    """For encoders that do not say which tokens they do not know."""
    return np.zeros((texts, len(Coverage._fields)), dtype=np.int32)


class Encoder(ABC):
    """A named way from text to vectors. The same text always gets the same vectors, whatever it is encoded with."""

    identity: str
    """Its name and the first digits of a hash that no other encoder has, for signatures: minilm-l6-v2@53aa5117."""
    title: ClassVar[str] = ""
    """One line on what it is, as `dialogauge encoders` prints it of those that other packages add."""
    contextual: ClassVar[bool] = False
    """Whether a token's vector depends on the tokens around it."""

    @property
    def last_layer(self) -> int | None:
        """The number of its last layer; None where it has no layers."""
        return None

    @property
    def usual_layer(self) -> int | None:
        """The layer that is meant where none is asked for; None where that is no single one."""
        return self.last_layer

    def layer_name(self, layer: int | None) -> str | None:
        """A layer, or what is meant where none is asked for, for signatures; None where there are no layers."""
        chosen = self.usual_layer if layer is None else layer
        return None if chosen is None else str(chosen)

    @property
    def languages(self) -> frozenset[str] | None:
        """Those it was made for, by the names of `text.languages`; None where that is not known."""
        return None

    @abstractmethod
    def recipe(self) -> dict[str, str]:
        """What of the encoder could change a number, for signatures."""

    def spelled(self, text: str) -> str:
        """A single text as metrics that compare words give it to the encoder: without space around it."""
        return text.strip()

    def expect(self, kind: str, *, pairs: bool, layer: int | None = None) -> None:
        """Told beforehand what will be asked for ("tokens" or a pooling), an encoder can give all of it in one pass."""

    def tokens(self, texts: Sequence[str], layer: int | None = None) -> list[Tokens]:
        """The tokens of each text with their states after a layer (by default the last)."""
        raise InputError(f"the encoder {self.identity} has no vectors for single words; choose another with encoder=")

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Only the ids of the tokens, special ones included."""
        return [tokens.ids.tolist() for tokens in self.tokens(texts)]

    def token_spellings(self, text: str, tokens: Tokens) -> list[str]:
        """Its tokens for people to read: as they stand in the text."""
        return [text[start:end] for start, end in tokens.offsets.tolist()]

    def pooled(self, texts: Sequence[Text], pool: Pool = "mean", layer: int | None = None) -> Pooled:
        """One vector for each text or pair."""
        raise InputError(f"the encoder {self.identity} has no vectors for whole texts; choose another with encoder=")


class Tuning(Protocol):
    """What training changed of a model's weights."""

    @property
    def digest(self) -> str:
        """The same for the same change, and for no other."""

    def apply(self, model: Any) -> None:
        """Changes the weights of the model, which has all its layers."""
