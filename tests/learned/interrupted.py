"""Trainings that are broken off, by Ctrl-C or with no chance to tidy up."""

import os
import signal
import subprocess
import sys
import time

from dialogauge.learned.training.checkpoint import Checkpoint


def break_off(monkeypatch, after=1):
    """Training stops as if by Ctrl-C when so many checkpoints are written."""
    plain, written = Checkpoint.write, []

    def write_and_stop(self, *arguments):
        plain(self, *arguments)
        written.append(self.path.name)
        if len(written) == after:
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "write", write_and_stop)


def kill_training(model, files, options, checkpoint):
    """A real process, `dialogauge train`, killed as soon as the checkpoint is there."""
    given = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]
    command = [sys.executable, "-m", "dialogauge", "train", model, *files, "--no-cache", *given]
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
        while not checkpoint.exists() and child.poll() is None:
            time.sleep(0.002)
        os.kill(child.pid, signal.SIGKILL)
        error = child.stderr.read()
    assert child.returncode == -signal.SIGKILL, error
