"""Steps on a GPU that are launched as a whole: thousands of small kernels cost more to launch than to run."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

Step = Callable[..., Any]
Recorder = Callable[[Step, tuple[Tensor, ...]], Callable[[], Any]]
"""Of a step and of its inputs, what repeats it with whatever these inputs hold by then."""


class Steps:
    """Without a recorder, each step runs as any other function. With one, steps with the same key are taken for the
    same with other inputs: the first runs, the second is recorded, and from then on the record is replayed. A step may
    change tensors from outside, and leaves nothing else behind."""

    def __init__(self, record: Recorder | None) -> None:
        self._record = record
        self._seen: set[Hashable] = set()
        self._recorded: dict[Hashable, tuple[Callable[[], Any], tuple[Tensor, ...]]] = {}

    def run(self, key: Hashable, step: Step, given: tuple[Tensor, ...]) -> None:
        if self._record is None or key not in self._seen:
            self._seen.add(key)
            step(*given)
            return
        if key not in self._recorded:
            inputs = tuple(tensor.clone() for tensor in given)
            self._recorded[key] = self._record(step, inputs), inputs
        replay, inputs = self._recorded[key]
        for mine, tensor in zip(inputs, given, strict=True):
            mine.copy_(tensor)
        replay()


def graph_recorder(device: torch.device) -> Recorder | None:
    """On a GPU alone."""
    if device.type != "cuda":
        return None
    pool = torch.cuda.graph_pool_handle()

    def record(step: Step, inputs: tuple[Tensor, ...]) -> Callable[[], Any]:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool, stream=torch.cuda.current_stream()):
            step(*inputs)
        return graph.replay

    return record


@contextmanager
def beside(device: torch.device) -> Iterator[None]:
    """A stream of its own on a GPU, since the usual one cannot be recorded; products there with the 19 bits that
    cuDNN's recurrent networks count with."""
    if device.type != "cuda":
        yield
        return
    before, precision = torch.cuda.current_stream(device), torch.get_float32_matmul_precision()
    stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    stream.wait_stream(before)
    torch.set_float32_matmul_precision("high")
    try:
        with torch.cuda.stream(stream):
            yield
    finally:
        torch.set_float32_matmul_precision(precision)
        before.wait_stream(stream)
