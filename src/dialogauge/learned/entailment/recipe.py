"""How an entailment model is trained: everything that decides its weights beside the data."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from dialogauge.encode.base import Encoder, Pool
from dialogauge.errors import COUNT, InputError, check_whole
from dialogauge.learned.entailment.model import EntailmentKind, EntailmentShape
from dialogauge.learned.ruber.inputs import width_of
from dialogauge.learned.ruber.recipe import LARGEST_SEED


@dataclass(frozen=True)
class EntailmentRecipe:
    """Numbers of a transformer whose weights are all tuned; of the others below."""

    network: EntailmentKind = "transformer"
    rank: int = 0
    """Of low-rank adapters; 0 where all weights of the transformer are tuned."""
    pool: Pool = "cls"
    units: int = 128
    dropout: float = 0.1
    hypothesis_only: bool = False
    """Hides the premise: such a model shows how much labels can be told without it."""
    batch: int = 32
    """Pairs that go through the network together."""
    accumulate: int = 1
    """Batches whose gradients are added up before weights change."""
    rate: float = 1e-4
    warm_up: float = 0.06
    """The share of all steps in which the learning rate rises from nothing; it then falls to nothing steadily."""
    weight_decay: float = 0.01
    epochs: int = 3
    stop: int = 2
    """Training ends after so many epochs without a higher accuracy on pairs held back."""
    mixed: bool = True
    """On a GPU, numbers of 16 bits where they suffice."""
    seed: int = 0

    def __post_init__(self) -> None:
        self._shape(1)
        for name in ("batch", "accumulate", "epochs", "stop"):
            check_whole(name, getattr(self, name), 1, COUNT)
        if not 0 < self.rate <= 1:
            raise InputError(f"rate: expected a number above 0 and at most 1, found {self.rate}")
        for name in ("warm_up", "weight_decay"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name}: expected a number from 0 to below 1, found {getattr(self, name)}")
        check_whole("seed", self.seed, 0, LARGEST_SEED)
        if self.network == "esim" and self.rank:
            raise InputError(f"rank: ESIM leaves its encoder as it is; found {self.rank}")

    def shape(self, encoder: Encoder) -> EntailmentShape:
        return self._shape(width_of(encoder))

    def _shape(self, width: int) -> EntailmentShape:
        return EntailmentShape(
            self.network, width, self.rank, self.pool, self.units, self.dropout, self.hypothesis_only
        )

    def record(self) -> dict[str, object]:
        """As it stands in a model's card."""
        return asdict(self)


TRANSFORMER = EntailmentRecipe()
ADAPTER = EntailmentRecipe(rank=16, batch=64, rate=1e-3)
ESIM = EntailmentRecipe(network="esim", dropout=0.3, batch=64, rate=4e-4, epochs=10)
RECIPES = {"adapter": ADAPTER, "transformer": TRANSFORMER, "esim": ESIM}
