"""The replies of the system that a judge holds the others against."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError, unknown


@dataclass(frozen=True)
class OtherReplies:
    """What one system replied, by context and id, and which contexts the others have. Those of a corpus's parts add."""

    system: str
    replies: dict[int, dict[str, str]]
    """By a hash of the whole context, then by id."""
    others: dict[str, set[int]]
    """By system, the contexts of all the others."""

    @classmethod
    def noted(cls, system: str, turns: Iterable[Turn]) -> OtherReplies:
        found = cls(system, {}, {})
        for turn in turns:
            if turn.system == system:
                found._add(context_key(turn), turn.id, turn.response)
            else:
                found.others.setdefault(turn.system, set()).add(context_key(turn))
        return found

    def _add(self, key: int, name: str, reply: str) -> None:
        """Of two replies under one name, which no loaded corpus has, the same one whatever their order."""
        own = self.replies.setdefault(key, {})
        own[name] = min(own.get(name, reply), reply)

    def __add__(self, more: OtherReplies) -> OtherReplies:
        whole = OtherReplies(self.system, {}, {})
        for part in (self, more):
            for key, own in part.replies.items():
                for name, reply in own.items():
                    whole._add(key, name, reply)
            for system, contexts in part.others.items():
                whole.others[system] = whole.others.get(system, set()) | contexts
        return whole

    def to(self, turn: Turn) -> str | None:
        """The reply to the same context: where there are several, the one of the same id."""
        own = self.replies.get(context_key(turn), {})
        return next(iter(own.values())) if len(own) == 1 else own.get(turn.id)

    def check(self, label: str) -> None:
        """Refuses a corpus in which nothing can be compared."""
        if not self.replies:
            raise unknown("system in option against of judge", self.system, self.others)
        if not self.others:
            raise InputError(f"{label}: there is no system beside {self.system} to compare with it")
        if not any(contexts & self.replies.keys() for contexts in self.others.values()):
            raise InputError(
                f"{label}: {self.system} has no reply to any context that the others answered: pairs are replies to "
                "the same context"
            )


def context_key(turn: Turn) -> int:
    """64 bits of a hash of the whole context."""
    text = "\0".join(turn.context)
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
