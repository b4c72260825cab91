import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge import evaluate, load
from dialogauge.metrics.overlap.bleu import corpus_bleu, sentence_bleu
from tests.shared import SIX, annotation, json_lines, shared

TEXT = st.text(max_size=60) | st.text(alphabet="ab .,-3&;'\n", max_size=40)


@pytest.mark.parametrize("corpus", ["dailyz", "personam"])
def test_golden_sentence_scores(corpus):
    items = json_lines(annotation(corpus))
    for row in json_lines(shared(f"golden/{corpus}.sacrebleu.jsonl")):
        item = items[row["item"]]
        assert sentence_bleu(item["hyps"][row["system"]], item["refs"]) == pytest.approx(row["score"], abs=1e-6)


@pytest.mark.parametrize("corpus", SIX)
def test_sentence_and_corpus_scores_on_real_text(corpus):
    loaded = load(annotation(corpus))
    result = evaluate(loaded, "bleu", resamples=1)
    for system, turns in loaded.by_system.items():
        responses = [turn.response for turn in turns]
        theirs = sacrebleu.corpus_bleu(responses, [[turn.references[0] for turn in turns]], force=True).score
        assert result.score(system, "bleu").value == pytest.approx(theirs, abs=1e-9)
    for turn in loaded.turns[::7]:
        theirs = sacrebleu.sentence_bleu(turn.response, turn.references).score
        assert sentence_bleu(turn.response, turn.references) == pytest.approx(theirs, abs=1e-9)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(TEXT, st.lists(TEXT, min_size=1, max_size=3))
def test_any_text(response, references):
    theirs = sacrebleu.sentence_bleu(response, references).score
    assert sentence_bleu(response, references) == pytest.approx(theirs, abs=1e-9)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=6))
def test_any_corpus_with_two_references(turns):
    responses, first, second = map(list, zip(*turns, strict=True))
    theirs = sacrebleu.corpus_bleu(responses, [first, second], force=True).score
    ours = corpus_bleu(responses, [list(pair) for pair in zip(first, second, strict=True)])
    assert ours == pytest.approx(theirs, abs=1e-9)
