from itertools import zip_longest

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dialogauge.encode.transformer import SPREAD, batches

LENGTHS = st.lists(st.integers(2, 60) | st.sampled_from([10, 11, 12, 500]), max_size=60)


def test_values_derived_by_hand():
    # By length 9 8 3 3 2. Two of up to 9 are 18 tokens, three would be 27; two of 3 and one of 2 are 9.
    lengths = [3, 9, 2, 8, 3]
    assert [batch.tolist() for batch in batches(lengths, budget=20, enough=20)] == [[1, 3], [0, 4, 2]]
    # 8 tokens are enough, 9 is more than a tenth above 8, and 8 above 3; 6 are not enough to leave out the 2.
    assert [batch.tolist() for batch in batches(lengths, budget=20, enough=8)] == [[1], [3], [0, 4, 2]]
    # 10 is within a tenth of 11, and 9 of neither 10 nor 11: what counts is the longest, which all are padded to.
    assert [batch.tolist() for batch in batches([9, 10, 11], budget=99, enough=1)] == [[2, 1], [0]]


def test_no_text_and_one_text():
    assert list(batches([], 16, 4)) == []
    assert [batch.tolist() for batch in batches([99], 16, 4)] == [[0]]


def test_texts_of_one_length_keep_their_order():
    (batch,) = batches([7] * 50, 4096, 1024)
    assert batch.tolist() == list(range(50))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(LENGTHS, st.integers(1, 200), st.integers(1, 200))
@example([10, 11], 200, 11)
def test_properties(lengths, budget, enough):
    found = list(batches(lengths, budget, enough))
    assert sorted(place for batch in found for place in batch.tolist()) == list(range(len(lengths)))
    in_order = [lengths[place] for batch in found for place in batch]
    assert in_order == sorted(lengths, reverse=True)
    for batch, following in zip_longest(found, found[1:]):
        longest = lengths[batch[0]]
        assert longest * len(batch) <= budget or len(batch) == 1
        if following is not None:  # it was closed for a reason
            full = longest * (len(batch) + 1) > budget
            wasteful = longest * len(batch) >= enough and longest > SPREAD * lengths[following[0]]
            assert full or wasteful


@settings(max_examples=100, deadline=None, derandomize=True)
@given(LENGTHS, st.integers(1, 200), st.integers(1, 200))
def test_without_padding_a_batch_is_of_one_length(lengths, budget, enough):
    found = list(batches(lengths, budget, enough, padding=False))
    assert sorted(place for batch in found for place in batch.tolist()) == list(range(len(lengths)))
    for batch, following in zip_longest(found, found[1:]):
        (length,) = {lengths[place] for place in batch}
        assert length * len(batch) <= budget or len(batch) == 1
        if following is not None:  # it was closed for a reason
            assert length * (len(batch) + 1) > budget or lengths[following[0]] < length


def test_an_array_of_lengths():
    assert [batch.tolist() for batch in batches(np.array([2, 5, 3]), 10, 10)] == [[1, 2], [0]]
