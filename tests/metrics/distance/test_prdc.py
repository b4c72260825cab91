"""Precision, recall, density and coverage: as a function, against loops and by hand, and through their class."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.errors import InputError
from dialogauge.metrics.distance import prdc as module
from dialogauge.metrics.distance.distribution import TO_GENERATED, TO_REAL
from dialogauge.metrics.distance.prdc import Prdc, PrdcValues, prdc
from tests.metrics.distance.rows import apart, line, noise, placed, shuffled, side_rows, units, value, with_units


def reach(rows, k):
    return [sorted(math.dist(a, b) for j, b in enumerate(rows) if j != i)[k - 1] for i, a in enumerate(rows)]


def by_loops(real, generated, k):
    around = [[math.dist(x, y) <= r for x, r in zip(real, reach(real, k), strict=True)] for y in generated]
    back = [[math.dist(x, y) <= r for y, r in zip(generated, reach(generated, k), strict=True)] for x in real]
    return PrdcValues(
        precision=sum(any(row) for row in around) / len(generated),
        recall=sum(any(row) for row in back) / len(real),
        density=sum(map(sum, around)) / (k * len(generated)),
        coverage=sum(any(column) for column in zip(*around, strict=True)) / len(real),
    )


@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize("shift", [0, 0.4, 2])
def test_equals_plain_loops(k, shift):
    real, generated = noise(0, 40, 3), noise(1, 25, 3, shift)
    assert prdc(real, generated, k) == pytest.approx(by_loops(real, generated, k), abs=1e-12)


def test_the_function_by_hand():
    # On a line, k = 1. Real 0, 1, 4 reach 1, 1, 3; generated 2.5, 3.5 reach 1 each.
    # 2.5 lies within 3 of 4, 3.5 as well, neither within 1 of 0 or 1: precision 1, density 2 / (1 · 2), and one real
    # row of three has a generated row in its ball. Only 4 lies in a generated ball: recall 1/3.
    real, generated = np.array([[0.0], [1.0], [4.0]]), np.array([[2.5], [3.5]])
    assert prdc(real, generated, k=1) == pytest.approx((1, 1 / 3, 1, 1 / 3))


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(4, 20), st.integers(4, 20), st.integers(1, 6), st.integers(1, 3))
def test_properties(seed, n, m, d, k):
    real, generated = noise(seed, n, d), noise(seed + 1, m, d, shift=0.5)
    found, back = prdc(real, generated, k), prdc(generated, real, k)
    assert all(0 <= value <= 1 for value in (found.precision, found.recall, found.coverage))
    assert (found.precision, found.recall) == pytest.approx((back.recall, back.precision))
    rng = np.random.default_rng(seed)
    assert prdc(rng.permutation(real), rng.permutation(generated), k) == pytest.approx(found)
    assert prdc(3 * real + 100, 3 * generated + 100, k) == pytest.approx(found)
    same = prdc(real, real, k)
    # Each row lies in its own ball and, of the others', in k on average.
    assert same == pytest.approx((1, 1, (k + 1) / k, 1))


def by_loops_with_units(real, generated, k, of_real, of_generated):
    def radii(rows, units):
        found = []
        for row, unit in zip(rows, units, strict=True):
            far = sorted(math.dist(row, b) for b, other in zip(rows, units, strict=True) if other != unit)
            found.append(far[k - 1] if len(far) >= k else -1)
        return found

    reach_real, reach_generated = radii(real, of_real), radii(generated, of_generated)
    far = [
        [math.dist(x, y) if u != v else math.inf for y, v in zip(generated, of_generated, strict=True)]
        for x, u in zip(real, of_real, strict=True)
    ]
    inside = np.array([[d <= r for d in row] for row, r in zip(far, reach_real, strict=True)])
    back = np.array([[d <= r for d, r in zip(row, reach_generated, strict=True)] for row in far])
    return PrdcValues(
        precision=inside.any(axis=0).mean(),
        recall=back.any(axis=1).mean(),
        density=inside.sum() / (k * len(generated)),
        coverage=inside.any(axis=1).mean(),
    )


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("block", [4_000_000, 50])
def test_rows_of_one_unit_are_no_neighbours(monkeypatch, k, size, block):
    # Rows of one unit lie close together, so that they would be each other's nearest neighbours.
    places = noise(8, 30, 3)
    units = np.arange(28, dtype=np.uint64) // size
    real, generated = (places[units] + noise(seed, 28, 3) * 0.1 for seed in (9, 10))
    monkeypatch.setattr("dialogauge.stats.arrays.BLOCK", block)
    given = real, generated[:20], k
    found = prdc(*given, (units, units[:20]))
    assert found == pytest.approx(by_loops_with_units(*given, units, units[:20]), abs=1e-12)
    assert found != pytest.approx(prdc(*given), abs=1e-12)


def test_a_row_with_too_few_neighbours_of_other_units_has_no_ball():
    # On a line, k = 2. Real 0, 1, 2 and 3 of units A, A, A and B: only 3 has two rows of another unit, the nearer ones
    # 1 and 2, and reaches to 1. Of the generated rows 1.5, 5.5 and 0 (unit C) only 1.5 lies within 2 of it.
    real, generated = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([[1.5], [5.5], [0.0]])
    units = np.array([0, 0, 0, 1], dtype=np.uint64), np.array([2, 2, 2], dtype=np.uint64)
    found = prdc(real, generated, 2, units)
    assert found[:1] + found[2:] == pytest.approx((1 / 3, 1 / 6, 1 / 4))
    # All generated rows are of one unit: there is no ball to recall by.
    assert math.isnan(found.recall)


def test_modes_gained_and_lost():
    one, two = noise(0, 50, 4), np.concatenate([noise(1, 50, 4), noise(2, 50, 4, shift=50)])
    lost, invented = prdc(two, one), prdc(one, two)
    assert lost.precision > 0.9 > 0.55 > max(lost.recall, lost.coverage)
    assert min(invented.recall, invented.coverage) > 0.9 > 0.55 > invented.precision
    # Rows of the invented mode lie in no ball, and are half of all.
    assert invented.density == pytest.approx(prdc(one, two[:50]).density / 2)
    assert prdc(one, one + 50) == (0, 0, 0, 0)


@pytest.mark.parametrize("block", [1, 50, 333])
def test_blocks_change_nothing(monkeypatch, block):
    real, generated = noise(3, 40, 6), noise(4, 31, 6, shift=0.2)
    whole = prdc(real, generated)
    monkeypatch.setattr("dialogauge.stats.arrays.BLOCK", block)
    assert prdc(real, generated) == whole


def test_ties_are_inside():
    # Every real ball reaches exactly to the rows beside it, so that each generated row lies in three.
    real = np.arange(5.0)[:, None] / 10 + 100
    assert prdc(real, real[1:4], k=1) == pytest.approx((1, 1, 3, 1))
    same = np.full((7, 3), 0.1)
    assert prdc(same, same) == pytest.approx((1, 1, 7 / 5, 1))
    assert prdc(same, same + 1) == (0, 0, 0, 0)


def test_too_few_rows_for_a_neighbour():
    few, many = noise(0, 5, 3), noise(1, 6, 3)
    missing = prdc(few, many, k=5)
    assert np.isnan([missing.precision, missing.density, missing.coverage]).all()
    assert 0 <= missing.recall <= 1
    missing = prdc(many, few, k=5)
    assert math.isnan(missing.recall)
    assert not np.isnan([missing.precision, missing.density, missing.coverage]).any()
    assert prdc(few, few, k=4) == pytest.approx((1, 1, 5 / 4, 1))
    assert np.isnan(prdc(few[:1], few[:1], k=1)).all()
    assert np.isnan(prdc(few[:0], many, k=1)).all()
    assert np.isnan(prdc(many, few[:0], k=1)).all()


def test_what_the_function_refuses():
    rows = noise(0, 8, 2)
    with pytest.raises(InputError, match="k is 0"):
        prdc(rows, rows, k=0)
    with pytest.raises(InputError, match=r"shapes \(8, 2\) and \(8, 1\)"):
        prdc(rows, rows[:, :1])
    with pytest.raises(InputError, match="vector 3 of 8 holds NaN"):
        prdc(rows, np.where(np.arange(8)[:, None] == 3, np.inf, rows))


def test_derived_by_hand():
    # On a line, k = 1. Real 0, 1, 4 reach 1, 1, 3; generated 2.5, 3.5 reach 1 each. Both generated ones lie within 3 of
    # 4 and in no other ball: precision 1, density 2 / 2, coverage 1/3. Only 4 lies in a generated ball: recall 1/3.
    # F1 = 2 · 1/3 / (4/3).
    found = value(Prdc(k=1), apart(line(0, 1, 4), line(2.5, 3.5)))
    assert found == pytest.approx({"": 0.5, "precision": 1, "recall": 1 / 3, "density": 1, "coverage": 1 / 3})
    assert list(found) == ["", *Prdc.parts]


def test_vectors_of_one_unit_are_no_neighbours():
    # k = 1. Real 0, 1, 10 reach 1, 1, 9; generated 0, 1.5, 30 reach 1.5, 1.5, 28.5.
    rows = side_rows(line(0, 1, 10), line(0, 1.5, 30))
    # Each row a unit: generated 0 lies in the ball of 1 alone, 1.5 in that of 10 alone, 30 in none. Real 0 lies within
    # 1.5 of 1.5, and 1 within 1.5 of 0; 10 would lie in the ball of 30, which is of its unit.
    third = 2 / 3
    expected = {"": third, "precision": third, "recall": third, "density": third, "coverage": third}
    assert value(Prdc(k=1), rows) == pytest.approx(expected)
    # All apart: 0 lies in the balls of 0 and 1, 1.5 in those of 1 and 10; all real ones are recalled.
    expected = {"": 0.8, "precision": third, "recall": 1, "density": 4 / 3, "coverage": 1}
    assert value(Prdc(k=1), apart(line(0, 1, 10), line(0, 1.5, 30))) == pytest.approx(expected)


@pytest.mark.parametrize("k", [1, 5])
def test_equals_the_function(k):
    real, generated = noise(0, 40, 4), noise(1, 40, 4, shift=0.4)
    unit = np.arange(40, dtype=np.uint64) // 3
    found = value(Prdc(k=k), side_rows(real, generated, unit))
    expected = prdc(real, generated, k, (unit, unit))
    precision, recall = expected.precision, expected.recall
    assert found == {"": pytest.approx(2 * precision * recall / (precision + recall)), **expected._asdict()}
    assert found != pytest.approx(value(Prdc(k=k), apart(real, generated)))


def test_encoded_texts():
    real, generated = noise(2, 20, 3).astype(np.float32), noise(3, 20, 3).astype(np.float32)
    metric, corpus = placed(Prdc(k=3), {"s": (real, generated)})
    rows = metric.measure(corpus.turns)
    assert value(metric, rows) == pytest.approx(value(metric, side_rows(real, generated)))
    assert "|k:3|" in metric.signature


def test_nothing_in_common():
    found = value(Prdc(), apart(noise(4, 20, 3), noise(5, 20, 3, shift=99)))
    assert found == {"": 0, "precision": 0, "recall": 0, "density": 0, "coverage": 0}


def test_too_few_vectors():
    few, many = noise(6, 5, 3), noise(7, 12, 3)
    found = value(Prdc(), apart(many, few))
    assert [name for name, of in found.items() if math.isnan(of)] == ["", "recall"]
    found = value(Prdc(), apart(few, many))
    assert [name for name, of in found.items() if math.isnan(of)] == ["", "precision", "density", "coverage"]
    for rows in (apart(few, few), apart(few[:0], many), apart(many, few[:0]), apart(few, few)[:0]):
        assert all(map(math.isnan, value(Prdc(), rows).values()))
    assert not math.isnan(value(Prdc(k=4), apart(few, few))[""])


def test_too_few_units():
    rows = side_rows(noise(8, 12, 3), noise(9, 12, 3))
    # Twelve vectors of two dialogues: six of the other one are enough for five neighbours, not for seven.
    two = with_units(rows, np.arange(12) % 2)
    assert not any(map(math.isnan, value(Prdc(k=5), two).values()))
    assert all(map(math.isnan, value(Prdc(k=7), two).values()))
    assert all(map(math.isnan, value(Prdc(k=1), with_units(rows, np.zeros(12))).values()))


def test_sides_in_each_others_place():
    metric, rows = Prdc(k=2), shuffled(side_rows(noise(10, 18, 3), noise(11, 18, 3, shift=0.8), np.arange(18) // 2))
    summaries = [metric.summarise(rows[i : i + 6]) for i in (0, 6, 12)]
    there, back = np.array([[TO_REAL, TO_GENERATED]] * 3), np.array([[TO_GENERATED, TO_REAL]] * 3)
    one, other = metric.recombine(summaries, [there, back])
    assert one == pytest.approx(value(metric, rows))
    assert one["precision"] != one["recall"]
    assert (other[""], other["precision"], other["recall"]) == (one[""], one["recall"], one["precision"])


def test_more_vectors_than_are_looked_at(monkeypatch):
    rows = side_rows(noise(12, 60, 3), noise(13, 60, 3))
    whole = value(Prdc(), rows)
    assert Prdc().caveats(Prdc().summarise(rows)) == []
    monkeypatch.setattr(module, "LIMIT", 25)
    metric = Prdc()
    summary = metric.summarise(rows)
    assert (summary.n, summary.real.n, len(summary.real.rows), len(summary.generated.rows)) == (60, 60, 25, 25)
    assert metric.conclude(summary) == pytest.approx(value(metric, shuffled(rows)))
    assert metric.conclude(summary) == pytest.approx(
        metric.conclude(metric.summarise(rows[40:]) + metric.summarise(rows[:40]))
    )
    assert metric.conclude(summary) != pytest.approx(whole)
    assert [caveat.code for caveat in metric.caveats(summary)] == ["bounded_sample"]


def test_bounds():
    metric = Prdc()
    assert [metric.limits(part) for part in ("", "precision", "recall", "coverage")] == [(0, 1)] * 4
    assert metric.limits("density") == (0, math.inf)
    # Three real balls around each generated vector, for k = 1.
    rows = apart(line(0, 1, 2, 3, 4), line(1, 2, 3))
    assert value(Prdc(k=1), rows)["density"] == pytest.approx(3)
    assert [metric.rate(nearer) for nearer in (1, math.sqrt(2), 2, 9, 0.5, 0)] == pytest.approx([0, 0.5, 1, 1, 0, 0])
    assert metric.ideal == 1


def test_errors_say_what_was_found():
    with pytest.raises(InputError, match="k is 0; the number of neighbours must be at least 1"):
        value(Prdc(k=0), side_rows(line(0, 1), line(0, 1), units(0, 1)))
