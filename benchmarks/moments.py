"""The Fréchet distance of two large sets of vectors, each seen once, batch by batch, and kept only as its moments.

    python benchmarks/moments.py [VECTORS]

Prints JSON: the distance, that of the two Gaussians the vectors are drawn from, and the seconds that summing and the
distance take, drawing left out. `benchmarks/distances.py` runs it in a process of its own, for its peak memory.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.metrics.base import Floats
from dialogauge.metrics.distance.frechet import Moments, frechet_of_moments

WIDTH, BATCH = 768, 4096


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rng = np.random.default_rng(0)
    mirror = rng.normal(size=WIDTH)
    mirror /= np.linalg.norm(mirror)
    means = np.zeros(WIDTH), np.full(WIDTH, 0.5)
    deviations = np.linspace(0.2, 2, WIDTH), np.linspace(1, 0.1, WIDTH)
    (x, seconds_x), (y, seconds_y) = (
        _summed(_drawn(rng, count, mean, deviation, mirror)) for mean, deviation in zip(means, deviations, strict=True)
    )
    start = time.perf_counter()
    distance = frechet_of_moments(x, y)
    seconds = seconds_x + seconds_y + time.perf_counter() - start
    # One reflection turns both sides: their covariances commute, and what is left is a difference of deviations.
    exact = float(np.sum((means[0] - means[1]) ** 2) + np.sum((deviations[0] - deviations[1]) ** 2))
    print(json.dumps({"distance": distance, "exact": exact, "seconds": seconds}))


def _summed(batches: Iterator[NDArray[Any]]) -> tuple[Moments, float]:
    moments, seconds = Moments.from_rows(np.empty((0, WIDTH))), 0.0
    for batch in batches:
        start = time.perf_counter()
        moments += Moments.from_rows(batch)
        seconds += time.perf_counter() - start
    return moments, seconds


def _drawn(
    rng: np.random.Generator, count: int, mean: Floats, deviation: Floats, mirror: Floats
) -> Iterator[NDArray[Any]]:
    """Float32 vectors with these deviations along axes that no coordinate axis is: reflected at the plane whose normal
    is the mirror, so that no entry of the covariance is 0."""
    place, scale, normal = (each.astype(np.float32) for each in (mean, deviation, mirror))
    for start in range(0, count, BATCH):
        batch = rng.standard_normal((min(BATCH, count - start), WIDTH), dtype=np.float32)
        batch *= scale
        batch -= np.outer(batch @ normal, 2 * normal)
        batch += place
        yield batch


if __name__ == "__main__":
    main()
