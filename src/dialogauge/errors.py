"""What a user can meet: errors that say what was found and what to do, values as errors show them, caveats that travel
with results, and numbers refused where nobody means them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from numbers import Integral, Real
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

from dialogauge.tables import counted, first_few

LONGEST_QUOTE = 60
LARGEST = 2**63 - 1
COUNT = 10**6
"""The most of anything that costs time: resamples, epochs, pairs in a batch."""
NEURAL_PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "huggingface_hub")


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
        self.given = package, extra, purpose
        super().__init__(f"{purpose} needs the package {package}: pip install 'dialogauge[{extra}]'")

    def __reduce__(self) -> tuple[type[MissingPackage], tuple[str, str, str]]:
        """Other processes send it back, and exceptions are made again from their message alone."""
        return type(self), self.given


class MissingWeights(InputError):
    """The weights of a model that dialogauge knows by name are nowhere to be found; the message says how to get
    them."""


class UnsuitedEncoder(InputError):
    """An encoder that was found, and cannot give what a metric asks of it."""


class WorkFailed(DialogaugeError, RuntimeError):
    """Work that was spread over processes or machines could not be done, for no fault of the input: workers died, or
    memory ran out."""


REMARKS = frozenset({"not_measured", "ratings_unused", "systems_untested"})
"""Codes of caveats that tell and do not warn."""


@dataclass(frozen=True)
class Caveat:
    """Something the reader of a result must know: a stable code for programs, a sentence for people."""

    code: str
    message: str

    @property
    def line(self) -> str:
        """As people are shown it beside a result."""
        return self.message if self.code in REMARKS else f"warning: {self.message}"


def unknown(kind: str, name: Any, known: Iterable[str], alike: float = 0.5) -> InputError:
    """The error for a name that is not known, with the known ones most like it, whatever their case."""
    choices = sorted(known)
    folded = {choice.casefold(): choice for choice in choices}
    near = [folded[found] for found in difflib.get_close_matches(str(name).casefold(), folded, n=3, cutoff=alike)]
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(choices) or 'none'}"
    return InputError(f"unknown {kind} {name!r}; {hint}")


def check_whole(name: str, value: Any, least: int, most: int, file: Path | None = None) -> None:
    """Refuses what is no whole number between two others, both included; `file` is where it was read."""
    if not _is(Integral, value) or not least <= value <= most:
        found = shortened(value)
        raise InputError(f"{name}: expected a whole number from {least} to {_spelled(most)}, found {found}", file)


def check_seed(value: Any) -> None:
    check_whole("seed", value, 0, LARGEST)


def check_number(name: str, value: Any, least: float, most: float) -> None:
    """Refuses what is no number between two others, both included."""
    if not _is(Real, value) or not least <= value <= most:
        raise InputError(
            f"{name}: expected a number from {_spelled(least)} to {_spelled(most)}, found {shortened(value)}"
        )


def check_share(name: str, value: Any) -> None:
    """Refuses what is no share of a whole that leaves something on both sides."""
    if not _is(Real, value) or not 0 < value < 1:
        raise InputError(f"{name}: expected a number between 0 and 1, found {shortened(value)}")


def _is(kind: type, value: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _spelled(number: float) -> str:
    return f"{number:,}" if abs(number) < 10**12 else f"{number:.0e}"


def require_neural(purpose: str) -> None:
    """Refuses with what to install where one of them is missing; imports none."""
    for package in NEURAL_PACKAGES:
        if find_spec(package) is None:
            raise MissingPackage(package, "neural", purpose)


def require_arrow(purpose: str) -> None:
    """Refuses with what to install where pyarrow is missing, half of all that the package would otherwise stand on;
    imports nothing."""
    if find_spec("pyarrow") is None:
        raise MissingPackage("pyarrow", "parquet", purpose)


def quote(text: str) -> str:
    """The text in quotation marks, cut to 60 characters. `repr` escapes whatever is not printable: control
    characters of both sets, bidirectional controls, line separators, lone surrogates."""
    return repr(text) if len(text) <= LONGEST_QUOTE else repr(text[:LONGEST_QUOTE]) + "…"


def quote_all(names: Iterable[str]) -> str:
    """The names in quotation marks, the first ten of them."""
    return first_few(map(quote, names), 10)


def describe(value: Any) -> str:
    """What a value is, for the second half of "expected ..., found ..."."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {str(value)[:LONGEST_QUOTE]}"
    if isinstance(value, str):
        return f"the text {quote(value)}"
    if isinstance(value, list):
        return _describe_list(value)
    if isinstance(value, dict):
        return f"an object with the fields {quote_all(map(str, value))}" if value else "an empty object"
    return f"a value of type {type(value).__name__}"


def _describe_list(values: list[Any]) -> str:
    if not values:
        return "an empty list"
    kinds = [_kind(value) for value in values]
    if len(set(kinds)) > 1:
        # The odd one out is what the reader of the message looks for: the first that is not text.
        place = next(place for place, kind in enumerate(kinds) if kind != "string")
        odd = "a list" if kinds[place] == "list" else describe(values[place])
        return f"a list with {odd} at place {place + 1}"
    shape = f"a list of {counted(len(values), kinds[0])}"
    if kinds[0] == "list":
        first = values[0]
        inner = {_kind(value) for value in first}
        shape += f" ({counted(len(first), inner.pop() if len(inner) == 1 else 'item')} in the first)"
    return shape


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "truth value"
    if isinstance(value, int | float):
        return "number"
    kind = type(value).__name__
    return {"str": "string", "dict": "object"}.get(kind, kind)
