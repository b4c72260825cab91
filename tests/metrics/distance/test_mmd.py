"""MMD through its class: pairs of one unit left out, no bias for it, and sums that recombine."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dialogauge.corpus import Corpus
from dialogauge.errors import InputError
from dialogauge.metrics.distance import mmd as module
from dialogauge.metrics.distance.distribution import OUT, TO_GENERATED, TO_REAL
from dialogauge.metrics.distance.mmd import Mmd, median_distance
from tests.metrics.distance.rows import apart, line, noise, placed, shuffled, side_rows, units, value, with_units

METRICS = {"polynomial": Mmd(), "gaussian": Mmd(kernel="gaussian", bandwidth=1.7)}
every_kernel = pytest.mark.parametrize("kernel", METRICS)


def of_pair(kernel, a, b):
    if kernel == "polynomial":
        return (sum(x * y for x, y in zip(a, b, strict=True)) / len(a) + 1) ** 3
    return math.exp(-(math.dist(a, b) ** 2) / (2 * 1.7**2))


def by_loops(kernel, real, generated):
    """Of two lists of (vector, unit), over pairs of different units."""

    def mean(left, right):
        values = [of_pair(kernel, a, b) for a, unit in left for b, other in right if unit != other]
        return sum(values) / len(values)

    return mean(real, real) + mean(generated, generated) - 2 * mean(real, generated)


def told(vectors, unit):
    return list(zip(vectors.tolist(), np.asarray(unit).tolist(), strict=True))


@every_kernel
@pytest.mark.parametrize("size", [1, 3, 6], ids=["contexts", "dialogues of 3", "dialogues of 6"])
@pytest.mark.parametrize("d", [1, 5])
def test_equals_plain_loops(kernel, size, d):
    real, generated = noise(0, 14, d), noise(1, 14, d, shift=0.4)
    unit = np.arange(14) // size
    found = value(METRICS[kernel], side_rows(real, generated, unit))
    assert list(found) == [""]
    assert found[""] == pytest.approx(by_loops(kernel, told(real, unit), told(generated, unit)), rel=1e-10)


@every_kernel
def test_equals_plain_loops_with_sides_of_their_own(kernel):
    real, generated = noise(2, 9, 4), noise(3, 16, 4, shift=0.4)
    found = value(METRICS[kernel], apart(real, generated))[""]
    assert found == pytest.approx(by_loops(kernel, told(real, range(9)), told(generated, range(9, 25))), rel=1e-10)


def test_derived_by_hand():
    # On a line k(x, y) = (xy + 1)³: k(0, 1) = 1 and k(2, 3) = 343 within; across, without pairs of one row, k(0, 3) = 1
    # and k(1, 2) = 27, with a mean of 14.
    assert value(Mmd(), side_rows(line(0, 1), line(2, 3)))[""] == pytest.approx(1 + 343 - 2 * 14)
    # With all apart k(0, 2) = 1 and k(1, 3) = 64 count as well: a mean of 93 / 4.
    assert value(Mmd(), apart(line(0, 1), line(2, 3)))[""] == pytest.approx(1 + 343 - 2 * 93 / 4)
    # Gaussian with 2σ² = 1: e⁻¹ within, e⁻⁹ and e⁻¹ across.
    metric = Mmd(kernel="gaussian", bandwidth=math.sqrt(0.5))
    expected = 2 * math.exp(-1) - (math.exp(-9) + math.exp(-1))
    assert value(metric, side_rows(line(0, 1), line(2, 3)))[""] == pytest.approx(expected)


def test_too_few_units():
    vectors = noise(4, 6, 3)
    rows = side_rows(vectors, vectors + 1)
    assert math.isnan(value(Mmd(), rows[:1])[""])
    assert math.isnan(value(Mmd(), rows[:0])[""])
    assert math.isnan(value(Mmd(), with_units(rows, np.zeros(6)))[""])
    assert math.isnan(value(Mmd(), apart(vectors[:1], vectors))[""])
    assert math.isnan(value(Mmd(), apart(vectors, vectors[:1]))[""])
    assert not math.isnan(value(Mmd(), with_units(rows, [0, 0, 0, 0, 0, 1]))[""])


def independent(rng):
    return side_rows(*rng.normal(size=(2, 10, 3)))


def paired(rng):
    """The real and the generated vector of a row have their context in common."""
    context = rng.normal(size=(10, 3))
    return side_rows(*(context + rng.normal(size=(2, 10, 3)) * 0.5))


def clustered(rng):
    """Dialogues of two to four rows, all near one place."""
    unit = np.repeat(np.arange(5), [2, 4, 3, 3, 2])
    place = rng.normal(size=(5, 3))[unit]
    return side_rows(*(place + rng.normal(size=(2, 14, 3)) * 0.5), unit)


@every_kernel
@pytest.mark.parametrize("sample", [independent, paired, clustered])
def test_no_bias_whatever_rows_share(kernel, sample):
    metric = METRICS[kernel]
    rng = np.random.default_rng(5)
    draws = [sample(rng) for _ in range(800)]
    values = np.array([value(metric, rows)[""] for rows in draws])
    error = values.std(ddof=1) / math.sqrt(800)
    assert abs(values.mean()) < 3 * error
    if sample is independent:
        return
    # It takes the units to see to that: with every vector on its own, what they share shows.
    naive = np.array([value(metric, apart(rows.real, rows.generated))[""] for rows in draws])
    assert abs(naive.mean()) > 5 * naive.std(ddof=1) / math.sqrt(800)


@every_kernel
def test_a_difference_shows(kernel):
    rng = np.random.default_rng(6)
    draws = [paired(rng) for _ in range(200)]
    moved = [replace(rows, generated=rows.generated + 0.7) for rows in draws]
    values = np.array([value(METRICS[kernel], rows)[""] for rows in moved])
    assert values.mean() > 8 * values.std(ddof=1) / math.sqrt(200)


UNITS = [3, 0, 1, 0, 2, 3, 3, 1, 4, 2, 4]
PLANS = {
    "as they are": [(TO_REAL, TO_GENERATED)] * 5,
    "exchanged": [(TO_GENERATED, TO_REAL)] * 5,
    "mixed": [
        (TO_GENERATED, TO_REAL),
        (TO_REAL, TO_GENERATED),
        (OUT, TO_REAL),
        (TO_GENERATED, TO_GENERATED),
        (TO_REAL, OUT),
    ],
    "real ones apart": [(where, OUT) for where in (TO_REAL, TO_GENERATED, TO_REAL, TO_GENERATED, TO_REAL)],
}


def by_unit():
    real, generated = noise(7, 11, 3), noise(8, 11, 3, shift=0.5)
    rows = side_rows(real, generated, UNITS)
    return rows, [rows[rows.unit == unit] for unit in range(5)]


@every_kernel
def test_recombined_equals_the_rows_recombined(kernel):
    metric, (_, groups) = METRICS[kernel], by_unit()
    summaries = [metric.summarise(group) for group in groups]
    plans = [np.array(plan, dtype=np.int8) for plan in PLANS.values()]
    for plan, found in zip(PLANS.values(), metric.recombine(summaries, plans), strict=True):
        sides = {TO_REAL: [], TO_GENERATED: [], OUT: []}
        for group, (of_real, of_generated) in zip(groups, plan, strict=True):
            sides[of_real] += told(group.real_vectors, group.unit)
            sides[of_generated] += told(group.generated_vectors, group.unit)
        expected = by_loops(kernel, sides[TO_REAL], sides[TO_GENERATED])
        assert found[""] == pytest.approx(expected, rel=1e-9)


@every_kernel
def test_left_out_equals_the_rows_without(kernel):
    metric, (rows, groups) = METRICS[kernel], by_unit()
    left = list(metric.leave_one_out([metric.summarise(group) for group in groups]))
    assert len(left) == 5
    for unit, found in enumerate(left):
        rest = rows[rows.unit != unit]
        assert found[""] == pytest.approx(value(metric, rest)[""], rel=1e-9)


def test_a_side_to_which_nothing_is_sent():
    metric, (_, groups) = Mmd(), by_unit()
    plan = np.full((5, 2), TO_GENERATED, dtype=np.int8)
    (found,) = metric.recombine([metric.summarise(group) for group in groups], [plan])
    assert math.isnan(found[""])


@every_kernel
def test_a_bounded_draw_is_the_same_in_any_order_and_parts(monkeypatch, kernel):
    metric, rows = METRICS[kernel], side_rows(noise(9, 50, 3), noise(10, 50, 3), np.arange(50) // 2)
    everything = value(metric, rows)[""]
    assert metric.caveats(metric.summarise(rows)) == []
    monkeypatch.setattr(module, "LIMIT", 20)
    whole = metric.summarise(rows)
    assert (whole.n, whole.real.n, len(whole.real.rows), len(whole.generated.rows)) == (50, 50, 20, 20)
    expected = metric.conclude(whole)[""]
    assert expected != pytest.approx(everything)
    for seed in range(3):
        mixed = shuffled(rows, seed)
        parts = [metric.summarise(mixed[start : start + 9]) for start in range(0, 50, 9)]
        added = parts[0]
        for part in parts[1:]:
            added = added + part
        back = parts[-1]
        for part in parts[-2::-1]:
            back = back + part
        (together,) = metric.recombine(parts, [np.array([(TO_REAL, TO_GENERATED)] * 6, dtype=np.int8)])
        assert together[""] == pytest.approx(expected, rel=1e-9)
        for found in (metric.summarise(mixed), added, back):
            assert metric.conclude(found)[""] == pytest.approx(expected, rel=1e-9)
    assert [caveat.code for caveat in metric.caveats(whole)] == ["bounded_sample"]
    assert "at most 20 a side" in metric.caveats(whole)[0].message


def test_the_bandwidth_is_the_median_distance_of_real_vectors():
    real, generated = noise(11, 12, 3).astype(np.float32), noise(12, 12, 3, shift=9).astype(np.float32)
    metric, corpus = placed(Mmd(kernel="gaussian"), {"s": (real, generated)})
    apart_by = [math.dist(a, b) for i, a in enumerate(real) for b in real[:i]]
    assert metric.metric.bandwidth == metric.known.sigma == pytest.approx(np.median(apart_by), rel=1e-6)
    assert f"|sigma:{metric.known.sigma:.6g}|" in metric.signature
    given = Mmd(kernel="gaussian", bandwidth=metric.known.sigma)
    rows = metric.measure(corpus.turns)
    assert value(metric, rows) == value(given, rows)
    assert value(metric, rows) != value(Mmd(kernel="gaussian", bandwidth=2 * metric.known.sigma), rows)


def test_a_text_counts_once_for_the_bandwidth():
    real, generated = noise(13, 8, 3), noise(14, 8, 3)
    metric, corpus = placed(Mmd(kernel="gaussian"), {"s": (real, generated)})
    encoders = SimpleNamespace(get=lambda *_: metric.encoder)
    often = Corpus([*corpus.turns, *(replace(corpus.turns[i % 2], id=f"x{i}") for i in range(9))])
    assert Mmd(kernel="gaussian").prepare(often, encoders=encoders).known.sigma == metric.known.sigma
    assert (
        Mmd(kernel="gaussian").prepare(Corpus(often.turns[::-1]), encoders=encoders).known.sigma == metric.known.sigma
    )


def test_the_bandwidth_of_real_conversations():
    vectors, real = noise(15, 6, 3), noise(16, 9, 3) * 5
    metric, _ = placed(Mmd(kernel="gaussian"), {"s": (vectors, vectors)}, real)
    expected = median_distance(real.astype(np.float32), real[:0].astype(np.float32))
    assert metric.known.sigma == pytest.approx(expected, rel=1e-6)


def test_what_is_learnt_and_what_is_given():
    vectors = noise(17, 6, 3)
    assert Mmd(kernel="gaussian").learns
    for metric in METRICS.values():
        assert not metric.learns
        ready, _ = placed(metric, {"s": (vectors, vectors)})
        assert ready.metric is metric
        assert "sigma" not in ready.signature
    ready, _ = placed(METRICS["gaussian"], {"s": (vectors, vectors)})
    assert "|kernel:gaussian|bandwidth:1.7|" in ready.signature


def test_what_scores_are_about():
    metric = Mmd()
    assert (metric.grows, metric.interval_of, metric.judged) == (False, "population", ("",))
    assert metric.limits("") == (-math.inf, math.inf)
    assert metric.rate(0) == metric.rate(4) == 1


def test_errors_say_what_was_found():
    vectors = noise(18, 6, 3)
    wrong = [("polynomial", 2.0), *(("gaussian", width) for width in (0.0, -1.0, math.nan, math.inf, 1e-300))]
    for kernel, bandwidth in wrong:
        with pytest.raises(InputError, match=r"a bandwidth above 0 goes with kernel=gaussian; found mmd\[.*bandwidth="):
            Mmd(kernel=kernel, bandwidth=bandwidth)
    broken = vectors.copy()
    broken[2, 1] = math.nan
    with pytest.raises(InputError, match="vector 2 of 12 holds NaN"):
        value(Mmd(), side_rows(broken, vectors, units(*range(6))))
