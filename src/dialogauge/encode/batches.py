"""Which texts go through the model together: those of similar length, up to a number of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

SPREAD = 1.1
"""A batch that is large enough takes no text longer than this times its shortest."""


def batches(lengths: Sequence[int], budget: int, enough: int, padding: bool = True) -> Iterator[NDArray[np.int64]]:
    """Places of texts, longest first, so that memory that does not suffice shows at once.

    A batch holds at most `budget` tokens, padding included (a longer text stands alone), and closes once it has
    `enough` and the next text would need much padding; without `padding`, when the next text is of another length.
    """
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")
    falling = [lengths[place] for place in order.tolist()]
    start = 0
    for place in range(1, len(order) + 1):
        longest = falling[start]
        tokens = longest * (place - start)
        if place < len(order):
            fits = tokens + longest <= budget
            alike = longest <= SPREAD * falling[place] or tokens < enough if padding else longest == falling[place]
            if fits and alike:
                continue
        yield order[start:place]
        start = place
