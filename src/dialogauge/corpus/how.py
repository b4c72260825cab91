"""How a user says that files are to be read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal

from dialogauge.corpus.reading.columns import ColumnMap
from dialogauge.corpus.turn import NOTHING

Role = Literal["assistant", "user"]
ROLES: tuple[Role, ...] = ("assistant", "user")


@dataclass(frozen=True)
class HowToRead:
    """What a user says of files, as `load` takes it."""

    reader: str | None = None
    skip_invalid: bool = False
    mapping: ColumnMap = field(default_factory=lambda: NOTHING)
    role: Role | None = None
    """Whose messages in chat logs are turns; None is everybody's, of which those of users are no system's unless
    one asks for it."""

    def wants(self, system: str, users: Collection[str]) -> bool:
        """Whether a system's turns are asked for, when these are the users of chat logs."""
        return self.role is None or (system in users) == (self.role == "user")

    def left_as_users(self, users: set[str]) -> set[str]:
        """Of the users of chat logs those that are to be left out where nobody names them."""
        return users if self.role is None else set()
