"""A trained entailment model: from histories and responses to the probabilities of the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.encode.base import fully_covered
from dialogauge.encode.encoders import Encoders
from dialogauge.encode.transformer import Transformer
from dialogauge.errors import InputError
from dialogauge.models.directory import AGAIN, SavedModel, model_path, read_model, refuse_other_tensors
from dialogauge.models.entailment.shape import EntailmentShape
from dialogauge.models.entailment.tuned import Tuned
from dialogauge.models.trained_with import encoder_name, find_encoder

if TYPE_CHECKING:
    from dialogauge.models.entailment.judges import Judge

KIND = "entailment"
SHIPPED = "entailment-minilm"
SHAPE = ("network", "width", "rank", "pool", "units", "dropout")
ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)
"""Columns of probabilities."""


@dataclass(frozen=True)
class Judged:
    """Entry i of each belongs to pair i."""

    probabilities: NDArray[np.float64]
    """Of entailment, neutral and contradiction."""
    cut: NDArray[np.bool_]
    """Pairs that are longer than the encoder takes: the beginning of the history is cut."""
    silent: NDArray[np.bool_]
    """Pairs of which a text has no vector: they are neutral, with probability 1."""
    coverage: NDArray[np.int32]
    """A row of `Coverage` for each; illegible where the response says nothing to the encoder."""


@dataclass(frozen=True)
class EntailmentModel:
    """A model directory that was read."""

    saved: SavedModel
    shape: EntailmentShape
    temperature: float
    """Logits are divided by it: the probabilities of pairs held back then mean what they say."""

    def ready(self, encoders: Encoders, encoder: str | None = None) -> ReadyModel:
        """With the encoder that it was trained with, by the name given or by the model's own."""
        from dialogauge.models.entailment.judges import EsimJudge, TunedJudge

        found = find_encoder(self.saved, encoder, encoders)
        if self.shape.network == "esim":
            return ReadyModel(self, EsimJudge.from_weights(found, self.shape, self.saved.weights))
        if not isinstance(found, Transformer):
            raise self.saved.error(f"is a tuned transformer, its encoder {found.identity} is none; {AGAIN}")
        tuned = Tuned(self.saved, self.shape)
        tuned.check(found.files)
        own = encoders.tuned(encoder or encoder_name(self.saved), tuned)
        return ReadyModel(self, TunedJudge.from_weights(own, self.shape, self.saved.weights))


@dataclass(frozen=True)
class ReadyModel:
    """A model that can judge."""

    model: EntailmentModel
    judge: Judge

    def recipe(self) -> dict[str, str]:
        return {"model": self.model.saved.identity, **self.judge.encoder.recipe()}

    def judged(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Judged:
        """What else is judged with a pair changes nothing for it."""
        from scipy.special import softmax

        if not premises:
            return Judged(np.empty((0, 3)), np.empty(0, bool), np.empty(0, bool), fully_covered(0))
        hidden = self.model.shape.hypothesis_only
        logits, cut, silent, coverage = self.judge.logits(
            ["" if hidden else _said(text) for text in premises], [_said(text) for text in hypotheses]
        )
        without = np.asarray(silent[:, 1] if hidden else silent.any(axis=1))
        probabilities = softmax(logits / self.model.temperature, axis=1)
        probabilities[without] = np.eye(3)[NEUTRAL]
        # In full, sums differ by what else is in a batch.
        return Judged(probabilities.astype(np.float32).astype(np.float64), cut, without, coverage)


def _said(text: str) -> str:
    """Without the space around it; empty where nothing of it can be seen."""
    bare = text.strip()
    return bare if any(letter.isprintable() and not letter.isspace() for letter in bare) else ""


def open_entailment(directory: str | Path | None = None) -> EntailmentModel:
    """The model in a directory; without one, or by its name, that which comes with dialogauge."""
    saved = read_model(model_path(directory, SHIPPED), KIND)
    network, encoder = saved.section("network"), saved.section("encoder")
    try:
        hidden = network.get("hypothesis_only", False)
        shape = EntailmentShape(**{name: network[name] for name in SHAPE}, hypothesis_only=hidden)
        temperature = _positive(saved.section("calibration")["temperature"])
        _ = str(encoder["name"]), str(encoder["identity"])
    except (KeyError, TypeError, InputError) as error:
        raise saved.error(f"its card cannot be used: {error}; {AGAIN}") from None
    if shape.network == "esim":
        refuse_other_tensors(saved, _tensors_of_esim(shape))
    return EntailmentModel(saved, shape, temperature)


def _tensors_of_esim(shape: EntailmentShape) -> dict[str, tuple[int, ...]]:
    import torch

    from dialogauge.models.entailment.esim import Esim

    with torch.device("meta"):
        return {name: tuple(tensor.shape) for name, tensor in Esim(shape).state_dict().items()}


def _positive(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < np.inf:
        raise InputError(f"temperature: expected a number above 0, found {value!r}")
    return float(value)
