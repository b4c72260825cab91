"""From text to vectors: transformers, static word vectors, sentence encoders, and the cache they share."""

from dialogauge.encode.base import Encoder, Pooled, Tokens, fully_covered

__all__ = ["Encoder", "Pooled", "Tokens", "fully_covered"]
