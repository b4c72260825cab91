"""The beginning of a file, from which its format is recognised."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dialogauge.corpus.source import decode, opened
from dialogauge.corpus.strict_json import parse_object
from dialogauge.errors import InputError

_ENOUGH = 1 << 16


@dataclass(frozen=True)
class Head:
    """The beginning of a file: whole lines, as many as 64 KiB hold, but at least one if it is JSON."""

    path: Path
    start: bytes

    @classmethod
    def of(cls, path: Path) -> Head:
        with opened(path) as stream:
            start = stream.read(_ENOUGH)
            if b"\n" not in start and start.lstrip().startswith(b"{"):
                start += stream.readline()
            elif len(start) == _ENOUGH and b"\n" in start:
                start = start[: start.rindex(b"\n") + 1]
        return cls(path, start)

    @cached_property
    def lines(self) -> list[tuple[int, str]]:
        """The lines that are not blank, with their numbers from 1. Bytes that are not UTF-8 are replaced:
        the format can still be recognised, and its reader says where they stand."""
        text = self.start.decode("utf-8", errors="replace").removeprefix("\ufeff")
        numbered = enumerate(text.split("\n"), start=1)
        return [(number, line.removesuffix("\r")) for number, line in numbered if line.strip()]

    @property
    def first_line(self) -> str:
        return self.lines[0][1] if self.lines else ""

    @cached_property
    def record(self) -> dict[str, Any] | None:
        """The first line that is a JSON object; None in a file that does not begin like JSON lines."""
        if not self.first_line.lstrip().startswith("{"):
            return None
        for _, line in self.lines:
            try:
                return parse_object(line)
            except InputError:
                continue
        return None

    def refuse_unless_text(self) -> None:
        """Raises where a line is not UTF-8."""
        for number, raw in enumerate(self.start.split(b"\n"), start=1):
            decode(raw, self.path, number)
