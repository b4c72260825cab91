"""From text to vectors: transformers, static word vectors, sentence encoders, and the cache they share. What an encoder
of one's own is made of can be imported from here."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from dialogauge.encode.base import Encoder, Pooled, Tokens, fully_covered

__all__ = ["Encoder", "Pooled", "Tokens", "fully_covered"]


def __getattr__(name: str) -> Any:
    """Only when it is asked for: the command line asks this package for other things, and NumPy takes its time."""
    if name in __all__:
        return getattr(import_module("dialogauge.encode.base"), name)
    raise AttributeError(f"module 'dialogauge.encode' has no attribute {name!r}")
