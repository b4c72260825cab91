"""How well a system's responses can be compressed together: the more they repeat each other, the better."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dialogauge.metrics.base import Values
from dialogauge.metrics.dialogue.text_sample import SampledTexts, TextSample

LEVEL = 9


def compression_ratio(texts: Sequence[str]) -> float:
    """Bytes of the texts, one a line, by those that DEFLATE leaves of them; NaN without any text that has characters.
    It depends on the order of the texts, since only the last 32 KiB are looked back at."""
    whole = "\n".join(texts).encode("utf-8", "surrogatepass")
    if not any(texts):
        return float("nan")
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return len(whole) / len(packer.compress(whole) + packer.flush())


@dataclass(frozen=True)
class Compression(SampledTexts):
    """Of a bounded sample of a system's responses, in the order of their hashes, so that no order of files matters
    (Shaib et al. 2024)."""

    name = "compression"
    title = "how far all responses together can be compressed"
    citations = ("shaib2024standardizing",)
    higher_is_better = False
    bounds = (0.0, np.inf)
    limit = 1000

    def conclude(self, summary: TextSample) -> Values:
        return {"": compression_ratio(summary.texts)}

    def recipe(self) -> dict[str, str]:
        return {"coder": f"deflate-{LEVEL}", **super().recipe()}
