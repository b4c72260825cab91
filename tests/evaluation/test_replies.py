"""The worst and the best replies of each system."""

import json
from dataclasses import dataclass

import pytest

from dialogauge import best_replies, evaluate, stream, worst_replies
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.evaluation.replies import rankable
from dialogauge.metrics.dialogue.length import Length
from dialogauge.metrics.registry import Request, parse_requests

REFERENCE = "the cat sat on the mat"
WORDS = {"a": (6, 1, 3, 3, 0), "b": (2, 6, 2, 2, 2)}
"""How many of the reference's first words the replies of each system have: METEOR and ROUGE-L grow with them."""


def reply(system, place, words):
    text = " ".join(REFERENCE.split()[:words]) or "no"
    return Turn(f"t{place}", text, (f"question {place}", "so?"), (REFERENCE, "never mind"), system)


@pytest.fixture
def corpus():
    return Corpus([reply(system, i, words) for system, row in WORDS.items() for i, words in enumerate(row)])


@pytest.fixture
def result(corpus):
    return evaluate(corpus, "rouge_l,distinct,length", resamples=10)


def listed(found, system):
    return [reply.id for reply in found.replies if reply.system == system]


def test_by_hand(result, corpus):
    """ROUGE-L of k of the 6 words is 2k / (6 + k): 0, 2/7, 2/3, 2/3, 1 for a; 1/2 four times and 1 for b."""
    worst = worst_replies(result, corpus, "rouge_l", 3)
    assert listed(worst, "a") == ["t4", "t1", "t2"]
    assert [reply.value for reply in worst.replies[:3]] == pytest.approx([0, 2 / 7, 2 / 3])
    assert listed(worst, "b") == ["t0", "t2", "t3"]
    assert (worst.tied, worst.without_value) == ({"a": 1, "b": 1}, {})
    best = best_replies(result, corpus, "rouge_l", 2)
    assert (listed(best, "a"), listed(best, "b")) == (["t0", "t2"], ["t1", "t0"])
    assert best.tied == {"a": 1, "b": 3}


def test_texts_come_whole(result, corpus):
    first, turn = worst_replies(result, corpus, "rouge_l", 1).replies[0], corpus.turns[4]
    assert (first.context, first.response, first.references) == (turn.context, turn.response, turn.references)


def test_where_lower_is_better(corpus):
    turns = [Turn(t.id, t.response, t.context, t.references, t.system, extra={"x": float(t.id[1])}) for t in corpus]
    result = evaluate(Corpus(turns), "column[name=x,higher_is_better=false]", resamples=10)
    (metric,) = result.columns
    assert listed(worst_replies(result, corpus, metric, 2), "a") == ["t4", "t3"]
    assert listed(best_replies(result, corpus, metric, 2), "a") == ["t0", "t1"]


def test_all_that_there_are(result, corpus):
    found = worst_replies(result, corpus, "rouge_l", 100)
    assert len(found.replies) == len(corpus)
    assert found.tied == {}
    assert [reply.value for reply in found.replies[:5]] == sorted(reply.value for reply in found.replies[:5])


def test_the_order_of_turns_does_not_matter(corpus):
    turned = Corpus(corpus.turns[::-1])
    for order in (worst_replies, best_replies):
        first, second = (order(evaluate(one, "rouge_l", resamples=10), one, "rouge_l", 2) for one in (corpus, turned))
        assert {(r.system, r.id) for r in first.replies} == {(r.system, r.id) for r in second.replies}


def test_turns_without_a_value_are_counted_and_not_listed(corpus):
    turns = [*corpus.turns, Turn("t9", "the", ("hm",), (), "a")]
    found = worst_replies(evaluate(Corpus(turns), "rouge_l", resamples=10), Corpus(turns), "rouge_l", 9)
    assert "t9" not in listed(found, "a")
    assert found.without_value == {"a": 1}
    assert "not listed, without a value: 1 of a" in str(found)


def test_a_corpus_too_large_for_rows(corpus, result, monkeypatch, tmp_path):
    path = tmp_path / "turns.jsonl"
    rows = [
        {"id": t.id, "response": t.response, "context": t.context, "references": t.references, "system": t.system}
        for t in corpus
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 3)
    streamed = evaluate(stream(path), "rouge_l", resamples=10)
    assert streamed.samples[0].rows is None
    assert worst_replies(streamed, stream(path), "rouge_l", 3).to_dict() == (
        worst_replies(result, corpus, "rouge_l", 3).to_dict()
    )


def test_forms(result, corpus):
    found = worst_replies(result, corpus, "rouge_l", 1)
    document = json.loads(found.to_json())
    assert list(document) == ["schema", "metric", "order", "higher_is_better", "replies", "without_value", "tied"]
    assert (document["schema"], document["order"], document["metric"]) == ("dialogauge.replies/1", "worst", "rouge_l")
    assert list(document["replies"][0]) == ["system", "id", "value", "context", "response", "references"]
    lines = str(found).split("\n")
    assert lines[0].split() == ["system", "id", "rouge_l", "↑", "after", "response", "reference"]
    assert lines[2].split() == ["a", "t4", "0.0000", "so?", "no", *REFERENCE.split(), "(+1)"]
    assert lines[5:] == [
        "the worst by rouge_l: 1 reply of each system, worst first, equal ones by id",
        "not listed, as bad as the last one listed: 3 of b",
    ]
    renamed = found.render("table", names={"b": "Ours", "rouge_l": "ROUGE-L"})
    assert "ROUGE-L ↑" in renamed
    assert "3 of Ours" in renamed
    assert repr(found) == "<RankedReplies: rouge_l, 2 responses>"
    for form in ("markdown", "latex"):
        assert REFERENCE in found.render(form)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("bleu", "replies cannot be ranked by bleu: the result has rouge_l, distinct, length"),
        ("distinct", r"replies cannot be ranked by distinct \(it has no value for a single turn\)"),
        ("length", r"replies cannot be ranked by length \(neither more nor less of it is better\)"),
    ],
)
def test_what_replies_cannot_be_ranked_by(result, corpus, metric, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        worst_replies(result, corpus, metric)


@dataclass(frozen=True)
class SystemLength(Length):
    """A mean whose rows are no scores of turns."""

    higher_is_better = True
    scores_turns = False

    def per_turn(self, _measures):
        return None


def test_a_metric_says_itself_whether_turns_have_scores():
    with pytest.raises(InputError, match="it has no value for a single turn"):
        rankable([Request(SystemLength())], {"worst": 1})


def test_another_corpus(result, corpus):
    with pytest.raises(InputError, match="the result is of another corpus: this one has no turn 't4' of 'a'"):
        worst_replies(result, Corpus(corpus.turns[:4]), "rouge_l", 1)


def test_two_turns_of_one_id(corpus):
    twice = Corpus([*corpus.turns, reply("a", 4, 5)])
    with pytest.raises(InputError, match="two turns of 'a' have the id 't4', by which replies are told apart"):
        worst_replies(evaluate(twice, "rouge_l", resamples=10), twice, "rouge_l", 1)


def test_what_is_left_out_of_many_is_said():
    metrics, (caveat,) = rankable(parse_requests("bleu,rouge_l.recall,rouge_l,fbd"), {"worst": 1})
    assert metrics == ["bleu", "rouge_l"]
    assert (caveat.code, caveat.message) == (
        "unranked",
        "replies cannot be ranked by rouge_l.recall (single turns have a value of rouge_l alone), "
        "fbd (it has no value for a single turn)",
    )
    with pytest.raises(InputError, match="^worst: expected a whole number from 1 to .*, found 0$"):
        rankable(parse_requests("bleu"), {"worst": 0})
