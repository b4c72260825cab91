"""Speed and memory of the distances between sets of vectors, beside the published ways: same vectors, threads, process.

    python benchmarks/distances.py [VECTORS]

The Fréchet distance beside the root of a matrix product (SciPy), PRD beside MiniBatchKMeans (scikit-learn), and the
peak memory of the Fréchet distance of VECTORS on each side, a million by default. Both sides of a comparison are run
once before the clock starts, then in turn.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from processes import run_json
from sklearn.cluster import MiniBatchKMeans  # type: ignore[import-untyped]
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from dialogauge import load
from dialogauge.encode.encoders import Encoders
from dialogauge.metrics.base import Floats
from dialogauge.metrics.distance.codebooks import prd
from dialogauge.metrics.distance.frechet import frechet_distance, frechet_of_covariances
from dialogauge.tables import Cell, Header, Table, to_text

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("DIALOGAUGE_SHARED") or HERE.parents[1] / "shared")
DAILYZ = SHARED / "corpora" / "fbd_six" / "dailyz_annotation.json"
WIDTH = 768
CLUSTERS, RUNS, ANGLES = 20, 10, 1001
ROUNDS = 7
PAUSE = 0.1
"""Seconds before each measurement. NumPy and SciPy bring a linear algebra library each, whose threads keep a core busy
for a while after their work is done, and would slow down the other side's."""

Job = Callable[[], float]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # A process starts out with the peak of the one that starts it: models are loaded here only afterwards.
    memory = _memory(count)
    name, real, generated = _vectors()
    with threadpool_limits(threads):
        rows = [_from_rows(), _from_covariances(), _prd(name, real, generated)]
    notes = [f"seconds, the best of {ROUNDS} rounds, {threads} threads; they vary between machines, the ratios less"]
    _show(("job", "peer", "ours", "peer's", "ratio", "our value", "peer's value"), rows, 2, notes)
    headers = ("vectors of each side", "seconds", "of them summing", "peak memory, GiB", "distance", "of the Gaussians")
    _show(headers, [memory], 0, [f"{WIDTH} dimensions, float32, drawn and summed in batches, each seen once"])


def _from_rows() -> list[str]:
    x, y = _gaussians(150)

    def published() -> float:
        return _published(x.mean(axis=0), np.cov(x, rowvar=False), y.mean(axis=0), np.cov(y, rowvar=False))

    return _row(f"Fréchet, from {len(x)} x {WIDTH}", "np.cov, sqrtm", lambda: frechet_distance(x, y), published)


def _from_covariances() -> list[str]:
    x, y = _gaussians(10_000)
    given = x.mean(axis=0), np.cov(x, rowvar=False), y.mean(axis=0), np.cov(y, rowvar=False)
    name = f"Fréchet, from {WIDTH} x {WIDTH} covariances"
    return _row(name, "sqrtm", lambda: frechet_of_covariances(*given), lambda: _published(*given))


def _published(mean_x: Floats, cov_x: Floats, mean_y: Floats, cov_y: Floats) -> float:
    """‖mean_x - mean_y‖² + Tr(cov_x + cov_y - 2 (cov_x cov_y)^½), root and all, as the code of FID and FBD has it: what
    rounding makes imaginary is left out."""
    root = scipy.linalg.sqrtm(cov_x @ cov_y)
    apart = mean_x - mean_y
    return float(apart @ apart + np.trace(cov_x) + np.trace(cov_y) - 2 * np.trace(np.real(root)))


def _gaussians(count: int) -> tuple[Floats, Floats]:
    """Rows of two Gaussians with a falling spectrum along different axes."""
    rng = np.random.default_rng(0)
    deviations = np.arange(1, WIDTH + 1) ** -0.5
    axes = [np.linalg.qr(rng.normal(size=(WIDTH, WIDTH)))[0] for _ in range(2)]
    x, y = ((rng.normal(size=(count, WIDTH)) * deviations) @ turned for turned in axes)
    return x, y + 0.05


def _vectors() -> tuple[str, NDArray[Any], NDArray[Any]]:
    """Pairs of context and reference, and of context and the first system's response; else mixtures of their size."""
    if DAILYZ.exists():
        turns = next(iter(load(DAILYZ).by_system.values()))
        encoder = Encoders().get("minilm")
        real, generated = (
            encoder.pooled([(" ".join(turn.context), text) for turn, text in zip(turns, side, strict=True)], "cls")
            for side in ([turn.references[0] for turn in turns], [turn.response for turn in turns])
        )
        return "dailyz", real.vectors, generated.vectors
    rng = np.random.default_rng(0)
    places = rng.normal(size=(30, 384))
    x, y = (places[rng.integers(chosen, size=100)] + rng.normal(size=(100, 384)) for chosen in (30, 20))
    return "mixtures", x, y


def _prd(name: str, real: NDArray[Any], generated: NDArray[Any]) -> list[str]:
    size = " x ".join(map(str, real.shape))
    return _row(
        f"PRD, {RUNS} runs, {name}, {size}",
        "MiniBatchKMeans",
        lambda: prd(real, generated, CLUSTERS, RUNS, angles=ANGLES).f1,
        lambda: _minibatch_prd(real, generated),
    )


def _minibatch_prd(real: NDArray[Any], generated: NDArray[Any]) -> float:
    """The largest F1 of the curve averaged over clusterings (Sajjadi et al. 2018, algorithm 1), the ends of whose
    angles are kept off 0 and π/2."""
    union = np.concatenate([real, generated])
    slopes = np.tan(np.linspace(1e-10, np.pi / 2 - 1e-10, ANGLES))
    curves = []
    for state in range(RUNS):
        labels = MiniBatchKMeans(CLUSTERS, n_init=10, random_state=state).fit(union).labels_
        p, q = (
            np.bincount(part, minlength=CLUSTERS) / len(part) for part in (labels[: len(real)], labels[len(real) :])
        )
        precision = np.minimum(p * slopes[:, None], q).sum(axis=1)
        curves.append((precision, precision / slopes))
    precision, recall = np.clip(np.mean(curves, axis=0), 0, 1)
    return float(np.max(2 * precision * recall / (precision + recall)))


def _memory(count: int) -> list[str]:
    done = run_json([sys.executable, str(HERE / "moments.py"), str(count)])
    found = done.document
    return [
        f"{count:,}",
        f"{done.seconds:.1f}",
        f"{found['seconds']:.1f}",
        f"{done.peak / 2**30:.2f}",
        f"{found['distance']:.4f}",
        f"{found['exact']:.4f}",
    ]


def _row(job: str, peer: str, ours: Job, theirs: Job) -> list[str]:
    values = ours(), theirs()
    mine, other = float("inf"), float("inf")
    for _ in range(ROUNDS):
        mine, other = min(mine, _seconds(ours)), min(other, _seconds(theirs))
    return [job, peer, f"{mine:.4f}", f"{other:.4f}", f"{other / mine:.1f}", *(f"{value:.6f}" for value in values)]


def _seconds(job: Job) -> float:
    time.sleep(PAUSE)
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def _show(headers: Sequence[str], rows: Sequence[Sequence[str]], left: int, notes: list[str]) -> None:
    heads = [Header(text, align="left" if place < left else "right") for place, text in enumerate(headers)]
    print(to_text(Table(heads, [[Cell(text) for text in row] for row in rows], notes)), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
