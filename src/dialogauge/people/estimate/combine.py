"""Several metrics as one: what they say together of a rating, by cross-fitted ridge regression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dialogauge.people.estimate.samples import RatedSample
from dialogauge.stats.arrays import Floats

FOLDS = 10
PENALTIES = np.logspace(-3, 3, 13)
"""Tried as multiples of the number of ratings, after metrics were scaled to a standard deviation of 1."""


class Prediction(NamedTuple):
    """What stands for the rating of each place: on all, and on rated ones, which must not have been learned from. None
    where both are the same."""

    everywhere: Floats
    rated: Floats | None


def combine(samples: Sequence[RatedSample], seed: int) -> list[Prediction]:
    """One prediction for each sample. A single metric is taken as it is: its slope is tuned later.

    Several are regressed on the ratings of all samples at once, less each sample's mean, so that systems share the
    coefficients. Units are dealt into folds; what a rated place is predicted to be comes from the other folds, and
    elsewhere the mean of all fits stands, by the folds' numbers of ratings (cross-prediction, Zrnic & Candès 2024). The
    penalty has the least generalised cross-validation error (Golub, Heath & Wahba 1979)."""
    if samples[0].values.shape[1] == 1:
        return [Prediction(sample.values[:, 0], None) for sample in samples]
    centred = [sample.values - sample.values.mean(0) for sample in samples]
    spread = np.sqrt(np.mean(np.concatenate(centred) ** 2, axis=0))
    scaled = [values / np.where(spread > 0, spread, 1.0) for values in centred]
    folds = _folds(samples, seed)
    fits, sizes = [], []
    for fold in range(int(max(each.max() for each in folds)) + 1):
        learned = [sample.rated & (own != fold) for sample, own in zip(samples, folds, strict=True)]
        inputs = np.concatenate([values[kept] for values, kept in zip(scaled, learned, strict=True)])
        ratings = [sample.ratings[kept] for sample, kept in zip(samples, learned, strict=True)]
        fits.append(_ridge(inputs, np.concatenate([each - each.mean() if len(each) else each for each in ratings])))
        sizes.append(sum(int((sample.rated & (own == fold)).sum()) for sample, own in zip(samples, folds, strict=True)))
    mean = np.average(fits, axis=0, weights=sizes)
    predictions = []
    for values, own in zip(scaled, folds, strict=True):
        out_of_fold = np.einsum("im,im->i", values, np.array(fits)[np.maximum(own, 0)])
        predictions.append(Prediction(values @ mean, out_of_fold))
    return predictions


def _folds(samples: Sequence[RatedSample], seed: int) -> list[Floats]:
    """Each place's fold, by its unit; units that nobody rated are in none (-1)."""
    rated = np.unique(np.concatenate([sample.units[sample.rated] for sample in samples]))
    dealt = np.full(int(max(sample.units.max() for sample in samples)) + 1, -1)
    number = min(FOLDS, len(rated))
    dealt[np.random.default_rng(seed).permutation(rated)] = np.arange(len(rated)) % number
    return [dealt[sample.units] for sample in samples]


def _ridge(inputs: Floats, ratings: Floats) -> Floats:
    """Coefficients without an intercept."""
    if len(ratings) < 3:
        return np.zeros(inputs.shape[1])
    left, singular, right = np.linalg.svd(inputs, full_matrices=False)
    turned = left.T @ ratings
    outside = float(ratings @ ratings - turned @ turned)
    kept = singular**2 / (singular**2 + len(ratings) * PENALTIES[:, None])
    squares = ((1 - kept) ** 2 * turned**2).sum(1) + max(outside, 0.0)
    free = len(ratings) - 1 - kept.sum(1)
    errors = np.where(free > 0, squares / np.maximum(free, 1e-9) ** 2, np.inf)
    best = kept[int(np.argmin(errors))]
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(singular > 0, best * turned / singular, 0.0)
    return np.asarray(right.T @ scaled)
