"""`dialogauge rate` as a process of its own, that can be killed."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import TracebackType


class Rate:
    """Serves the study; `links` are those that it printed."""

    def __init__(self, *arguments: str | Path, people: int = 2) -> None:
        command = [sys.executable, "-m", "dialogauge", "rate", *map(str, arguments), "--quiet"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        self.links: dict[str, str] = {}
        assert self.process.stdout is not None
        while len(self.links) < people + 1:  # and the organiser's
            name, tab, link = self.process.stdout.readline().rstrip("\n").partition("\t")
            assert tab, f"expected a name and a link, found {name!r}"
            self.links[name] = link

    def __enter__(self) -> Rate:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end(signal.SIGTERM)

    def end(self, how: signal.Signals) -> None:
        self.process.send_signal(how)
        self.process.wait(20)
        if self.process.stdout is not None:
            self.process.stdout.close()


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])
