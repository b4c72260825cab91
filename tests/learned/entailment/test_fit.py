"""Training of entailment networks: what is learned, by which steps, and when it ends."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dialogauge.encode.static import open_static
from dialogauge.errors import InputError
from dialogauge.learned.entailment.fit import EntailmentStage
from dialogauge.learned.training.loop import Loop
from dialogauge.learned.training.token_pairs import WINDOW, shuffled_batches, sorted_batches
from tests.encode.models import open_model
from tests.learned.entailment.pairs import data_of, pairs, quick, quiet_bert, task_of, write_short_vectors
from tests.learned.small import torch

KINDS = ["esim", "adapter", "transformer"]
ENOUGH = {
    "esim": {"epochs": 12, "batch": 4, "stop": 12},
    "adapter": {"epochs": 16, "stop": 16},
    "transformer": {"epochs": 12, "stop": 12},
}
"""Until everything is learned."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fit")


@pytest.fixture(scope="module")
def encoders(folder):
    """By the kind of network."""
    words = open_static(write_short_vectors(folder / "words.txt").removeprefix("static:"))
    bert = open_model(quiet_bert(folder))
    return {"esim": words, "adapter": bert, "transformer": bert}


@pytest.fixture(scope="module")
def data(folder):
    return data_of(folder)


@pytest.fixture(scope="module")
def start(data, encoders):
    """A training before its first step."""

    def make(kind="esim", given=None, **options):
        return task_of(given or data, encoders[kind], quick(kind, **options))

    return make


@pytest.mark.parametrize("kind", KINDS)
def test_what_can_be_learned_is_learned(start, kind):
    made = start(kind, **ENOUGH[kind])
    before = {name: tensor.detach().clone() for name, tensor in made.network.named_parameters()}
    learned = {tensor.data_ptr() for tensor in made.learned().values()}
    fitted = Loop(made).run()
    assert fitted.curve[fitted.best].accuracy == 1
    assert fitted.curve[-1].loss < fitted.curve[0].loss / 3
    for name, parameter in made.network.named_parameters():
        changed = (parameter - before[name]).abs().max() > 0
        assert changed == (parameter.data_ptr() in learned), name


@pytest.mark.parametrize("kind", KINDS)
def test_without_the_premise_nothing_is_learned_that_only_it_tells(folder, start, kind):
    given = data_of(folder, pairs(rule="premise"))
    if kind == "transformer":
        seeing = Loop(start(kind, given, **ENOUGH[kind])).run()
        assert seeing.curve[seeing.best].accuracy == 1
    hidden = Loop(start(kind, given, **{**ENOUGH[kind], "epochs": 4}, hypothesis_only=True)).run()
    # Every hypothesis comes as often with each label.
    assert [stage.accuracy for stage in hidden.curve] == pytest.approx([1 / 3] * 4)
    assert hidden.curve[-1].validation_loss > math.log(3) - 1e-6


def test_the_rate_rises_and_falls_by_hand(start):
    made = start(rate=0.1, warm_up=0.4, epochs=2)
    # Ten steps: four up, then from the full rate down to a sixth of it.
    rates = [made.rate(step, 5) for step in range(10)]
    expected = [0.25, 0.5, 0.75, 1, 1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6]
    assert rates == pytest.approx([0.1 * share for share in expected])


def test_without_a_warm_up_the_rate_only_falls(start):
    made = start(rate=0.1, warm_up=0.0, epochs=1)
    assert [made.rate(step, 4) for step in range(4)] == pytest.approx([0.1, 0.075, 0.05, 0.025])


@pytest.mark.parametrize("steps", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("warm_up", [0.0, 0.06, 0.3, 0.95])
def test_the_rate_is_never_above_that_of_the_recipe(start, steps, warm_up):
    made = start(rate=0.1, warm_up=warm_up, epochs=2)
    rates = [made.rate(step, steps) for step in range(2 * steps)]
    assert min(rates) > 0
    assert max(rates) <= 0.1


def test_the_rate_is_the_one_that_is_learned_with(start):
    made = start(epochs=1, rate=0.02, warm_up=0.0)
    used = []
    made.optimizer.register_step_pre_hook(lambda *_: used.append([g["lr"] for g in made.optimizer.param_groups]))
    fitted = Loop(made).run()
    count = math.ceil(len(made.train) / 8)
    assert used == [pytest.approx([0.02 * (count - at) / count] * 2) for at in range(count)]
    assert fitted.curve[-1].rate == pytest.approx(0.02 / count)


def test_the_best_stage_is_that_with_the_highest_accuracy_and_of_several_with_the_lowest_loss(start):
    told = [(3 / 9, 0.1), (6 / 9, 0.9), (5 / 9, 0.2), (6 / 9, 0.6), (6 / 9, 0.7)]
    loop = Loop(start())
    loop.curve = [EntailmentStage(1.0, 0.0, loss, accuracy, 0.0) for accuracy, loss in told]
    assert loop.best == 3


def test_an_epoch_may_have_several_stages(start, monkeypatch):
    monkeypatch.setattr("dialogauge.learned.training.token_pairs.STAGE", 12)
    made = start(epochs=2, batch=4, stop=1)
    assert (len(made.train), made.parts) == (45, 4)
    plans = [made.plan(number) for number in range(8)]
    assert [len(plan.steps) for plan in plans] == [3] * 8
    for epoch in (plans[:4], plans[4:]):
        assert sorted(np.concatenate([rows for plan in epoch for step in plan.steps for rows in step])) == list(
            made.train
        )
    assert len({plan.seed for plan in plans}) == 8  # each stage drops other units


def test_stages_of_an_epoch_end_where_one_stage_would(start, monkeypatch):
    whole = Loop(start(epochs=2, stop=9)).run().curve
    monkeypatch.setattr("dialogauge.learned.training.token_pairs.STAGE", 15)
    parts = Loop(start(epochs=2, stop=9)).run().curve
    assert [stage.epoch for stage in parts] == [0.3333, 0.6667, 1, 1.3333, 1.6667, 2]
    assert [parts[place].validation_loss for place in (2, 5)] == [stage.validation_loss for stage in whole]
    assert [parts[place].rate for place in (2, 5)] == [stage.rate for stage in whole]


def test_a_schedule_that_is_taken_up_again(start, monkeypatch):
    """After any number of stages, the rate is that of the next step."""
    monkeypatch.setattr("dialogauge.learned.training.token_pairs.STAGE", 15)
    made = start(epochs=2, stop=9)
    used = []
    made.optimizer.register_step_pre_hook(lambda *_: used.append(made.optimizer.param_groups[0]["lr"]))
    curve = Loop(made).run().curve
    assert [len(made.plan(number).steps) for number in range(6)] == [2] * 6
    for done in range(6):
        again = start(epochs=2, stop=9)
        again.scheduler(curve[:done])
        assert [group["lr"] for group in again.optimizer.param_groups] == [used[2 * done]] * 2


def test_loss_and_accuracy_of_a_stage_by_hand(start):
    made = start(epochs=1)
    (stage,) = Loop(made).run().curve
    logits = torch.from_numpy(made.outputs(made.held))
    labels = made.labels[torch.from_numpy(made.held)]
    loss = -torch.log_softmax(logits, dim=1)[torch.arange(len(labels)), labels].mean()
    assert stage.validation_loss == pytest.approx(float(loss), rel=1e-6)
    assert stage.accuracy == pytest.approx(float((logits.argmax(dim=1) == labels).double().mean()))


def test_pairs_held_back_that_are_looked_at(start, monkeypatch):
    monkeypatch.setattr("dialogauge.learned.training.token_pairs.WATCHED", 4)
    made, again = start(), start()
    assert len(made.held) == 4
    assert made.held.tolist() == again.held.tolist()


def test_logits_come_in_the_order_asked_for(start):
    for kind in ("esim", "adapter"):
        made = start(kind)
        rows = np.array([5, 0, 17, 3, 9])
        found = made.outputs(rows)
        for place, row in enumerate(rows):
            np.testing.assert_allclose(made.outputs(np.array([row]))[0], found[place], atol=1e-5)
        assert np.ptp(found, axis=0).max() > 1e-4


def test_matrices_decay_and_nothing_else_does(start):
    for kind in ("esim", "adapter"):
        made = start(kind, weight_decay=0.1)
        decaying, others = made.optimizer.param_groups
        assert (decaying["weight_decay"], others["weight_decay"]) == (0.1, 0)
        assert {parameter.ndim for parameter in decaying["params"]} == {2}
        assert {parameter.ndim for parameter in others["params"]} == {1}
        learned = {tensor.data_ptr() for tensor in made.network.learned().values()}
        assert {p.data_ptr() for p in decaying["params"] + others["params"]} == learned


def test_every_pair_once_an_epoch_in_batches_of_similar_length():
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 60, size=4000)
    rows = np.arange(500, 3500)
    batches = shuffled_batches(rows, lengths, 16, np.random.default_rng(1))
    assert sorted(np.concatenate(batches)) == rows.tolist()
    assert all(len(batch) == 16 for batch in batches if len(batch) != 3000 % (16 * WINDOW) % 16)
    assert np.mean([np.ptp(lengths[batch]) for batch in batches]) < 5
    firsts = np.array([lengths[batch].mean() for batch in batches])
    assert abs(np.corrcoef(np.arange(len(firsts)), firsts)[0, 1]) < 0.2
    other = shuffled_batches(rows, lengths, 16, np.random.default_rng(2))
    assert not all(np.array_equal(one, two) for one, two in zip(batches, other, strict=True))


def test_the_longest_come_first_where_nothing_is_learned():
    lengths = np.array([3, 9, 1, 9, 5])
    found = sorted_batches(np.array([0, 1, 2, 3]), lengths, 3)
    assert [batch.tolist() for batch in found] == [[1, 3, 0], [2]]


def test_each_epoch_has_an_order_of_its_own(start):
    made = start()
    orders = [[row for step in made.steps(epoch) for rows in step for row in rows] for epoch in (0, 1, 0)]
    assert orders[0] == orders[2] != orders[1]


def test_a_static_encoder_cannot_be_tuned(data, encoders):
    with pytest.raises(InputError, match="words@.* is no transformer: choose another, or the recipe esim"):
        task_of(data, encoders["esim"], quick("adapter"))


def test_rows_longer_than_the_encoder_takes(folder, encoders):
    rows = pairs(18)
    rows[0]["premise"] = ["hello today " * 80]
    made = task_of(data_of(folder, rows), encoders["adapter"], quick("adapter", epochs=1))
    assert made.inputs.lengths.max() == 48
    (batch,) = made.inputs.batch(torch.tensor([0]))
    ids = encoders["adapter"].tokenizer.encode([(rows[0]["premise"][0].strip(), "nice")], places=False)[0].ids
    assert batch.ids[0].tolist() == ids.tolist()
    assert batch.segments.shape == batch.ids.shape
    assert batch.segments[0].tolist()[-2:] == [1, 1]


def test_blocks_of_pairs_change_nothing(data, encoders, monkeypatch):
    whole = task_of(data, encoders["adapter"], quick("adapter")).inputs
    monkeypatch.setattr("dialogauge.learned.training.token_pairs.AT_ONCE", 5)
    parts = task_of(data, encoders["adapter"], quick("adapter")).inputs
    assert torch.equal(parts.ids.states, whole.ids.states)
    assert torch.equal(parts.segments.states, whole.segments.states)
    assert parts.lengths.tolist() == whole.lengths.tolist()


def test_recipes_are_told_apart_by_the_seed_alone(data, encoders):
    first, second = (task_of(data, encoders["adapter"], replace(quick("adapter"), seed=seed)) for seed in (0, 1))
    names = first.network.learned().keys()
    differ = {n for n in names if not torch.equal(first.network.learned()[n], second.network.learned()[n])}
    assert differ == {n for n in names if not n.endswith(".up")}
