"""The numbered files of the cache, vectors-1.sqlite, vectors-2.sqlite and so on. The highest number counts.

A damaged file is not repaired or replaced: the next number is begun, and every process moves there at its next call.
Only once the next file exists is the old one deleted, and so its name is not used again. That matters because SQLite
finds and deletes a file's log by name: a process that still held the old file open would write to, or delete, the log
of a new file of the same name. What it holds open it keeps, deleted or not, until it moves.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

NAME = re.compile(r"vectors-([1-9][0-9]{0,8})\.sqlite(-wal|-shm|-journal)?")


class Generations:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, number: int) -> Path:
        return self.folder / f"vectors-{number}.sqlite"

    def current(self) -> tuple[int, bool]:
        """The number that counts, and whether its file is there; if not, it is to be made. Deletes those before it."""
        files = self._files()
        made = [number for number in files if self.path(number) in files[number]]
        if not made:
            return max(files, default=0) + 1, False
        for path in (path for number in files if number < max(made) for path in files[number]):
            with suppress(OSError):
                path.unlink()
        return max(made), True

    def bytes_on_disk(self) -> int:
        """Without the memory that processes share, which is gone when the last of them closes."""
        total = 0
        for path in (path for paths in self._files().values() for path in paths):
            if not path.name.endswith("-shm"):
                with suppress(FileNotFoundError):
                    total += path.stat().st_size
        return total

    def _files(self) -> dict[int, list[Path]]:
        """By number, each file before its log: a log without its file is never read."""
        files: dict[int, list[Path]] = {}
        with suppress(FileNotFoundError):
            for path in sorted(self.folder.iterdir()):
                if match := NAME.fullmatch(path.name):
                    files.setdefault(int(match[1]), []).append(path)
        return files
