"""A fold: work on many items, and the sum of its parts. What work is, what an engine promises, and the order in which
parts are added."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, Self, TypeVar

from dialogauge.tables import counted

ItemT = TypeVar("ItemT")
PartT = TypeVar("PartT")
PartT_co = TypeVar("PartT_co", covariant=True)
Block = tuple[int, int]
"""The items from one index up to another, which is not among them."""


class Work(Protocol[ItemT, PartT_co]):
    """What is done with every item. Can be pickled; sent to each process once a fold."""

    def open(self) -> Callable[[ItemT], tuple[PartT_co, Any]]:
        """In each process, once: a function that gives the part of one item, and what goes to the driver at once (None
        where nothing does). Parts are added by `a + b`, which changes neither: on Ray their arrays are read-only."""
        ...

    def describe(self, item: ItemT) -> str:
        """For errors: "replies.jsonl, bytes 0 to 67108864"."""
        ...

    def split(self, item: ItemT) -> list[ItemT]:
        """Smaller items in place of one that ran out of memory, in order; none where it cannot be cut."""
        ...


class Engine(ABC):
    """Somewhere to work. All of them give the same bits, whatever the number of workers and the order in which they
    finish, and raise the same error: that of the first bad item. Use it in a `with`, or `close` it."""

    def __init__(self) -> None:
        self.made_up: Counter[str] = Counter()

    @abstractmethod
    def fold(
        self,
        work: Work[ItemT, PartT],
        items: Sequence[ItemT],
        *,
        threads: bool = False,
        aside: Callable[[int, Any], None] | None = None,
        done: Callable[[ItemT], None] | None = None,
    ) -> PartT | None:
        """The sum of the parts of all items; None where there are no items.

        `threads`: the work is that of encoders and learned models, for few processes that each use many threads or a
        GPU; else many processes of one thread each work on it. `aside(index, value)` is called on the driver with what
        the work gives beside a part, unless that is None: once for an item, and for one that was split once for each
        piece, in order. `done(item)` is called after it. Items finish in any order."""

    def close(self) -> None:  # noqa: B027 - nothing to do where nothing was started
        """Ends what was started for it."""

    @property
    def notes(self) -> list[str]:
        """What went wrong and was made up for, in all folds so far."""
        died, again, cut = (self.made_up[name] for name in ("died", "again", "cut"))
        notes = []
        if died or again:
            redone = f"{counted(again, 'part')} {_was(again)} done again"
            notes.append(f"{counted(died, 'worker')} died, and {redone}" if died else redone)
        if cut:
            notes.append(f"{counted(cut, 'part')} needed more memory than there was, and {_was(cut)} cut smaller")
        return notes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def sibling(block: Block, count: int) -> Block:
    """The block that one is added to, of `count` items in all. Blocks of 1, 2, 4, ... items that begin at multiples of
    their size are added in pairs; those left over from the largest, which is the first, to the smallest."""
    start, stop = block
    size = stop - start
    if size & (size - 1) == 0 and (start & size or start + 2 * size <= count):
        return (start - size, start) if start & size else (stop, stop + size)
    if start:
        return 0, start
    return stop, stop + (1 << (count - stop).bit_length() - 1)


class OrderedSum(Generic[PartT]):
    """The sum of parts that come in any order, added in the order that `sibling` sets."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.parts: dict[Block, PartT] = {}

    def add(self, index: int, part: Any) -> None:
        block = (index, index + 1)
        while block != (0, self.count) and (other := sibling(block, self.count)) in self.parts:
            beside = self.parts.pop(other)
            part = beside + part if other < block else part + beside
            block = min(block, other)[0], max(block, other)[1]
        self.parts[block] = part

    @property
    def total(self) -> PartT:
        return self.parts[0, self.count]
