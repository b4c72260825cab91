"""Training of entailment networks: what is learned, by which steps, and when it ends."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dialogauge.encode.static import open_static
from dialogauge.errors import DialogaugeError, InputError
from dialogauge.learn.checkpoint import Checkpoint
from dialogauge.learn.entailment.batches import WINDOW, shuffled_batches, sorted_batches
from dialogauge.learn.entailment.fit import Fitting
from tests.encode.models import open_model
from tests.learn.pairs import data_of, fitting_of, nothing, pairs, quick, quiet_bert, write_short_vectors
from tests.models.small import torch

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
        return fitting_of(given or data, encoders[kind], quick(kind, **options))

    return make


def same(left, right):
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


@pytest.mark.parametrize("kind", KINDS)
def test_what_can_be_learned_is_learned(start, kind):
    fitted = start(kind, **ENOUGH[kind]).run(None, nothing)
    assert fitted.stages[fitted.best].accuracy == 1
    assert fitted.stages[-1].loss < fitted.stages[0].loss / 3


@pytest.mark.parametrize("kind", KINDS)
def test_without_the_premise_nothing_is_learned_that_only_it_tells(folder, start, kind):
    given = data_of(folder, pairs(rule="premise"))
    if kind == "transformer":
        seeing = start(kind, given, **ENOUGH[kind]).run(None, nothing)
        assert seeing.stages[seeing.best].accuracy == 1
    hidden = start(kind, given, **{**ENOUGH[kind], "epochs": 4}, hypothesis_only=True).run(None, nothing)
    # Every hypothesis comes as often with each label.
    assert [stage.accuracy for stage in hidden.stages] == pytest.approx([1 / 3] * 4)
    assert hidden.stages[-1].validation_loss > math.log(3) - 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_reach_all_that_is_learned(start, kind):
    made = start(kind, epochs=2)
    before = {name: tensor.detach().clone() for name, tensor in made.network.named_parameters()}
    learned = {tensor.data_ptr() for tensor in made.network.learned().values()}
    made.run(None, nothing)
    for name, parameter in made.network.named_parameters():
        changed = (parameter - before[name]).abs().max() > 0
        assert changed == (parameter.data_ptr() in learned), name


@pytest.mark.parametrize("kind", KINDS)
def test_same_seed_same_weights(start, kind):
    first, again, other = (start(kind, dropout=0.2, epochs=1, seed=seed).run(None, nothing) for seed in (3, 3, 4))
    assert same(first.weights, again.weights)
    assert first.stages == again.stages
    assert not same(first.weights, other.weights)


def test_what_happens_beside_training_changes_nothing(start):
    plain = start(dropout=0.3).run(None, nothing)
    torch.manual_seed(123)
    state = torch.random.get_rng_state()
    assert same(start(dropout=0.3).run(None, lambda _: torch.rand(7)).weights, plain.weights)
    torch.manual_seed(123)
    start(dropout=0.3).run(None, nothing)
    assert torch.equal(torch.random.get_rng_state(), state)


@pytest.mark.parametrize(("kind", "done"), [("esim", 1), ("esim", 2), ("adapter", 1)])
def test_taken_up_again_as_if_nothing_had_been(start, tmp_path, kind, done):
    options = {"dropout": 0.2, "epochs": 3, "warm_up": 0.0}
    whole, broken = (Checkpoint(tmp_path / name, "key") for name in ("whole", "broken"))
    expected = start(kind, **options).run(whole, nothing)

    def stop(stage):
        if stage.epoch == done + 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        start(kind, **options).run(broken, stop)
    seen, brought = [], []
    fitted = start(kind, **options).run(broken, seen.append, brought.append)
    assert (len(brought), len(seen)) == (done, 3 - done)
    assert fitted.stages == brought + seen == expected.stages
    assert same(fitted.weights, expected.weights)
    assert broken.path.read_bytes() == whole.path.read_bytes()


def test_training_that_has_ended_is_not_taken_further(start, tmp_path, monkeypatch):
    checkpoint = Checkpoint(tmp_path / "c", "key")
    expected = start().run(checkpoint, nothing)
    monkeypatch.setattr(Fitting, "_learn", None)
    made = start()
    assert same(made.run(checkpoint, nothing).weights, expected.weights)
    assert same(made.network.learned(), expected.weights)


def test_gradients_of_batches_add_up(start, monkeypatch):
    """Two batches of four, or one of eight: the same step."""
    weights = []
    rows = start().train[:16]
    for sizes, options in (((8, 8), {"batch": 8}), ((4, 4, 4, 4), {"batch": 4, "accumulate": 2})):
        made = start(**options)
        ends = np.cumsum(sizes)
        batches = [rows[end - size : end] for end, size in zip(ends, sizes, strict=True)]
        monkeypatch.setattr("dialogauge.learn.entailment.fit.shuffled_batches", lambda *_, found=batches: found)
        steps = made._steps(0)
        assert [sum(map(len, step)) for step in steps] == [8, 8]
        loss = made._learn(steps, [0.01, 0.01])
        weights.append((loss, {name: tensor.clone() for name, tensor in made.network.learned().items()}))
    (one, whole), (two, parts) = weights
    assert one == pytest.approx(two, rel=1e-5)
    for name, tensor in whole.items():
        torch.testing.assert_close(parts[name], tensor, atol=1e-5, rtol=1e-4)
    assert (whole["classes.weight"] - start().network.classes.weight).abs().min() > 1e-3


def test_a_last_batch_that_is_smaller_counts_by_its_pairs(start):
    """Pairs of a step weigh the same, in whichever batch they are."""
    gradients = []
    for cuts in ([6], [4, 2], [1, 5]):
        made = start()
        rows = np.split(made.train[:6], np.cumsum(cuts)[:-1])
        made.adam.step = lambda: None
        made._learn([rows], [0.01])
        gradients.append(torch.cat([p.grad.flatten() for p in made.network.parameters()]))
    torch.testing.assert_close(gradients[1], gradients[0], atol=1e-6, rtol=1e-4)
    torch.testing.assert_close(gradients[2], gradients[0], atol=1e-6, rtol=1e-4)
    assert gradients[0].norm() > 1e-3


def test_gradients_are_never_longer_than_one(start):
    made = start()
    made.adam.step = lambda: None
    with torch.no_grad():
        made.network.classes.weight.mul_(100)
    made._learn([[made.train[:4]]], [0.01])
    assert torch.cat([p.grad.flatten() for p in made.network.parameters()]).norm() == pytest.approx(1, rel=1e-4)


def test_the_rate_rises_and_falls_by_hand(start):
    made = start(rate=0.1, warm_up=0.4, epochs=2)
    # Ten steps: four up, then from the full rate down to a sixth of it.
    rates = [made._rate(epoch, step, 5) for epoch in (0, 1) for step in range(5)]
    expected = [0.25, 0.5, 0.75, 1, 1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6]
    assert rates == pytest.approx([0.1 * share for share in expected])


def test_without_a_warm_up_the_rate_only_falls(start):
    made = start(rate=0.1, warm_up=0.0, epochs=1)
    assert [made._rate(0, step, 4) for step in range(4)] == pytest.approx([0.1, 0.075, 0.05, 0.025])


@pytest.mark.parametrize("steps", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("warm_up", [0.0, 0.06, 0.3, 0.95])
def test_the_rate_is_never_above_that_of_the_recipe(start, steps, warm_up):
    made = start(rate=0.1, warm_up=warm_up, epochs=2)
    rates = [made._rate(epoch, step, steps) for epoch in (0, 1) for step in range(steps)]
    assert min(rates) > 0
    assert max(rates) <= 0.1


def test_the_rate_is_the_one_that_is_learned_with(start, monkeypatch):
    made = start(epochs=1, rate=0.02, warm_up=0.0)
    used = []
    step = made.adam.step
    monkeypatch.setattr(made.adam, "step", lambda: (used.append([g["lr"] for g in made.adam.param_groups]), step()))
    fitted = made.run(None, nothing)
    count = math.ceil(len(made.train) / 8)
    assert used == [pytest.approx([0.02 * (count - at) / count] * 2) for at in range(count)]
    assert fitted.stages[-1].rate == pytest.approx(0.02 / count)


def driven(made, told, monkeypatch):
    """A training whose pairs held back say what they are told: accuracies, and how sure the network is; the weights
    after each stage are noted."""
    answers = iter(told)
    labels = made.labels[torch.from_numpy(made.held)].numpy()

    def logits(rows):
        accuracy, sure = next(answers)
        found = np.zeros((len(rows), 3))
        right = round(accuracy * len(rows))
        for row in range(len(rows)):
            found[row, labels[row] if row < right else (labels[row] + 1) % 3] = sure
        return found

    monkeypatch.setattr(made, "logits", logits)
    seen = []
    keep = lambda _: seen.append({name: t.detach().clone() for name, t in made.network.learned().items()})  # noqa: E731
    return made.run(None, keep), seen


def test_the_weights_are_those_of_the_stage_with_the_highest_accuracy(start, monkeypatch):
    told = [(3 / 9, 1), (6 / 9, 9), (5 / 9, 0.5), (6 / 9, 6), (6 / 9, 7), (4 / 9, 1)]
    made = start(epochs=6, stop=9)
    fitted, seen = driven(made, told, monkeypatch)
    # Of three that are as high, the one with the lowest loss; that of the third stage is lower.
    assert min(fitted.stages, key=lambda stage: stage.validation_loss) == fitted.stages[2]
    assert [round(9 * stage.accuracy) for stage in fitted.stages] == [3, 6, 5, 6, 6, 4]
    assert fitted.best == 3
    assert same(fitted.weights, seen[3])
    assert same(made.network.learned(), seen[3])
    assert not any(same(fitted.weights, other) for place, other in enumerate(seen) if place != 3)


def test_training_stops_after_epochs_without_gain(start, monkeypatch):
    told = [(1 / 9, 1), (8 / 9, 1), (7 / 9, 1), (6 / 9, 1), (1, 1)]
    fitted, seen = driven(start(epochs=5, stop=2), told, monkeypatch)
    assert (len(seen), fitted.best) == (4, 1)


def test_an_epoch_may_have_several_stages(start, monkeypatch):
    monkeypatch.setattr("dialogauge.learn.entailment.fit.STAGE", 12)
    made = start(epochs=2, batch=4, stop=1)
    assert (len(made.train), made.parts) == (45, 4)
    told = [(1 / 9, 1)] + [(0, 1)] * 7
    learned = []
    plain = made._learn
    monkeypatch.setattr(made, "_learn", lambda steps, rates: learned.append(steps) or plain(steps, rates))
    fitted, _ = driven(made, told, monkeypatch)
    # One epoch without gain: four stages.
    assert [stage.epoch for stage in fitted.stages] == [0.25, 0.5, 0.75, 1, 1.25]
    assert [len(steps) for steps in learned] == [3, 3, 3, 3, 3]
    epoch = np.concatenate([rows for steps in learned[:4] for step in steps for rows in step])
    assert sorted(epoch) == made.train.tolist()


def test_stages_of_an_epoch_end_where_one_stage_would(start, monkeypatch):
    whole = start(epochs=2, stop=9).run(None, nothing)
    monkeypatch.setattr("dialogauge.learn.entailment.fit.STAGE", 15)
    made = start(epochs=2, stop=9)
    parts = made.run(None, nothing)
    assert (made.parts, len(parts.stages)) == (3, 6)
    assert [parts.stages[place].validation_loss for place in (2, 5)] == [s.validation_loss for s in whole.stages]
    assert [parts.stages[place].rate for place in (2, 5)] == [stage.rate for stage in whole.stages]


def test_loss_and_accuracy_of_a_stage_by_hand(start):
    made = start(epochs=1)
    (stage,) = made.run(None, nothing).stages
    logits = torch.from_numpy(made.logits(made.held))
    labels = made.labels[torch.from_numpy(made.held)]
    loss = -torch.log_softmax(logits, dim=1)[torch.arange(len(labels)), labels].mean()
    assert stage.validation_loss == pytest.approx(float(loss), rel=1e-6)
    assert stage.accuracy == pytest.approx(float((logits.argmax(dim=1) == labels).double().mean()))


def test_pairs_held_back_that_are_looked_at(start, monkeypatch):
    monkeypatch.setattr("dialogauge.learn.entailment.fit.WATCHED", 4)
    made, again = start(), start()
    assert len(made.held) == 4
    assert made.held.tolist() == again.held.tolist()


def test_logits_come_in_the_order_asked_for(start):
    for kind in ("esim", "adapter"):
        made = start(kind)
        rows = np.array([5, 0, 17, 3, 9])
        found = made.logits(rows)
        for place, row in enumerate(rows):
            np.testing.assert_allclose(made.logits(np.array([row]))[0], found[place], atol=1e-5)
        assert np.ptp(found, axis=0).max() > 1e-4


def test_each_stage_drops_other_units(start, monkeypatch):
    made = start(dropout=0.3)
    seeds = []
    plain = torch.manual_seed
    monkeypatch.setattr(torch, "manual_seed", lambda seed: (seeds.append(seed), plain(seed)))
    made.run(None, nothing)
    assert len(seeds) == len(set(seeds)) == 3


def test_a_loss_that_is_no_number_is_a_clear_error(start):
    made = start()
    torch.nn.init.constant_(made.network.hidden.weight, math.nan)
    with pytest.raises(DialogaugeError, match="the loss is no number after epoch 1: try a lower rate") as raised:
        made.run(None, nothing)
    assert not isinstance(raised.value, InputError)


def test_matrices_decay_and_nothing_else_does(start):
    for kind in ("esim", "adapter"):
        made = start(kind, weight_decay=0.1)
        decaying, others = made.adam.param_groups
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
    orders = [[row for step in made._steps(epoch) for rows in step for row in rows] for epoch in (0, 1, 0)]
    assert orders[0] == orders[2] != orders[1]


def test_a_static_encoder_cannot_be_tuned(data, encoders):
    with pytest.raises(InputError, match="words@.* is no transformer: choose another, or the recipe esim"):
        fitting_of(data, encoders["esim"], quick("adapter"))


def test_rows_longer_than_the_encoder_takes(folder, encoders):
    rows = pairs(18)
    rows[0]["premise"] = ["hello today " * 80]
    made = fitting_of(data_of(folder, rows), encoders["adapter"], quick("adapter", epochs=1))
    assert made.inputs.lengths.max() == 48
    (batch,) = made.inputs.batch(torch.tensor([0]))
    ids = encoders["adapter"].tokenizer.encode([(rows[0]["premise"][0].strip(), "nice")], places=False)[0].ids
    assert batch.ids[0].tolist() == ids.tolist()
    assert batch.segments.shape == batch.ids.shape
    assert batch.segments[0].tolist()[-2:] == [1, 1]


def test_blocks_of_pairs_change_nothing(data, encoders, monkeypatch):
    whole = fitting_of(data, encoders["adapter"], quick("adapter")).inputs
    monkeypatch.setattr("dialogauge.learn.entailment.inputs.AT_ONCE", 5)
    parts = fitting_of(data, encoders["adapter"], quick("adapter")).inputs
    assert torch.equal(parts.ids.states, whole.ids.states)
    assert torch.equal(parts.segments.states, whole.segments.states)
    assert parts.lengths.tolist() == whole.lengths.tolist()


def test_recipes_are_told_apart_by_the_seed_alone(data, encoders):
    first, second = (fitting_of(data, encoders["adapter"], replace(quick("adapter"), seed=seed)) for seed in (0, 1))
    names = first.network.learned().keys()
    differ = {n for n in names if not torch.equal(first.network.learned()[n], second.network.learned()[n])}
    assert differ == {n for n in names if not n.endswith(".up")}
