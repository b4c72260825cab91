"""What lies in the cache folder: the numbered files of vectors, of which the highest number counts, and what else is
ours to delete."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dialogauge.encode.model_files import MPNET, MPNET_FILES
from dialogauge.encode.word_vectors.store import ABOUT, ROWS, VECTORS, WORDS
from dialogauge.files import LOCK, NEW, OLD

NAME = re.compile(r"vectors-([1-9][0-9]{0,8})\.sqlite(-wal|-shm|-journal)?")
ANSWERS = re.compile(r"answers\.sqlite(-wal|-shm|-journal)?")
"""What endpoints answered (`dialogauge.endpoint.answers`), which is no cache, and is never cleared."""
STEPS = {NEW, OLD}
"""Folders within something unfinished."""


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


@dataclass(frozen=True)
class CachePartKind:
    """What one subfolder is for. Something unfinished is named `.NAME.` and 16 characters."""

    subfolder: str
    what: str
    folders: str
    """The names of the folders in it, as a regular expression."""
    holding: frozenset[str]
    notes: str = "(?!)"
    """The names of plain files beside them."""

    def owns(self, path: Path) -> bool:
        if path.is_symlink():
            return False
        if path.is_file():
            return bool(_named(path, self.notes))
        return bool(_named(path, f"{self.folders}|{self.notes}")) and self._holds_nothing_else(path)

    def _holds_nothing_else(self, folder: Path) -> bool:
        for place, folders, files in os.walk(folder):
            if not (set(folders) <= STEPS and set(files) <= self.holding | {LOCK, NEW}):
                return False
            if any((Path(place) / name).is_symlink() for name in (*folders, *files)):
                return False
        return True


KINDS = (
    CachePartKind(
        "vectors",
        "converted word vectors",
        "[0-9a-f]{16}",
        frozenset({ABOUT, VECTORS, WORDS, ROWS}),
        r"[0-9a-f]{32}\.json",
    ),
    CachePartKind("models", "unpacked models", re.escape(MPNET), frozenset(MPNET_FILES)),
)


@dataclass(frozen=True)
class Part:
    kind: CachePartKind
    items: tuple[Path, ...]

    @property
    def entries(self) -> int:
        """How many are there to be used: neither notes nor what is unfinished."""
        return sum(item.is_dir() and not item.name.startswith(".") for item in self.items)

    @property
    def bytes_on_disk(self) -> int:
        return sum(_size(item) for item in self.items)

    def clear(self) -> None:
        for item in self.items:
            with suppress(FileNotFoundError):  # another process was first
                _remove(item)
        for folder in {item.parent for item in self.items}:
            with suppress(OSError):  # it holds something that is not ours
                folder.rmdir()


def parts(folder: Path) -> tuple[list[Part], list[Path]]:
    """The parts of the cache in that folder, and whatever else is in it."""
    known, unknown = [], [path for path in _listed(folder) if not _is_ours_or_looked_into(path)]
    for kind in KINDS:
        items = [] if (folder / kind.subfolder).is_symlink() else _listed(folder / kind.subfolder)
        known.append(Part(kind, tuple(item for item in items if kind.owns(item))))
        unknown += [item for item in items if not kind.owns(item)]
    return known, unknown


def _is_ours_or_looked_into(path: Path) -> bool:
    if NAME.fullmatch(path.name) or ANSWERS.fullmatch(path.name):
        return True
    return path.name in {kind.subfolder for kind in KINDS} and path.is_dir() and not path.is_symlink()


def _listed(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _named(path: Path, names: str) -> re.Match[str] | None:
    return re.fullmatch(rf"(?:{names})|\.(?:{names})\.\w{{16}}", path.name)


def _size(path: Path) -> int:
    total = 0
    files = (Path(place) / name for place, _, names in os.walk(path) for name in names) if path.is_dir() else [path]
    for file in files:
        with suppress(FileNotFoundError):
            total += file.stat().st_size
    return total


def _remove(path: Path) -> None:
    """A folder goes under the name of something unfinished first: if this is killed, no one uses what is left."""
    if not path.is_dir():
        path.unlink()
        return
    if not path.name.startswith("."):
        path = path.rename(path.with_name(f".{path.name}.{secrets.token_hex(8)}"))
    shutil.rmtree(path)
