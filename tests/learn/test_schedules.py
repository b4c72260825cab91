from dataclasses import replace

import pytest

from dialogauge.learn.recipe import RuberRecipe
from dialogauge.learn.schedules import rate_of_epoch, rate_of_step

LINEAR = RuberRecipe(schedule="linear", rate=0.5, epochs=4)
PLATEAU = RuberRecipe(rate=0.4, patience=2, decay=0.5)


def steps_of(recipe, steps):
    """The rate of every step of the whole training."""
    rates = [rate_of_epoch(recipe, [1.0] * epoch) for epoch in range(recipe.epochs)]
    return [
        rate_of_step(recipe, rates[epoch], epoch, step, steps)
        for epoch in range(recipe.epochs)
        for step in range(steps)
    ]


def test_linear_by_hand():
    # 100 steps: the first five rise by a fifth each from nearly nothing, all of them fall by a hundredth of the rate.
    rates = steps_of(LINEAR, 25)
    assert rates[0] == pytest.approx(0.5 * 0.01)
    assert rates[1] == pytest.approx(0.5 * 0.21 * 0.99)
    assert rates[4] == pytest.approx(0.5 * 0.81 * 0.96)
    assert rates[5:] == pytest.approx([0.5 * (1 - step / 100) for step in range(5, 100)])
    assert max(rates) == rates[5]
    assert rates[-1] == pytest.approx(0.005)


@pytest.mark.parametrize(("epochs", "steps"), [(1, 1), (1, 7), (10, 1), (3, 1000)])
def test_linear_ends_with_nearly_nothing_and_never_below(epochs, steps):
    rates = steps_of(replace(LINEAR, epochs=epochs), steps)
    assert all(0 < rate <= 0.5 for rate in rates)
    assert rates[-1] == pytest.approx(0.5 / (epochs * steps))


def test_linear_takes_no_notice_of_losses():
    for losses in ([1.0, 0.5], [1.0, 2.0], [1.0, 1.0]):
        assert rate_of_epoch(LINEAR, losses) == 0.25
    assert rate_of_epoch(LINEAR, []) == 0.5


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        ([], 0.4),
        ([1.0], 0.4),
        ([1.0, 1.1], 0.4),
        ([1.0, 1.1, 1.0], 0.2),
        ([1.0, 1.1, 1.0, 1.0], 0.2),
        ([1.0, 1.1, 1.0, 1.0, 1.0], 0.1),
        ([1.0, 1.1, 1.0, 0.9, 1.0], 0.2),
        ([1.0, 1.1, 0.9, 1.0, 0.8, 0.9], 0.4),
    ],
)
def test_plateau_by_hand(losses, expected):
    """Halved after two epochs in a row without a lower loss, and after two more; one as low is not lower."""
    assert rate_of_epoch(PLATEAU, losses) == pytest.approx(expected)


def test_plateau_has_one_rate_for_all_of_an_epoch():
    assert {rate_of_step(PLATEAU, 0.2, epoch, step, 5) for epoch in (0, 199) for step in range(5)} == {0.2}
