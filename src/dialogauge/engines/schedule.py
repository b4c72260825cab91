"""Which item comes next, which is done again or cut, and whose error is told: the same for every engine."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from dialogauge.engines.fold import ItemT, Work
from dialogauge.errors import WorkFailed

TRIES = 4
"""How many workers may die at an item."""
KILLED_FOR_MEMORY = 2
"""After how many deaths by SIGKILL at an item, which is how systems end what takes too much memory, it is cut."""


@dataclass(slots=True)
class Leaf(Generic[ItemT]):
    """An item on its way. One that was cut has several pieces, which are done one after another."""

    index: int
    pieces: list[ItemT]
    position: int = 0
    part: Any = None
    """The sum of the pieces before the position; of a cluster's engine, a reference to it."""
    tries: int = 0
    killed: int = 0
    told: int = 0
    """Pieces whose asides the driver has: they are not told again when a lost part is done again."""

    @property
    def item(self) -> ItemT:
        """What is to be done now."""
        return self.pieces[self.position]


class FoldSchedule(Generic[ItemT]):
    """The items of one fold. An engine takes leaves, and says of each how it ended."""

    def __init__(
        self,
        work: Work[ItemT, Any],
        items: Sequence[ItemT],
        aside: Callable[[int, Any], None] | None,
        done: Callable[[ItemT], None] | None,
        made_up: Counter[str],
    ) -> None:
        self.work, self.items, self.aside, self.done, self.made_up = work, items, aside, done, made_up
        self.leaves: dict[int, Leaf[ItemT]] = {}
        self.under_way: set[int] = set()
        self.waiting: list[int] = []
        """A heap of those that were begun and are to be gone on with."""
        self.begun = 0
        self.bound = len(items)
        """What comes after it is not begun any more: the index of the first bad item."""
        self.error: BaseException | None = None

    def take(self) -> Leaf[ItemT] | None:
        """The first that is to be done; None where there is none at the moment."""
        if self.waiting and self.waiting[0] < self.bound:
            leaf = self.leaves[heapq.heappop(self.waiting)]
        elif self.begun < self.bound:
            leaf = self.leaves[self.begun] = Leaf(self.begun, [self.items[self.begun]])
            self.begun += 1
        else:
            return None
        self.under_way.add(leaf.index)
        return leaf

    @property
    def left(self) -> int:
        """How many could be under way now."""
        redone = sum(index < self.bound for index in self.waiting)
        return len(self.under_way) + redone + max(0, self.bound - self.begun)

    def over(self) -> bool:
        """Whether all are done. Once those before a bad one are, its error is raised."""
        rest = self.begun < self.bound or any(index < self.bound for index in (*self.waiting, *self.under_way))
        if not rest and self.error is not None:
            raise self.error
        return not rest

    def finished(self, leaf: Leaf[ItemT], part: Any, aside: Any) -> bool:
        """A piece is done; `part` is the sum of the leaf's parts so far. Says whether the leaf is whole."""
        leaf.part = part
        leaf.position += 1
        leaf.tries = leaf.killed = 0
        new = leaf.position > leaf.told
        leaf.told = max(leaf.told, leaf.position)
        if new and aside is not None and self.aside is not None:
            self.aside(leaf.index, aside)
        if leaf.position < len(leaf.pieces):
            self._wait(leaf)
            return False
        self.under_way.discard(leaf.index)
        leaf.part = None
        if new and self.done is not None:
            self.done(self.items[leaf.index])
        return True

    def failed(self, leaf: Leaf[ItemT], error: BaseException) -> None:
        """An error of the item's own: those after it are given up, those before it may have one, too."""
        self.under_way.discard(leaf.index)
        if leaf.index < self.bound:
            self.bound, self.error = leaf.index, error

    def died(self, leaf: Leaf[ItemT], how: str, killed: bool) -> None:
        """The worker that had it is no more. `how`: "was ended by SIGKILL"; `killed`: perhaps for want of memory."""
        self.made_up["died"] += 1
        leaf.tries += 1
        leaf.killed += killed
        if leaf.killed >= KILLED_FOR_MEMORY and self._cut(leaf):
            return
        if leaf.tries >= TRIES:
            place = self.work.describe(leaf.item)
            self.failed(leaf, WorkFailed(f"{place}: {TRIES} workers died at it; the last one {how}"))
            return
        self.made_up["again"] += 1
        self._wait(leaf)

    def out_of_memory(self, leaf: Leaf[ItemT]) -> None:
        if not self._cut(leaf):
            place = self.work.describe(leaf.item)
            message = "needs more memory than there is, and cannot be cut into smaller parts; fewer workers leave more"
            self.failed(leaf, WorkFailed(f"{place}: {message} to each"))

    def lost(self, leaf: Leaf[ItemT]) -> None:
        """A part of it that was done is nowhere to be found any more: all its pieces are done again."""
        self.made_up["again"] += 1
        leaf.position, leaf.part = 0, None
        self._wait(leaf)

    def _cut(self, leaf: Leaf[ItemT]) -> bool:
        pieces = self.work.split(leaf.item)
        if len(pieces) < 2:
            return False
        self.made_up["cut"] += 1
        if leaf.position < leaf.told:
            leaf.told += len(pieces) - 1
        leaf.pieces[leaf.position : leaf.position + 1] = pieces
        leaf.tries = leaf.killed = 0
        self._wait(leaf)
        return True

    def _wait(self, leaf: Leaf[ItemT]) -> None:
        self.under_way.discard(leaf.index)
        heapq.heappush(self.waiting, leaf.index)
