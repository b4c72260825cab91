"""What an entailment model is built like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from dialogauge.encode.base import Pool
from dialogauge.errors import InputError, unknown

EntailmentKind = Literal["transformer", "esim"]
"""An encoder that reads both texts at once and is tuned itself; or the Enhanced Sequential Inference Model over the
vectors of an encoder that stays as it is."""
KINDS, POOLS = get_args(EntailmentKind), get_args(Pool)
CLASSES = 3
WIDEST = 2**16


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
