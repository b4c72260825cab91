"""What a run has encoded, kept at hand as far as it fits."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Memory(Generic[T]):
    """A dictionary that lets go of what was used longest ago once it holds more than `limit` bytes."""

    def __init__(self, limit: int, size: Callable[[T], int]) -> None:
        self._limit = limit
        self._size = size
        self._items: OrderedDict[bytes, T] = OrderedDict()
        self.bytes = 0

    def get(self, key: bytes) -> T | None:
        item = self._items.get(key)
        if item is not None:
            self._items.move_to_end(key)
        return item

    def put(self, key: bytes, item: T) -> None:
        if (old := self._items.pop(key, None)) is not None:
            self.bytes -= self._size(old)
        self._items[key] = item
        self.bytes += self._size(item)
        while self.bytes > self._limit and len(self._items) > 1:
            _, gone = self._items.popitem(last=False)
            self.bytes -= self._size(gone)

    def __len__(self) -> int:
        return len(self._items)
