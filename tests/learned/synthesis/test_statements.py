"""Statements turned into their opposite: by a rule that applies cleanly, or not at all."""

from collections import Counter
from dataclasses import replace

import pytest

from dialogauge.corpus import Turn
from dialogauge.learned.synthesis.statements import OF_PAST, PAST_OF, THIRD_OF, opposite, reworded, sentences
from tests.learned.synthesis.synthesis_dialogues import ALL, of, pairs, said


@pytest.mark.parametrize(
    ("statement", "negated"),
    [
        ("I have three cats", "I don't have three cats"),
        ("i like to swim", "i don't like to swim"),
        ("my dad is a doctor", "my dad isn't a doctor"),
        ("it was great", "it wasn't great"),
        ("i am a nurse", "i am not a nurse"),
        ("i'm a nurse", "i'm not a nurse"),
        ("that's my name", "that's not my name"),
        ("they're my friends", "they're not my friends"),
        ("we can go there", "we can't go there"),
        ("it will rain", "it won't rain"),
        ("i would love to", "i wouldn't love to"),
        ("my favorite color is blue", "my favorite color isn't blue"),
        ("she works in a bank", "she doesn't work in a bank"),
        ("my mom teaches math", "my mom doesn't teach math"),
        ("my parents live here", "my parents don't live here"),
        ("he tried to help", "he didn't try to help"),
        ("i went to school", "i didn't go to school"),
        ("she had a dog", "she didn't have a dog"),
        ("he studies law", "he doesn't study law"),
    ],
)
def test_a_negation_is_put_in_or_taken_out(statement, negated):
    assert opposite(statement) == negated
    assert opposite(negated) == statement


@pytest.mark.parametrize(
    ("statement", "positive"),
    [
        ("i never eat meat", "i eat meat"),
        ("he never sleeps at night", "he sleeps at night"),
        ("i am never at home", "i am at home"),
        ("i do not like it", "i like it"),
        ("she does not eat meat", "she eats meat"),
        ("we did not go home", "we went home"),
        ("it is not far", "it is far"),
        ("i cannot swim well now", None),
        ("i cannot swim fast", "i can swim fast"),
    ],
)
def test_other_spellings_of_a_negation(statement, positive):
    assert opposite(statement) == positive


@pytest.mark.parametrize(
    "statement",
    [
        "i like cats but not dogs",
        "i don't like cats but i don't mind",
        "i like it too",
        "i only eat fish",
        "i have been there",
        "she had seen it",
        "it's been a while",
        "i have to go",
        "you like music",
        "do you like it",
        "i don't have any pets",
        "i don't never go",
        "that is nice do you sing",
        "i like him and he likes me",
        "i ski , i swim",
        "hello there friend",
        "he like cats",
        "i works here",
        "i don't know what",
        "no cats",
        "i ski",
        "i like " + "very " * 12 + "big dogs",
        "ich habe drei große Katzen",
    ],
)
def test_what_no_rule_fits_is_left_alone(statement):
    expected = "i know what" if statement == "i don't know what" else None
    assert opposite(statement) == expected


def test_verbs_have_their_forms():
    assert [THIRD_OF[verb] for verb in ("watch", "cry", "play", "relax", "have")] == [
        "watches",
        "cries",
        "plays",
        "relaxes",
        "has",
    ]
    assert [PAST_OF[verb] for verb in ("stop", "live", "study", "enjoy", "go")] == [
        "stopped",
        "lived",
        "studied",
        "enjoyed",
        "went",
    ]
    assert "read" not in OF_PAST


def test_sentences_of_an_utterance():
    assert sentences("i ski . do you ? great !! i’m old") == [("i ski", " ."), ("great", " !!"), ("i'm old", "")]
    assert sentences(" ... ") == []


@pytest.mark.parametrize(
    ("statement", "other"),
    [
        ("i'm old now", "i am old now"),
        ("I can't swim", "I cannot swim"),
        ("she won't go", "she will not go"),
        ("it isn't far", "it is not far"),
        ("I am old now", "I'm old now"),
        ("it is far", "it's far"),
        ("my dad skis", "my dad skis"),
    ],
)
def test_the_same_in_other_words(statement, other):
    assert reworded(statement) == other


GIVEN = (
    ["i have a dog .", "i like tea .", "i am a nurse . cool ?", "oh nice", "i love it here . yes"],
    ["what is up", "not a lot here", "hm ok", "and then"],
)
WHERE = {
    "i don't have a dog .": ("i have a dog .", "0"),
    "i don't like tea .": ("i like tea .", "0"),
    "i am not a nurse .": ("i am a nurse . cool ?", "0"),
    "i don't love it here .": ("i love it here . yes", "0"),
}


def test_negations_contradict_a_premise_that_holds_the_statement():
    found = of(pairs(said(*GIVEN), replace(ALL, negation=1, nli=0, facts=0, contradiction=3)), "negation")
    assert {pair.hypothesis for pair in found} == set(WHERE)
    for pair in found:
        statement, dialogue = WHERE[pair.hypothesis]
        assert statement in pair.premise
        assert (pair.label, pair.dialogue) == ("contradiction", dialogue)
        # Two people speak in turns, and the one who said it is the one who would say the opposite: either in their
        # next turn, with one utterance between, or at once.
        assert len(pair.premise) - pair.premise.index(statement) in (1, 2)


def test_statements_are_of_the_one_who_responds():
    talk = ["i like tea .", "i have a dog .", "i love tea .", "i own a dog .", "i drink tea .", "i see a dog ."]
    given = [
        Turn(f"0:{place}", talk[place], tuple(talk[:place]), dialogue="0", facts=(("tea", "dog")[place % 2],))
        for place in range(1, len(talk))
    ]
    found = pairs(given, replace(ALL, negation=1, nli=0, facts=0, contradiction=3, generic=1, with_facts=1))
    assert len(of(found, "negation")) > 5
    for pair in of(found, "negation"):
        assert pair.premise[0] in pair.hypothesis


def test_restated_pairs_follow_from_a_premise_that_holds_the_statement():
    found = of(pairs(said(*GIVEN), replace(ALL, restated=1)), "restated")
    assert found
    for pair in found:
        assert pair.label == "entailment"
        assert any(pair.hypothesis in (text[: len(pair.hypothesis)], "i'm a nurse .") for text in pair.premise), pair
        assert pair.hypothesis.removesuffix(" .") in {
            "i have a dog",
            "i like tea",
            "i am a nurse",
            "i'm a nurse",
            "i love it here",
        }


def test_both_are_off_by_default_and_leave_the_labels_as_they_are():
    plain = pairs(said(*GIVEN))
    assert not of(plain, "negation") + of(plain, "restated")
    mixed = pairs(said(*GIVEN), replace(ALL, negation=0.3, restated=0.5))
    assert of(mixed, "negation")
    assert of(mixed, "restated")
    assert Counter(pair.label for pair in mixed) == Counter(pair.label for pair in plain)
