"""How a gauge is trained: everything that decides its weights beside the data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from dialogauge.encode.base import Encoder, Pool
from dialogauge.errors import COUNT, InputError, check_whole
from dialogauge.learned.gauge.model import GaugeShape
from dialogauge.learned.ruber.inputs import width_of
from dialogauge.learned.ruber.recipe import LARGEST_SEED

MOST_LIKELIHOOD = 10


@dataclass(frozen=True)
class GaugeRecipe:
    """Low-rank adapters by default."""

    rank: int = 16
    """Of low-rank adapters; 0 where all weights of the encoder are tuned."""
    pool: Pool = "mean"
    dropout: float = 0.1
    context: int = 3
    """Utterances before the reply that are looked at."""
    exchanges: int = 0
    """The most exchanges of conversations that are learned from, drawn at random; 0 for all. Beside machine-made
    replies, which are harder to tell, few are enough."""
    batch: int = 64
    accumulate: int = 1
    """Batches whose gradients are added up before weights change."""
    rate: float = 1e-3
    warm_up: float = 0.06
    """The share of all steps in which the learning rate rises from nothing; it then falls to nothing steadily."""
    weight_decay: float = 0.01
    epochs: int = 2
    stop: int = 2
    """Training ends after so many epochs without a lower validation loss."""
    rating_epochs: int = 3
    """Rounds over people's ratings, after conversations."""
    rating_rate: float = 2.5e-4
    likelihood: float = 0.25
    """Beside what teachers say of a machine-made reply: the weight of its mutual information with the context (`pmi`),
    both in standard deviations."""
    weight: float = 0.4
    """Of the likeness to a reference, where a turn has one."""
    mixed: bool = True
    """On a GPU, numbers of 16 bits where they suffice."""
    seed: int = 0

    def __post_init__(self) -> None:
        self._shape(1)
        for name in ("batch", "accumulate", "epochs", "stop", "rating_epochs"):
            check_whole(name, getattr(self, name), 1, COUNT)
        for name in ("rate", "rating_rate"):
            if not 0 < getattr(self, name) <= 1:
                raise InputError(f"{name}: expected a number above 0 and at most 1, found {getattr(self, name)}")
        for name in ("warm_up", "weight_decay", "weight"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name}: expected a number from 0 to below 1, found {getattr(self, name)}")
        if not 0 <= self.likelihood <= MOST_LIKELIHOOD:
            raise InputError(f"likelihood: expected a number from 0 to {MOST_LIKELIHOOD}, found {self.likelihood}")
        check_whole("exchanges", self.exchanges, 0, COUNT)
        check_whole("seed", self.seed, 0, LARGEST_SEED)

    def shape(self, encoder: Encoder) -> GaugeShape:
        return self._shape(width_of(encoder))

    def _shape(self, width: int) -> GaugeShape:
        return GaugeShape(width, self.rank, self.pool, self.context, self.dropout)

    def on_ratings(self) -> GaugeRecipe:
        """Of the rounds over ratings: all of them are made."""
        epochs = self.rating_epochs
        return replace(self, rate=self.rating_rate, epochs=epochs, stop=epochs, batch=min(self.batch, 64))

    def record(self) -> dict[str, object]:
        """As it stands in a model's card."""
        return asdict(self)


ADAPTER = GaugeRecipe()
TRANSFORMER = GaugeRecipe(rank=0, rate=3e-5, rating_rate=2e-5, epochs=1)
RECIPES = {"adapter": ADAPTER, "transformer": TRANSFORMER}
