import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.corpus import Turn
from dialogauge.errors import InputError
from dialogauge.learned.ruber.pairs import Pairs, Texts, bare, read_pairs, same_texts
from dialogauge.learned.ruber.recipe import PAPER
from dialogauge.learned.ruber.training_data import read_data
from tests.learned.ruber.conversations import dialogues, turns

TALK = [["Hi .", "Hello !", "How are you ?"], ["Tea ?", "Yes .", "Milk ?", "No ."]]


def pairs_of(*arguments, **options):
    """The texts of each pair, and what else the reading says."""
    texts = Texts()
    reading = read_pairs(*arguments[:1], texts, *arguments[1:], **options)
    listed = texts.listed()
    both = zip(reading.pairs.queries, reading.pairs.responses, strict=True)
    return [(listed[query], listed[response]) for query, response in both], reading


def befores(*arguments, **options):
    """What was said before the query of each pair."""
    texts = Texts()
    reading = read_pairs(*arguments[:1], texts, *arguments[1:], **options)
    return [texts.listed()[row] if row >= 0 else None for row in reading.pairs.previous]


def test_a_pair_for_each_utterance_with_one_before_it():
    found, reading = pairs_of(turns(TALK))
    assert found == [
        ("Hi .", "Hello !"),
        ("Hello !", "How are you ?"),
        ("Tea ?", "Yes ."),
        ("Yes .", "Milk ?"),
        ("Milk ?", "No ."),
    ]
    assert reading.pairs.dialogues.tolist() == [0, 0, 1, 1, 1]
    assert (reading.empty, reading.left_out, reading.caveats()) == (0, 0, [])


@pytest.mark.parametrize("context", [1, 2, 3, 9])
def test_the_query_is_the_last_utterances(context):
    found, _ = pairs_of(turns(TALK), context)
    expected = [
        (" ".join(said[max(0, place - context) : place]), said[place]) for said in TALK for place in range(1, len(said))
    ]
    assert found == expected


@pytest.mark.parametrize("context", [1, 2, 3])
def test_rubers_network_looks_at_nothing_by_itself(context):
    assert befores(turns(TALK), context) == [None] * 5


def test_towers_look_at_the_utterance_before_the_query_by_itself():
    found, _ = pairs_of(turns(TALK), 2, "towers")
    assert found == pairs_of(turns(TALK), 1)[0]
    assert befores(turns(TALK), 2, "towers") == [None, "Hi .", None, "Tea ?", "Yes ."]
    assert befores(turns(TALK), 1, "towers") == [None] * 5
    # Where nothing is in it, nothing was said; space around it is not in it.
    assert befores([Turn("0", "c", (" ", "b")), Turn("1", "c", (" a\n", "b"))], 2, "towers") == [None, "a"]


def test_towers_answer_the_last_utterance_alone():
    """One that is empty has no answer, whatever came before it."""
    _, reading = pairs_of([Turn("0", "c", ("a", " ")), Turn("1", "c", ("a", "b"))], 2, "towers")
    assert (reading.empty, len(reading.pairs)) == (1, 1)


def test_every_text_is_there_once():
    texts = Texts()
    read_pairs(turns([["a", "b", "a", "b"]]), texts)
    assert texts.listed() == ["a", "b"]


def test_empty_ones_are_counted():
    said = [Turn("0", "hello"), Turn("1", " ", ("hi",)), Turn("2", "hello", ("  ",)), Turn("3", "yes ", (" tea ?",))]
    found, reading = pairs_of(said)
    assert found == [("tea ?", "yes")]
    assert reading.empty == 3
    assert [(caveat.code, caveat.message[:7]) for caveat in reading.caveats()] == [("empty_pairs", "3 turns")]


def test_what_is_left_out():
    found, reading = pairs_of(turns(TALK), leave_out={bare("HELLO"), bare("milk?")})
    assert ("Hello !", "How are you ?") not in found
    assert ("Milk ?", "No .") not in found
    assert len(found) == 3
    assert reading.left_out == 2
    assert [caveat.code for caveat in reading.caveats()] == ["left_out"]
    # With more context it is still the last utterance that counts.
    assert pairs_of(turns(TALK), 2, leave_out={bare("Milk ?")})[1].left_out == 1


@pytest.mark.parametrize("said", [[], [Turn("0", "alone")], turns([["hi", ""]])])
def test_nothing_to_learn_from(said):
    with pytest.raises(InputError, match="nothing to learn from.*conversations of at least two utterances"):
        read_pairs(said, Texts())
    with pytest.raises(InputError, match="0 turns without a context or a response, 5 left out"):
        read_pairs(turns(TALK), Texts(), 1, "ruber", {bare(text) for said in TALK for text in said})


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.integers(0, 7), min_size=2, max_size=30).filter(lambda found: len(set(found)) > 1),
    st.floats(0.01, 0.99),
    st.integers(0, 5),
)
def test_no_dialogue_is_on_both_sides(numbers, share, seed):
    known = {number: place for place, number in enumerate(dict.fromkeys(numbers))}
    rows = np.arange(len(numbers))
    pairs = Pairs(rows, rows + 100, rows + 200, np.array([known[number] for number in numbers]))
    train, held = pairs.divide(share, np.random.default_rng(seed))
    assert not set(train.dialogues) & set(held.dialogues)
    assert sorted([*train.queries, *held.queries]) == rows.tolist()
    for part in (train, held):
        assert ((part.responses - part.queries) == 100).all()
        assert ((part.previous - part.queries) == 200).all()
    assert len(set(held.dialogues)) == min(max(round(share * len(known)), 1), len(known) - 1)


def test_dialogues_are_drawn_by_the_seed():
    pairs = read_pairs(turns(dialogues(40)), Texts()).pairs
    held = [pairs.divide(0.2, np.random.default_rng(seed))[1].dialogues.tolist() for seed in (0, 0, 1)]
    assert held[0] == held[1] != held[2]
    # Drawn, not the first or the last of them.
    assert sorted(set(held[0])) not in (list(range(8)), list(range(32, 40)))


def test_one_dialogue_cannot_be_divided():
    with pytest.raises(InputError, match="expected at least 2 dialogues, one to validate with; found 1"):
        read_data(turns(TALK[:1]), None, PAPER)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("Hello , you !", "hello you", True),
        ("I'm", "im", True),
        ("a_b", "a b", True),
        ("naïve", "NAÏVE", True),
        ("?", "!", False),
        (" ? ", "?", True),
        ("你好", "你好！", True),
        ("你好", "你", False),
        ("कि", "की", False),
        ("नहीं।", "नहीं", True),
        ("²", "³", False),
        ("👍", "👎", False),
        ("❤️", "☺️", False),
        ("❤️", " ❤️ ", True),
        ("7 pm", "8 pm", False),
    ],
)
def test_texts_that_differ_in_case_spaces_and_punctuation_alone(left, right, same):
    numbers = same_texts([left, "between", right])
    assert (numbers[0] == numbers[2]) is np.bool_(same)
    assert (bare(left) == bare(right)) is same
