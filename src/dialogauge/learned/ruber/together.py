"""Networks trained side by side, as one with a leading axis: each learns what it would learn alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from dialogauge.learned.ruber.batches import Batch, Packings, sorted_batch
from dialogauge.learned.ruber.fit import SCORED, Epoch, RuberTask, pairwise
from dialogauge.learned.ruber.graphs import Recorder, Steps, beside, graph_recorder
from dialogauge.learned.ruber.inputs import TextInputs
from dialogauge.learned.ruber.recurrence import Packing
from dialogauge.learned.ruber.stacked import Stacked
from dialogauge.learned.training.checkpoint import Checkpoint
from dialogauge.learned.training.loop import Fitted, Loop, StagePlan
from dialogauge.learned.words import WordStates
from dialogauge.progress import progress_bar

ENCODED = 512
"""Texts that a network reads at a time where nothing is learned."""
PAUSE = 30.0
"""Seconds between checkpoints."""


def train_together(
    tasks: Sequence[RuberTask],
    checkpoints: Sequence[Checkpoint | None],
    name: str = "training",
    progress: bool = False,
) -> list[Fitted[Epoch]]:
    """Of networks on the same pairs and texts, whose recipes differ in loss and seed alone."""
    together = Together(tasks, checkpoints)
    with beside(together.device):
        return together.run(name, progress)


def lengths_of(inputs: TextInputs) -> Tensor:
    """Of all texts, on the CPU; 1 where their words are pooled."""
    return inputs.lengths.cpu() if isinstance(inputs, WordStates) else torch.ones(len(inputs), dtype=torch.int64)


@dataclass(frozen=True, eq=False)
class Member:
    task: RuberTask
    loop: Loop[Epoch]
    checkpoint: Checkpoint | None

    @property
    def stage(self) -> int:
        """The number of the next."""
        return len(self.loop.curve)


class Together:
    def __init__(
        self,
        tasks: Sequence[RuberTask],
        checkpoints: Sequence[Checkpoint | None],
        recorder: Callable[[torch.device], Recorder | None] = graph_recorder,
    ) -> None:
        kept = zip(tasks, checkpoints, strict=True)
        self.members = [Member(task, Loop(task, len(tasks)), checkpoint) for task, checkpoint in kept]
        self.device, self._recorder = tasks[0].device, recorder
        self._lengths = lengths_of(tasks[0].inputs)
        self._packings = Packings(self.device, few=recorder(self.device) is not None)
        self._held = HeldTexts(tasks[0], self._lengths)
        for member in self.members:
            member.loop.begin(member.checkpoint)

    def run(self, name: str = "training", progress: bool = False) -> list[Fitted[Epoch]]:
        pairs, loops = self.members[0].task.pairs, [member.loop for member in self.members]
        options = {"unit": "pair", "unit_scale": True, "initial": pairs * sum(len(loop.curve) for loop in loops)}
        written = time.monotonic()
        stack: Stack | None = None
        with progress_bar(None, name, shown=progress, total=None, **options) as bar:
            while active := [member for member in self.members if not member.loop.over]:
                bar.total = pairs * sum(max(loop.end, len(loop.curve)) for loop in loops)
                if stack is None or stack.worth_leaving(len(active)):
                    stack = self.stack(active)
                self._epoch(stack)
                bar.update(pairs * len(active))
                late = time.monotonic() - written > PAUSE
                for member in active:
                    if late or member.loop.over:
                        member.loop.keep(member.checkpoint)
                written = time.monotonic() if late else written
        return [loop.fitted() for loop in loops]

    def stack(self, members: Sequence[Member]) -> Stack:
        return Stack(members, self._packings, self._recorder(self.device))

    def _epoch(self, stack: Stack) -> None:
        """Members that are done go along, and learn nothing."""
        learning = [not member.loop.over for member in stack.members]
        plans = [member.task.plan(member.stage) for member in stack.members]
        batches = self.batches(plans)
        rates = [
            member.task.rates(member.stage) if learns else [0.0] * len(batches)
            for member, learns in zip(stack.members, learning, strict=True)
        ]
        losses = stack.learn(batches, torch.tensor(rates, dtype=torch.float64).T.to(self.device)).tolist()
        looks = zip(stack.members, learning, plans, losses, *self._held.logits(stack), strict=True)
        for member, learns, plan, loss, true, negative in looks:
            if learns:
                judged = member.task.judge(true, negative)
                member.loop.add(member.task.epoch(member.stage, loss / member.task.pairs, plan, judged))

    def batches(self, plans: Sequence[StagePlan]) -> list[Batch]:
        """Of an epoch, for all members at once."""
        rows = torch.stack([torch.cat([step[0] for step in plan.steps]) for plan in plans]).cpu()
        texts = torch.cat([rows[:, :, :1], rows[:, :, 2:]], dim=2)  # without what was said before the query
        return [sorted_batch(batch, self._lengths) for batch in torch.split(texts, len(plans[0].steps[0][0]), dim=1)]


class Stack:
    """The networks of some members, as one."""

    def __init__(self, members: Sequence[Member], packings: Packings, recorder: Recorder | None) -> None:
        self.members, self._packings = list(members), packings
        tasks = [member.task for member in members]
        self.device, self.inputs, self._recipes = tasks[0].device, tasks[0].inputs, [task.recipe for task in tasks]
        self.networks = Stacked([task.network for task in tasks], [task.optimizer for task in tasks])
        self._losses = self.networks.values.new_zeros(len(members))
        self._steps = Steps(recorder)

    def worth_leaving(self, active: int) -> bool:
        """When some of the members have learned all they could. Steps that are recorded are worth keeping a while."""
        return active <= len(self.members) // 2 if self._packings.few else active < len(self.members)

    def learn(self, batches: Sequence[Batch], rates: Tensor) -> Tensor:
        """The sum of losses over the pairs, of each member. `rates` of shape (steps, members)."""
        self._losses.zero_()
        self._packings.fit(batches)
        for batch, rate in zip(batches, rates, strict=True):
            key, packing = self._packings.choose(batch)
            given = (batch.rows.to(self.device), batch.places.to(self.device), rate)
            self._steps.run(key, partial(self._step, packing=packing), given)
        self.networks.note_steps()
        return self._losses

    def _step(self, rows: Tensor, places: Tensor, rates: Tensor, packing: Packing) -> None:
        texts = self._texts(rows, places, packing)
        logits = self.networks.logits(texts[:, :, 0], texts[:, :, 1:])
        both = zip(self._recipes, logits, strict=True)
        losses = torch.stack([pairwise(recipe, each[:, 0], each[:, 1:]) for recipe, each in both])
        gradients = torch.autograd.grad(losses.sum(), list(self.networks.weights.values()))
        self.networks.learn(gradients, rates)
        self._losses += losses.detach() * texts.shape[1]

    def _texts(self, rows: Tensor, places: Tensor, packing: Packing) -> Tensor:
        """Of each pair, the vectors of its texts: (members, pairs, texts, width)."""
        chunks, pairs = rows.shape[1:]
        parts = ("query", *["response"] * (chunks - 1))
        vectors = self.networks.sentences(self.inputs, rows, parts, packing).flatten(1, 2)
        found = vectors.gather(1, places[..., None].expand(-1, -1, vectors.shape[-1]))
        return found.view(len(rows), pairs, chunks, -1)


class HeldTexts:
    """Pairs held back, of which every network reads every text once. `lengths` are those of all texts, on the CPU."""

    def __init__(self, task: RuberTask, lengths: Tensor) -> None:
        pairs = task.held.pairs
        self._device, self._inputs, self._lengths = task.device, task.inputs, lengths
        responses = np.column_stack([pairs.responses, task.held.negatives])
        queries, asked = np.unique(pairs.queries, return_inverse=True)
        distinct, answered = np.unique(responses, return_inverse=True)
        self._queries, self._responses = torch.from_numpy(queries), torch.from_numpy(distinct)
        self._asked = torch.from_numpy(asked).to(self._device)
        self._answered = torch.from_numpy(answered.reshape(responses.shape)).to(self._device)

    @torch.no_grad()
    def logits(self, stack: Stack) -> tuple[Tensor, Tensor]:
        """Of the true responses (members, pairs), and of the negatives (members, pairs, kinds)."""
        queries = self._vectors(stack, self._queries, "query")
        responses = self._vectors(stack, self._responses, "response")
        size = SCORED // self._answered.shape[1] + 1
        parts = zip(torch.split(self._asked, size), torch.split(self._answered, size), strict=True)
        logits = [stack.networks.logits(queries[:, asked], responses[:, answered]) for asked, answered in parts]
        found = torch.cat(logits, dim=1)
        return found[:, :, 0], found[:, :, 1:]

    def _vectors(self, stack: Stack, texts: Tensor, part: str) -> Tensor:
        """(members, texts, width)"""
        order = self._lengths[texts].argsort(descending=True)
        found = []
        for some in torch.split(texts[order], ENCODED):
            packing = Packing.from_lengths(self._lengths[some].to(self._device))
            rows = some.to(self._device).expand(len(stack.members), 1, -1)
            found.append(stack.networks.sentences(self._inputs, rows, [part], packing)[:, 0])
        return torch.cat(found, dim=1)[:, order.argsort().to(self._device)]
