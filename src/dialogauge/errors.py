"""What a user can meet: errors that say what was found and what to do, and caveats that travel with results."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


class DialogaugeError(Exception):
    """Base of every error that is meant for the user; anything else that escapes is a defect of ours."""


class InputError(DialogaugeError, ValueError):
    """The input or the call was wrong. Reads `path:line: message` where a line of a file is at fault, `row 3: message`
    where a row of what was given from Python is."""

    def __init__(self, message: str, path: Path | str | None = None, line: int | None = None) -> None:
        self.message = message
        self.path = path
        self.line = line
        row = "" if line is None else f"row {line}: "
        place = row if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(place + message)


class MissingPackage(DialogaugeError, ImportError):
    """A package is needed that is not installed; the message names the extra that brings it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package}: pip install 'dialogauge[{extra}]'")


@dataclass(frozen=True)
class Caveat:
    """Something the reader of a result must know: a stable code for programs, a sentence for people."""

    code: str
    message: str


def unknown(kind: str, name: str, known: Iterable[str], alike: float = 0.5) -> InputError:
    """The error for a name that is not known, with the known ones most like it, whatever their case."""
    choices = sorted(known)
    folded = {choice.casefold(): choice for choice in choices}
    near = [folded[found] for found in difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=alike)]
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(choices) or 'none'}"
    return InputError(f"unknown {kind} {name!r}; {hint}")
