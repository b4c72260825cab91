"""A trained entailment model: from histories and responses to the probabilities of the classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dialogauge.encode.base import Pool, fully_covered
from dialogauge.encode.encoders import Encoders
from dialogauge.encode.find import ModelFiles
from dialogauge.encode.transformer import Transformer
from dialogauge.errors import InputError, unknown
from dialogauge.learned.directory import (
    AGAIN,
    SavedModel,
    encoder_name,
    find_encoder,
    model_path,
    read_model,
    refuse_other_tensors,
)
from dialogauge.text.words import visible

if TYPE_CHECKING:
    from dialogauge.learned.entailment.networks import Judge

EntailmentKind = Literal["transformer", "esim"]
"""An encoder that reads both texts at once and is tuned itself; or the Enhanced Sequential Inference Model over the
vectors of an encoder that stays as it is."""
KINDS, POOLS = get_args(EntailmentKind), get_args(Pool)
CLASSES = 3
WIDEST = 2**16
KIND = "entailment"
SHIPPED = "entailment-minilm"
SHAPE = ("network", "width", "rank", "pool", "units", "dropout")
ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)
"""Columns of probabilities."""


@dataclass(frozen=True)
class EntailmentShape:
    network: EntailmentKind
    width: int
    """Of the encoder's vectors."""
    rank: int = 0
    """Of what is added to each matrix of a transformer (low-rank adapters, Hu et al. 2021); 0 where all its weights are
    tuned."""
    pool: Pool = "cls"
    """How a transformer's states become one vector for the pair."""
    units: int = 128
    """Of each direction of ESIM's recurrent layers."""
    dropout: float = 0.1
    hypothesis_only: bool = False
    """Whether the premise is hidden from it."""

    def __post_init__(self) -> None:
        for name, known in (("network", KINDS), ("pool", POOLS)):
            if getattr(self, name) not in known:
                raise unknown(name, str(getattr(self, name)), known)
        for name, least in (("width", 1), ("units", 1), ("rank", 0)):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= WIDEST:
                raise InputError(f"{name}: expected a whole number from {least} to {WIDEST}, found {value!r}")
        if not isinstance(self.dropout, int | float) or not 0 <= self.dropout < 1:
            raise InputError(f"dropout: expected a number from 0 to below 1, found {self.dropout!r}")
        if not isinstance(self.hypothesis_only, bool):
            raise InputError(f"hypothesis_only: expected true or false, found {self.hypothesis_only!r}")


def check_tuned(saved: SavedModel, shape: EntailmentShape, files: ModelFiles) -> None:
    """Refuses weights that are not those of this encoder, tuned."""
    from dialogauge.encode.network import skeleton

    encoder = skeleton(files)
    if shape.width != encoder.config.hidden_size:
        found = f"vectors of {encoder.config.hidden_size} numbers, its card says {shape.width}"
        raise saved.error(f"its encoder {files.identity} gives {found}; {AGAIN}")
    refuse_other_tensors(saved, tensors_of_tuned(encoder, shape))


def tensors_of_tuned(encoder: Any, shape: EntailmentShape) -> Mapping[str, tuple[int, ...]]:
    """Names and shapes in a model directory."""
    import torch

    from dialogauge.learned.entailment.networks import ClassHead
    from dialogauge.learned.pair_network import expected_tensors

    with torch.device("meta"):
        return expected_tensors(encoder, shape.rank, ClassHead(shape))


def premise_of(context: Sequence[str], history: int | None = None) -> str:
    """All that was said, the earliest first, one space between utterances; with a `history` above 0 so many of the last
    utterances, below 0 one alone: -1 the last, -2 the one before it. Empty where there is no such utterance."""
    if history is None:
        kept = context
    elif history > 0:
        kept = context[-history:]
    else:
        kept = context[len(context) + history :][:1] if len(context) + history >= 0 else ()
    return " ".join(filter(None, (utterance.strip() for utterance in kept)))


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
        from dialogauge.learned.entailment.networks import EsimJudge, TunedJudge
        from dialogauge.learned.pair_network import Tuned

        found = find_encoder(self.saved, encoder, encoders)
        if self.shape.network == "esim":
            return ReadyModel(self, EsimJudge.from_weights(found, self.shape, self.saved.weights))
        if not isinstance(found, Transformer):
            raise self.saved.error(f"is a tuned transformer, its encoder {found.identity} is none; {AGAIN}")
        check_tuned(self.saved, self.shape, found.files)
        tuned = Tuned(self.saved, self.shape.rank)
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
    return text.strip() if visible(text) else ""


def open_entailment(directory: str | Path | None = None) -> EntailmentModel:
    """The model in a directory; without one, or by its name, that which comes with dialogauge."""
    saved = read_model(model_path(directory, SHIPPED), KIND)
    network, encoder = saved.section("network"), saved.section("encoder")
    with saved.using("card"):
        hidden = network.get("hypothesis_only", False)
        shape = EntailmentShape(**{name: network[name] for name in SHAPE}, hypothesis_only=hidden)
        temperature = _positive(saved.section("calibration")["temperature"])
        _ = str(encoder["name"]), str(encoder["identity"])
    if shape.network == "esim":
        refuse_other_tensors(saved, _tensors_of_esim(shape))
    return EntailmentModel(saved, shape, temperature)


def _tensors_of_esim(shape: EntailmentShape) -> dict[str, tuple[int, ...]]:
    import torch

    from dialogauge.learned.entailment.networks import Esim

    with torch.device("meta"):
        return {name: tuple(tensor.shape) for name, tensor in Esim(shape).state_dict().items()}


def _positive(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < np.inf:
        raise InputError(f"temperature: expected a number above 0, found {value!r}")
    return float(value)
