"""Generic replies, which fit almost any context."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dialogauge.corpus.source import decode, raw_lines
from dialogauge.errors import InputError
from dialogauge.learn.pairs import bare
from dialogauge.learn.synthesis.slot import Slot

GENERIC = Path(__file__).with_name("generic.txt")
_MARK = re.compile(r"(?<=\w)([.,!?])")
_SPACED, _CLOSE = re.compile(r"\s[.,!?]"), re.compile(r"\w[.,!?](\s|$)")


def read_generic(path: str | Path | None = None) -> list[str]:
    """One reply per line; the list of ours where no file is given."""
    file = Path(path or GENERIC)
    replies = [text for line, raw in raw_lines(file) if (text := decode(raw, file, line).strip())]
    if len({bare(reply) for reply in replies}) < 2:
        raise InputError("expected at least two different replies, one per line", file)
    return list(dict.fromkeys(replies))


@dataclass(frozen=True)
class Style:
    """How people write: a generic reply in another spelling would give itself away."""

    lower: bool
    """Nothing has a capital letter."""
    spaced: bool
    """More marks have a space before them than not."""

    @classmethod
    def from_replies(cls, said: Iterable[str]) -> Style:
        text = " ".join(said)
        return cls(text.lower() == text, len(_SPACED.findall(text)) > len(_CLOSE.findall(text)))

    def dress(self, reply: str) -> str:
        reply = reply.lower() if self.lower else reply
        return _MARK.sub(r" \1", reply) if self.spaced else reply


def draw_generic(replies: Sequence[str], slot: Slot) -> str | None:
    """A reply that the slot can take."""
    start = slot.below(len(replies))
    return next((reply for reply in (*replies[start:], *replies[:start]) if bare(reply) not in slot.taken), None)
