"""How many epochs a second RUBER's recurrent networks learn, one alone and several side by side, in turns.

    python benchmarks/ruber_training.py CONVERSATIONS VECTORS [ENCODER] [--pairs N] [--networks N] [--turns N]

CONVERSATIONS is anything the readers know, VECTORS a file of word vectors (GloVe's); ENCODER is measured too. Epochs
are of 21,341 pairs, as in the BERT-RUBER paper's tables: those of N pairs count for less. Neither validation nor the
first epochs count, in which a GPU's steps are recorded. In each turn one network is trained alone, then several side
by side; the rate is the best of all turns, the ratio the median. On a CPU the time is that of the processor, in which
threads that wait for each other count: OMP_NUM_THREADS=1 keeps other work out of it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from statistics import median

import torch

import dialogauge
from dialogauge.encode.encoders import Encoders
from dialogauge.learned.ruber.fit import RuberTask
from dialogauge.learned.ruber.graphs import beside
from dialogauge.learned.ruber.recipe import PAPER, Loss, RuberRecipe
from dialogauge.learned.ruber.together import Together
from dialogauge.learned.ruber.train_networks import make_task
from dialogauge.learned.ruber.training_data import TrainingData, make_training_data, read_data
from dialogauge.learned.training.loop import Loop

EPOCH = 21_341
LOSSES: tuple[Loss, ...] = ("ranking", "cross_entropy")


def clock() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.process_time()


class Alone:
    """One network, epoch after epoch."""

    networks = 1

    def __init__(self, task: RuberTask) -> None:
        self.loop = Loop(task)
        self.loop.begin(None)

    def epoch(self) -> None:
        self.loop._learn(self.loop.task.plan(0).steps, lambda _: None)


class SideBySide:
    """Several."""

    def __init__(self, tasks: list[RuberTask]) -> None:
        self.together = Together(tasks, [None] * len(tasks))
        self.tasks, self.networks = tasks, len(tasks)
        self.stack = self.together.stack(self.together.members)

    def epoch(self) -> None:
        with beside(self.stack.device):
            batches = self.together.batches([task.plan(0) for task in self.tasks])
            rates = torch.full((len(batches), len(self.tasks)), 1e-4, dtype=torch.float64, device=self.stack.device)
            self.stack.learn(batches, rates).tolist()


def recipes(base: RuberRecipe, networks: int) -> list[RuberRecipe]:
    """Half of them by each loss, or of one loss where there are five or fewer."""
    return [replace(base, loss=LOSSES[seed // 5 % 2], seed=seed % 5) for seed in range(networks)]


def timed(run: Callable[[], None]) -> float:
    started = clock()
    run()
    return clock() - started


def measure(data: TrainingData, recipe: RuberRecipe, name: str, networks: int, turns: int) -> None:
    alone = Alone(make_task(data, recipe, 0))
    several = SideBySide([make_task(data, each, 0) for each in recipes(recipe, networks)])
    share = len(data.data.train) / EPOCH
    for _ in range(3 if torch.cuda.is_available() else 0):
        alone.epoch()
        several.epoch()
    seconds = [(timed(alone.epoch), timed(several.epoch)) for _ in range(turns)]
    before, after = (share / min(column) for column in zip(*seconds, strict=True))
    ratio = median(networks * one / many for one, many in seconds)
    print(
        f"{name}: {before:.3g} epochs a second alone, {networks * after:.3g} with {networks} networks side by side, "
        f"{ratio:.2f} times as many",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("conversations")
    parser.add_argument("vectors")
    parser.add_argument("encoder", nargs="?")
    parser.add_argument("--pairs", type=int, default=1280)
    parser.add_argument("--networks", type=int, default=5)
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    turns = list(islice(dialogauge.load(given.conversations), given.pairs * 100 // 95))
    print(
        f"{torch.get_num_threads()} threads, {torch.cuda.get_device_name() if torch.cuda.is_available() else 'no GPU'}"
    )
    for name in [f"static:{given.vectors}", *([given.encoder] if given.encoder else [])]:
        recipe = replace(PAPER, sentence="rnn")
        data = make_training_data(read_data(turns, None, recipe), Encoders().get(name), recipe)
        measure(data, recipe, name.rpartition("/")[2], given.networks, given.turns)


if __name__ == "__main__":
    main()
