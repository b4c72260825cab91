"""Peak memory of per-turn metrics that encode many texts, no two alike.

    python benchmarks/encoding_memory.py [TEXTS]

The texts are made of the words of the examples, 2 to 9 each; `dialogauge score` runs in a process of its own, with an
empty cache, and once more with the cache it filled.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from processes import run_json

from dialogauge import load
from dialogauge.tables import Cell, Header, Table, to_text

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "everyday.jsonl"
METRICS = "bertscore,embedding_average,embedding_greedy,embedding_extrema"


def main() -> None:
    texts = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "turns.jsonl"
        _write(path, texts // 2)
        rows = [[name, *_score(path, Path(folder) / "cache")] for name in ("empty", "filled by the first run")]
    headers = [Header("cache", align="left"), Header("seconds"), Header("peak memory, GiB"), Header("bertscore")]
    notes = [f"dialogauge score --metrics {METRICS}: {texts // 2:,} turns, {texts:,} distinct texts"]
    print(to_text(Table(headers, [[Cell(text) for text in row] for row in rows], notes)))


def _write(path: Path, count: int) -> None:
    draw = random.Random(0)
    words = sorted({word for turn in load(EXAMPLES) for word in turn.response.lower().split()})
    with path.open("w", encoding="utf-8") as file:
        for place in range(count):
            said = [" ".join(draw.choices(words, k=draw.randint(2, 9))) for _ in range(2)]
            turn = {"id": str(place), "response": f"{said[0]} {place}", "references": [f"{said[1]} {place}."]}
            file.write(json.dumps(turn) + "\n")


def _score(path: Path, cache: Path) -> list[str]:
    command = [sys.executable, "-m", "dialogauge", "score", str(path), "--metrics", METRICS, "--format", "json"]
    done = run_json(command, DIALOGAUGE_CACHE=str(cache))
    return [f"{done.seconds:.0f}", f"{done.peak / 2**30:.2f}", f"{done.document['scores'][0]['value']:.6f}"]


if __name__ == "__main__":
    main()
