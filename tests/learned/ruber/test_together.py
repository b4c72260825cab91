"""Networks trained side by side learn what torch's own layers and optimizer teach them alone."""

from dataclasses import replace
from functools import cache, partial

import pytest

from dialogauge.learned.ruber import together, train_networks
from dialogauge.learned.ruber.graphs import graph_recorder
from dialogauge.learned.ruber.stacked import can_be_stacked
from dialogauge.learned.ruber.together import Stack, Together, train_together
from dialogauge.learned.ruber.train_networks import make_task, train_all
from dialogauge.learned.training.checkpoint import Checkpoint
from dialogauge.learned.training.loop import Loop
from tests.learned.ruber.conversations import WORDS, quick, training_data_for
from tests.learned.small import torch

CLOSE = 1e-9


def replaying(_device):
    """What a GPU's recorder does, without one: the step again with whatever its inputs hold by then."""
    return lambda step, inputs: partial(step, *inputs)


@pytest.fixture(scope="module", autouse=True)
def double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture(scope="module")
def doubled(encoder, double):
    """What to learn from, for each kind of sentence: texts of 1 to 19 words."""
    said = [
        [
            " ".join(WORDS[(place + step) % len(WORDS)] for step in range(1 + (place * reach) % 19))
            for reach in (5, 7, 8)
        ]
        for place in range(14)
    ]

    def made(sentence):
        found = training_data_for(encoder, quick(sentence=sentence), said)
        return replace(found, inputs=found.inputs.to(found.device, torch.float64))

    return cache(made)


@pytest.fixture(scope="module")
def task(doubled):
    return lambda recipe: make_task(doubled(recipe.sentence), recipe, 0)


@pytest.fixture(scope="module")
def alone(task):
    return cache(lambda recipe: Loop(task(recipe)).run())


def recipes(**options):
    """The last batch of an epoch is smaller than the other."""
    kinds = (("ranking", 1), ("cross_entropy", 1), ("ranking", 2))
    return [quick(**{"sentence": "rnn", "loss": loss, "seed": seed, "batch": 12, **options}) for loss, seed in kinds]


def agree(left, right):
    assert (len(left.curve), left.best) == (len(right.curve), right.best)
    for one, other in zip(left.curve, right.curve, strict=True):
        assert (one.epoch, one.negatives) == (other.epoch, other.negatives)
        for name in ("loss", "validation_loss", "ranking_accuracy", "rate"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), abs=CLOSE), name
    assert left.weights.keys() == right.weights.keys()
    for name, tensor in left.weights.items():
        assert tensor.dtype == torch.float64
        assert (tensor - right.weights[name]).abs().max() < CLOSE, name


STOPPING = {"rate": 0.003, "stop": 1, "patience": 1, "epochs": 5}
"""At higher rates sigmoids reach 0 and 1, and rounding says which of two responses scores above the other."""
POOLED = {**STOPPING, "sentence": "mean"}
LINEAR = {"schedule": "linear", "epochs": 2, "negatives": ("random", "hard")}


@pytest.mark.parametrize(
    ("options", "recorder"),
    [(STOPPING, graph_recorder), (STOPPING, replaying), (LINEAR, replaying), (POOLED, replaying)],
)
def test_side_by_side_is_as_alone(task, alone, options, recorder):
    every = recipes(**options)
    found = Together([task(recipe) for recipe in every], [None] * len(every), recorder).run()
    for recipe, fitted in zip(every, found, strict=True):
        agree(fitted, alone(recipe))
    if options is STOPPING:
        assert len({len(fitted.curve) for fitted in found}) > 1


@pytest.mark.slow
@pytest.mark.parametrize("sentence", ["rnn", "mean"])
@pytest.mark.parametrize("at_once", [1, 2])
def test_recipes_of_a_table_are_as_alone(doubled, alone, sentence, at_once, monkeypatch):
    monkeypatch.setitem(train_networks.AT_ONCE, "cpu", at_once)
    every = recipes(sentence=sentence, epochs=2)
    found = train_all(doubled(sentence), every, [None] * len(every))
    for recipe, trained in zip(every, found, strict=True):
        assert trained.recipe == recipe
        agree(trained.members[0], alone(recipe))


@pytest.mark.slow
def test_what_was_begun_alone_goes_on_side_by_side(task, alone, tmp_path):
    """From checkpoints of different stages, one of them of a network that is done."""
    every = recipes(epochs=2)
    checkpoints = [Checkpoint(tmp_path / f"{done}.safetensors", "key") for done in range(3)]
    for done, recipe in enumerate(every):
        if done:
            Loop(task(replace(recipe, epochs=done))).run(checkpoints[done])
    found = train_together([task(recipe) for recipe in every], checkpoints)
    for recipe, fitted in zip(every, found, strict=True):
        agree(fitted, alone(recipe))


@pytest.mark.slow
def test_what_was_broken_off_side_by_side_goes_on_alone(task, alone, tmp_path, monkeypatch):
    every = recipes(epochs=2)[:2]
    checkpoints = [Checkpoint(tmp_path / f"{place}.safetensors", "key") for place in range(2)]
    learn, epochs = Stack.learn, iter(range(2))
    monkeypatch.setattr(Stack, "learn", lambda *given: 1 / 0 if next(epochs) == 1 else learn(*given))
    monkeypatch.setattr(together, "PAUSE", -1)
    with pytest.raises(ZeroDivisionError):
        train_together([task(recipe) for recipe in every], checkpoints)
    for recipe, checkpoint in zip(every, checkpoints, strict=True):
        assert len(checkpoint.read()[1]["epochs"]) == 1
        agree(Loop(task(recipe)).run(checkpoint), alone(recipe))


CPU, GPU = torch.device("cpu"), torch.device("cuda")


@pytest.mark.parametrize("sentence", ["rnn", "mean"])
def test_networks_with_dropout_are_not_stacked(training_data, sentence):
    plain, dropped = quick(sentence=sentence), quick(sentence=sentence, dropout=0.5)
    found = training_data(sentence)
    assert can_be_stacked(make_task(found, plain, 0).network, GPU)
    shape = replace(found.shape, dropout=dropped.dropout)
    assert not can_be_stacked(make_task(replace(found, shape=shape), dropped, 0).network, GPU)


def test_on_a_cpu_recurrent_networks_alone_are_stacked(training_data):
    networks = [make_task(training_data(sentence), quick(sentence=sentence), 0).network for sentence in ("rnn", "mean")]
    assert [can_be_stacked(network, CPU) for network in networks] == [True, False]


def test_towers_are_not_stacked(towers_data):
    assert not can_be_stacked(make_task(towers_data, quick(), 0).network, GPU)
