"""A million turns: peak memory, and the time beside that of a hundred thousand.

    python benchmarks/large.py [TURNS]

Each file is scored by `dialogauge score` in a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from texts import distinct_turns

from dialogauge.tables import Cell, Header, Table, to_text

METRICS = "bleu,rouge_l,distinct"


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        first = 0.0
        for count in (most // 10, most):
            path = Path(folder) / f"{count}.jsonl"
            _write(path, count)
            seconds, peak, interval = _score(path)
            first = first or seconds
            rows.append([f"{count:,}", f"{seconds:.1f}", f"{seconds / first:.1f}", f"{peak / 2**30:.2f}", interval])
    headers = [Header(text) for text in ("turns", "seconds", "times the first", "peak memory, GiB", "interval of bleu")]
    notes = [f"dialogauge score --metrics {METRICS}, reading included"]
    print(to_text(Table(headers, [[Cell(text) for text in row] for row in rows], notes)))


def _write(path: Path, count: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for turn in distinct_turns(count):
            record = {"id": turn.id, "context": turn.context, "response": turn.response, "references": turn.references}
            file.write(json.dumps(record) + "\n")


def _score(path: Path) -> tuple[float, int, str]:
    """Seconds, the process's largest resident size in bytes, and how the interval was found."""
    command = [sys.executable, "-m", "dialogauge", "score", str(path), "--metrics", METRICS, "--format", "json"]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        document = json.loads(process.stdout.read())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"score ended with {process.returncode}")
    score = document["scores"][0]
    return (
        time.perf_counter() - start,
        usage.ru_maxrss * 1024,
        f"{score['interval']} [{score['low']:.3f}, {score['high']:.3f}]",
    )


if __name__ == "__main__":
    main()
