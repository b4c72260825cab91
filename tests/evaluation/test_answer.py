import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from dialogauge import compare, evaluate
from dialogauge.corpus import Corpus, Turn
from dialogauge.evaluation.answer import MOST_SYSTEMS, find_answer
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.pairs import ALPHA, Pair, holm
from dialogauge.evaluation.result import Score
from dialogauge.metrics import default_set, registry


def score(system, value, metric="gauge", higher=True):
    return Score(system, metric, value, value - 1, value + 1, 64, higher, "s", "bootstrap", "expected", 64)


def pair(first, second, difference, p, metric="gauge", **more):
    given = {"units": 64, "first_units": 64, "second_units": 64, "test": "randomisation", **more}
    bounds = (None, None) if difference is None else (difference - 2, difference + 2)
    return Pair(metric, first, second, difference, *bounds, p, **given)


def answer(values, pairs, higher=True):
    scores = [score(system, value, higher=higher) for system, value in values.items()]
    return find_answer(holm(pairs, higher), scores, "contexts", Settings())


def text(*given, **more):
    return " ".join(answer(*given, **more).sentences())


def test_a_clear_win():
    found = answer({"a": 50.0, "b": 56.2}, [pair("a", "b", -6.2, 0.012)])
    assert found.sentences() == ["On gauge, b is ahead of a by 6.2 [4.2, 8.2] (p = 0.012)."]
    assert found.basis() == "paired test over 64 contexts; [low, high]: 95% interval of the difference"


def test_no_clear_difference_names_no_winner():
    # 0.05 itself is not below 0.05.
    for p in (ALPHA, 0.3):
        said = text({"a": 50.0, "b": 51.2}, [pair("a", "b", -1.2, p)])
        assert said == f"On gauge, no difference between b and a (1.2 [-0.8, 3.2], p = {p:.3f}) is clear of chance."
        assert "ahead" not in said


def test_the_correction_decides_and_is_what_is_shown():
    # Holm over three: 0.02 x 3 = 0.06, which is no longer clear.
    pairs = [pair("a", "b", 3.0, 0.02), pair("a", "c", 3.1, 0.02), pair("b", "c", 0.1, 0.9)]
    said = text({"a": 53.0, "b": 50.0, "c": 49.9}, pairs)
    assert said == (
        "On gauge, no difference between a and b (3.0 [1.0, 5.0], p = 0.060) or c (3.1 [1.1, 5.1], p = 0.060) is clear"
        " of chance."
    )


def test_three_systems_of_which_two_tie():
    # Holm: 0.001 x 3, 0.002 x 2, 0.4 x 1.
    pairs = [pair("a", "b", -6.0, 0.001), pair("a", "c", -5.5, 0.002), pair("b", "c", 0.5, 0.4)]
    found = answer({"a": 50.0, "b": 56.0, "c": 55.5}, pairs)
    assert found.sentences() == [
        "On gauge, b is ahead of a by 6.0 [4.0, 8.0] (p = 0.003).",
        "No difference between b and c (0.5 [-1.5, 2.5], p = 0.400) is clear of chance.",
    ]
    assert found.basis().startswith("paired test over 64 contexts; p after Holm's correction over 3 pairs; ")


def test_a_winner_over_two_that_tie_and_over_two_that_do_not():
    values = {"a": 60.0, "no": 50.0, "c": 49.0}
    tie = [pair("a", "no", 10.0, 0.0001), pair("a", "c", 11.0, 0.0001), pair("no", "c", 1.0, 0.5)]
    lead = "On gauge, a is ahead of no by 10.0 [8.0, 12.0] (p < 0.001) and of c by 11.0 [9.0, 13.0] (p < 0.001). "
    assert text(values, tie) == f"{lead}No difference between no and c (1.0 [-1.0, 3.0], p = 0.500) is clear of chance."
    apart = [*tie[:2], replace(tie[2], p=0.04)]
    assert text(values, apart) == f"{lead}Of the others, no is ahead of c by 1.0 [-1.0, 3.0] (p = 0.040)."


def test_where_lower_is_better():
    said = text({"a": 3.0, "b": 9.0}, [pair("a", "b", -6.0, 0.001)], higher=False)
    assert said == "On gauge (lower is better), a is ahead of b by 6.0 [4.0, 8.0] (p = 0.001)."


def test_unpaired_systems_are_said_to_be():
    apart = {"paired": False, "units": 0, "first_units": 40, "second_units": 31, "test": "permutation"}
    found = answer({"a": 50.0, "b": 56.2}, [pair("a", "b", -6.2, 0.012, **apart)])
    # The system that is ahead comes first, and so does its number of contexts.
    assert found.basis().startswith("two-sample test over 31 and 40 contexts; [low")
    pairs = [pair("a", "b", 1.0, 0.5, **apart), pair("a", "c", 2.0, 0.4), pair("b", "c", 1.0, 0.6)]
    mixed = answer({"a": 3.0, "b": 2.0, "c": 1.0}, pairs)
    assert mixed.basis().startswith("paired where they answered the same, else two-sample test; p after Holm's")
    assert (
        "b (1.0 [-1.0, 3.0], p = 1.000, 40 and 31 contexts) or c (2.0 [0.0, 4.0], p = 1.000, 64 contexts)"
        in (mixed.sentences()[0])
    )


def test_many_systems_are_counted():
    values = {"best": 60.0, **{f"s{number}": 50.0 - number for number in range(5)}}
    names = list(values)
    pairs = [
        pair(one, other, values[one] - values[other], 0.00001 if one == "best" else 0.9)
        for place, one in enumerate(names)
        for other in names[place + 1 :]
    ]
    assert text(values, pairs) == (
        "On gauge, best is ahead of all 5 others, of s0 by 10.0 [8.0, 12.0] (p < 0.001), which is the nearest. "
        "No difference among the others is clear of chance."
    )
    level = [replace(each, p=0.9) for each in pairs]
    assert "s0 (10.0 [8.0, 12.0], p = 1.000), s1 " in text(values, level)
    assert text(values, level).endswith(" or 2 others is clear of chance.")
    # The least of the others against the next: one clear difference that is not the leader's.
    one = [replace(each, p=0.00001) if (each.first, each.second) == ("s3", "s4") else each for each in level]
    assert text(values, one).endswith("Of the 10 differences among the others, 1 is clear of chance.")


def test_the_nearest_is_the_one_with_the_least_difference():
    # On the contexts that they share c beats b, whose score over all of its own is higher: b is the last but one.
    values = {"a": 60.0, "b": 55.0, "c": 54.0, "d": 50.0, "e": 40.0}
    names = list(values)
    pairs = [pair(one, other, values[one] - values[other], 1e-5) for one, other in combinations(names, 2)]
    turned = [replace(each, difference=-3.0) if (each.first, each.second) == ("b", "c") else each for each in pairs]
    found = answer(values, turned)
    assert found.systems == ["a", "c", "b", "d", "e"]
    assert found.sentences()[0].endswith("of all 4 others, of b by 5.0 [3.0, 7.0] (p < 0.001), which is the nearest.")


def test_what_cannot_be_tested_is_no_win():
    untested = pair("a", "b", 6.0, None, test=None)
    found = answer({"a": 56.0, "b": 50.0}, [untested])
    assert found.sentences() == ["On gauge, no test could be made between a and b."]
    assert found.basis() == ""
    three = [pair("a", "b", 6.0, 0.001), pair("a", "c", 7.0, 0.001), pair("b", "c", 1.0, None, test=None)]
    assert text({"a": 56.0, "b": 50.0, "c": 49.0}, three) == (
        "On gauge, a is ahead of b by 6.0 [4.0, 8.0] (p = 0.002) and of c by 7.0 [5.0, 9.0] (p = 0.002)."
    )
    undefined = replace(score("b", 1.0), value=None)
    assert find_answer([pair("a", "b", None, None)], [score("a", 1.0), undefined], "contexts", Settings()) is None


def test_a_system_that_is_beaten_does_not_lead():
    # On the contexts that they share b beats a, whose score over all of its own is higher.
    said = text({"a": 60.0, "b": 55.0}, [pair("a", "b", -3.0, 0.001)])
    assert said == "On gauge, b is ahead of a by 3.0 [1.0, 5.0] (p = 0.001)."
    circle = [pair("a", "b", 3.0, 0.001), pair("b", "c", 3.0, 0.001), pair("a", "c", -3.0, 0.001)]
    assert text({"a": 3.0, "b": 2.0, "c": 1.0}, circle) == (
        "On gauge, no system is ahead of all others: each is behind another."
    )


@pytest.fixture
def judged(monkeypatch):
    """A default set of one metric that is quick and judges."""
    monkeypatch.setattr(registry, "DEFAULT_SET", ("rouge_l", "length"))
    monkeypatch.setattr(default_set, "JUDGES", ("rouge_l",))


def corpus(**hits):
    """Replies that are the reference in the places where a system's hits are 1."""
    return Corpus(
        [
            Turn(str(place), "yes" if hit else "no", (f"question {place}",), ("yes",), system)
            for system, places in hits.items()
            for place, hit in enumerate(places)
        ]
    )


RIGHT, WRONG = np.ones(30), np.zeros(30)


def test_score_and_compare_give_the_same_answer(judged):
    turns = corpus(a=WRONG, b=RIGHT)
    result, comparison = evaluate(turns), compare(turns)
    assert result.answer == comparison.answer
    # 2 of 2^30 exchanges are as extreme, so p is 1 / 1001.
    assert result.answer.sentences() == ["On rouge_l, b is ahead of a by 1.000 [1.000, 1.000] (p < 0.001)."]
    document = json.loads(result.to_json())["answer"]
    assert document["text"] == result.answer.sentences()[0]
    assert document["systems"] == ["b", "a"]
    assert document["pairs"][0]["better"] == "b"
    assert document["pairs"][0]["units"] == 30
    assert str(result).startswith(f"{document['text']}\n{document['basis']}\n\nsystem")
    assert comparison.render("table").startswith(document["text"])


def test_two_that_tie_ahead_of_a_third(judged):
    result = evaluate(corpus(a=WRONG, b=RIGHT, c=RIGHT))
    # Holm: 1/1001 x 3 for the first of the two clear pairs; b and c never differ.
    assert result.answer.sentences() == [
        "On rouge_l, b is ahead of a by 1.000 [1.000, 1.000] (p = 0.003).",
        "No difference between b and c (0.000 [0.000, 0.000], p = 1.000) is clear of chance.",
    ]


def test_systems_that_answered_different_contexts_are_two_samples(judged):
    apart = [replace(turn, id=f"x{turn.id}", context=("other", turn.context[0] + "!")) for turn in corpus(b=RIGHT[:25])]
    chance = np.arange(30) % 2
    found = evaluate(Corpus([*corpus(a=chance), *apart])).answer
    assert found.sentences()[0].startswith("On rouge_l, b is ahead of a by 0.50 [0.")
    assert found.basis().startswith("two-sample test over 25 and 30 contexts; ")
    assert found.pairs[0].test == "permutation"


def test_other_formats_stay_what_they_were(judged):
    turns = corpus(a=WRONG, b=RIGHT)
    result, named = evaluate(turns), evaluate(turns, "rouge_l,length")
    assert named.answer is None
    assert "answer" not in named.to_dict()
    for form in ("csv", "markdown", "latex"):
        assert result.render(form) == named.render(form)


def test_names_and_digits_of_the_table_hold_for_the_answer(judged):
    shown = evaluate(corpus(a=WRONG, b=RIGHT)).render("table", names={"b": "Ours", "rouge_l": "ROUGE-L"}, digits=1)
    assert shown.startswith("On ROUGE-L, Ours is ahead of a by 1.0 [1.0, 1.0] (p < 0.001).")


def test_one_system_or_too_many_have_no_answer(judged):
    alone = evaluate(corpus(a=RIGHT))
    assert alone.answer is None
    assert str(alone).startswith("system")
    many = evaluate(corpus(**{f"s{number}": RIGHT for number in range(MOST_SYSTEMS + 1)}))
    assert many.answer is None
    assert [caveat.message for caveat in many.caveats if caveat.code == "systems_untested"] == [
        "more than 20 systems: `dialogauge compare` tests which of them is ahead"
    ]


def test_pairs_that_were_chosen_have_no_answer(judged):
    turns = corpus(a=WRONG, b=RIGHT, c=RIGHT)
    assert compare(turns, against=["a=b"]).answer is None


def test_options_of_the_run_do_not_hide_the_judge(monkeypatch):
    monkeypatch.setattr(registry, "DEFAULT_SET", ("embedding_average", "length"))
    monkeypatch.setattr(default_set, "JUDGES", ("embedding_average",))
    result = evaluate(corpus(a=WRONG, b=RIGHT), encoder="static:minilm")
    assert result.answer.metric == "embedding_average[encoder=static:minilm]"
    assert result.answer.systems == ["b", "a"]


@pytest.mark.parametrize("metrics", ["rouge_l,default", "default,rouge_l", "rouge_l.recall,default"])
def test_naming_the_judge_beside_the_default_set_does_not_hide_it(metrics, monkeypatch):
    monkeypatch.setattr(registry, "DEFAULT_SET", ("rouge_l", "meteor"))
    monkeypatch.setattr(default_set, "JUDGES", ("rouge_l", "meteor"))
    assert evaluate(corpus(a=WRONG, b=RIGHT), metrics).answer.metric == "rouge_l"


def test_variety_and_length_name_no_winner():
    replies = [Turn(str(n), f"{s} {n}" if s == "a" else "so", system=s) for s in "ab" for n in range(30)]
    result = evaluate(Corpus(replies))
    assert "distinct" in result.columns
    assert result.answer is None
