import math

import pytest

from dialogauge.learned.ruber.recipe import PAPER, TOWERS, RuberRecipe
from tests.learned.small import torch

from dialogauge.learned.ruber.fit import among_all, pairwise  # isort: skip
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.learned.ruber.fit import calibrate

TRUE = torch.tensor([0.0, 2.0])
NEGATIVE = torch.tensor([[-1.0, 0.0], [2.0, -1.0]])


def test_cross_entropy_by_hand():
    true = (math.log(2) + math.log(1 + math.exp(-2))) / 2
    negative = sum(math.log(1 + math.exp(x)) for x in (-1, 0, 2, -1)) / 4
    assert pairwise(PAPER, TRUE, NEGATIVE).item() == pytest.approx((true + negative) / 2)


def test_ranking_by_hand():
    sigmoid = {-1: 1 / (1 + math.e), 0: 0.5}
    loss = pairwise(RuberRecipe(loss="ranking", margin=0.25), TRUE, NEGATIVE)
    # 0.5 - 0.27 is within the margin by 0.02; equals are short of it by all of 0.25; the last is clear of it.
    short = [0.25 - (sigmoid[0] - sigmoid[-1]), 0.25, 0.25, 0.0]
    assert loss.item() == pytest.approx(sum(short) / 4)


def test_softmax_by_hand():
    # The true response among itself and its two negatives.
    first = math.log(1 + math.exp(-1) + 1)
    second = math.log(1 + 1 + math.exp(-3))
    assert pairwise(TOWERS, TRUE, NEGATIVE).item() == pytest.approx((first + second) / 2)


def test_softmax_of_great_numbers():
    assert pairwise(TOWERS, torch.tensor([-500.0]), torch.tensor([[500.0]])).item() == pytest.approx(1000)


SCORES = torch.tensor([[1.0, 2.0, 0.0], [0.5, 3.0, -1.0], [4.0, 0.0, 2.0]])


def test_among_all_of_a_batch_by_hand():
    e = math.exp
    expected = [
        math.log(e(1) + e(2) + e(0)) - 1,
        math.log(e(0.5) + e(3) + e(-1)) - 3,
        math.log(e(4) + e(0) + e(2)) - 2,
    ]
    assert among_all(SCORES, torch.tensor([7, 3, 9])).item() == pytest.approx(sum(expected) / 3)


def test_the_same_text_is_no_negative():
    """Responses 0 and 2 are one text: query 0 has only response 1 for a negative, and so has query 2."""
    e = math.exp
    expected = [math.log(e(1) + e(2)) - 1, math.log(e(0.5) + e(3) + e(-1)) - 3, math.log(e(0) + e(2)) - 2]
    assert among_all(SCORES, torch.tensor([5, 3, 5])).item() == pytest.approx(sum(expected) / 3)


@pytest.mark.parametrize("scores", [SCORES, SCORES[:1, :1]])
def test_a_batch_of_one_text_teaches_nothing_and_does_no_harm(scores):
    scores = scores.clone().requires_grad_()
    loss = among_all(scores, torch.zeros(len(scores), dtype=torch.int64))
    loss.backward()
    assert loss.item() == 0
    assert (scores.grad == 0).all()


def test_gradients_of_what_is_masked():
    scores = SCORES.clone().requires_grad_()
    among_all(scores, torch.tensor([5, 3, 5])).backward()
    assert torch.isfinite(scores.grad).all()
    assert (scores.grad == 0).tolist() == [[False, False, True], [False, False, False], [True, False, False]]


def sigmoid(values):
    return 1 / (1 + np.exp(-values))


@pytest.mark.parametrize(("slope", "offset"), [(1.0, 0.0), (0.3, -2.0), (4.0, 1.5), (0.05, 0.5)])
def test_the_curve_that_made_the_data_is_found(slope, offset):
    """Scores s that are true with the chance sigmoid(slope s + offset), as many of each kind as the other by weight."""
    rng = np.random.default_rng(0)
    scores = rng.normal(-offset, 3, size=400_000) / slope
    true = rng.random(scores.size) < sigmoid(slope * scores + offset)
    # Drawn so that both are equally likely, the offset is what was asked for.
    weight = true.mean() / (1 - true.mean())
    found = calibrate(scores[true], scores[~true])
    assert found[0] == pytest.approx(slope, rel=0.02)
    assert found[1] + np.log(weight) == pytest.approx(offset, abs=0.05)


def test_both_kinds_count_the_same():
    """Five negatives for each true response are no reason to doubt it."""
    rng = np.random.default_rng(0)
    true, negative = rng.normal(2, 1, 200), rng.normal(-2, 1, 200)
    several = np.repeat(negative[:, None], 5, axis=1)
    np.testing.assert_allclose(calibrate(true, several), calibrate(true, negative), rtol=1e-6)


def test_normal_scores_by_hand():
    """Of normal scores with means 1 and -1 and variance 1, the log of the odds at s is 2 s."""
    from scipy.stats import norm

    quantiles = (np.arange(20_000) + 0.5) / 20_000
    slope, offset = calibrate(norm.ppf(quantiles) + 1, norm.ppf(quantiles) - 1)
    assert slope == pytest.approx(2, rel=0.03)
    assert offset == pytest.approx(0, abs=1e-3)
    slope, offset = calibrate(norm.ppf(quantiles) + 4, norm.ppf(quantiles) + 2)
    assert (slope, offset) == pytest.approx((2, -6), rel=0.03)


def test_where_nothing_overlaps_it_stays_finite():
    for scale in (0.1, 1.0, 20.0, 1000.0):
        slope, offset = calibrate(np.array([2.0, 3.0]) * scale, np.array([[-1.0], [0.5]]) * scale)
        assert 0 < slope * scale < 200
        assert np.isfinite(offset)
        assert sigmoid(slope * 2.0 * scale + offset) > 0.9 > 0.1 > sigmoid(slope * 0.5 * scale + offset)


def test_scores_that_tell_nothing():
    slope, offset = calibrate(np.full(5, 3.0), np.full((5, 2), 3.0))
    assert sigmoid(slope * 3 + offset) == pytest.approx(0.5, abs=0.01)
    slope, offset = calibrate(np.zeros(1), np.zeros((1, 1)))
    assert (slope, offset) == pytest.approx((1, 0), abs=1e-6)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.floats(-100, 100), min_size=1, max_size=8),
    st.lists(st.floats(-100, 100), min_size=1, max_size=8),
)
def test_ranking_is_unchanged(true, negative):
    """The slope is above 0 even where true responses score lower than others."""
    slope, offset = calibrate(np.array(true), np.array(negative)[:, None])
    assert slope > 0
    assert np.isfinite([slope, offset]).all()
