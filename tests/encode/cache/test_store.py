"""What becomes of tokens and vectors in the cache: bytes and keys."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dialogauge.encode.base import Coverage, Tokens
from dialogauge.encode.cache.store import Output, Vector, keys, pack, size, unpack

NUMBERS = st.floats(width=32)
"""With infinities, NaN and -0: bytes are bytes."""
COUNTS = st.integers(0, 2**31 - 1)
TEXT = st.text(max_size=8) | st.text(alphabet="a1 \n", max_size=5) | st.sampled_from(["", "\ud800"])


def same(left, right):
    return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()


@settings(max_examples=200, deadline=None, derandomize=True)
@given(arrays.arrays(np.float32, st.integers(0, 40), elements=NUMBERS), COUNTS)
def test_a_vector_comes_back(vector, dropped):
    again = unpack(pack(Vector(vector, dropped, Coverage(dropped, 1, True))))
    assert isinstance(again, Vector)
    assert again.coverage == (dropped, 1, True)
    assert same(again.vector, vector)
    assert again.dropped == dropped


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(1, 12), st.integers(1, 9), COUNTS, st.data())
def test_tokens_come_back(count, width, dropped, data):
    integers = st.integers(-(2**31), 2**31 - 1)
    tokens = Tokens(
        ids=data.draw(arrays.arrays(np.int32, count, elements=integers)),
        offsets=data.draw(arrays.arrays(np.int32, (count, 2), elements=integers)),
        special=data.draw(arrays.arrays(np.bool_, count)),
        states=data.draw(arrays.arrays(np.float32, (count, width), elements=NUMBERS)),
        dropped=dropped,
        coverage=Coverage(dropped, 1, True),
    )
    again = unpack(pack(tokens))
    assert isinstance(again, Tokens)
    for name in ("ids", "offsets", "special", "states"):
        assert same(getattr(again, name), getattr(tokens, name)), name
    assert (again.dropped, again.unknown, again.coverage) == (dropped, 0, (dropped, 1, True))


def test_the_bytes_by_hand():
    # One cut, a vector (-1), 3 tokens of which 2 are unknown, not illegible, then 1.0: 0x3f800000, all little-endian.
    packed = pack(Vector(np.array([1.0], np.float32), 1, Coverage(3, 2)))
    assert packed.hex() == "01000000ffffffff0300000002000000000000000000803f"
    tokens = Tokens(
        np.array([5], np.int32),
        np.array([[2, 3]], np.int32),
        np.array([True]),
        np.array([[1.0]], np.float32),
    )
    # None cut, one token, nothing said of its coverage; its id, where it stands, that it is special; 1.0.
    assert pack(tokens).hex() == "0000000001000000000000000000000000000000050000000200000003000000010000000000803f"


def test_no_tokens():
    none = Tokens(
        np.zeros(0, np.int32), np.zeros((0, 2), np.int32), np.zeros(0, np.bool_), np.zeros((0, 4), np.float32)
    )
    again = unpack(pack(none))
    assert again.ids.shape == again.special.shape == (0,)
    assert again.offsets.shape == (0, 2)
    assert len(again.words) == 0


WAYS = [
    ("m", Output("tokens", 1), "abc"),
    ("m", Output("tokens", 2), "abc"),
    ("m", Output("cls", 1), "abc"),
    ("m", Output("tokens", 11), "bc"),
    ("m", Output("tokens", 1), "1bc"),
    ("m1", Output("tokens", 1), "abc"),
    ("mt", Output("okens", 1), "abc"),
    ("m", Output("tokens", 1), ("abc", "")),
    ("m", Output("tokens", 1), ("", "abc")),
    ("m", Output("tokens", 1), ("a", "bc")),
    ("m", Output("tokens", 1), ("ab", "c")),
    ("m", Output("tokens", 1), "ab c"),
    ("m", Output("tokens", 1), "abc "),
    ("m", Output("tokens", 1), "ABC"),
    ("m", Output("tokens", 1), "e\u0301"),
    ("m", Output("tokens", 1), "é"),
    ("m", Output("tokens", 1), ""),
    ("m", Output("tokens", 1), ("", "")),
]


def test_whatever_could_change_a_vector_changes_the_key():
    found = [keys(encoder, output, [text])[0] for encoder, output, text in WAYS]
    assert len(set(found)) == len(WAYS)
    assert found == [keys(encoder, output, [text])[0] for encoder, output, text in WAYS]
    assert {len(each) for each in found} == {16}


def test_keys_of_many_texts_are_those_of_each():
    texts = ["a", ("a", ""), "", ("", "a"), "a"]
    found = keys("m", Output("cls", 2), texts)
    assert found == [keys("m", Output("cls", 2), [text])[0] for text in texts]
    assert len(set(found)) == 4
    assert keys("m", Output("cls", 2), []) == []


@settings(max_examples=500, deadline=None, derandomize=True)
@given(TEXT | st.tuples(TEXT, TEXT), TEXT | st.tuples(TEXT, TEXT))
@example(("1 a", "b"), ("1", " ab"))
@example("pair 1 ab", ("a", "b"))
@example(("", "1 a"), ("1", "a"))
def test_two_texts_have_two_keys(left, right):
    one, other = keys("m", Output("mean", 3), [left, right])
    assert (one == other) == (left == right)


def test_sizes_go_up_with_the_arrays():
    short, long = (Vector(np.zeros(n, np.float32), 0) for n in (10, 1010))
    assert size(long) - size(short) == 4000
    one, many = (
        Tokens(np.zeros(n, np.int32), np.zeros((n, 2), np.int32), np.zeros(n, bool), np.zeros((n, 8), np.float32))
        for n in (1, 101)
    )
    # 4 bytes of id, 8 of offsets, 1 of special, 32 of states.
    assert size(many) - size(one) == 100 * 45
