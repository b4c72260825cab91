"""Work in this process, one item after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dialogauge.engines.fold import Engine, ItemT, OrderedSum, PartT, Work
from dialogauge.engines.schedule import FoldSchedule


class Here(Engine):
    """In this process, one after another."""

    def fold(
        self,
        work: Work[ItemT, PartT],
        items: Sequence[ItemT],
        *,
        threads: bool = False,  # noqa: ARG002
        aside: Callable[[int, Any], None] | None = None,
        done: Callable[[ItemT], None] | None = None,
    ) -> PartT | None:
        if not items:
            return None
        schedule = FoldSchedule(work, items, aside, done, self.made_up)
        total: OrderedSum[PartT] = OrderedSum(len(items))
        measure = work.open()
        while not schedule.over() and (leaf := schedule.take()) is not None:
            try:
                part, beside = measure(leaf.item)
            except MemoryError:
                schedule.out_of_memory(leaf)
                continue
            whole = part if leaf.part is None else leaf.part + part
            if schedule.finished(leaf, whole, beside):
                total.add(leaf.index, whole)
        return total.total
