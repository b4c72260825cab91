"""From answers to numbers, derived by hand."""

import math

import pytest

from dialogauge.endpoint.chat import ChatAnswer
from dialogauge.metrics.judge.judgement import expectation, read_judgement, read_label
from dialogauge.metrics.judge.prompt import open_prompt

SCORE, PAIR = open_prompt("overall"), open_prompt("pairwise")


def token(text, **top):
    entries = [{"token": name, "logprob": math.log(p)} for name, p in top.items()]
    return {"token": text, "logprob": 0.0, "top_logprobs": entries}


def answer(content, tokens=None):
    logprobs = {} if tokens is None else {"logprobs": {"content": tokens}}
    return ChatAnswer(200, {"choices": [{"message": {"content": content}, **logprobs}]})


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('{"score": 4}', "4"),
        (' {"score":4.0}\n', "4"),
        ('{"score": "4"}', "4"),
        ("4", "4"),
        (" 4.\n", "4"),
        ('"4"', "4"),
        ("**4**", "4"),
        ("Score: 4", "4"),
        ("4/5", "4"),
        ('{"score": 6}', None),
        ('{"score": 4.5}', None),
        ('{"score": true}', None),
        ('{"score": null}', None),
        ('{"score": 4, "other": 1}', None),
        ('{"rating": 4}', None),
        ('{"score": 4', None),
        ("0", None),
        ("-4", None),
        ("4.5", None),
        ("4 or 5", None),
        ("4/10", None),
        ("I would say 4", None),
        ("four", None),
        ("４", None),
        ("", None),
        (None, None),
        ("{" * 100_000, None),
    ],
)
def test_an_answer_is_a_score_and_nothing_else(text, label):
    assert read_label(text, "score", SCORE.labels) == label


def test_the_expectation_over_the_scale():
    # (4 · 0.6 + 5 · 0.2 + 3 · 0.1) / 0.9 = 3.7 / 0.9; " 4" and "4" are one label, "6" and "}" are none.
    top = {"4": 0.4, " 4": 0.2, "5": 0.2, "3": 0.1, "6": 0.05, "}": 0.05}
    tokens = [token('{"'), token("score"), token('":'), token(" 4", **top), token("}")]
    assert expectation(tokens, "4", SCORE.labels) == pytest.approx(3.7 / 0.9)
    assert read_judgement(answer('{"score": 4}', tokens), SCORE) == (pytest.approx(3.7 / 0.9), True)


def test_the_last_token_that_is_the_label_counts():
    """Some endpoints list tokens that the content lacks, such as those of a code fence."""
    tokens = [
        token("```"),
        token("4", **{"1": 0.5, "4": 0.5}),
        token("\n"),
        token("4", **{"4": 0.8, "5": 0.2}),
        token("}"),
    ]
    assert expectation(tokens, "4", SCORE.labels) == pytest.approx(4.2)


@pytest.mark.parametrize("tokens", [None, [], [token("4")], [token("x", **{"4": 1.0})], [{"token": "4"}], [{}]])
def test_without_probabilities_the_answer_itself_counts(tokens):
    assert read_judgement(answer("4", tokens), SCORE) == (4.0, False)


def test_what_is_no_score_has_no_value_whatever_its_tokens():
    value, from_logprobs = read_judgement(answer("4 or 5", [token("4", **{"4": 1.0})]), SCORE)
    assert math.isnan(value)
    assert not from_logprobs
    assert math.isnan(read_judgement(ChatAnswer(400, {"refusal": "4"}), SCORE).value)


def test_pairs():
    assert read_label('{"choice": "A"}', "choice", PAIR.labels) == "A"
    assert read_label("B", "choice", PAIR.labels) == "B"
    assert read_label("tie", "choice", PAIR.labels) is None
    # A 0.5, C 0.3, B 0.2: 0.5 + 0.15
    tokens = [token('"A', **{"A": 0.5, '"C"': 0.3, " B": 0.2})]
    assert read_judgement(answer("A", tokens), PAIR).value == pytest.approx(0.65)


def test_labels_of_several_characters_are_not_read_from_tokens():
    labels = {str(number): float(number) for number in range(11)}
    assert expectation([token("1", **{"1": 1.0})], "1", labels) is None
