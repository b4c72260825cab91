"""What other packages add by entry points: metrics, readers, encoders. Found, loaded and checked in one place.

A plug-in that is broken is named, with what is wrong with it and what to do, and hides no other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Generic, TypeVar

from dialogauge.errors import Caveat, DialogaugeError, InputError

T = TypeVar("T")


@dataclass(frozen=True)
class PlugIns(Generic[T]):
    """What packages may add of one kind."""

    noun: str
    """What it is called in messages: "metric"."""
    group: str
    """The group of entry points that packages list them in."""
    taken: Collection[str]
    """Names that packages cannot give to theirs."""
    faults: Callable[[str, Any], list[str]]
    """Everything that is wrong with what was loaded under a name."""

    def names(self) -> list[str]:
        """Every name that packages give and that is not taken; nothing is loaded for it."""
        return list(self._owners(self._points()))

    def modules(self) -> set[str]:
        """Those that packages have theirs in."""
        return {point.module for point in self._points()}

    def get(self, name: str) -> T | None:
        """What a package adds under this name, None where none does. Raises where it cannot be used."""
        point = self._owners(self._points()).get(name)
        return None if point is None else self._loaded(point)

    def load(self) -> tuple[dict[str, T], list[Caveat]]:
        """All that can be used, by name, and a caveat for each that cannot."""
        found: dict[str, T] = {}
        caveats = self.contested()
        for name, point in self._owners(self._points()).items():
            try:
                found[name] = self._loaded(point)
            except InputError as error:
                caveats.append(self._caveat(error))
        return found, caveats

    def contested(self, names: Collection[str] | None = None) -> list[Caveat]:
        """A caveat for each plug-in that cannot have its name (one of `names`, where given) since dialogauge or another
        package has it."""
        points = self._points()
        owners = dict.fromkeys(self.taken, "dialogauge itself")
        owners |= {name: f"the package {package(point)}" for name, point in self._owners(points).items()}
        return [
            self._caveat(self._refused(point, [f"the name is taken by {owners[point.name]}"]))
            for point in points
            if (names is None or point.name in names) and owners[point.name] != f"the package {package(point)}"
        ]

    def _points(self) -> list[EntryPoint]:
        return sorted(entry_points(group=self.group), key=lambda point: (point.name, package(point)))

    def _owners(self, points: list[EntryPoint]) -> dict[str, EntryPoint]:
        """The entry point that has a name: of two packages, the first in the order of the alphabet."""
        owners: dict[str, EntryPoint] = {}
        for point in points:
            if point.name not in self.taken:
                owners.setdefault(point.name, point)
        return owners

    def _loaded(self, point: EntryPoint) -> T:
        try:
            with redirect_stdout(sys.stderr):
                found: T = point.load()
                faults = self.faults(point.name, found)
        except (Exception, SystemExit) as error:  # code that is not ours: whatever it raises
            faults = [f"{type(error).__name__}: {error}"]
        if faults:
            raise self._refused(point, faults)
        return found

    def _caveat(self, error: InputError) -> Caveat:
        return Caveat(f"broken_{self.noun}", error.message)

    def _refused(self, point: EntryPoint, faults: list[str]) -> InputError:
        return InputError(
            f"{self.noun} {point.name!r} of the package {package(point)} ({point.value}) cannot be used:"
            f" {'; '.join(faults)}. Update or uninstall the package; docs/plug-ins.md says what plug-ins need"
        )


@contextmanager
def foreign(what: str, path: Path | None = None) -> Iterator[None]:
    """Around code that is not ours: what it prints goes to stderr, since stdout is for results, and whatever it raises
    is told as what went wrong in it, with the file that it read."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except DialogaugeError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{what} failed: {type(error).__name__}: {error}", path) from error


def package(point: EntryPoint) -> str:
    """The package that has the entry point."""
    return point.dist.name if point.dist else "without a name"
