"""A million turns: peak memory, and the time beside that of a hundred thousand.

    python benchmarks/large.py [TURNS]

Each file is scored by `dialogauge score` in a process of its own.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from processes import run_json
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
    done = run_json(command)
    score = done.document["scores"][0]
    return done.seconds, done.peak, f"{score['interval']} [{score['low']:.3f}, {score['high']:.3f}]"


if __name__ == "__main__":
    main()
