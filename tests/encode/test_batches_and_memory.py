"""What a transformer takes at once, and what it keeps at hand."""

from itertools import zip_longest

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dialogauge.encode.transformer import SPREAD, Memory, batches

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


def test_memory_lets_go_of_what_was_used_longest_ago():
    memory = Memory(3, len)
    for name in (b"a", b"b", b"c"):
        memory.put(name, "x")
    assert memory.get(b"a") == "x"
    memory.put(b"d", "x")
    assert [name for name in (b"a", b"b", b"c", b"d") if memory.get(name)] == [b"a", b"c", b"d"]
    assert (len(memory), memory.bytes) == (3, 3)


def test_what_is_put_again_counts_once_and_is_new():
    memory = Memory(3, len)
    memory.put(b"a", "xx")
    memory.put(b"b", "y")
    memory.put(b"a", "z")
    assert (memory.bytes, memory.get(b"a"), memory.get(b"b")) == (2, "z", "y")
    memory.put(b"c", "www")
    assert memory.get(b"c") == "www"
    assert (len(memory), memory.bytes) == (1, 3)


def test_what_is_too_large_pushes_the_others_out_and_stays_until_the_next():
    memory = Memory(3, len)
    memory.put(b"a", "x")
    memory.put(b"b", "yyyyyyy")
    assert (memory.get(b"a"), memory.get(b"b")) == (None, "yyyyyyy")
    memory.put(b"c", "z")
    assert (memory.get(b"b"), memory.get(b"c"), memory.bytes) == (None, "z", 1)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.integers(0, 20), st.lists(st.tuples(st.sampled_from([b"a", b"b", b"c", b"d"]), st.integers(0, 9)), max_size=30)
)
def test_memory_is_bounded_and_never_wrong(limit, puts):
    memory = Memory(limit, len)
    last = {}
    for name, length in puts:
        memory.put(name, "x" * length)
        last[name] = "x" * length
        held = {each: memory.get(each) for each in last if memory.get(each) is not None}
        assert all(last[each] == item for each, item in held.items())
        assert memory.bytes == sum(map(len, held.values()))
        assert memory.bytes <= limit or len(memory) == 1
        assert memory.get(name) == last[name]


def test_nothing_is_found_where_nothing_was_put():
    assert Memory(3, len).get(b"a") is None


@pytest.mark.parametrize("empty", ["", 0])
def test_an_item_that_is_false_is_an_item(empty):
    memory = Memory(3, lambda _: 1)
    memory.put(b"a", empty)
    memory.put(b"a", empty)
    assert memory.get(b"a") == empty
    assert memory.bytes == 1
