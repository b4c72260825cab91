"""Whether intervals hold as often as they say; benchmarks/estimate_coverage.py has more of it."""

import pytest
from benchmarks.estimate_coverage import Study

STUDIES = 100


@pytest.mark.parametrize(
    ("target", "shape", "metric", "n"),
    [
        ("mean", "contexts", "useless", 50),
        ("mean", "turns of dialogues", "good", 100),
        ("mean, unequal probability", "contexts", "good", 200),
        ("mean of these turns", "contexts", "good", 500),
        ("difference", "contexts", "good", 50),
    ],
)
def test_intervals_hold(target, shape, metric, n):
    # Of 100 studies, 95 % intervals hold in 95 ± 2.2; four standard deviations are 9.
    found = [each for seed in range(STUDIES) for each in Study(target, shape, metric, n).simulated(seed)]
    assert sum(each.held for each in found) in range(86, 101)
    assert max(each.width for each in found) <= 1.0
    if metric == "good":
        assert sum(each.width for each in found) / STUDIES < 0.9


@pytest.mark.slow
@pytest.mark.parametrize("target", ["mean", "mean, five metrics", "difference", "win rate (Bradley-Terry)"])
def test_intervals_hold_over_few_dialogues(target):
    found = [each for seed in range(300) for each in Study(target, "dialogues", "good", 50).simulated(seed)]
    share = sum(each.held for each in found) / len(found)
    assert 0.90 < share < 0.985
