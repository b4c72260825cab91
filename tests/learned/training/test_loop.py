"""The training loop, on a task so small that a stage takes a millisecond."""

import math
import re
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from types import SimpleNamespace

import numpy as np
import pytest
from tqdm import tqdm

from dialogauge.errors import DialogaugeError, InputError
from dialogauge.learned.training.checkpoint import Checkpoint
from dialogauge.learned.training.loop import Loop, StagePlan, Task, rate_by_step
from tests.learned.small import torch

PAIRS, WIDTH = 12, 4
COSTS = [0.5, 0.4, 0.6, 0.4, 0.7, 0.1]


@dataclass(frozen=True)
class Point:
    epoch: float
    loss: float
    validation_loss: float
    accuracy: float = 0.5


class Line(Task):
    """Four numbers in, one out, with dropout; validation says what it is told, if it is told anything."""

    stage = Point
    device = torch.device("cpu")
    pairs = PAIRS

    def __init__(self, epochs=6, stop=9, parts=1, costs=None, decay=None, batch=3, accumulate=1, largest=None, seed=0):
        self.epochs, self.stop, self.parts, self.largest_gradient = epochs, stop, parts, largest
        self.costs, self.decay, self.batch, self.accumulate, self.seed = costs, decay, batch, accumulate, seed
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.x, self.y = torch.randn(PAIRS, WIDTH), torch.randn(PAIRS)
            self.network = torch.nn.Sequential(torch.nn.Dropout(0.3), torch.nn.Linear(WIDTH, 1))
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=0.1)
        self.rates = []
        self.optimizer.register_step_pre_hook(lambda *_: self.rates.append(self.optimizer.param_groups[0]["lr"]))

    def steps(self, epoch):
        batches = np.array_split(np.random.default_rng([self.seed, epoch]).permutation(PAIRS), PAIRS // self.batch)
        return [batches[at : at + self.accumulate] for at in range(0, len(batches), self.accumulate)]

    def plan(self, number):
        epoch, part = divmod(number, self.parts)
        steps = self.steps(epoch)
        size = len(steps) // self.parts
        return StagePlan(steps[part * size : (part + 1) * size], 1000 * self.seed + number, 0.0)

    def loss(self, batch, pairs):
        rows = torch.from_numpy(batch)
        return ((self.network(self.x[rows])[:, 0] - self.y[rows]) ** 2).sum() / pairs

    def scheduler(self, curve):
        if self.decay is None:
            done = len(curve) * PAIRS // self.batch // self.accumulate // self.parts
            return rate_by_step(self.optimizer, lambda step: 0.1 / (1 + step), done)
        found = torch.optim.lr_scheduler.ReduceLROnPlateau(self.optimizer, factor=self.decay, patience=0)
        for point in curve:
            found.step(point.validation_loss)
        return found

    def look(self, number, loss, _):
        self.network.eval()
        cost = self.costs[number] if self.costs else float((self.network(self.x)[:, 0] - self.y).detach().pow(2).mean())
        return Point((number + 1) / self.parts, loss, cost)

    def cost(self, stage):
        return stage.validation_loss


class Kept:
    """In a checkpoint's place: the network after each stage."""

    def __init__(self):
        self.networks = []

    def read(self):
        return None

    def write(self, tensors, _):
        named = {name.removeprefix("network."): t for name, t in tensors.items() if name.startswith("network.")}
        self.networks.append({name: tensor.clone() for name, tensor in named.items()})


class Killed(Checkpoint):
    """Dies after so many stages."""

    def write(self, tensors, record):
        super().write(tensors, record)
        if len(record["epochs"]) == self.key:
            raise KeyboardInterrupt


def run(checkpoint=None, **options):
    return Loop(Line(**options)).run(checkpoint)


def same(left, right):
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def test_same_seed_same_weights():
    first, again, other = (run(seed=seed) for seed in (3, 3, 4))
    assert same(first.weights, again.weights)
    assert first.curve == again.curve
    assert not same(first.weights, other.weights)
    assert first.curve[-1].validation_loss < first.curve[0].validation_loss


def test_what_happens_beside_training_changes_nothing(monkeypatch):
    plain = run()
    torch.manual_seed(123)
    state = torch.random.get_rng_state()
    with monkeypatch.context() as patch:
        look = Line.look
        patch.setattr(Line, "look", lambda *given: (torch.rand(7), look(*given))[1])
        assert same(run().weights, plain.weights)
    # And training leaves everyone else's randomness as it was.
    torch.manual_seed(123)
    run()
    assert torch.equal(torch.random.get_rng_state(), state)


@pytest.mark.parametrize("done", [1, 2, 5])
@pytest.mark.parametrize("options", [{}, {"parts": 2, "epochs": 3}, {"decay": 0.5}, {"costs": COSTS}])
def test_taken_up_again_as_if_nothing_had_been(tmp_path, done, options):
    whole, broken = (Checkpoint(tmp_path / name, done) for name in ("whole", "broken"))
    expected = run(whole, **options)
    with pytest.raises(KeyboardInterrupt):
        run(Killed(broken.path, done), **options)
    task = Line(**options)
    fitted = Loop(task).run(broken)
    assert same(fitted.weights, expected.weights)
    assert (fitted.curve, fitted.best) == (expected.curve, expected.best)
    assert len(fitted.curve) == 6
    # Weights, the best weights, the state of Adam and the curve.
    (tensors, record), (expected_tensors, expected_record) = broken.read(), whole.read()
    assert same(tensors, expected_tensors)
    assert record.pop("seconds") > 0 < expected_record.pop("seconds")
    assert record == expected_record
    # And the network has the best weights.
    assert same(task.learned(), expected.weights)


@pytest.mark.parametrize("side_by_side", [1, 4])
def test_seconds_of_processes_that_were_broken_off_are_kept(tmp_path, monkeypatch, side_by_side):
    """Up to the last checkpoint, and of several trainings the share of each."""
    clock = chain([100.0, 108.0, 116.0, 5000.0, 5004.0], repeat(9000.0))
    monkeypatch.setattr("dialogauge.learned.training.loop.time", SimpleNamespace(monotonic=lambda: next(clock)))
    checkpoint = Checkpoint(tmp_path / "c", "key")
    for seconds in (16.0, 16.0 + 4.0):
        loop = Loop(Line(), side_by_side)
        loop.begin(checkpoint)
        for _ in range(2 if seconds == 16 else 1):
            loop._stage(lambda _: None)
            loop.keep(checkpoint)
        assert checkpoint.read()[1]["seconds"] * side_by_side == seconds
    assert Loop(Line()).run(checkpoint).earlier * side_by_side == 20.0


def test_training_that_has_ended_is_not_taken_further(tmp_path, monkeypatch):
    checkpoint = Checkpoint(tmp_path / "c", "key")
    expected = run(checkpoint)
    monkeypatch.setattr(Loop, "_learn", None)
    again = run(checkpoint)
    assert same(again.weights, expected.weights)
    assert again.curve == expected.curve


@pytest.mark.parametrize(("prefix", "stages"), [("", "epochs"), ("network.", "stages")])
def test_checkpoints_of_earlier_versions(tmp_path, prefix, stages):
    """Those of RUBER had no prefix for the network, those of entailment called epochs stages."""
    expected = run()
    with pytest.raises(KeyboardInterrupt):
        run(Killed(tmp_path / "c", 2))
    checkpoint = Checkpoint(tmp_path / "c", 2)
    tensors, record = checkpoint.read()
    renamed = {name.replace("network.", prefix): tensor for name, tensor in tensors.items()}
    checkpoint.write(renamed, {stages: record["epochs"]})
    assert same(run(checkpoint).weights, expected.weights)


@pytest.mark.parametrize("costs", [[0.5, 0.4, 0.6], [0.9, 0.8, 0.3], [0.1, 0.2, 0.3], [0.4, 0.2, 0.2]])
def test_the_weights_are_those_of_the_best_stage(costs):
    kept, task = Kept(), Line(costs=costs, epochs=len(costs))
    fitted = Loop(task).run(kept)
    assert fitted.best == costs.index(min(costs))
    assert [place for place, seen in enumerate(kept.networks) if same(seen, fitted.weights)] == [fitted.best]
    assert same(task.learned(), fitted.weights)


def test_training_stops_after_epochs_without_gain():
    # Lowest in the second; one as low is not lower.
    assert len(run(costs=COSTS, stop=2).curve) == 4
    assert len(run(costs=COSTS, stop=3).curve) == 5
    assert len(run(costs=COSTS, stop=4).curve) == 6
    # Two stages an epoch: one epoch without gain is two stages.
    assert len(run(costs=COSTS, stop=1, parts=2, epochs=3).curve) == 4
    assert len(run(costs=COSTS, stop=50, epochs=2).curve) == 2


def test_the_rate_of_every_step_is_the_schedules():
    task = Line(epochs=2)
    Loop(task).run()
    assert task.rates == [0.1 / (1 + step) for step in range(8)]


def test_on_a_plateau_the_rate_is_lowered_between_stages():
    task = Line(costs=COSTS, decay=0.5)
    Loop(task).run()
    # Not lower in stages 3, 4 and 5: halved after each.
    assert task.rates == [rate for rate in (0.1, 0.1, 0.1, 0.05, 0.025, 0.0125) for _ in range(4)]


def test_gradients_of_batches_add_up_by_their_pairs():
    """One batch of six, or batches of four and two, or of one and five: the same gradient."""
    gradients = []
    for cuts in ([6], [4, 2], [1, 5]):
        task = Line()
        task.network = task.network[1]
        task.optimizer = torch.optim.SGD(task.network.parameters(), lr=0.1)
        loop = Loop(task)
        loop.scheduler = task.scheduler([])
        loss = loop._learn([np.split(np.arange(6), np.cumsum(cuts)[:-1])], lambda _: None)
        gradients.append(torch.cat([torch.tensor([loss]), *(p.grad.flatten() for p in task.network.parameters())]))
    torch.testing.assert_close(gradients[1], gradients[0], atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(gradients[2], gradients[0], atol=1e-6, rtol=1e-5)
    assert gradients[0].norm() > 0.1


@pytest.mark.parametrize("largest", [None, 0.01])
def test_gradients_are_never_longer_than_allowed(largest):
    task = Line(largest=largest)
    lengths = []
    task.optimizer.register_step_pre_hook(
        lambda *_: lengths.append(float(torch.cat([p.grad.flatten() for p in task.network.parameters()]).norm()))
    )
    Loop(task).run()
    assert (max(lengths) == pytest.approx(0.01, rel=1e-3)) if largest else max(lengths) > 0.1


def test_a_loss_that_is_no_number_is_a_clear_error():
    for task, epoch in ((Line(costs=[0.1, math.nan]), "2"), (Line(costs=[math.inf], parts=2), "0.5")):
        message = f"the loss is no number after epoch {epoch}: try a lower learning rate"
        with pytest.raises(DialogaugeError, match=message) as raised:
            Loop(task).run()
        assert not isinstance(raised.value, InputError)


def test_progress_moves_with_every_step(tmp_path, monkeypatch, capsys):
    """Towards where training would end if nothing more were learned; taken up again, from where it had been."""
    monkeypatch.setattr("dialogauge.progress.tqdm", partial(tqdm, mininterval=0, miniters=1))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)

    def shown():
        counts = re.findall(r"training: [^\r]*\| *([\d.]+)/([\d.]+) ", capsys.readouterr().err)
        return list(dict.fromkeys((float(count), float(total)) for count, total in counts))

    options = {"costs": COSTS, "stop": 2, "epochs": 4}
    with pytest.raises(KeyboardInterrupt):
        Loop(Line(**options)).run(Killed(tmp_path / "c", 2), progress=True)
    first = [(float(count), 24.0) for count in range(0, 13, 3)]
    assert shown() == [*first, *((float(count), 36.0) for count in range(12, 25, 3))]
    Loop(Line(**options)).run(Checkpoint(tmp_path / "c", 2), progress=True)
    assert shown() == [(float(count), 48.0) for count in range(24, 49, 3)]
