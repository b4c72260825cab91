"""The beginning of a file, from which its format is recognised."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from dialogauge.corpus.columns import ColumnMap
from dialogauge.corpus.json_array import first_object
from dialogauge.corpus.source import decode, opened
from dialogauge.corpus.strict_json import parse_object
from dialogauge.corpus.turn import NOTHING
from dialogauge.errors import InputError

_ENOUGH = 1 << 16
_ENOUGH_FOR_ITEM = 1 << 20
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class FileHead:
    """The beginning of a file: whole lines, as many as 64 KiB hold, but at least one if it is JSON lines, and
    1 MiB of a JSON array. Of a directory there is only its path."""

    path: Path
    start: bytes
    mapping: ColumnMap = field(default_factory=dict)
    """What the user said of columns."""

    @classmethod
    def read(cls, path: Path, mapping: ColumnMap = NOTHING) -> FileHead:
        if path.is_dir():
            return cls(path, b"")
        with opened(path) as stream:
            start = stream.read(_ENOUGH)
            if b"\n" not in start and start.lstrip().startswith(b"{"):
                start += stream.readline()
            elif start.removeprefix(_BOM).lstrip().startswith(b"["):
                start += stream.read(_ENOUGH_FOR_ITEM - len(start))
            elif len(start) == _ENOUGH and b"\n" in start:
                start = start[: start.rindex(b"\n") + 1]
        return cls(path, start, mapping)

    @property
    def is_directory(self) -> bool:
        return self.path.is_dir()

    def holds(self, pattern: str) -> bool:
        """Whether the directory has something of this kind in it."""
        return self.is_directory and any(True for _ in self.path.glob(pattern))

    @cached_property
    def _text(self) -> str:
        """Bytes that are not UTF-8 are replaced: the format can still be recognised, and its reader says where
        they stand."""
        return self.start.decode("utf-8", errors="replace").removeprefix("\ufeff")

    @cached_property
    def lines(self) -> list[tuple[int, str]]:
        """The lines that are not blank, with their numbers from 1."""
        numbered = enumerate(self._text.split("\n"), start=1)
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

    @cached_property
    def item(self) -> dict[str, Any]:
        """The first object of a JSON array; empty in any other file."""
        return first_object(self._text) or {}

    def refuse_unless_text(self) -> None:
        """Raises where a line is not UTF-8."""
        for number, raw in enumerate(self.start.split(b"\n"), start=1):
            decode(raw, self.path, number)
