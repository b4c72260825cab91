"""torchmetrics: a metric that takes replies batch by batch, in as many processes as there are.

    metric = DialogueMetric("bleu")
    metric.update(["fine, thanks"], target=[["fine"]], context=[["how are you?"]])
    metric.compute()

What is kept is the metric's summary, which does not grow with every batch; those of all processes add.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

import torch
import torch.distributed as dist
from torchmetrics import Metric as TorchMetric

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError
from dialogauge.metrics.prepared import AnyPrepared
from dialogauge.metrics.registry import parse_requests

TextsByTurn = Sequence[str | Sequence[str]]


class DialogueMetric(TorchMetric):
    """One metric of dialogauge, or one of its parts ("distinct.1"); NaN while no turn has a value.

    Metrics that learn from the whole corpus, look at whole dialogues or extrapolate are refused: a batch is not enough
    for them, and `dialogauge.evaluate` has them.
    """

    full_state_update = False
    is_differentiable = False

    def __init__(self, metric: str, **how: Any) -> None:
        super().__init__(**how)
        request, *others = parse_requests(metric)
        asked = request.metric
        if others:
            raise InputError(f"expected one metric, found {len(others) + 1}: {metric}")
        if asked.learns or asked.level == "dialogue" or asked.extrapolates:
            raise InputError(f"{request.name} needs the whole corpus, not batches of it: use dialogauge.evaluate")
        self.request = request
        self._ready: AnyPrepared | None = None
        # By the metric's name: a MetricCollection compares states of one name as tensors, to compute them but once.
        self._state = f"summaries of {request.name}"
        self.add_state(self._state, default=[], dist_reduce_fx=None)

    @property
    def summaries(self) -> list[Any]:
        found: list[Any] = getattr(self, self._state)
        return found

    @summaries.setter
    def summaries(self, summaries: list[Any]) -> None:
        setattr(self, self._state, summaries)

    def update(
        self, preds: Sequence[str], target: TextsByTurn | None = None, context: TextsByTurn | None = None
    ) -> None:
        """Replies, with the references and the utterances before each, where the metric needs them."""
        for name, given in (("target", target), ("context", context)):
            if given is not None and len(given) != len(preds):
                raise InputError(f"{name}: expected one for each of {len(preds)} replies, found {len(given)}")
        turns = [
            Turn(str(place), reply, context[place] if context else (), target[place] if target else ())  # type: ignore[arg-type]
            for place, reply in enumerate(preds)
        ]
        self._ready = self._ready or self.request.metric.prepare(Corpus(turns))
        metric, usable = self._ready.metric, list(filter(self._ready.usable, turns))
        if len(usable) < len(turns):
            lacking = len(turns) - len(usable)
            raise InputError(f"{metric.label} needs {metric.needed()}, and {lacking} of {len(turns)} turns have none")
        rows = self._ready.measure(turns)
        found = metric.summarise(rows[metric.defined(rows).nonzero()[0]])
        self.summaries = [reduce(add, [*self.summaries, found])]

    @property
    def higher_is_better(self) -> bool | None:  # type: ignore[override]
        return self.request.metric.direction(self.request.part or "")

    def compute(self) -> torch.Tensor:
        if not self.summaries:
            return torch.tensor(torch.nan, dtype=torch.float64)
        values = self.request.metric.conclude(reduce(add, self.summaries))
        return torch.tensor(float(values[self.request.part or ""]), dtype=torch.float64)

    def _reduce_states(self, incoming_state: dict[str, Any]) -> None:
        """`forward` has the summary of a batch, and that of all before it."""
        self.summaries = [reduce(add, [*incoming_state[self._state], *self.summaries])]

    def _apply(self, fn: Callable[..., Any], exclude_state: Sequence[str] = ()) -> torch.nn.Module:
        """Summaries are no tensors: they stay where they are when the metric is moved to a device."""
        return super()._apply(fn, [*exclude_state, self._state])

    def _sync_dist(self, dist_sync_fn: Any = None, process_group: Any = None) -> None:  # noqa: ARG002
        """Summaries are no tensors: they are gathered as objects, as torchmetrics does for masks."""
        group = process_group or self.process_group
        gathered: list[Any] = [None] * dist.get_world_size(group)
        dist.all_gather_object(gathered, self.summaries, group=group)
        self.summaries = [summary for each in gathered for summary in each]
