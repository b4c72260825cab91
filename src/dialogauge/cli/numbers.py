"""What the options that take a number make of their text. How large it may be is asked by those who use it."""

from __future__ import annotations

from argparse import ArgumentTypeError
from reprlib import repr as shortened


def whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a whole number, found {shortened(text)}") from None


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a number, found {shortened(text)}") from None
