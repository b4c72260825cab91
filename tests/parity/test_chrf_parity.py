import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge import evaluate, load
from dialogauge.metrics.overlap.chrf import corpus_chrf, sentence_chrf
from tests.shared import annotation

TEXT = st.text(max_size=40) | st.text(alphabet="ab .,-(&'\n今天很ทีไ👍é\u0301", max_size=30)
both_kinds = pytest.mark.parametrize("words", [0, 2])


@both_kinds
@settings(max_examples=100, deadline=None, derandomize=True)
@given(response=TEXT, references=st.lists(TEXT, min_size=1, max_size=3))
def test_any_text(words, response, references):
    theirs = sacrebleu.CHRF(word_order=words).sentence_score(response, references).score
    assert sentence_chrf(response, references, words) == pytest.approx(theirs, abs=1e-9)


@both_kinds
@settings(max_examples=100, deadline=None, derandomize=True)
@given(turns=st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=6))
def test_any_corpus_with_two_references(words, turns):
    responses, first, second = map(list, zip(*turns, strict=True))
    theirs = sacrebleu.CHRF(word_order=words).corpus_score(responses, [first, second]).score
    ours = corpus_chrf(responses, [list(pair) for pair in zip(first, second, strict=True)], words)
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_systems_of_a_corpus():
    loaded = load(annotation("personam"))
    result = evaluate(loaded, "chrf,chrf[words=2,lowercase=true]", resamples=1)
    for system, turns in loaded.by_system.items():
        responses, references = [turn.response for turn in turns], [[turn.references[0] for turn in turns]]
        plain = sacrebleu.CHRF().corpus_score(responses, references).score
        lowered = sacrebleu.CHRF(word_order=2, lowercase=True).corpus_score(responses, references).score
        assert result.score(system, "chrf").value == pytest.approx(plain, abs=1e-9)
        assert result.score(system, "chrf[words=2,lowercase=true]").value == pytest.approx(lowered, abs=1e-9)
