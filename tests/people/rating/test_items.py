"""What is put on screens: pairs, dialogues, checks that no attentive rater takes for replies, practice."""

import numpy as np
import pytest

from dialogauge import Corpus, InputError, Turn
from dialogauge.people.rating.items import make_items, transcript
from dialogauge.people.rating.questions import parse_questions
from dialogauge.people.rating.settings import StudySettings
from tests.people.rating.studies import SYSTEMS, a_corpus


def items_of(corpus, ask=(), pairwise=False, **settings):
    settings = StudySettings(questions=parse_questions(ask, pairwise=pairwise), pairwise=pairwise, **settings)
    return make_items(corpus, settings, np.random.default_rng(0))


def test_turns_are_items_by_context():
    items = items_of(a_corpus(4))
    assert [item.turns for item in items.rated] == [(place,) for place in range(12)]
    assert items.groups == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    assert items.caveats == []


def test_pairs_are_of_all_systems_or_of_one_with_the_others():
    items = items_of(a_corpus(2), pairwise=True)
    assert [item.systems for item in items.rated[:3]] == [
        ("alpha-bot", "beta-bot"),
        ("alpha-bot", "gamma-bot"),
        ("beta-bot", "gamma-bot"),
    ]
    assert items.rated[4].responses == ("reply number 1 by voice 0 of many", "reply number 1 by voice 2 of many")
    against = items_of(a_corpus(2), pairwise=True, against="beta-bot")
    assert [item.systems for item in against.rated] == [("alpha-bot", "beta-bot"), ("beta-bot", "gamma-bot")] * 2


def test_pairs_without_two_texts_are_left_out_and_counted():
    turns = [Turn("1", "same", ("hi",), system="x"), Turn("1", "same", ("hi",), system="y")]
    turns += [Turn("2", "one", ("ho",), system="x"), Turn("2", "other", ("ho",), system="y")]
    turns += [Turn("3", "alone", ("he",), system="x")]
    items = items_of(Corpus(turns), pairwise=True, check_every=0)
    assert len(items.rated) == 1
    assert [caveat.code for caveat in items.caveats] == ["equal_replies", "unpaired"]
    for few in (turns[:2], turns[4:]):
        with pytest.raises(InputError, match="--pairwise"):
            items_of(Corpus(few), pairwise=True)


def test_a_transcript_has_every_utterance_once():
    whole = [Turn("1", "b", ("a",)), Turn("2", "d", ("a", "b", "c"))]
    windows = [Turn("1", "b", ("a",)), Turn("2", "d", ("b", "c")), Turn("3", "f", ("d", "e"))]
    bare = [Turn("1", "a"), Turn("2", "b")]
    again = [Turn("1", "yes", ("yes", "yes")), Turn("2", "yes", ("yes", "yes"))]
    assert transcript(whole) == ("a", "b", "c", "d")
    assert transcript(windows) == ("a", "b", "c", "d", "e", "f")
    assert transcript(bare) == ("a", "b")
    assert transcript(again) == ("yes", "yes", "yes")


def a_conversation(dialogue, system):
    said = [f"{dialogue} user {number}" for number in range(3)]
    turns, before = [], []
    for number, utterance in enumerate(said):
        before = [*before, utterance]
        reply = f"{system} answers {dialogue} once more, number {number}"
        turns.append(Turn(f"{dialogue}-{number}", reply, tuple(before), system=system, dialogue=dialogue))
        before = [*before, reply]
    return turns


def test_dialogues_are_shown_whole():
    corpus = Corpus([*a_conversation("d1", "x"), *a_conversation("d2", "x"), *a_conversation("d1", "y")])
    items = items_of(corpus, unit="dialogue")
    assert [(item.systems, item.turns) for item in items.rated] == [
        (("x",), (0, 1, 2)),
        (("x",), (3, 4, 5)),
        (("y",), (6, 7, 8)),
    ]
    assert len(items.rated[0].context) == 6
    assert items.rated[0].responses == ()
    assert items.groups == [[0, 2], [1]]
    for check in items.checks:  # one speaker is of one dialogue, the other of another
        own, strange = {text[:2] for text in check.context[::2]}, {text.split()[2] for text in check.context[1::2]}
        assert own | strange == {"d1", "d2"}
        assert len(own) == len(strange) == 1
    with pytest.raises(InputError, match="belongs to no dialogue"):
        items_of(a_corpus(2), unit="dialogue")


def test_a_check_shows_a_reply_to_another_conversation():
    items = items_of(a_corpus(10))
    assert len(items.checks) == 10
    for check in items.checks:
        number = check.context[0].split()[1]
        assert check.responses[0].split()[2] != number
        assert check.expected == {"dimension": "overall", "most": 3.0}
        assert not check.turns
        assert not check.systems


def test_turns_of_one_dialogue_never_check_each_other():
    turns = [
        Turn(f"{d}-{n}", f"reply {n} within talk {d}", (f"say {d} {n}",), dialogue=str(d))
        for d in range(4)
        for n in range(5)
    ]
    items = items_of(Corpus(turns))
    assert len(items.checks) == 4
    assert all(check.responses[0].split()[-1] != check.context[0].split()[1] for check in items.checks)


def test_references_are_what_is_mismatched_where_there_are_any():
    turns = [Turn(str(n), f"bot {n}", (f"say {n}",), (f"people said this, number {n}",)) for n in range(4)]
    items = items_of(Corpus(turns))
    assert all(check.responses[0].startswith("people said") for check in items.checks)


def test_short_replies_make_no_checks_where_there_are_others():
    turns = [Turn(str(n), "ok" if n % 2 else f"a reply on subject {n}", (f"say {n}",)) for n in range(8)]
    assert all(check.responses[0] != "ok" for check in items_of(Corpus(turns)).checks)


def test_a_check_of_a_pair_has_the_real_reply_first():
    items = items_of(a_corpus(6), pairwise=True)
    for check in items.checks:
        number = check.context[0].split()[1]
        right, wrong = (reply.split()[2] for reply in check.responses)
        assert right == number != wrong
        assert check.expected == {"dimension": "overall", "not": "b"}


@pytest.mark.parametrize(
    "corpus", [a_corpus(1), Corpus([Turn(str(n), "the same old answer", (f"say {n}",)) for n in range(5)])]
)
def test_where_no_check_can_be_made_it_is_said(corpus):
    items = items_of(corpus)
    assert items.checks == []
    assert [caveat.code for caveat in items.caveats] == ["no_checks"]


def test_a_question_that_mismatches_may_pass_is_doubted():
    assert [caveat.code for caveat in items_of(a_corpus(3), ["fluency 1-5"]).caveats] == ["doubtful_checks"]
    assert items_of(a_corpus(3), ["fluency 1-5"], check_on="fluency").caveats == []
    assert items_of(a_corpus(3), ["nonsense 1-5", "relevance 1-5"]).checks[0].expected["dimension"] == "relevance"


def test_turns_that_were_rated_before_are_refused_under_the_same_name():
    rated = a_corpus(2, ratings={"overall": [4, 5]})
    with pytest.raises(InputError, match="overall_new"):
        items_of(rated)
    assert len(items_of(rated, ["quality 1-5"]).rated) == 6
    assert len(items_of(rated, pairwise=True).rated) == 6  # preferences are no ratings


def test_practice_is_ours_or_given_or_none():
    assert [item.kind for item in items_of(a_corpus(2)).practice] == ["practice", "practice"]
    assert items_of(a_corpus(2), pairwise=True).practice[0].form == "pair"
    assert items_of(a_corpus(2), practice=()).practice == []
    own = (Turn("p", "good", ("hi",), extra={"feedback": "This one fits."}),)
    (item,) = items_of(a_corpus(2), practice=own).practice
    assert (item.responses, item.feedback) == (("good",), "This one fits.")


def test_unknown_systems_are_refused():
    with pytest.raises(InputError, match=f"unknown system 'beta'; did you mean {SYSTEMS[1]}"):
        items_of(a_corpus(2), pairwise=True, against="beta")
