"""The judge's own noise is in the interval: it covers as it says also where all noise is the judge's."""

import numpy as np
import pytest

import dialogauge
from dialogauge.corpus import Turn
from tests.serving.scripted import Scripted, chat


def coverage(spread, noise, samples, *, level=0.9, runs=300, turns=60):
    """The share of intervals of a mean of `turns` values that hold the true mean, 3: of turns that differ by `spread`,
    each the mean of `samples` answers that differ by `noise`. The bootstrap is that of the evaluation."""
    from dialogauge.stats.resampling import bootstrap_weights, percentile_interval

    rng, hits, widths = np.random.default_rng(0), 0, []
    for _ in range(runs):
        quality = rng.normal(3, spread, turns)
        values = (quality[:, None] + rng.normal(0, noise, (turns, samples))).mean(axis=1)
        draws = np.concatenate([block @ values / turns for block in bootstrap_weights(turns, 300, rng, turns)])
        low, high = percentile_interval(draws, level)
        hits += low <= 3 <= high
        widths.append(high - low)
    return hits / runs, float(np.mean(widths))


@pytest.mark.parametrize(("spread", "noise", "samples"), [(1.0, 0.0, 1), (0.0, 1.0, 1), (0.5, 1.0, 4), (0.2, 1.0, 1)])
def test_intervals_cover_whatever_the_noise_is_made_of(spread, noise, samples):
    share, width = coverage(spread, noise, samples)
    # 300 runs: 0.9 ± 3 · 0.0173; percentile intervals of 60 values are a little narrow.
    assert 0.84 <= share <= 0.95
    # 2 · 1.645 · sqrt((spread² + noise² / samples) / turns)
    assert width == pytest.approx(3.29 * np.sqrt((spread**2 + noise**2 / samples) / 60), rel=0.05)


def test_a_judge_that_draws_lots_has_an_interval_of_just_that():
    """Every reply is the same: all that the interval is wide by is the judge's. Answers of 1 or 5 at even odds have the
    variance 4: with one answer a half-width of 1.96 · 2 / sqrt(100) = 0.39, with four answers half of that."""
    rng = np.random.default_rng(1)
    turns = [Turn(str(i), "yes", (f"and {i}?",)) for i in range(100)]
    widths = []
    for samples in (1, 4):
        with Scripted(lambda _: chat(str(rng.choice([1, 5])))) as server:
            wanted = f"judge[model=scripted,url={server.url},samples={samples},temperature=1,logprobs=false]"
            score = dialogauge.evaluate(turns, wanted, cache=False).scores[0]
        widths.append((score.high - score.low) / 2)
    assert widths == [pytest.approx(0.39, rel=0.15), pytest.approx(0.196, rel=0.2)]
