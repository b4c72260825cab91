import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from dialogauge import load
from dialogauge.metrics.overlap.rouge_l import rouge_l
from tests.shared import SIX, annotation, json_lines, shared

SCORER = RougeScorer(["rougeL"], use_stemmer=False)
TEXT = st.text(max_size=60) | st.text(alphabet="abc 1É.\n", max_size=40)


def theirs(response, references):
    score = SCORER.score_multi(references, response)["rougeL"]
    return score.fmeasure, score.precision, score.recall


@pytest.mark.parametrize("corpus", ["dailyz", "personam"])
def test_golden_scores(corpus):
    items = json_lines(annotation(corpus))
    for row in json_lines(shared(f"golden/{corpus}.rougeL.jsonl")):
        item = items[row["item"]]
        ours = rouge_l(item["hyps"][row["system"]], item["refs"])
        assert ours == pytest.approx((row["score"], row["precision"], row["recall"]), abs=1e-6)


@pytest.mark.parametrize("corpus", SIX)
def test_real_text(corpus):
    for turn in load(annotation(corpus)):
        assert rouge_l(turn.response, turn.references) == pytest.approx(
            theirs(turn.response, turn.references), abs=1e-12
        )


@settings(max_examples=300, deadline=None, derandomize=True)
@given(TEXT, st.lists(TEXT, min_size=1, max_size=3))
def test_any_text(response, references):
    assert rouge_l(response, references) == pytest.approx(theirs(response, references), abs=1e-12)
