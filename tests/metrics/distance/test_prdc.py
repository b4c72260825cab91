"""Precision, recall, density and coverage through their class."""

import math

import numpy as np
import pytest

from dialogauge.errors import InputError
from dialogauge.metrics.distance import prdc as module
from dialogauge.metrics.distance.distribution import TO_GENERATED, TO_REAL
from dialogauge.metrics.distance.neighbours import prdc
from dialogauge.metrics.distance.prdc import Prdc
from tests.metrics.distance.rows import apart, line, noise, placed, shuffled, side_rows, units, value, with_units


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
