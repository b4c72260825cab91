import hashlib
import math
from dataclasses import asdict, replace
from itertools import pairwise, product

import numpy as np
import pytest

from dialogauge.errors import DialogaugeError, InputError
from dialogauge.learn.checkpoint import Checkpoint
from dialogauge.learn.fit import Fitting, Held
from dialogauge.learn.negatives import NEGATIVES
from dialogauge.learn.pairs import Pairs
from dialogauge.learn.recipe import LOSSES
from dialogauge.learn.training import train
from dialogauge.models.shape import SENTENCES, RuberShape
from tests.learn.conversations import quick, quick_towers
from tests.models.small import torch

CPU = torch.device("cpu")
PAIRED = [loss for loss in LOSSES if loss != "softmax"]


def fitting(training_data, recipe, seed=None):
    shape = replace(training_data.shape, network=recipe.network, dropout=recipe.dropout)
    seed = recipe.seed if seed is None else seed
    return Fitting(training_data.sampler, training_data.held, training_data.inputs, shape, recipe, seed, CPU)


def fit(training_data, recipe, checkpoint=None, seed=None):
    return fitting(training_data, recipe, seed).run(checkpoint, lambda _: None)


def same(left, right):
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


@pytest.mark.parametrize(("sentence", "loss"), list(product(SENTENCES, PAIRED)))
def test_gradients_reach_every_parameter(training_data, sentence, loss):
    reach_every_parameter(fitting(training_data(sentence), quick(sentence=sentence, loss=loss, epochs=1)))


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_reach_every_parameter_of_towers(towers_data, loss):
    reach_every_parameter(fitting(towers_data, quick_towers(loss=loss, epochs=1)))


def reach_every_parameter(made):
    before = {name: parameter.detach().clone() for name, parameter in made.network.named_parameters()}
    made.run(None, lambda _: None)
    for name, parameter in made.network.named_parameters():
        assert (parameter - before[name]).abs().max() > 0, name


def learned(training_data, **options):
    """Not every seed gets the ranking loss off the ground: where both sigmoids are near 1, there is no slope."""
    return fit(training_data, quick(rate=1e-3, batch=4, epochs=8, seed=2, **options))


@pytest.mark.parametrize(("sentence", "loss"), list(product(SENTENCES, PAIRED)))
def test_what_can_be_learned_is_learned(learnable, sentence, loss):
    fitted = learned(learnable(sentence), sentence=sentence, loss=loss)
    assert fitted.epochs[fitted.best].ranking_accuracy == 1
    assert fitted.epochs[-1].loss < fitted.epochs[0].loss / 2


@pytest.mark.parametrize("kind", NEGATIVES)
def test_against_every_kind_of_negatives(learnable, kind):
    assert learned(learnable("mean"), negatives=(kind,)).epochs[-1].ranking_accuracy == 1


@pytest.mark.parametrize("kind", ["mean", "rnn", "towers"])
def test_same_seed_same_weights(training_data, towers_data, kind):
    recipe = quick(sentence=kind, dropout=0.2, negatives=("random", "hard"), epochs=2) if kind != "towers" else None
    recipe = recipe or quick_towers(epochs=2)
    found = towers_data if kind == "towers" else training_data(kind)
    first, again, other = (fit(found, replace(recipe, seed=seed)) for seed in (3, 3, 4))
    assert same(first.weights, again.weights)
    assert first.epochs == again.epochs
    assert not any(torch.equal(first.weights[name], other.weights[name]) for name in first.weights)
    assert first.epochs[0].negatives != other.epochs[0].negatives


def test_what_happens_beside_training_changes_nothing(training_data):
    recipe = quick(dropout=0.2)
    plain = fit(training_data("mean"), recipe)
    torch.manual_seed(123)
    state = torch.random.get_rng_state()
    made = fitting(training_data("mean"), recipe)
    fitted = made.run(None, lambda _: torch.rand(7))
    assert same(fitted.weights, plain.weights)
    # And training leaves everyone else's randomness as it was.
    torch.manual_seed(123)
    fit(training_data("mean"), recipe)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_dropout_is_at_work_while_learning_and_at_rest_while_validating(training_data):
    plain, dropped = (fitting(training_data("mean"), quick(dropout=dropout, epochs=1)) for dropout in (0, 0.5))
    assert plain.validate() == dropped.validate()
    losses = [made.run(None, lambda _: None).epochs[0].loss for made in (plain, dropped)]
    assert losses[0] != losses[1]
    assert dropped.validate() == dropped.validate()


def test_negatives_are_drawn_anew_in_each_epoch(training_data):
    epochs = fit(training_data("mean"), quick(epochs=3)).epochs
    assert len({epoch.negatives for epoch in epochs}) == 3


def test_negatives_of_an_epoch_by_hand(training_data):
    found = training_data("mean")
    rng = np.random.default_rng([0, 0])
    order = rng.permutation(len(found.sampler.pairs))
    drawn = found.sampler.draw(["random"], order, 8, rng)
    assert fit(found, quick(epochs=1)).epochs[0].negatives == hashlib.sha256(drawn.tobytes()).hexdigest()[:8]


def driven(training_data, losses, monkeypatch, **options):
    """A fit whose validation says what it is told; and the weights after each epoch."""
    told = iter(losses)
    made = fitting(training_data("mean"), quick(epochs=len(losses), **options))
    monkeypatch.setattr(made, "validate", lambda: (next(told), 0.5))
    seen = []
    keep = lambda _: seen.append({name: t.clone() for name, t in made.network.state_dict().items()})  # noqa: E731
    return made.run(None, keep), seen


def test_the_rate_is_lowered_after_patience_epochs_and_training_stops(training_data, monkeypatch):
    losses = [1.0, 0.9, 0.95, 0.9, 0.95, 0.95, 0.95, 0.1]
    fitted, seen = driven(training_data, losses, monkeypatch, patience=2, stop=5, decay=0.5, rate=0.004)
    # Lowest in epoch 2; two more without a lower one: halved from epoch 5 on; two more: from epoch 7 on. After five,
    # the end. A loss that is as low is not lower.
    assert [epoch.rate for epoch in fitted.epochs] == [0.004] * 4 + [0.002] * 2 + [0.001]
    assert len(seen) == 7
    assert fitted.best == 1


def test_the_rate_is_never_raised_again(training_data, monkeypatch):
    losses = [1.0, 1.1, 0.9, 0.8, 1.0, 0.7]
    fitted, _ = driven(training_data, losses, monkeypatch, patience=1, stop=9, decay=0.1, rate=0.01)
    assert [epoch.rate for epoch in fitted.epochs] == pytest.approx([0.01, 0.01, 1e-3, 1e-3, 1e-3, 1e-4])


def test_the_rate_is_the_one_that_is_learned_with(training_data, monkeypatch):
    losses = [1.0, 1.0, 1.0, 1.0]
    _, seen = driven(training_data, losses, monkeypatch, patience=1, decay=1e-6, rate=0.01)
    steps = [max((b[name] - a[name]).abs().max() for name in a) for a, b in pairwise(seen)]
    assert steps[0] > 1e-3
    assert steps[1] < 1e-6


@pytest.mark.parametrize("losses", [[0.5, 0.4, 0.6, 0.7], [0.9, 0.8, 0.3], [0.1, 0.2, 0.3], [0.4, 0.2, 0.2]])
def test_the_weights_are_those_of_the_best_epoch(training_data, monkeypatch, losses):
    fitted, seen = driven(training_data, losses, monkeypatch)
    assert fitted.best == losses.index(min(losses))
    assert same(fitted.weights, seen[fitted.best])
    assert not any(same(fitted.weights, other) for place, other in enumerate(seen) if place != fitted.best)


def test_a_last_epoch_in_any_case(training_data):
    assert len(fit(training_data("mean"), quick(epochs=2, stop=50)).epochs) == 2


def test_validation_by_hand_with_ties(training_data):
    """Pair 0: true logit 1 against 0, 1, 2 (won, tied, lost); pair 1: true 0 against -1, -1, 0 (won, won, tied)."""
    recipe = quick()
    rows = torch.arange(4, dtype=torch.float32)[:, None]
    logits = {(0, 0): 1.0, (0, 1): 0.0, (0, 2): 1.0, (0, 3): 2.0, (1, 1): 0.0, (1, 0): -1.0, (1, 2): -1.0, (1, 3): 0.0}
    held = Held(Pairs(*np.array([[0, 0, -1, 0], [1, 1, -1, 1]]).T), np.array([[1, 2, 3], [0, 2, 3]]))
    made = Fitting(training_data("mean").sampler, held, rows, RuberShape(1), recipe, 0, CPU)

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


def test_a_loss_that_is_no_number_is_a_clear_error(training_data):
    made = fitting(training_data("mean"), quick())
    torch.nn.init.constant_(made.network.bilinear, math.nan)
    with pytest.raises(
        DialogaugeError, match="the loss is no number after epoch 1: try a lower learning rate"
    ) as raised:
        made.run(None, lambda _: None)
    assert not isinstance(raised.value, InputError)


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_validation_loss_that_is_no_number_is_a_clear_error(training_data, monkeypatch, loss):
    """The training loss is taken before the last step, so that it can be the last to notice."""
    with pytest.raises(DialogaugeError, match="the loss is no number after epoch 2: try a lower learning rate"):
        driven(training_data, [0.5, loss, 0.4], monkeypatch)


@pytest.mark.parametrize("sentence", ["mean", "rnn"])
@pytest.mark.parametrize("done", [1, 3])
def test_taken_up_again_as_if_nothing_had_been(training_data, tmp_path, sentence, done):
    recipe = quick(sentence=sentence, dropout=0.3, negatives=("in_batch", "hard"), rate=0.01, patience=1, epochs=5)
    whole, broken = (Checkpoint(tmp_path / name, "key") for name in ("whole", "broken"))
    expected = fit(training_data(sentence), recipe, whole)
    fit(training_data(sentence), replace(recipe, epochs=done), broken)
    seen = []
    fitted = fitting(training_data(sentence), recipe).run(broken, seen.append)
    assert same(fitted.weights, expected.weights)
    assert fitted.epochs == seen == expected.epochs
    assert fitted.best == expected.best
    # Weights, the best weights, the state of Adam and the curves.
    assert broken.path.read_bytes() == whole.path.read_bytes()


def test_the_weights_of_the_best_epoch_outlive_a_kill(training_data, tmp_path, monkeypatch):
    losses = [0.5, 0.1, 0.6, 0.7]
    expected, _ = driven(training_data, losses, monkeypatch)
    checkpoint = Checkpoint(tmp_path / "c", "key")
    for part in (losses[:3], losses):
        made = fitting(training_data("mean"), quick(epochs=len(part)))
        told = iter(part if part is not losses else losses[3:])
        monkeypatch.setattr(made, "validate", lambda told=told: (next(told), 0.5))
        fitted = made.run(checkpoint, lambda _: None)
    assert fitted.best == 1
    assert same(fitted.weights, expected.weights)


def test_training_that_has_ended_is_not_taken_further(training_data, tmp_path, monkeypatch):
    checkpoint = Checkpoint(tmp_path / "c", "key")
    expected = fit(training_data("mean"), quick(), checkpoint)
    monkeypatch.setattr(Fitting, "_learn", None)
    assert same(fit(training_data("mean"), quick(), checkpoint).weights, expected.weights)


def test_members_differ_in_their_seeds_alone(training_data):
    trained = train(training_data("mean"), quick(members=3, seed=5, epochs=2))
    for place, member in enumerate(trained.members):
        alone = fit(training_data("mean"), quick(epochs=2), seed=5 + place)
        assert same(member.weights, alone.weights)
        assert [asdict(epoch) for epoch in member.epochs] == [asdict(epoch) for epoch in alone.epochs]
    names = trained.weights(half=False).keys()
    assert {name.partition(".")[0] for name in names} == {"0", "1", "2"}
    assert {array.dtype for array in trained.weights(half=True).values()} == {np.dtype(np.float16)}
    np.testing.assert_array_equal(trained.weights(False)["1.bilinear"], trained.members[1].weights["bilinear"])
