"""Results that are saved over and over by a process that is killed."""

import os
import signal
import subprocess
import sys
import time

SAVE_FOREVER = """
print("ready", flush=True)
for number in range(10**6):
    result.save(Path(sys.argv[1]) / f"run{number}")
    result.save(Path(sys.argv[1]) / "again", overwrite=True)
"""
ATTEMPTS = 6


def directories_left(make_result, folder):
    """What is left of six such processes by names that users see. `make_result` is code that makes a `result`."""
    partial, written = [], []
    code = f"import sys\nfrom pathlib import Path\n{make_result}\n{SAVE_FOREVER}"
    for attempt in range(ATTEMPTS):
        target = folder / str(attempt)
        with subprocess.Popen([sys.executable, "-c", code, str(target)], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()
            while not (target / "run0").exists():
                time.sleep(0.01)
            time.sleep(0.037 * attempt)
            os.kill(child.pid, signal.SIGKILL)
        for path in target.iterdir():
            (partial if path.name.startswith(".") else written).append(path)
    # Runs were written and a kill hit a write under way; otherwise nothing would be shown.
    assert written
    assert partial
    return written
