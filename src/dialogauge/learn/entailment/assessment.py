"""How often a model is right, where it errs, and whether its probabilities mean what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.inference import LABELS
from dialogauge.learn.entailment.data import Rows
from dialogauge.stats.intervals import clustered_mean

BINS = 15
HOTTEST = 100.0
LogitRows = NDArray[np.float64]


@dataclass(frozen=True)
class Assessment:
    """Of labelled pairs. `confusion[i][j]`: pairs of class i that were taken for class j."""

    accuracy: float
    low: float
    high: float
    """The 95 % interval over dialogues (where there are none, over premises)."""
    majority: float
    """The accuracy of always saying the commonest class of these pairs."""
    calibration_error: float
    """The mean difference between how sure the model is and how often it is right (expected calibration error)."""
    confusion: list[list[int]]
    by_source: dict[str, float]
    """The accuracy on pairs made in each way."""
    pairs: int
    groups: int

    def record(self) -> dict[str, Any]:
        rounded = ("accuracy", "low", "high", "majority", "calibration_error")
        values = {name: round(getattr(self, name), 6) for name in rounded}
        by_source = {name: round(value, 6) for name, value in self.by_source.items()}
        return {
            "pairs": self.pairs,
            "groups": self.groups,
            **values,
            "labels": list(LABELS),
            "confusion": self.confusion,
            "by_source": by_source,
        }


def assess(logits: LogitRows, temperature: float, labels: Rows, groups: Rows, sources: Sequence[str]) -> Assessment:
    """Row i of `logits`, and entry i of the others, belong to pair i."""
    from scipy.special import softmax

    probabilities = softmax(logits / temperature, axis=1)
    said = probabilities.argmax(axis=1)
    right = (said == labels).astype(np.float64)
    accuracy = clustered_mean(right, groups)
    confusion = np.zeros((len(LABELS), len(LABELS)), np.int64)
    np.add.at(confusion, (labels, said), 1)
    made = np.array(sources)
    return Assessment(
        accuracy=accuracy.value,
        low=accuracy.low,
        high=accuracy.high,
        majority=float(np.bincount(labels).max() / len(labels)),
        calibration_error=calibration_error(probabilities.max(axis=1), right),
        confusion=confusion.tolist(),
        by_source={str(name): float(right[made == name].mean()) for name in np.unique(made)},
        pairs=len(labels),
        groups=len(np.unique(groups)),
    )


def calibration_error(sure: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """Pairs are gathered by how sure the model is, in bins of equal width (Guo et al. 2017)."""
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, weights=right - sure, minlength=BINS)
    return float(np.abs(gaps).sum() / len(sure))


def fit_temperature(logits: LogitRows, labels: Rows) -> float:
    """What logits are divided by so that the labels are as likely as can be (Guo et al. 2017). Where a model is always
    right, the colder the better, and nothing is known: 1."""
    from scipy.optimize import minimize_scalar
    from scipy.special import logsumexp

    def loss(log_temperature: float) -> float:
        scaled = logits / np.exp(log_temperature)
        return float((logsumexp(scaled, axis=1) - scaled[np.arange(len(labels)), labels]).mean())

    if (logits.argmax(axis=1) == labels).all():
        return 1.0
    limit = np.log(HOTTEST)
    # Digits beyond the fifth differ by how a processor rounds.
    return float(f"{np.exp(minimize_scalar(loss, bounds=(-limit, limit), method='bounded').x):.5g}")
