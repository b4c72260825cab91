"""Where a process begins and ends. Nothing heavy is imported before signals are seen to."""

from __future__ import annotations

import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

STOPPING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
PATIENCE = 2.0
"""Seconds that the main thread gets to see a signal; one that computes outside of Python would see it much later."""


def start() -> NoReturn:
    """The command line as a process of its own."""
    _see_to_closed_streams()
    _see_to_signals()
    from dialogauge.cli.main import main

    code = main()
    for number in _seen_to():
        signal.signal(number, signal.SIG_DFL)  # all is done: what comes now ends the process without a word
    sys.exit(code)


def _see_to_closed_streams() -> None:
    """A file that is opened gets the first number that is free: without stdout it would be that of stdout, and what a
    library prints would stand in it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123


def _see_to_signals() -> None:
    """Ctrl-C, SIGTERM and SIGHUP end the process at once and leave nothing half-written. No exception is raised for
    them: one that comes up in the middle of an import or a destructor is lost, or becomes another. Those that are
    ignored already (by nohup, say) stay ignored."""
    for number in STOPPING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)
    import threading

    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reader,), daemon=True).start()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forget_signals)


def _seen_to() -> list[int]:
    return [number for number in STOPPING if signal.getsignal(number) is _stop]


def _stop(number: int, _frame: FrameType | None = None) -> NoReturn:
    files = sys.modules.get("dialogauge.files")  # else nothing can have been written yet
    try:
        if remove := getattr(files, "remove_under_way", None):
            remove()
        os.write(2, b"\nstopped\n" if os.isatty(2) else b"stopped\n")
    finally:  # also where nobody listens any more: SIGHUP comes when the terminal is closed
        os._exit(128 + number)


def _watch(reader: int) -> None:
    """Python writes the number of each signal to the pipe, whatever the main thread does."""
    while (number := os.read(reader, 1)[0]) not in STOPPING:
        pass
    time.sleep(PATIENCE)
    _stop(number)


def _forget_signals() -> None:
    """In a forked child, where there is no thread to watch, and what is being written is its parent's."""
    for number in _seen_to():
        signal.signal(number, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
