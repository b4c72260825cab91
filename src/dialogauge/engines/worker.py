"""A worker process: `python -m dialogauge.engines.worker NUMBER`, where the number is that of a socket to the driver.

Messages are pickles of tuples. In: ("open", work, pickled), ("do", item). Out: ("ready",) at the start, then for each
item ("part", part, aside), ("memory",) where there was too little, or ("failed", error).
"""

from __future__ import annotations

import os
import pickle
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from dialogauge.errors import DialogaugeError, InputError, WorkFailed

GRACE = 0.5
"""Seconds that a worker gets to end in order once the driver is gone; in the midst of an item it does not."""


class Worker:
    """Does items, one after another; used by the engines that have processes."""

    def __init__(self) -> None:
        self.packed: bytes | None = None
        self.measure: Callable[[Any], tuple[Any, Any]] | None = None

    def take(self, packed: bytes) -> None:
        """New work, opened with its first item, so that an error in opening it is one of an item."""
        self.packed, self.measure = packed, None

    def do(self, packed: bytes) -> tuple[Any, ...]:
        """What is answered for an item. Nothing is raised: errors are answers, as they were."""
        try:
            if self.measure is None:
                self.measure = self._opened()
            part, aside = self.measure(pickle.loads(packed))
            return "part", part, aside
        except MemoryError:
            if self.measure is None:
                return "failed", WorkFailed("there is not enough memory to open encoders and models in every worker")
            return ("memory",)
        except BaseException as error:  # whatever it is, it belongs to the item and not to the worker
            return "failed", sendable(error)

    def _opened(self) -> Callable[[Any], tuple[Any, Any]]:
        assert self.packed is not None
        try:
            work = pickle.loads(self.packed)
        except (AttributeError, ImportError) as error:
            raise InputError(
                f"a worker cannot find what it is to do ({error}); what is defined in a script or a notebook"
                " itself is not there for other processes: put it into a module, or use one worker"
            ) from None
        return work.open()  # type: ignore[no-any-return]


def sendable(error: BaseException) -> BaseException:
    """The error, with the traceback for those that are not meant for the user; its text where it cannot be pickled."""
    if not isinstance(error, DialogaugeError):
        error.add_note("In a worker process:\n" + "".join(traceback.format_exception(error)))
    with suppress(Exception):
        if type(pickle.loads(pickle.dumps(error))) is type(error):
            return error
    return WorkFailed(f"{type(error).__name__}: {error}")


def packed_answer(answer: tuple[Any, ...]) -> bytes:
    try:
        return pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return pickle.dumps(("memory",))
    except Exception as error:
        return pickle.dumps(("failed", InputError(f"what was measured cannot be sent to another process: {error}")))


def main() -> None:
    os.dup2(2, 1)  # what code prints goes to stderr, since stdout is for results
    connection = Connection(int(sys.argv[1]))
    inbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, inbox), daemon=True).start()
    worker = Worker()
    with suppress(OSError):  # the driver is gone
        connection.send_bytes(pickle.dumps(("ready",)))
        while (message := inbox.get()) is not None:
            kind, content = pickle.loads(message)
            if kind == "open":
                worker.take(content)
            else:
                connection.send_bytes(packed_answer(worker.do(content)))


def _listen(connection: Connection, inbox: queue.SimpleQueue[bytes | None]) -> None:
    """In a thread of its own, so that the end of the driver is noticed in the midst of an item."""
    with suppress(OSError, EOFError):
        while True:
            inbox.put(connection.recv_bytes())
    inbox.put(None)
    time.sleep(GRACE)
    from dialogauge.files import remove_under_way

    remove_under_way()
    os._exit(1)


if __name__ == "__main__":
    main()
