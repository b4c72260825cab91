import numpy as np
import pytest

from dialogauge import Corpus, Turn, evaluate
from dialogauge.encode.causal.language_model import LOG_P, TOKENS
from dialogauge.encode.encoders import Encoders
from dialogauge.metrics.likelihoods.fed import (
    DIALOGUE_QUALITIES,
    QUALITIES,
    Fed,
    FedDialogue,
    FollowUps,
    fed_quality,
    follow_ups,
)

TURNS = [Turn("0", "I 'm fine .", ("Hello ,", "how are you ?")), Turn("1", "soup", ("😀",)), Turn("2", "", ("a",))]


def test_by_hand():
    # Pleased: (-2 - 4) / 2 = -3. Complaints: -5. The pleased ones are likelier by 2.
    likelihoods = {"wow": -2.0, "tell me": -4.0, "boring": -5.0}
    assert fed_quality(likelihoods, FollowUps(("wow", "tell me"), ("boring",))) == 2.0
    # Without pleased ones, only how unlikely complaints are: 0 + 5.
    assert fed_quality(likelihoods, FollowUps((), ("boring",))) == 5.0


def test_the_list_has_every_quality_of_turns():
    listed = follow_ups()
    assert tuple(listed) == QUALITIES == Fed.parts
    assert [len(each.positive) for each in listed.values()] == [3, 3, 3, 0, 0, 2, 2, 2]
    assert [len(each.negative) for each in listed.values()] == [3, 3, 3, 3, 3, 1, 4, 3]


def test_follow_ups_come_after_the_response(llama):
    encoders = Encoders()
    ready = Fed(model=str(llama)).prepare(Corpus(TURNS), encoders=encoders)
    rows = ready.measure(TURNS)
    lm = encoders.language_model(str(llama))
    said = "Hello ,\nhow are you ?\nI 'm fine ."
    after = {
        text: row[LOG_P] / row[TOKENS]
        for each in follow_ups().values()
        for side in each
        for text in side
        for row in lm.likelihoods([(said, text)])
    }
    qualities = [fed_quality(after, each) for each in follow_ups().values()]
    assert rows[0, 1:9] == pytest.approx(qualities)
    assert rows[0, 0] == pytest.approx(np.mean(qualities))
    assert np.isnan(rows).all(axis=1).tolist() == [False, False, True]
    values = ready.metric.conclude(ready.metric.summarise(rows))
    assert values["relevant"] == pytest.approx(rows[:2, 1 + QUALITIES.index("relevant")].mean())


def test_each_context_goes_through_the_model_once(llama):
    encoders = Encoders()
    ready = Fed(model=str(llama)).prepare(Corpus(TURNS), encoders=encoders)
    ready.measure(TURNS)
    distinct = {text for each in follow_ups().values() for side in each for text in side}
    assert encoders.language_model(str(llama)).scored == 2 * len(distinct)


def test_the_list_has_every_quality_of_dialogues():
    listed = follow_ups("dialogue")
    assert tuple(listed) == DIALOGUE_QUALITIES == FedDialogue.parts
    assert [len(each.positive) for each in listed.values()] == [0, 0, 0, 0, 0, 3, 0, 2, 3, 2]
    assert [len(each.negative) for each in listed.values()] == [3, 3, 2, 3, 2, 3, 3, 2, 2, 2]


def test_a_dialogue_is_asked_about_once_after_its_last_response(llama):
    first = Turn("0", "I 'm fine .", ("Hello ,", "how are you ?"), dialogue="a")
    last = Turn("1", "soup", ("Hello ,", "how are you ?", "I 'm fine .", "and ?"), dialogue="a")
    alone, empty = Turn("2", "yes", ("hi",)), Turn("3", "", ("hi",), dialogue="b")
    turns = [first, alone, last, empty]
    encoders = Encoders()
    ready = FedDialogue(model=str(llama)).prepare(Corpus(turns), encoders=encoders)
    assert ready.asked.level == "dialogue"
    rows = ready.measure(turns)
    assert np.isnan(rows).all(axis=1).tolist() == [True, False, False, True]
    lm = encoders.language_model(str(llama))
    distinct = {text for each in follow_ups("dialogue").values() for side in each for text in side}
    assert lm.scored == 2 * len(distinct)
    said = "Hello ,\nhow are you ?\nI 'm fine .\nand ?\nsoup"
    after = {text: row[LOG_P] / row[TOKENS] for text in distinct for row in lm.likelihoods([(said, text)])}
    qualities = [fed_quality(after, each) for each in follow_ups("dialogue").values()]
    assert rows[2, 1:11] == pytest.approx(qualities)
    assert rows[2, 0] == pytest.approx(np.mean(qualities))


def test_the_score_of_a_system_is_the_mean_over_its_dialogues(llama):
    turns = [
        Turn(f"{name}{place}", "soup " * (place + 1), ("hi",), dialogue=name) for name in "abc" for place in range(2)
    ]
    result = evaluate(turns, f"fed_dialogue[model={llama}]", cache=False, resamples=50)
    assert result.scores[0].n == 3
    (said,) = [caveat.message for caveat in result.caveats if caveat.code == "undefined_scores"]
    assert "no value for 3 of 6 turns (the turn is not the last of its dialogue" in said
