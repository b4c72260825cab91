"""Replies made worse: each way does what it says, and nothing else."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.learned.gauge.worsen import BROKEN, Exchange, cut, drop, graft, insert, parrot, shuffle, stutter

TEXT = st.lists(st.sampled_from("the a cat dog runs home . ? 你好 it's".split()), min_size=1, max_size=12).map(" ".join)
SEEDS = st.integers(0, 2**32)
examples = settings(max_examples=150, deadline=None, derandomize=True)


def made(way, reply, seed=0, elsewhere="x y z w", context=("one two three four",)):
    return way(Exchange(context, reply, elsewhere), np.random.default_rng(seed))


def is_part(short, long):
    """Whether the words of the one stand in the other, in the same order."""
    rest = iter(long)
    return all(word in rest for word in short)


@examples
@given(reply=TEXT, seed=SEEDS)
def test_shuffling_keeps_every_word(reply, seed):
    assert Counter(made(shuffle, reply, seed).split()) == Counter(reply.split())


@examples
@given(reply=TEXT, seed=SEEDS)
def test_cutting_keeps_one_end(reply, seed):
    words, left = reply.split(), made(cut, reply, seed).split()
    assert left in (words[: len(left)], words[len(words) - len(left) :])
    assert len(left) == len(words) if len(words) < 3 else 1 <= len(left) < len(words)


@examples
@given(reply=TEXT, seed=SEEDS)
def test_a_stutter_says_a_stretch_again(reply, seed):
    words, said = reply.split(), made(stutter, reply, seed).split()
    assert is_part(words, said)
    assert 1 <= len(said) - len(words) <= 12
    assert set(said) == set(words)


@examples
@given(reply=TEXT, seed=SEEDS)
def test_what_is_inserted_comes_from_elsewhere(reply, seed):
    words, said = reply.split(), made(insert, reply, seed).split()
    added = Counter(said) - Counter(words)
    assert set(added) <= set("xyzw")
    assert max(1, len(words) // 4) <= added.total() <= max(1, len(words) // 2)
    assert [word for word in said if word not in "xyzw"] == words


@examples
@given(reply=TEXT, seed=SEEDS)
def test_a_third_is_dropped(reply, seed):
    words, left = reply.split(), made(drop, reply, seed).split()
    assert is_part(left, words)
    assert len(words) - len(left) == (0 if len(words) < 3 else len(words) // 3)


@examples
@given(reply=TEXT, seed=SEEDS)
def test_a_graft_ends_as_another_reply(reply, seed):
    words, said = reply.split(), made(graft, reply, seed).split()
    assert said[-2:] == ["z", "w"]
    kept = said[:-2]
    assert kept == words[: len(kept)]
    assert len(kept) >= len(words) / 3


def test_a_parrot_says_the_context_back():
    context = ("first thing said", "one two three four")
    said = Counter(made(parrot, "no", seed, context=context) for seed in range(200))
    assert set(said) == {*context, "three four"}  # of three words there is no second half
    assert said["one two three four"] + said["three four"] > 150


@pytest.mark.parametrize("way", BROKEN)
def test_same_seed_same_reply(way):
    reply = "i would like the soup and a piece of bread"
    assert made(way, reply, 3) == made(way, reply, 3)
    assert len({made(way, reply, seed) for seed in range(20)}) > 1


@pytest.mark.parametrize("way", BROKEN)
@pytest.mark.parametrize("reply", ["no", "yes please", "😀"])
@pytest.mark.parametrize("elsewhere", ["", "x"])
def test_short_replies(way, reply, elsewhere):
    for seed in range(10):
        assert made(way, reply, seed, elsewhere=elsewhere)
