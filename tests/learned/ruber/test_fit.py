"""Training of relatedness networks: what is learned, from which negatives and at which rates."""

import hashlib
import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from dialogauge.learned.ruber.fit import Epoch, Held, RuberTask
from dialogauge.learned.ruber.inputs import SENTENCES, RuberShape
from dialogauge.learned.ruber.pairs import NEGATIVES, Pairs
from dialogauge.learned.ruber.recipe import LOSSES
from dialogauge.learned.ruber.train_networks import make_task, train
from dialogauge.learned.training.loop import Loop
from tests.learned.ruber.conversations import quick, quick_towers
from tests.learned.small import torch

CPU = torch.device("cpu")
PAIRED = [loss for loss in LOSSES if loss != "softmax"]


def task(training_data, recipe, member=0):
    shape = replace(training_data.shape, network=recipe.network, dropout=recipe.dropout)
    return make_task(replace(training_data, shape=shape), recipe, member)


def fit(training_data, recipe, checkpoint=None, member=0):
    return Loop(task(training_data, recipe, member)).run(checkpoint)


def same(left, right):
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_reach_every_parameter_of_towers(towers_data, loss):
    reach_every_parameter(task(towers_data, quick_towers(loss=loss, epochs=1)))


def reach_every_parameter(made):
    before = {name: parameter.detach().clone() for name, parameter in made.network.named_parameters()}
    fitted = Loop(made).run()
    for name, parameter in made.network.named_parameters():
        assert (parameter - before[name]).abs().max() > 0, name
    return fitted


def slow(**options):
    """Not every seed gets the ranking loss off the ground: where both sigmoids are near 1, there is no slope."""
    return quick(rate=1e-3, batch=4, epochs=8, seed=2, **options)


@pytest.mark.parametrize(("sentence", "loss"), list(product(SENTENCES, PAIRED)))
def test_what_can_be_learned_is_learned(learnable, sentence, loss):
    fitted = reach_every_parameter(task(learnable(sentence), slow(sentence=sentence, loss=loss)))
    assert fitted.curve[fitted.best].ranking_accuracy == 1
    assert fitted.curve[-1].loss < fitted.curve[0].loss / 2


@pytest.mark.parametrize("kind", NEGATIVES)
def test_against_every_kind_of_negatives(learnable, kind):
    assert fit(learnable("mean"), slow(negatives=(kind,))).curve[-1].ranking_accuracy == 1


def test_dropout_is_at_work_while_learning_and_at_rest_while_validating(training_data):
    plain, dropped = (task(training_data("mean"), quick(dropout=dropout, epochs=1)) for dropout in (0, 0.5))
    assert plain.validate() == dropped.validate()
    losses = [Loop(made).run().curve[0].loss for made in (plain, dropped)]
    assert losses[0] != losses[1]
    assert dropped.validate() == dropped.validate()


def test_negatives_are_drawn_anew_in_each_epoch(training_data):
    made, other = (task(training_data("mean"), quick(seed=seed)) for seed in (0, 1))
    plans = [made.plan(0), made.plan(1), other.plan(0)]
    assert len({plan.negatives for plan in plans}) == len({plan.seed for plan in plans}) == 3
    assert made.plan(0).negatives == plans[0].negatives


def test_negatives_of_an_epoch_by_hand(training_data):
    found = training_data("mean")
    rng = np.random.default_rng([0, 0])
    order = rng.permutation(len(found.sampler.pairs))
    drawn = found.sampler.draw(["random"], order, 8, rng)
    assert fit(found, quick(epochs=1)).curve[0].negatives == hashlib.sha256(drawn.tobytes()).hexdigest()[:8]


def rate_after(training_data, losses, **options):
    made = task(training_data("mean"), quick(rate=0.4, epochs=200, **options))
    made.scheduler([Epoch(place + 1, 0.0, loss, 0.5, 0.0, "") for place, loss in enumerate(losses)])
    (group,) = made.optimizer.param_groups
    return group["lr"]


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
def test_plateau_by_hand(training_data, losses, expected):
    """Halved after two epochs in a row without a lower loss, and after two more; one as low is not lower."""
    assert rate_after(training_data, losses, patience=2, decay=0.5) == pytest.approx(expected)
    assert rate_after(training_data, losses, patience=2, decay=1.0) == 0.4


def test_the_rate_is_never_raised_again(training_data):
    losses = [1.0, 1.1, 0.9, 0.8, 1.0, 0.7]
    found = [rate_after(training_data, losses[:done], patience=1, decay=0.1) for done in range(6)]
    assert found == pytest.approx([0.4, 0.4, 0.04, 0.04, 0.04, 0.004])


@pytest.mark.parametrize("rate", [0.003, 10.0 / 3, 1e-45])
def test_a_plateau_is_noted_with_the_rate_that_is_learned_with(training_data, rate):
    made = task(training_data("mean"), replace(quick(epochs=6, patience=1, stop=9, decay=0.5), rate=min(rate, 1)))
    used = []
    made.optimizer.register_step_pre_hook(lambda *_: used.append(made.optimizer.param_groups[0]["lr"]))
    made.validate = lambda: (1.0, 0.5)
    curve = Loop(made).run().curve
    expected = [min(rate, 1) * 0.5 ** max(epoch - 1, 0) for epoch in range(6)]
    assert [epoch.rate for epoch in curve] == expected
    assert used == [rate for rate in expected for _ in range(len(used) // 6)]


def linear(training_data, epochs, steps):
    """The rate of every step of the whole training."""
    made = task(training_data("mean"), quick(schedule="linear", rate=0.5, epochs=epochs))
    made.pairs = steps * made.recipe.batch
    return [made.rate(step) for step in range(epochs * steps)]


def test_linear_by_hand(training_data):
    # 100 steps: the first five rise by a fifth each from nearly nothing, all of them fall by a hundredth of the rate.
    rates = linear(training_data, 4, 25)
    assert rates[0] == pytest.approx(0.5 * 0.01)
    assert rates[1] == pytest.approx(0.5 * 0.21 * 0.99)
    assert rates[4] == pytest.approx(0.5 * 0.81 * 0.96)
    assert rates[5:] == pytest.approx([0.5 * (1 - step / 100) for step in range(5, 100)])
    assert max(rates) == rates[5]
    assert rates[-1] == pytest.approx(0.005)


@pytest.mark.parametrize(("epochs", "steps"), [(1, 1), (1, 7), (10, 1), (3, 1000)])
def test_linear_ends_with_nearly_nothing_and_never_below(training_data, epochs, steps):
    rates = linear(training_data, epochs, steps)
    assert all(0 < rate <= 0.5 for rate in rates)
    assert rates[-1] == pytest.approx(0.5 / (epochs * steps))


def test_validation_by_hand_with_ties(training_data):
    """Pair 0: true logit 1 against 0, 1, 2 (won, tied, lost); pair 1: true 0 against -1, -1, 0 (won, won, tied)."""
    recipe = quick()
    rows = torch.arange(4, dtype=torch.float32)[:, None]
    logits = {(0, 0): 1.0, (0, 1): 0.0, (0, 2): 1.0, (0, 3): 2.0, (1, 1): 0.0, (1, 0): -1.0, (1, 2): -1.0, (1, 3): 0.0}
    held = Held(Pairs(*np.array([[0, 0, -1, 0], [1, 1, -1, 1]]).T), np.array([[1, 2, 3], [0, 2, 3]]))
    made = RuberTask(training_data("mean").sampler, held, rows, RuberShape(1), recipe, 0, CPU)

    class Table(torch.nn.Module):
        def forward(self, queries, responses, previous):
            assert previous is None
            asked = queries.repeat_interleave(len(responses) // len(queries), dim=0)
            both = zip(asked[:, 0].int().tolist(), responses[:, 0].int().tolist(), strict=True)
            return torch.tensor([logits[pair] for pair in both])

    made.network = Table()
    loss, accuracy = made.validate()
    assert accuracy == pytest.approx((1 + 0.5 + 0 + 1 + 1 + 0.5) / 6)
    true = (math.log(1 + math.exp(-1)) + math.log(2)) / 2
    negative = sum(math.log(1 + math.exp(x)) for x in (0, 1, 2, -1, -1, 0)) / 6
    assert loss == pytest.approx((true + negative) / 2)


def test_members_differ_in_their_seeds_alone(training_data):
    trained = train(training_data("mean"), quick(members=3, seed=5, epochs=2))
    for place, member in enumerate(trained.members):
        alone = fit(training_data("mean"), quick(epochs=2, seed=5), member=place)
        assert same(member.weights, alone.weights)
        assert member.curve == alone.curve
    names = trained.weights(half=False).keys()
    assert {name.partition(".")[0] for name in names} == {"0", "1", "2"}
    assert {array.dtype for array in trained.weights(half=True).values()} == {np.dtype(np.float16)}
    np.testing.assert_array_equal(trained.weights(False)["1.bilinear"], trained.members[1].weights["bilinear"])
