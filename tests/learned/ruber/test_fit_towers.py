"""Two towers: what they learn, and that the way there is the same every time."""

from dataclasses import replace

import numpy as np
import pytest

from dialogauge.learned.ruber.fit import calibrate
from dialogauge.learned.ruber.inputs import width_of
from dialogauge.learned.ruber.recipe import LOSSES
from dialogauge.learned.ruber.train_networks import checkpoints_of, train
from dialogauge.learned.training.checkpoint import Checkpoint
from dialogauge.learned.training.loop import Loop
from tests.encode.models import build, open_model
from tests.learned.ruber.conversations import dialogues, quick_towers, telling, training_data_for, turns
from tests.learned.ruber.test_fit import fit, same, task
from tests.learned.small import torch


@pytest.mark.parametrize(("loss", "accuracy"), [("softmax", 1), ("cross_entropy", 1), ("ranking", 0.8)])
def test_what_can_be_learned_is_learned(encoder, loss, accuracy):
    recipe = quick_towers(loss=loss, epochs=8, rate=0.01)
    fitted = fit(training_data_for(encoder, recipe, dialogues(60, utterances=2)), recipe)
    assert fitted.curve[fitted.best].ranking_accuracy >= accuracy
    assert fitted.curve[-1].loss < fitted.curve[0].loss / 2


def test_what_only_the_utterance_before_the_query_tells(encoder):
    """The share of pairs that the query alone cannot tell apart is a half, of which half are won by chance."""
    said = telling(90)
    found = {}
    for context in (1, 2):
        recipe = quick_towers(epochs=12, rate=0.01, context=context)
        fitted = fit(training_data_for(encoder, recipe, said), recipe)
        found[context] = fitted.curve[fitted.best].ranking_accuracy
    assert found[2] == 1
    assert found[1] < 0.95


def test_layers_of_a_transformer(tmp_path):
    bert = open_model(build("bert", tmp_path / "bert"))
    recipe = quick_towers(epochs=4, layers=(3, 2))
    said = [["how are you today ?", "fine , thank you"], ["would you like soup ?", "yes , please"]] * 15
    training_data = training_data_for(bert, recipe, said)
    assert training_data.inputs.shape[1] == 2 * width_of(bert)
    fitted = fit(training_data, recipe)
    assert fitted.weights["query.linear.weight"].shape == (32, 64)
    assert fitted.curve[fitted.best].ranking_accuracy == 1


def test_training_that_has_ended_is_calibrated_again_alike(towers_data, tmp_path):
    checkpoint = Checkpoint(tmp_path / "c", "key")
    first = fit(towers_data, quick_towers(), checkpoint)
    again = fit(towers_data, quick_towers(), checkpoint)
    assert same(first.weights, again.weights)
    assert first.weights["calibration"].tolist() != [1, 0]


def test_scores_that_were_taught_to_rank_become_probabilities(towers_data):
    recipe = quick_towers()
    made = task(towers_data, recipe)
    fitted = Loop(made).run()
    best = {**fitted.weights, "calibration": torch.tensor([1.0, 0.0])}
    made.network.load_state_dict(best)
    true, negative = (logits.double().numpy() for logits in made.held_logits())
    assert fitted.weights["calibration"].tolist() == pytest.approx(calibrate(true, negative), rel=1e-6)
    slope, offset = fitted.weights["calibration"].tolist()
    made.network.load_state_dict(fitted.weights)
    after, _ = made.held_logits()
    np.testing.assert_allclose(after, slope * true + offset, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != "softmax"])
def test_other_losses_are_left_as_they_are(towers_data, loss):
    assert fit(towers_data, quick_towers(loss=loss)).weights["calibration"].tolist() == [1, 0]


def test_the_rate_of_every_step_is_the_schedules(towers_data):
    recipe = quick_towers(epochs=2)
    made = task(towers_data, recipe)
    rates = []
    made.optimizer.register_step_pre_hook(lambda *_: rates.append(made.optimizer.param_groups[0]["lr"]))
    fitted = Loop(made).run()
    steps = -(-len(towers_data.sampler.pairs) // recipe.batch)
    assert rates == [made.rate(step) for step in range(2 * steps)]
    assert [epoch.rate for epoch in fitted.curve] == pytest.approx([0.003, 0.0015])


def test_a_batch_larger_than_all_pairs(towers_data):
    fitted = fit(towers_data, quick_towers(batch=10_000))
    assert len(fitted.curve) == 3
    assert fitted.curve[-1].loss < fitted.curve[0].loss


def test_several_networks_and_their_checkpoints(towers_data, tmp_path):
    recipe = quick_towers(members=2, seed=4, epochs=2)
    trained = train(towers_data, recipe, tmp_path)
    for place, member in enumerate(trained.members):
        assert same(member.weights, fit(towers_data, replace(recipe, members=1), member=place).weights)
    kept = checkpoints_of(tmp_path, recipe, towers_data)
    assert [checkpoint.path.name for checkpoint in kept] == ["0.safetensors", "1.safetensors"]
    assert all(checkpoint.read() for checkpoint in kept)
    others = [
        checkpoints_of(tmp_path, replace(recipe, schedule="plateau"), towers_data),
        checkpoints_of(tmp_path, recipe, replace(towers_data, shape=replace(towers_data.shape, layers=(1,)))),
        checkpoints_of(tmp_path, recipe, training_data_for(towers_data.encoder, recipe, dialogues(21))),
    ]
    keys = {checkpoint.key for found in (kept, *others) for checkpoint in found}
    assert len(keys) == 8


def test_nothing_to_learn_from_before_the_query(encoder):
    """Dialogues of two utterances: no query has one before it, and nothing of it changes."""
    recipe = quick_towers(epochs=1)
    made = task(training_data_for(encoder, recipe, [text[:2] for text in dialogues(20)]), recipe)
    assert (made.sampler.pairs.previous == -1).all()
    before = made.network.previous.weight.detach().clone()
    Loop(made).run()
    assert torch.equal(made.network.previous.weight, before)
    assert turns(dialogues(2))[1].context == ("ask0", "say0 now")
