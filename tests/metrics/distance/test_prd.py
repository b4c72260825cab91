"""PRD through its class: the four cases of the paper, codebooks for each system, and what it refuses."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dialogauge.corpus import Turn
from dialogauge.errors import InputError
from dialogauge.metrics.distance import prd as module
from dialogauge.metrics.distance.codebooks import codebooks, f_beta, minibatch_codebooks, prd
from dialogauge.metrics.distance.distribution import TO_GENERATED, TO_REAL
from dialogauge.metrics.distance.prd import Prd
from dialogauge.metrics.fbd_paper.vectors import PaperPrd
from tests.metrics.distance.rows import noise, placed, side_rows, value


def modes(seed, places, n=30, d=8):
    """Vectors around far points, as many around each."""
    return np.concatenate([noise(seed + i, n, d, shift=50 * place) for i, place in enumerate(places)]).astype(
        np.float32
    )


def measured(metric, real, generated):
    """The metric and its rows, by way of an encoder that knows where each text lies."""
    ready, corpus = placed(metric, {"s": (real, generated)})
    return ready, ready.measure(corpus.turns)


def order(metric, n, system="s"):
    """The order in which the metric gives the turns of `measured` to its clustering."""
    said = [(f"response {i} {system}", f"reference {i} {system}") for i in range(n)]
    turns = [
        Turn(str(i), response, references=reference, system=system) for i, (response, reference) in enumerate(said)
    ]
    found = metric.asked.survey(turns, metric.known.real is not None)
    return [int(turn.id) for turn in found.samples[system].records]


@pytest.mark.parametrize("kind", [Prd, PaperPrd])
@pytest.mark.parametrize(
    ("real", "generated", "precision", "recall"),
    [
        pytest.param((0, 1), (0, 0), 1, 0.5, id="(a) one mode of two"),
        pytest.param((0, 0), (0, 1), 0.5, 1, id="(b) the opposite"),
        pytest.param((0, 1), (0, 1), 1, 1, id="(c) the same"),
        pytest.param((0, 0), (1, 1), 0, 0, id="(d) disjoint"),
    ],
)
def test_cases_of_section_3_2(kind, real, generated, precision, recall):
    if kind is PaperPrd:
        pytest.importorskip("sklearn", reason="needs scikit-learn")
    metric, rows = measured(kind(clusters=2, runs=3), modes(0, real), modes(10, generated))
    found = value(metric, rows)
    # β = 8 weighs recall more: F8 is nearly recall, F1/8 nearly precision.
    assert found["f8"] == pytest.approx(recall, abs=0.02)
    assert found["f1_8"] == pytest.approx(precision, abs=0.02)
    harmonic = 2 * precision * recall / (precision + recall) if precision else 0
    assert found[""] == pytest.approx(harmonic, abs=2e-3)
    assert found["spread"] == pytest.approx(0, abs=1e-9)
    curve = metric.metric.curve(metric.metric.summarise(rows))
    assert (curve[0].max(), curve[1].max()) == pytest.approx((precision, recall))


def test_derived_by_hand():
    # Codes of one clustering: the real side has shares 1/2, 1/2, 0, the generated one 1/4, 1/4, 1/2. At slope 1/2
    # precision is 1/4 + 1/4 and recall 1: F1 = 2/3, found to the resolution of the angles.
    codes = [np.array(row, dtype=np.int32)[:, None] for row in ([0, 0, 1, 1], [0, 1, 2, 2])]
    found = value(Prd(clusters=3, runs=1), side_rows(*codes))
    assert found[""] == pytest.approx(2 / 3, abs=1e-3)
    # (1 + 64) · 0.5 · 1 / (64 · 0.5 + 1), and with 1/64: 0.5078125 / 1.0078125.
    assert found["f8"] == pytest.approx(32.5 / 33, abs=1e-3)
    assert found["f1_8"] == pytest.approx(0.5078125 / 1.0078125, abs=1e-3)
    # One clustering has no spread.
    assert math.isnan(found["spread"])


@pytest.mark.parametrize("kind", [Prd, PaperPrd])
@pytest.mark.parametrize("seed", [0, 3])
def test_equals_the_function(kind, seed):
    if kind is PaperPrd:
        pytest.importorskip("sklearn", reason="needs scikit-learn")
    real, generated = (side.astype(np.float32) for side in (noise(0, 60, 6), noise(1, 60, 6, shift=0.4)))
    metric, rows = measured(kind(clusters=8, runs=4, seed=seed), real, generated)
    way = order(metric, 60)
    expected = prd(real[way], generated[way], 8, 4, seed, fit=kind.fit)
    found, curve = value(metric, rows), metric.metric.curve(metric.metric.summarise(rows))
    assert (found[""], found["f8"], found["f1_8"]) == pytest.approx((expected.f1, expected.f8, expected.f1_8))
    assert found["spread"] == pytest.approx(expected.run_f1.std(ddof=1), rel=1e-9)
    assert 0 < found["spread"] < 0.2
    np.testing.assert_allclose(curve, (expected.precision, expected.recall), atol=1e-12)
    assert found[""] == f_beta(*curve)


def test_the_curve():
    metric, rows = measured(Prd(clusters=8), noise(2, 50, 4), noise(3, 50, 4, shift=0.5))
    summary = metric.metric.summarise(rows)
    precision, recall = metric.metric.curve(summary)
    assert precision.shape == recall.shape == (1001,)
    assert (np.diff(precision) >= -1e-12).all()
    assert (np.diff(recall) <= 1e-12).all()
    # It passes through the share of both sides that lies together, at slope 1; with sides changed it is mirrored.
    together = np.minimum(summary.real.counts, summary.generated.counts).sum(axis=1).mean() / 50
    assert (precision[500], recall[500]) == pytest.approx((together, together))
    back = metric.metric.curve(replace(summary, real=summary.generated, generated=summary.real))
    np.testing.assert_allclose(back[0][1:-1], recall[::-1][1:-1], atol=1e-9)


def test_sides_in_each_others_place():
    metric, rows = measured(Prd(clusters=6, runs=3), modes(0, (0, 1)), modes(5, (0, 2)))
    summaries = [metric.metric.summarise(rows[i : i + 20]) for i in (0, 20, 40)]
    there, back = np.array([[TO_REAL, TO_GENERATED]] * 3), np.array([[TO_GENERATED, TO_REAL]] * 3)
    one, other = metric.metric.recombine(summaries, [there, back])
    assert one == value(metric, rows)
    assert (other[""], other["f8"], other["f1_8"]) == pytest.approx((one[""], one["f1_8"], one["f8"]), abs=1e-9)


def test_resampling_counts_codes_anew_without_new_clusters():
    metric, rows = measured(Prd(clusters=5, runs=2), noise(4, 30, 3), noise(5, 30, 3))
    assert rows.real.shape == rows.generated.shape == (30, 2)
    assert rows.real.dtype == np.int32
    half = metric.metric.summarise(rows[:15])
    expected = np.stack([np.bincount(rows.real[:15, run], minlength=5) for run in range(2)])
    np.testing.assert_array_equal(half.real.counts, expected)
    assert (half.n, half.real.n, half.generated.n) == (15, 15, 15)


def test_each_system_has_its_own_codebook():
    sides = {"a": (modes(0, (0, 1)), modes(10, (0, 0))), "b": (modes(20, (3, 4)), modes(30, (5, 4)))}
    metric, corpus = placed(Prd(clusters=3, runs=2), sides)
    assert set(metric.known.books) == {"a", "b"}
    for system, (real, generated) in sides.items():
        way = order(metric, len(real), system)
        expected = codebooks(real[way], generated[way], 3, 2, 0, in_order=True)
        np.testing.assert_array_equal(metric.known.books[system], expected)
    # Turns of both at once get the codes they get alone.
    mixed = [turn for pair in zip(*corpus.by_system.values(), strict=True) for turn in pair]
    rows = metric.measure(mixed)
    for place, system in enumerate(sides):
        alone = metric.measure(corpus.by_system[system])
        np.testing.assert_array_equal(rows[place::2].real_vectors, alone.real_vectors)
        np.testing.assert_array_equal(rows[place::2].generated_vectors, alone.generated_vectors)


def test_real_conversations():
    real, generated = modes(0, (0, 0, 1)), modes(10, (0, 0))
    metric, corpus = placed(Prd(clusters=2, runs=3), {"s": (generated, generated)}, real)
    real_order = metric.known.real.order
    expected = codebooks(real[real_order], generated[order(metric, 60)], 2, 3, 0, in_order=True)
    np.testing.assert_array_equal(metric.known.books["s"], expected)
    rows, beside = metric.measure(corpus.turns), metric.real_rows("s")
    assert beside.real.shape == (90, 3)
    assert len(beside.generated_vectors) == 0
    summary = metric.metric.summarise(metric.metric.join([rows, beside]))
    assert (summary.n, summary.real.n, summary.generated.n) == (60, 90, 60)
    expected = prd(real, generated, 2, 3)
    assert metric.metric.conclude(summary)[""] == pytest.approx(expected.f1)
    # One mode of two, which has two thirds of the real vectors.
    assert metric.metric.conclude(summary)["f8"] == pytest.approx(2 / 3, abs=0.02)


def test_many_turns_are_drawn_from_for_the_codebook(monkeypatch):
    real, generated = noise(6, 80, 3), noise(7, 80, 3)
    whole, _ = placed(Prd(clusters=3, runs=2), {"s": (real, generated)})
    monkeypatch.setattr(module, "FIT_ROWS", 20)
    drawn, corpus = placed(Prd(clusters=3, runs=2), {"s": (real, generated)})
    again, _ = placed(Prd(clusters=3, runs=2), {"s": (real, generated)})
    np.testing.assert_array_equal(again.known.books["s"], drawn.known.books["s"])
    assert not np.allclose(drawn.known.books["s"], whole.known.books["s"])
    # All of them are counted.
    assert drawn.metric.summarise(drawn.measure(corpus.turns)).real.n == 80


def test_the_authors_clusters():
    cluster = pytest.importorskip("sklearn.cluster", reason="needs scikit-learn")
    real, generated = (side.astype(np.float32) for side in (noise(8, 40, 5), noise(9, 40, 5)))
    metric, _ = measured(PaperPrd(clusters=4, runs=2, seed=7), real, generated)
    way = order(metric, 40)
    real, generated = real[way], generated[way]
    np.testing.assert_array_equal(metric.known.books["s"], minibatch_codebooks(real, generated, 4, 2, 7))
    state = int(np.random.default_rng(7).integers(2**31, size=2)[1])
    union = np.concatenate([real, generated]).astype(np.float64)
    fit = cluster.MiniBatchKMeans(4, n_init=10, random_state=state).fit(union)
    np.testing.assert_array_equal(metric.known.books["s"][1], fit.cluster_centers_)
    assert metric.signature.startswith("prd|compat:fbd-paper|")
    assert "|kmeans:minibatch-ninit10|" in metric.signature
    ours, _ = measured(Prd(clusters=4, runs=2, seed=7), real, generated)
    assert not np.allclose(ours.known.books["s"], metric.known.books["s"])
    assert "minibatch" not in ours.signature


def test_unequal_sides_are_told():
    def summary(n, m):
        codes = np.zeros((n, 1), dtype=np.int32), np.zeros((m, 1), dtype=np.int32)
        counts = np.full(m, n // m) + (np.arange(m) < n % m)
        return Prd(runs=1).summarise(side_rows(*codes, counts=counts))

    metric = Prd(runs=1, clusters=4)
    assert metric.caveats_of_systems({"a": summary(6, 6), "b": summary(4, 4)}, {"a": 6, "b": 4}) == []
    (caveat,) = Prd(runs=1).caveats_of_systems({"a": summary(6, 6)}, {"a": 6})
    assert caveat.message == "prd[runs=1]: 6 vectors on a side for 20 clusters: most codes are of one vector"
    (caveat,) = metric.caveats_of_systems({"a": summary(6, 6), "b": summary(9, 6)}, {"a": 6, "b": 6})
    assert caveat.code == "unequal_sides"
    assert "6 generated vectors of b against 9 real ones" in caveat.message


def test_an_empty_side():
    codes = np.zeros((3, 10), dtype=np.int32)
    for rows in (
        side_rows(codes, codes[:0]),
        side_rows(codes[:0], codes, counts=[0, 0, 0]),
        side_rows(codes, codes)[:0],
    ):
        found = value(Prd(), rows)
        assert list(found) == ["", "f8", "f1_8", "spread"]
        assert all(map(math.isnan, found.values()))


def test_what_has_a_floor_and_how_it_comes_nearer():
    metric = Prd()
    assert metric.judged == ("", "f8", "f1_8")
    assert metric.rate(2) == metric.rate(9) == 0.5
    assert metric.ideal == 1
    assert metric.learns


def test_errors_say_what_was_found():
    rows = noise(0, 25, 3)
    for options, match in (
        ({"runs": 0}, "prd: runs: expected a whole number from 1 to 1,000, found 0"),
        ({"seed": -1}, "seed: expected a whole number from 0 to .*, found -1"),
        ({"clusters": 0}, "prd: clusters: expected a whole number from 1 to 10,000, found 0"),
        ({"clusters": 999_999_999}, "prd: clusters: expected a whole number from 1 to 10,000, found 999999999"),
        ({"clusters": 10_000, "runs": 11}, "prd: clusters of all runs: .* from 1 to 100,000, found 110000"),
    ):
        with pytest.raises(InputError, match=match):
            measured(Prd(**options), rows, rows)
    metric, corpus = placed(Prd(), {"s": (rows, rows)})
    stranger = replace(corpus.turns[0], system="t")
    both = [corpus.turns[1], stranger]
    with pytest.raises(InputError, match="unknown system that prd has a codebook for 't'"):
        metric.measure(both)
    # A system that is not in the corpus that was looked at (it comes later in a stream) gets a codebook of its own.
    later = metric.introduced(both)
    assert len(later.measure(both)) == 2
    assert set(later.known.books) == {"s", "t"}
    assert set(metric.known.books) == {"s"}
    assert metric.introduced(corpus.turns) is metric
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    with pytest.raises(InputError, match=r"clusters \(20\); found 10"):
        measured(PaperPrd(), rows[:5], rows[5:10])


def test_rounding_of_vectors_changes_nothing():
    """Vectors differ in their last digits with the batch they were encoded in; the clusters must not."""
    real, generated = noise(20, 64, 8), noise(21, 64, 8, shift=0.3)
    rng = np.random.default_rng(22)
    first, _ = measured(Prd(), real, generated)
    nudged = [side + 1e-7 * rng.normal(size=side.shape) for side in (real, generated)]
    second, _ = measured(Prd(), *nudged)
    np.testing.assert_allclose(second.known.books["s"], first.known.books["s"], atol=1e-5)
