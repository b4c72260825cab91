"""How long files of many turns take in one process, in several and on Ray, and how much memory:

    python benchmarks/scale.py [--turns 1000000] [--metrics LIST] [--ways here,2,ray:2,running:2]

A number stands for so many processes, ray:2 for two workers on a cluster that the command starts for itself, running:2
for two on one that was started before, whose own computing and memory do not count. Each way is a process of its own,
started one after another on one file written before; all in one run, since machines differ from hour to hour.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

METRICS = "bleu,rouge_l,distinct,length"
RUNNING = "running"
START = 20
"""Seconds that a cluster is given before it is used."""
WORDS = [f"{start}{end}" for start in "b d f g k l m n p r s t".split() for end in "a e i o u an en in on un".split()]


def write_turns(path: Path, count: int) -> None:
    """Two systems that answer the same contexts, with some 340 bytes a turn."""
    rng = random.Random(0)

    def said(most: int) -> str:
        return " ".join(rng.choices(WORDS, k=rng.randrange(4, most)))

    with path.open("w", encoding="utf-8") as file:
        for number in range(count // 2):
            context, reference = [said(20), said(20)], said(24)
            for system in ("first", "second"):
                turn = {"id": str(number), "system": system, "context": context, "references": [reference]}
                file.write(json.dumps(turn | {"response": said(24)}) + "\n")


@dataclass
class Watch:
    """Peak memory and computing time of a process and of all that it started, as /proc has them."""

    root: int
    megabytes: dict[int, float] = field(default_factory=dict)
    computing: dict[int, float] = field(default_factory=dict)

    def until(self, over: threading.Event) -> None:
        while not over.wait(0.3):
            self.look()

    def look(self) -> None:
        parents = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                stat = (folder / "stat").read_text().rpartition(")")[2].split()
                status = (folder / "status").read_text()
            except OSError:  # it ended meanwhile
                continue
            number = int(folder.name)
            parents[number] = int(stat[1])
            peak = next((line for line in status.splitlines() if line.startswith("VmHWM")), "VmHWM: 0 kB")
            if self._below(number, parents):
                self.megabytes[number] = max(self.megabytes.get(number, 0.0), int(peak.split()[1]) / 1024)
                self.computing[number] = (int(stat[11]) + int(stat[12])) / 100

    def _below(self, number: int, parents: dict[int, int]) -> bool:
        while number not in (0, 1):
            if number == self.root or number in self.megabytes:
                return True
            number = parents.get(number, 0)
        return False

    @property
    def driver(self) -> float:
        return self.megabytes.get(self.root, 0.0)

    @property
    def largest_other(self) -> float:
        return max((size for number, size in self.megabytes.items() if number != self.root), default=0.0)


@dataclass(frozen=True)
class Measured:
    seconds: float
    watch: Watch
    printed: str


def measured(path: Path, metrics: str, way: str) -> Measured:
    command = [sys.executable, "-m", "dialogauge", "score", str(path), "--metrics", metrics, "--quiet", *options(way)]
    quiet: dict[str, Any] = {"stderr": subprocess.DEVNULL, "text": True}
    cluster: AbstractContextManager[dict[str, str]] = nullcontext({})
    if way.startswith(RUNNING):
        cluster = ray_cluster(way.rpartition(":")[2])
    with cluster as where:
        start = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | where, **quiet) as process:
            return watched(process, command, start)


def watched(process: subprocess.Popen[str], command: list[str], start: float) -> Measured:
    watch, over = Watch(process.pid), threading.Event()
    watching = threading.Thread(target=watch.until, args=(over,))
    watching.start()
    printed, _ = process.communicate()
    over.set()
    watching.join()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Measured(time.perf_counter() - start, watch, printed)


@contextmanager
def ray_cluster(workers: str) -> Iterator[dict[str, str]]:
    """By what environment a command finds it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    call = [str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", "--node-ip-address", "127.0.0.1"]
    call += ["--port", port, "--num-cpus", workers, "--include-dashboard", "false", "--disable-usage-stats"]
    # On the loopback address alone, as Ray does where it has no clusters of several machines.
    known = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": uuid.uuid4().hex, "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(call, env=os.environ | known, **quiet) as process:
        try:
            time.sleep(START)
            yield {**known, "RAY_ADDRESS": f"127.0.0.1:{port}"}
        finally:
            process.terminate()


def options(way: str) -> list[str]:
    if way == "here":
        return ["--engine", "here"]
    engine, _, workers = way.replace(RUNNING, "ray").rpartition(":")
    return [*(["--engine", engine] if engine else []), "--workers", workers]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--metrics", default=METRICS)
    parser.add_argument("--ways", default="here,2,ray:2,running:2")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "turns.jsonl")
        write_turns(path, given.turns)
        print(f"{given.turns:,} turns, {path.stat().st_size / 2**20:.0f} MiB, {given.metrics}")
        columns = [
            "way",
            "seconds",
            "times as fast",
            "CPU seconds",
            "driver, MB",
            "largest other, MB",
            "table",
        ]
        print("|", " | ".join(columns), "|")
        print("|" + "---|" * len(columns))
        first: Measured | None = None
        for way in given.ways.split(","):
            found = measured(path, given.metrics, way)
            first = first or found
            same = "the same" if found.printed == first.printed else "ANOTHER"
            numbers = [f"{found.seconds:.0f}", f"{first.seconds / found.seconds:.2f}"]
            numbers += [f"{sum(found.watch.computing.values()):.0f}", f"{found.watch.driver:.0f}"]
            print(
                "|",
                " | ".join([way, *numbers, f"{found.watch.largest_other:.0f}", same]),
                "|",
                flush=True,
            )


if __name__ == "__main__":
    main()
