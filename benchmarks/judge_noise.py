"""Whether a judge's own noise is in the interval: the bootstrap over turns, as `score` has it, beside one that also
draws the repeated answers of each turn anew.

    python benchmarks/judge_noise.py [RUNS]

A turn's quality is normal around 3 with the standard deviation `turns`, an answer normal around that quality with the
standard deviation `answers`, rounded to 1 to 5; so the true mean is 3, whatever the case. Each of 60 turns has so many
answers, its value is their mean, and the interval is that of the mean over turns, at 95 %. "width" is the mean width by
that of the ideal interval, 2 · 1.96 standard deviations of the mean over all runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.stats.resampling import bootstrap_weights, percentile_interval

TURNS, RESAMPLES, LEVEL = 60, 500, 0.95
CASES = [(1.0, 0.0, 1), (1.0, 1.0, 1), (1.0, 1.0, 5), (0.3, 1.0, 2), (0.3, 1.0, 5), (0.0, 1.0, 2), (0.0, 1.0, 5)]


def draws_of_turns(answers: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """The means of resamples of turns, each with the answers it has: the evaluation's own bootstrap."""
    values = answers.mean(axis=1)
    return np.concatenate([block @ values / TURNS for block in bootstrap_weights(TURNS, RESAMPLES, rng, TURNS)])


def draws_of_both(answers: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """The means of resamples of turns, whose answers are drawn anew, too."""
    samples = answers.shape[1]
    turns = rng.integers(TURNS, size=(RESAMPLES, TURNS, 1))
    drawn: NDArray[np.float64] = answers[turns, rng.integers(samples, size=(RESAMPLES, TURNS, samples))]
    return np.asarray(drawn.mean(axis=(1, 2)))


def simulate(turns: float, noise: float, samples: int, runs: int) -> Iterator[tuple[float, float]]:
    """For both ways the share of intervals that hold 3, and their mean width by the ideal one."""
    rng = np.random.default_rng(0)
    means: list[float] = []
    found: dict[Any, list[tuple[float, float]]] = {draws_of_turns: [], draws_of_both: []}
    for _ in range(runs):
        quality = rng.normal(3, turns, (TURNS, 1))
        answers = np.clip(np.round(quality + rng.normal(0, noise, (TURNS, samples))), 1, 5)
        means.append(float(answers.mean()))
        for way, intervals in found.items():
            intervals.append(percentile_interval(way(answers, rng), LEVEL))
    ideal = 2 * 1.96 * np.std(means)
    for intervals in found.values():
        low, high = np.array(intervals).T
        yield float(np.mean((low <= 3) & (high >= 3))), float(np.mean(high - low) / ideal)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(f"{runs} runs, {TURNS} turns, {RESAMPLES} resamples, {LEVEL:.0%} intervals\n")
    print("| turns | answers | samples | turns drawn: coverage | width | answers drawn, too: coverage | width |")
    print("|---|---|---|---|---|---|---|")
    for turns, noise, samples in CASES:
        (one, width), (two, wider) = simulate(turns, noise, samples, runs)
        print(f"| {turns:g} | {noise:g} | {samples} | {one:.3f} | {width:.2f} | {two:.3f} | {wider:.2f} |", flush=True)


if __name__ == "__main__":
    main()
