"""What metrics keep of a corpus to learn from: bounded, and the same whatever parts it comes in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from operator import itemgetter
from typing import Any, Generic, TypeVar

Record = TypeVar("Record")


def random_key(value: Any) -> bytes:
    """A hash, as good as drawn by chance, and the same in any order and process."""
    return blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=8).digest()


@dataclass(frozen=True)
class SmallestKeys(Generic[Record]):
    """The records with the smallest keys, as many as the limit says. Where keys are hashes, that is a random sample.
    Those of two parts add, in any order, to those of the whole."""

    limit: int
    keyed: tuple[tuple[bytes, Record], ...]
    """By key."""
    distinct: bool = False
    """Whether equal records count once."""

    @classmethod
    def choose(cls, limit: int, keyed: Iterable[tuple[bytes, Record]], distinct: bool = False) -> SmallestKeys[Record]:
        records = dict.fromkeys(keyed) if distinct else keyed
        return cls(limit, tuple(sorted(records, key=itemgetter(0))[:limit]), distinct)

    @property
    def records(self) -> list[Record]:
        return [record for _, record in self.keyed]

    def __add__(self, other: SmallestKeys[Record]) -> SmallestKeys[Record]:
        return self.choose(self.limit, (*self.keyed, *other.keyed), self.distinct)


@dataclass(frozen=True)
class BySystem(Generic[Record]):
    """A sample of each system."""

    samples: dict[str, SmallestKeys[Record]]

    def __add__(self, other: BySystem[Record]) -> BySystem[Record]:
        whole = dict(self.samples)
        for system, sample in other.samples.items():
            whole[system] = whole[system] + sample if system in whole else sample
        return BySystem(whole)
