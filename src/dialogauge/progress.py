"""How far long work has come, on stderr: a bar on a terminal, else a line now and then for logs."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable
from typing import Any

from tqdm import tqdm

from dialogauge.tables import printable

EVERY = 30.0
"""Seconds between lines. Work that is done sooner shows none."""


def progress_bar(items: Iterable[Any] | None = None, description: str = "", *, shown: bool, **options: Any) -> Any:
    """tqdm's bar over the items, or one to `update` by hand; nothing at all unless `shown`."""
    description = printable(description)  # which may name a file
    # A notebook's stderr is no terminal and shows bars all the same.
    if not shown or sys.stderr.isatty() or "ipykernel" in sys.modules:
        return tqdm(items, description, disable=not shown, leave=False, **options)
    # The file takes the carriage returns that tqdm would write.
    return Lines(items, description, mininterval=1.0, miniters=1, file=io.StringIO(), **options)


class Lines(tqdm):  # type: ignore[type-arg]
    """A tqdm bar that prints whole lines: `reading: 1,200 of 5,000 turns (24 %), 40 s`."""

    monitor_interval = 0
    said_at = 0.0

    def display(self, msg: str | None = None, pos: int | None = None) -> None:  # noqa: ARG002
        elapsed = self.format_dict["elapsed"]
        if self.n and elapsed - self.said_at >= EVERY:
            self.said_at = elapsed
            print(printable(f"{self._done()}, {elapsed:.0f} s"), file=sys.stderr, flush=True)

    def _done(self) -> str:
        share = f" ({100 * self.n / self.total:.0f} %)" if self.total else ""
        count = f"{self.n:,} of {self.total:,}" if self.total else f"{self.n:,}"
        plural = {"it": "", "corpus": "corpora"}.get(self.unit, f"{self.unit}s")
        done = f"{count} {plural}".rstrip() + share
        name = self.desc.removesuffix(": ")
        return (f"{name}: " if name else "") + done + (f", {self.postfix}" if self.postfix else "")
