import math

import pytest
from tests.learned.models.small import torch

from dialogauge.learned.ruber.recipe import PAPER, TOWERS, RuberRecipe

from dialogauge.learned.ruber.fit import among_all, pairwise  # isort: skip

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
