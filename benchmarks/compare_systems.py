"""Time and memory of `compare` as systems become many: the tests of all pairs.

    python benchmarks/compare_systems.py [--systems 20,40,100,200] [--metrics rouge_l,bleu] [--limit SECONDS]

Generated turns: every system answers the same contexts, and copies a share of the reference that grows from system
to system. Each size is a process of its own. What takes longer than the limit is stopped, and said to be.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CONTEXTS = 150
WORDS = [f"word{number}" for number in range(2000)]


def write_turns(path: Path, systems: int, contexts: int = CONTEXTS, seed: int = 0) -> None:
    draw = random.Random(seed)
    references = [draw.choices(WORDS, k=draw.randint(4, 20)) for _ in range(contexts)]
    with path.open("w", encoding="utf-8") as file:
        for system in range(systems):
            kept = 0.2 + 0.6 * system / max(systems - 1, 1)
            for place, reference in enumerate(references):
                said = [word if draw.random() < kept else draw.choice(WORDS) for word in reference]
                turn = {
                    "id": str(place),
                    "system": f"s{system:03}",
                    "context": [f"question {place}"],
                    "response": " ".join(said),
                    "references": [" ".join(reference)],
                }
                file.write(json.dumps(turn) + "\n")


def measured(command: list[str], limit: float) -> tuple[float, float, bool]:
    """Seconds of the processor, the most memory in MB, and whether it came to an end."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        ended = False
        while time.perf_counter() - start < limit:
            done, status, used = os.wait4(child.pid, os.WNOHANG)
            if done:
                child.returncode = os.waitstatus_to_exitcode(status)
                ended = child.returncode == 0
                break
            time.sleep(0.02)
        else:
            child.send_signal(signal.SIGKILL)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, ended


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", default="20,40,100,200")
    parser.add_argument("--metrics", default="rouge_l,bleu,distinct")
    parser.add_argument("--limit", type=float, default=600.0)
    arguments = parser.parse_args()
    print("| systems | pairs | metric | s | MB |")
    print("|---:|---:|---|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for systems in map(int, arguments.systems.split(",")):
            file = Path(folder) / f"{systems}.jsonl"
            write_turns(file, systems)
            for metric in arguments.metrics.split(","):
                command = [sys.executable, "-m", "dialogauge", "compare", str(file), "--metrics", metric, "-q"]
                seconds, megabytes, ended = measured([*command, "--format", "json"], arguments.limit)
                took = f"{seconds:.1f}" if ended else f"stopped after {seconds:.0f}"
                pairs = systems * (systems - 1) // 2
                print(f"| {systems} | {pairs:,} | `{metric}` | {took} | {megabytes:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
