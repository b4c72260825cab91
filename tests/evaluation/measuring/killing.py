"""A metric whose process is killed, once, where a file says so."""

import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dialogauge.metrics import MeanMetric
from dialogauge.metrics.base import UNSIGNED


@dataclass(frozen=True)
class Killer(MeanMetric):
    name = "killer"
    title = "letters of replies"
    higher_is_better = None
    bounds = (0.0, np.inf)

    marker: str = field(default="", metadata=UNSIGNED)

    def measure(self, turns):
        with suppress(FileNotFoundError):
            Path(self.marker).unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return np.array([[float(len(turn.response))] for turn in turns]).reshape(-1, 1)
