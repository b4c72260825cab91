"""What is learned from: which targets each kind of reply has."""

import numpy as np
import pytest

from dialogauge.corpus import Turn
from dialogauge.errors import InputError
from dialogauge.learned.gauge.examples import (
    Examples,
    exchanges_of,
    learned_examples,
    mid_ranks,
    rated_examples,
    same_utterance_replies,
)
from dialogauge.learned.gauge.model import PARTS
from dialogauge.learned.gauge.worsen import BROKEN
from tests.learned.gauge.talk import dialogues

UNKNOWN = np.nan


def turns(conversations):
    return [
        Turn(f"{name}:{place}", said[place], context=tuple(said[:place]), dialogue=str(name))
        for name, said in enumerate(conversations)
        for place in range(1, len(said))
    ]


@pytest.fixture(scope="module")
def examples():
    return learned_examples(turns(dialogues(60)), (), 3, 0)[0]


@pytest.mark.parametrize(
    ("kind", "targets"),
    [
        ("human", (1, 1, 1, 1)),
        ("elsewhere", (0, 0, 1, UNKNOWN)),
        ("same_conversation", (0, 0, 1, UNKNOWN)),
        ("generic", (UNKNOWN, UNKNOWN, 1, 0)),
        ("parrot", (0, 0, UNKNOWN, 0)),
        *((way.__name__, (0, UNKNOWN, 0, UNKNOWN)) for way in BROKEN),
    ],
)
def test_targets_by_kind(examples, kind, targets):
    assert PARTS == ("overall", "relevance", "fluency", "specificity")
    rows = [row for row, name in enumerate(examples.kinds) if name == kind]
    assert rows
    np.testing.assert_array_equal(examples.targets[rows], [targets] * len(rows))


def test_no_reply_of_people_is_taught_as_bad(examples):
    """Where what was drawn happens to be what was said, there is nothing to teach."""
    real = {
        (context, reply)
        for context, reply, kind in zip(examples.contexts, examples.replies, examples.kinds, strict=True)
        if kind == "human"
    }
    assert len(examples.kinds) > 2 * examples.kinds.count("human")
    for context, reply, kind in zip(examples.contexts, examples.replies, examples.kinds, strict=True):
        assert kind == "human" or (context, reply) not in real


def test_a_greeting_given_back_is_no_parrot():
    said = [["hello", "Hello!"], ["hello", "hello"], ["hello", "hello ."]] * 20
    found, _ = learned_examples(turns(said), (), 3, 0)
    assert set(found.kinds) <= {"human", "generic", *(way.__name__ for way in BROKEN)}


def test_elsewhere_is_another_conversation():
    said = [["a ?", "b .", "c !", "d ,"], ["e ?", "f .", "g !", "h ,"]]
    found, _ = learned_examples(turns(said), (), 3, 0)
    for group, reply, kind in zip(found.groups, found.replies, found.kinds, strict=True):
        if kind in ("elsewhere", "same_conversation"):
            assert (reply[0] in "abcd") == ((group == 0) == (kind == "same_conversation"))


def test_replies_of_machines():
    said = dialogues(2)
    machines = [
        Turn("0", "made up", context=said[0][:1], system="lm", dialogue="0"),
        Turn("1", "for another", context=said[0][:1], system="lm_wrong", dialogue="0"),
        Turn("2", said[1][1], context=said[1][:1], system="human", dialogue="1"),
        Turn("3", "new", context=("new one",), system="lm", dialogue="2"),
        Turn("4", "I see.", context=said[0][:1], system="generic", dialogue="0"),
        Turn("5", "made not", context=said[0][:1], system="broken", dialogue="0"),
        Turn("6", said[0][0], context=said[0][:1], system="parrot", dialogue="0"),
    ]
    found, made = learned_examples(turns(said), machines, 3, 0)
    assert found.kinds[made:] == ["lm", "lm_wrong", "human", "lm", "generic", "broken", "parrot"]
    expected = [
        [0, UNKNOWN, UNKNOWN, UNKNOWN],
        [0, 0, UNKNOWN, UNKNOWN],
        [1, 1, UNKNOWN, UNKNOWN],
        [0, UNKNOWN, UNKNOWN, UNKNOWN],
        [UNKNOWN, UNKNOWN, UNKNOWN, 0],  # says little, and may be right
        [0, UNKNOWN, 0, UNKNOWN],
        [0, UNKNOWN, UNKNOWN, 0],
    ]
    np.testing.assert_array_equal(found.targets[made:], expected)
    assert found.groups[made:].tolist() == [0, 0, 1, 2, 0, 0, 0]


def test_mutual_information_by_hand():
    # The context makes it e**6 times as likely; by the root of 9 tokens, 6 / 3.
    likely = {"log_p_given": -20.0, "log_p_alone": -26.0, "tokens": 9}
    made = [Turn("0", "made up", ("hi",), system="lm", dialogue="0", extra=likely)]
    made += [
        Turn(str(place), "made up", ("hi",), system="lm", dialogue="0", extra=extra)
        for place, extra in enumerate([{}, {**likely, "tokens": 0}, {**likely, "tokens": "many"}], 1)
    ]
    found, first = learned_examples(turns(dialogues(2)), made, 3, 0)
    np.testing.assert_array_equal(found.pmi[first:], [2.0, UNKNOWN, UNKNOWN, UNKNOWN])
    assert np.isnan(found.pmi[:first]).all()


def test_contexts_and_replies_are_put_as_people_write_them():
    said = [["one", "two", "three", "four ca n't", "it 's five ."], ["six", "seven"]]
    found, _ = learned_examples(turns(said), (), 2, 0)
    pairs = list(zip(found.contexts, found.replies, strict=True))
    assert ("three four can't", "it's five.") in pairs


def test_dividing_keeps_conversations_together(examples):
    train, held = examples.divide(0.25, np.random.default_rng(0))
    assert sorted([*train, *held]) == list(range(len(examples)))
    groups = set(examples.groups[held].tolist())
    assert len(groups) == 15
    assert not groups & set(examples.groups[train].tolist())


@pytest.mark.parametrize(("share", "apart"), [(0.0001, 1), (0.9999, 3)])
def test_both_sides_have_a_conversation(share, apart):
    found, _ = learned_examples(turns(dialogues(4)), (), 3, 0)
    train, held = found.divide(share, np.random.default_rng(0))
    assert len(set(found.groups[held].tolist())) == apart
    assert len(train)


def test_adding_keeps_conversations_apart(examples):
    both = examples + examples
    assert len(both) == 2 * len(examples)
    first, second = np.split(both.groups, 2)
    assert not set(first.tolist()) & set(second.tolist())
    np.testing.assert_array_equal(both.targets, np.concatenate([examples.targets] * 2))
    picked = both.select(np.array([0, len(examples)]))
    assert picked.replies == [examples.replies[0]] * 2
    assert len(both.pmi) == len(both)
    assert isinstance(picked, Examples)


def test_same_seed_same_examples(examples):
    again, other = (learned_examples(turns(dialogues(60)), (), 3, seed)[0] for seed in (0, 1))
    assert again.digest() == examples.digest() != other.digest()


def test_nothing_to_learn_from():
    for said in ([], [["alone"]], [["a", "b", "c"]], [["a", " "], ["a", "b"]]):
        with pytest.raises(InputError, match="expected at least 2 conversations of two utterances or more"):
            exchanges_of(turns(said))


def test_ranks_by_hand():
    # 1 lies above nothing and half of itself: 0.5 / 4; the two 3s above one value and half of two: (1 + 1) / 4.
    assert mid_ranks(np.array([3.0, 1, 3, 5])).tolist() == [0.5, 0.125, 0.5, 0.875]


def test_ratings_are_ranked_within_their_corpus():
    said = [Turn(str(place), f"reply {place}", ("what ?",), dialogue=str(place)) for place in range(4)]
    found = rated_examples(said, [1, 2, 100, 300], ["a", "a", "b", "b"], 3)
    np.testing.assert_allclose(found.targets[:, 0], [0.25, 0.75, 0.25, 0.75])
    assert np.isnan(found.targets[:, 1:]).all()
    assert found.kinds == ["a", "a", "b", "b"]


def test_replies_to_the_same_utterance():
    said = [["How are you?", "fine"], ["how are you", "well"], ["How are you ?", "bad"], ["and then ?", "nothing"]]
    assert same_utterance_replies(turns(said)) == [("fine", "well")]
    assert same_utterance_replies(turns([["a", "a", "a", "a"], ["b", "c"]])) == []
