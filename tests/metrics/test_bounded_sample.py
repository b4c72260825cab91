"""A bounded draw comes out the same in whatever order and parts the rows come in."""

from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.metrics.bounded_sample import bounded_caveats, bounded_together, draw, total
from dialogauge.metrics.distance.paired_rows import PairedSummary, join_rows
from tests.metrics.distance.rows import apart, line, noise, shuffled, side_rows, units


def kept(sample):
    """What was drawn, in no order."""
    told = zip(sample.keys.tolist(), sample.rows.tolist(), sample.units.tolist(), strict=True)
    return sample.n, sample.limit, sorted(told)


def pairs(n=40, d=3):
    return side_rows(noise(0, n, d), noise(1, n, d), np.arange(n) // 2)


def test_keys_are_hashes_of_the_rows_vectors():
    rows = side_rows(line(1, 2, 3), line(4, 5), units(7, 8), counts=[2, 1])
    of_unit = [unit.tobytes() for unit in rows.unit]
    # The generated vectors are not in it: the same rows are drawn for all systems.
    told = (of_unit[0] + line(1, 2).tobytes(), of_unit[1] + line(3).tobytes())
    first, second = (np.frombuffer(blake2b(text, digest_size=8).digest(), dtype=np.uint64)[0] for text in told)
    real, generated = draw(rows, 10)
    # The real and the generated vector of a row have one key.
    assert real.keys.tolist() == [first, first, second]
    assert generated.keys.tolist() == [first, second]
    assert real.rows.ravel().tolist() == [1, 2, 3]
    assert generated.rows.ravel().tolist() == [4, 5]
    assert real.units.tolist() == [7, 7, 8]
    assert generated.units.tolist() == [7, 8]


def test_the_smallest_keys_are_kept():
    rows = pairs()
    everything, _ = draw(rows, 40)
    assert len(everything.keys) == 40
    for sample, whole in zip(draw(rows, 15), draw(rows, 40), strict=True):
        assert sorted(sample.keys) == sorted(whole.keys)[:15]
        assert sample.n == 40
        # Rows and units go with their keys.
        chosen = np.isin(whole.keys, sample.keys)
        np.testing.assert_array_equal(sample.rows, whole.rows[chosen])
        np.testing.assert_array_equal(sample.units, whole.units[chosen])


def test_both_vectors_of_a_row_are_drawn_together():
    real, generated = draw(pairs(), 11)
    assert sorted(real.keys) == sorted(generated.keys)
    assert len(real.keys) == 11


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    limit=st.integers(1, 45), seed=st.integers(0, 99), ends=st.lists(st.integers(0, 40), max_size=5), turn=st.booleans()
)
def test_order_and_parts_never_matter(limit, seed, ends, turn):
    rows = shuffled(pairs(), seed)
    parts = [rows[np.array(places, dtype=np.int64)] for places in np.split(np.arange(40), sorted(ends))]
    sides = list(zip(*(draw(part, limit) for part in parts), strict=True))
    for whole, samples in zip(draw(pairs(), limit), sides, strict=True):
        samples = samples[::-1] if turn else samples
        assert kept(total(samples)) == kept(whole)
        one_by_one = samples[0]
        for sample in samples[1:]:
            one_by_one = one_by_one + sample
        assert kept(one_by_one) == kept(whole)
        # Cut back together they hold what their sum holds, each its own.
        both = bounded_together([PairedSummary(0, 0, sample, sample.empty()) for sample in samples])
        together = [summary.real for summary in both]
        assert kept(total(together))[2] == kept(whole)[2]
        assert sum(len(sample.keys) for sample in together) == min(limit, 40)
        assert all(np.isin(left.keys, sample.keys).all() for left, sample in zip(together, samples, strict=True))


def test_every_row_has_the_same_chance():
    # 400 draws of 10 rows of 40: each row is drawn 100 times on average, with a spread of sqrt(400 · 1/4 · 3/4) = 8.7.
    counts = np.zeros(40)
    for seed in range(400):
        rows = side_rows(np.column_stack([np.arange(40.0), np.full(40, seed)]), np.zeros((40, 2)))
        counts[draw(rows, 10)[0].rows[:, 0].astype(int)] += 1
    assert counts.sum() == 4000
    assert np.abs(counts - 100).max() < 4 * 8.7


def test_equal_rows_count_each_time():
    rows = side_rows(line(1, 1, 1, 2), line(5, 5, 5, 6), units(7, 7, 7, 7))
    real, generated = draw(rows, 10)
    assert real.n == len(real.keys) == 4
    assert len(set(real.keys.tolist())) == 2
    real, generated = draw(rows[:3], 2)
    assert (real.n, real.rows.ravel().tolist(), generated.rows.ravel().tolist()) == (3, [1, 1, 1], [5, 5, 5])


def test_rows_with_one_side_alone_and_none():
    rows = apart(noise(0, 5, 2), noise(1, 3, 2))
    real, generated = draw(rows, 10)
    np.testing.assert_array_equal(real.rows, noise(0, 5, 2))
    np.testing.assert_array_equal(generated.rows, noise(1, 3, 2))
    assert not set(real.units.tolist()) & set(generated.units.tolist())
    real, generated = draw(rows[:0], 10)
    assert (real.n, real.rows.shape, generated.n, generated.rows.shape) == (0, (0, 2), 0, (0, 2))
    assert kept(total([real, *draw(rows, 10)[:1]])) == kept(draw(rows, 10)[0])
    nothing = draw(rows, 7)[0].empty()
    assert (nothing.n, nothing.limit, nothing.rows.shape) == (0, 7, (0, 2))


def test_a_draw_is_told():
    def summary(n, m):
        return PairedSummary(m, 0, *draw(apart(noise(0, n, 2), noise(1, m, 2)), 6))

    assert bounded_caveats("mmd", summary(6, 6)) == []
    for sizes in ((7, 2), (2, 7)):
        (caveat,) = bounded_caveats("mmd", summary(*sizes))
        assert caveat.code == "bounded_sample"
        assert "mmd: of each system's vectors at most 6 a side" in caveat.message
    # The number of all is known of a sum whose parts were within the limit.
    joined = summary(5, 5) + summary(4, 4)
    assert len(bounded_caveats("mmd", joined)) == 1
    assert joined.real.n == 9


@pytest.mark.parametrize("limit", [3, 100])
def test_joined_rows_have_the_keys_of_their_batches(limit):
    rows = pairs(10)
    whole = draw(rows, limit)
    joined = draw(join_rows([rows[6:], rows[:6]]), limit)
    assert [kept(side) for side in joined] == [kept(side) for side in whole]
