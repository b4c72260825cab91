"""Rows of real and generated vectors: taken, repeated, joined and put on disk without a vector out of place."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.metrics.distance.fbd import Fbd
from dialogauge.metrics.distance.paired_rows import NONE, PairedSummary, join_rows, repeated
from tests.metrics.distance.rows import noise, side_rows, units


def ragged():
    """Vectors 0 to 5 are real, 10 to 13 generated; the second row has no real vector."""
    real, generated = np.arange(6.0)[:, None], np.arange(10.0, 14.0)[:, None]
    return side_rows(real, generated, [7, 7, 8, 9], counts=[2, 0, 1, 3], cut=[True, False, False, True])


def told(rows):
    """What each row holds, as plain lists."""
    return [
        (
            rows.real[rows.first[i] : rows.last[i]].ravel().tolist(),
            None if rows.place[i] == NONE else rows.generated[rows.place[i]].tolist(),
            int(rows.unit[i]),
            bool(rows.cut[i]),
        )
        for i in range(len(rows))
    ]


def test_rows_by_hand():
    rows = ragged()
    assert len(rows) == 4
    assert told(rows) == [
        ([0, 1], [10], 7, True),
        ([], [11], 7, False),
        ([2], [12], 8, False),
        ([3, 4, 5], [13], 9, True),
    ]
    assert rows.counts.tolist() == [2, 0, 1, 3]
    assert rows.real_vectors.ravel().tolist() == [0, 1, 2, 3, 4, 5]
    assert rows.generated_vectors.ravel().tolist() == [10, 11, 12, 13]


@pytest.mark.parametrize(
    ("index", "real", "generated"),
    [
        pytest.param(slice(1, 3), [2], [11, 12], id="slice"),
        pytest.param(slice(None, None, -1), [3, 4, 5, 2, 0, 1], [13, 12, 11, 10], id="backwards"),
        pytest.param(np.array([3, 0, 3]), [3, 4, 5, 0, 1, 3, 4, 5], [13, 10, 13], id="repeats"),
        pytest.param(np.array([False, True, False, True]), [3, 4, 5], [11, 13], id="mask"),
        pytest.param(np.array([1, 1]), [], [11, 11], id="no real vector"),
        pytest.param(np.array([], dtype=np.int64), [], [], id="nothing"),
    ],
)
def test_rows_taken_hold_the_same_vectors(index, real, generated):
    rows = ragged()
    taken = rows[index]
    assert taken.real_vectors.ravel().tolist() == real
    assert taken.generated_vectors.ravel().tolist() == generated
    assert told(taken) == [told(rows)[i] for i in np.arange(4)[index]]
    assert taken.real_vectors.shape[1:] == taken.generated_vectors.shape[1:] == (1,)
    # The vectors are shared, however few of the rows are left.
    assert taken.real is rows.real
    assert taken.generated is rows.generated


def test_taken_from_what_was_taken():
    assert ragged()[np.array([3, 2, 0])][1:].real_vectors.ravel().tolist() == [2, 0, 1]


def test_weights_are_repetitions():
    rows = ragged()
    assert repeated(rows, None) is rows
    assert told(repeated(rows, np.array([2.0, 0.0, 1.0, 0.0]))) == [told(rows)[i] for i in (0, 0, 2)]


def test_rows_without_generated_vectors():
    rows = side_rows(noise(0, 3, 2), np.empty((0, 2)))
    assert rows.place.tolist() == [NONE] * 3
    assert rows.generated_vectors.shape == (0, 2)
    assert len(rows[1:].real_vectors) == 2


def batches():
    """Real vectors alone, then generated ones alone, then both."""
    vectors = noise(0, 9, 2)
    return [
        side_rows(vectors[:3], vectors[:0], [1, 2, 3]),
        side_rows(vectors[:0], vectors[3:5], [4, 5], counts=[0, 0]),
        side_rows(vectors[5:7], vectors[7:9], [6, 7]),
    ]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_joined_rows_are_those_of_the_batches(data):
    parts = []
    for batch in data.draw(st.lists(st.sampled_from([*batches()[:2], batches()[2][::-1]]), min_size=1, max_size=5)):
        index = data.draw(st.lists(st.integers(0, len(batch) - 1), max_size=4))
        parts.append(batch[np.array(index, dtype=np.int64)])
    joined = join_rows(parts)
    assert told(joined) == [row for part in parts for row in told(part)]
    vectors = [
        np.concatenate([getattr(part, name) for part in parts]) for name in ("real_vectors", "generated_vectors")
    ]
    np.testing.assert_array_equal(joined.real_vectors, vectors[0])
    np.testing.assert_array_equal(joined.generated_vectors, vectors[1])


def test_batches_of_one_measurement():
    real, generated = noise(1, 12, 3), noise(2, 5, 3)
    counts = np.array([4, 0, 3, 1, 4])
    ends = np.cumsum(counts)
    whole = side_rows(real, generated, [3, 1, 4, 1, 5], counts, cut=[1, 0, 0, 1, 0])
    parts = [
        side_rows(
            real[ends[i] - counts[i] : ends[j]],
            generated[i : j + 1],
            whole.unit[i : j + 1],
            counts[i : j + 1],
            whole.cut[i : j + 1],
        )
        for i, j in ((0, 1), (2, 2), (3, 4))
    ]
    joined = join_rows(parts)
    assert told(joined) == told(whole)
    np.testing.assert_array_equal(joined.real, real)


def test_vectors_that_one_batch_alone_has_are_not_copied():
    alone, responses, both = batches()
    joined = join_rows([alone, responses])
    assert joined.real is alone.real
    assert joined.generated is responses.generated
    joined = join_rows([responses, responses[:0], alone])
    assert joined.real is alone.real
    # Two batches that have some: all vectors are needed in one place.
    assert len(join_rows([alone, both]).real) == 5
    assert join_rows([alone, both]).generated is both.generated
    assert told(join_rows([both])) == told(both)


def test_sums_add_side_by_side():
    left, right = PairedSummary(2, 1, real=10, generated=100), PairedSummary(3, 4, real=20, generated=200)
    assert left + right == PairedSummary(5, 5, real=30, generated=300)


def test_only_rows_with_a_generated_vector_are_counted():
    alone, responses, _ = batches()
    rows = join_rows([alone, side_rows(responses.real, responses.generated, [4, 5], [0, 0], cut=[True, False])])
    rows.cut[:2] = True
    summary = Fbd().summarise(rows)
    assert (summary.n, summary.cut, summary.real.n, summary.generated.n) == (2, 1, 3, 2)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(ragged(), id="ragged"),
        pytest.param(ragged()[np.array([3, 1, 3])], id="taken twice"),
        pytest.param(join_rows(batches())[::-1], id="with and without generated vectors"),
        pytest.param(batches()[0], id="real alone"),
        pytest.param(ragged()[:0], id="no rows"),
    ],
)
def test_packed_and_unpacked(rows):
    arrays = Fbd().pack(rows)
    assert len(arrays["real"]) == rows.counts.sum()  # and none of the vectors that no row holds
    assert len(arrays["generated"]) == (rows.place != NONE).sum()
    back = Fbd().unpack(arrays)
    assert told(back) == told(rows)
    assert told(back[::-1]) == told(rows[::-1])
    assert Fbd().pack(back).keys() == arrays.keys()
    for name, array in Fbd().pack(back).items():
        np.testing.assert_array_equal(array, arrays[name])
        assert array.dtype == arrays[name].dtype


@pytest.mark.parametrize("name", ["real", "counts", "generated", "has_generated", "unit", "cut"])
@pytest.mark.parametrize("change", [lambda a: a[:-1], lambda a: np.concatenate([a, a[-1:]])], ids=["short", "long"])
def test_arrays_that_do_not_fit_are_refused(name, change):
    arrays = Fbd().pack(join_rows(batches()))
    with pytest.raises(ValueError, match="vectors of fbd do not fit together"):
        Fbd().unpack({**arrays, name: change(arrays[name])})


def test_units_stay_64_bits():
    most = 2**64 - 1
    rows = join_rows([side_rows(noise(0, 1, 2), noise(1, 1, 2), units(most))] * 2)
    assert Fbd().unpack(Fbd().pack(rows)).unit.tolist() == [most, most]
