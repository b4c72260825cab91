"""A command in a process of its own: what it says, how long it takes, and how much memory."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Sequence
from typing import Any, NamedTuple


class Done(NamedTuple):
    document: Any
    seconds: float
    peak: int
    """The largest resident size in bytes."""


def run_json(command: Sequence[str], **environment: str) -> Done:
    """Runs a command that prints JSON, with more in its environment."""
    start = time.perf_counter()
    whole = {**os.environ, **environment}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=whole) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Done(json.loads(printed), time.perf_counter() - start, usage.ru_maxrss * 1024)
