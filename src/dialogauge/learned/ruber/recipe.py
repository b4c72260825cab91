"""How a relatedness model is trained: everything that decides its weights beside the data."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args

from dialogauge.errors import COUNT, InputError, check_whole, unknown
from dialogauge.learned.ruber.inputs import KINDS, SENTENCES, RuberKind, Sentence
from dialogauge.learned.ruber.pairs import NEGATIVES, Negative

Loss = Literal["cross_entropy", "ranking", "softmax"]
"""Each pair by itself; the true response above another by a margin; the true response among all of its batch."""
Schedule = Literal["plateau", "linear"]
"""The learning rate falls when nothing more is learned; or steadily, to nothing after the last epoch."""
LOSSES, SCHEDULES = get_args(Loss), get_args(Schedule)
LARGEST_SEED = 2**32 - 1
MOST_MEMBERS = 1000


@dataclass(frozen=True)
class RuberRecipe:
    """The defaults are those of Ghazarian et al. 2019, section 4.3; what they leave open is said here."""

    network: RuberKind = "ruber"
    sentence: Sentence = "mean"
    layers: tuple[int, ...] = ()
    """Layers of the encoder whose pooled vectors stand side by side; none for the last alone."""
    loss: Loss = "cross_entropy"
    negatives: tuple[Negative, ...] = ("random",)
    """One negative of each kind for every pair, drawn anew in each epoch. With softmax, all of the batch."""
    dropout: float = 0.0
    margin: float = 0.5
    """Of the ranking loss. The paper names none; 0.5 lies in the middle of what two sigmoids can differ by."""
    context: int = 1
    """Utterances that are looked at: joined for RUBER's network; for towers 1, or 2 apart."""
    batch: int = 128
    rate: float = 1e-4
    schedule: Schedule = "plateau"
    decay: float = 0.5
    """On a plateau the rate is multiplied by it: after `patience` epochs without a lower validation loss."""
    patience: int = 5
    stop: int = 20
    """Training ends after so many epochs without a lower validation loss."""
    epochs: int = 200
    """And after so many in any case."""
    members: int = 1
    """Networks trained alike from different seeds; their mean is the score."""
    seed: int = 0

    def __post_init__(self) -> None:
        choices = {"network": KINDS, "sentence": SENTENCES, "loss": LOSSES, "schedule": SCHEDULES}
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise unknown(name, str(getattr(self, name)), known)
        for kind in self.negatives:
            if kind not in NEGATIVES:
                raise unknown("kind of negatives", str(kind), NEGATIVES)
        self._check_numbers()
        self._check_together()

    def _check_numbers(self) -> None:
        for name in ("context", "batch", "patience", "stop", "epochs"):
            check_whole(name, getattr(self, name), 1, COUNT)
        check_whole("members", self.members, 1, MOST_MEMBERS)
        check_whole("seed", self.seed, 0, LARGEST_SEED - self.members)
        for name in ("rate", "margin", "decay"):
            if not 0 < getattr(self, name) <= 1:
                raise InputError(f"{name}: expected a number above 0 and at most 1, found {getattr(self, name)}")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout: expected a number from 0 to below 1, found {self.dropout}")

    def _check_together(self) -> None:
        if not self.negatives:
            raise InputError(f"negatives: expected at least one kind of {', '.join(NEGATIVES)}; found none")
        if self.loss == "softmax" and (self.network != "towers" or self.negatives != ("in_batch",)):
            raise InputError("loss softmax: expected the network towers and in_batch negatives")
        if self.loss == "softmax" and self.batch < 2:
            raise InputError("batch: with the loss softmax, expected at least 2 pairs, found 1")
        if self.network == "towers" and self.context > 2:
            raise InputError(f"context: towers look at 1 or 2 utterances, found {self.context}")

    def record(self) -> dict[str, object]:
        """As it stands in a model's card."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**values, "negatives": list(self.negatives), "layers": list(self.layers)}


PAPER = RuberRecipe()
TOWERS = RuberRecipe(
    network="towers",
    loss="softmax",
    negatives=("in_batch",),
    dropout=0.4,
    context=2,
    batch=256,
    rate=1e-3,
    schedule="linear",
    epochs=10,
)
"""Ours, found by ranking accuracy on validation conversations of three corpora (docs/learned-metrics.md)."""
RECIPES = {"towers": TOWERS, "paper": PAPER}
