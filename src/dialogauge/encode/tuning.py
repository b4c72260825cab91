"""An encoder whose weights were trained further."""

from __future__ import annotations

from typing import Any, Protocol


class Tuning(Protocol):
    """What training changed of a model's weights."""

    @property
    def digest(self) -> str:
        """The same for the same change, and for no other."""

    def apply(self, model: Any) -> None:
        """Changes the weights of the model, which has all its layers."""
