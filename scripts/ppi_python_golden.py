"""Numbers of the package ppi-python, which tests hold `ppi_mean` against.

    python -m venv /tmp/ppi && /tmp/ppi/bin/pip install ppi-python==0.2.3
    /tmp/ppi/bin/python scripts/ppi_python_golden.py > tests/people/estimate/ppi_python.json

The package is no part of the tests' environment: it brings numba, statsmodels and gdown.
"""

import json

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate  # type: ignore[import-not-found]

CASES = [(20, 80, 0.7), (50, 1000, 0.5), (200, 300, 0.9), (100, 100, 0.0), (60, 500, -0.4)]
"""Rated turns, others, and how the metric goes with the ratings."""


def case(seed: int, n: int, more: int, likeness: float) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n + more)
    ratings = np.round(np.clip(3.5 + quality[:n], 1, 5), 1)
    predicted = np.round(2.0 + likeness * quality + (1 - abs(likeness)) * rng.normal(size=n + more), 4)
    found = []
    for lam in (None, 0.0, 0.5, 1.0):
        for alpha in (0.05, 0.1):
            low, high = ppi_mean_ci(ratings, predicted[:n], predicted[n:], alpha=alpha, lam=lam)
            value = ppi_mean_pointestimate(ratings, predicted[:n], predicted[n:], lam=lam)
            numbers = [float(np.squeeze(each)) for each in (value, low, high)]
            found.append({"slope": lam, "confidence": 1 - alpha, "expected": numbers})
    return {"ratings": ratings.tolist(), "metric": predicted.tolist(), "found": found}


if __name__ == "__main__":
    print(json.dumps([case(seed, *given) for seed, given in enumerate(CASES)], indent=None))
