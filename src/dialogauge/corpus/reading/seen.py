"""Which turns were there before: ids that stand twice in a system, without a table of all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b

LIMIT = 1 << 18
"""More than the turns of a corpus that is kept whole."""
_ALL = 1 << 64


def id_key(system: str, name: str) -> int:
    """64 bits of a hash: the same in every process."""
    digest = blake2b(f"{system}\0{name}".encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


@dataclass
class SeenIds:
    """Where the turn of each id and system stands. Up to the limit of all turns; of more, of those whose hashes are
    below a bound, which are a random part. So a file that is given twice is always found, and an id that stands twice
    among very many may not be. What was seen in two parts of a corpus adds."""

    limit: int = LIMIT
    bound: int = _ALL
    places: dict[int, int] = field(default_factory=dict)

    def note(self, system: str, name: str, place: int) -> int | None:
        """The place where the turn stood before; None where it is new, and noted."""
        key = id_key(system, name)
        if key >= self.bound:
            return None
        if key in self.places:
            return self.places[key]
        self.places[key] = place
        if len(self.places) > self.limit:
            self._lower()
        return None

    def _lower(self) -> None:
        while len(self.places) > self.limit:
            self.bound //= 2
            self.places = {key: place for key, place in self.places.items() if key < self.bound}

    def merged(self, other: SeenIds) -> tuple[SeenIds, tuple[int, int] | None]:
        """What both saw; and the first place of the other where a turn stands that this one saw too, with the place
        where it did."""
        bound = min(self.bound, other.bound)
        mine, theirs = ({key: place for key, place in seen.places.items() if key < bound} for seen in (self, other))
        twice = min(((theirs[key], mine[key]) for key in theirs.keys() & mine.keys()), default=None)
        whole = SeenIds(self.limit, bound, mine | theirs)
        whole._lower()
        return whole, twice
