"""Metrics that see texts through an encoder, which they ask the run for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

from dialogauge.corpus.corpus import Corpus
from dialogauge.encode.base import Dtype, Encoder
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import Caveat, InputError
from dialogauge.metrics.base import HIDDEN, UNSIGNED, Metric, spell_file

NAMED = {**UNSIGNED, "spell": spell_file}


def text_caveats(name: str, turns: Any, cut: float, silent: float, what: str = "its end") -> list[Caveat]:
    """What became of texts that an encoder cannot read in full, or not at all."""
    found = []
    if cut:
        message = f"{name}: {int(cut)} of {int(turns)} turns have a text longer than the encoder takes; {what} is cut"
        found.append(Caveat("cut_text", message))
    if silent:
        message = f"{name}: {int(silent)} of {int(turns)} turns have a text without any vector, and score 0"
        found.append(Caveat("no_vectors", message))
    return found


@dataclass(frozen=True)
class EncoderMetric(Metric):
    """Sees texts as vectors. `prepare` brings in the encoder."""

    encoder: str = field(default="minilm", metadata=NAMED)
    dtype: Dtype = field(default="float32", metadata=UNSIGNED)
    asked: Encoder | None = field(default=None, repr=False, compare=False, metadata=HIDDEN)
    """The run's encoder, once `prepare` has asked for it."""

    def prepare(self, corpus: Corpus, real: Corpus | None = None, encoders: Encoders | None = None) -> Self:
        return replace(self, asked=(encoders or Encoders()).get(self.encoder, self.dtype))

    @property
    def vectors(self) -> Encoder:
        if self.asked is None:
            raise InputError(f"{self.name} has no encoder yet: call prepare(corpus) first")
        return self.asked

    def recipe(self) -> dict[str, str]:
        return {"enc": self.encoder} if self.asked is None else self.asked.recipe()
