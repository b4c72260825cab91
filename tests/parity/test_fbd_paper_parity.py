"""`--compat fbd-paper` beside NLTK's BLEU, the METEOR of NLTK 3.5 and py-rouge."""

import json
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nltk.tokenize import word_tokenize
from nltk.translate import bleu_score

from dialogauge import load
from dialogauge.corpus import Turn
from dialogauge.metrics.fbd_paper.overlap import CAPITALS, STOPS, PaperBleu, PaperMeteor, meteor
from dialogauge.metrics.fbd_paper.rouge_l import PaperRougeL, rouge_l, rouge_stem
from dialogauge.metrics.overlap.meteor import SUFFIXES, base_forms, table
from tests.shared import SIX, annotation, json_lines, shared

OTHER_FOUR = ("convai2", "dailyh", "empathetic", "personaz")
NLTK_35 = Path(__file__).parent / "golden" / "meteor_nltk35.json"
METRICS = {"BLEU": PaperBleu(), "METEOR": PaperMeteor(), "ROUGE-L": PaperRougeL()}

examples = settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
PIECES = st.sampled_from(
    "the cat cats ran went better cannot Cannots gonna wanna agreement comics é 你好 😀 it's U.S. x_y . , a b".split()
)
TEXT = st.lists(PIECES | st.just("\n"), max_size=14).map(" ".join) | st.text(
    st.characters(exclude_categories=("Cs", "Cn", "Co")), max_size=40
)
LONG = st.lists(st.text("ab \n", min_size=40, max_size=400), min_size=1, max_size=3).map("\n".join)
TURNS = st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=5)


def exactly(value):
    return pytest.approx(value, rel=1e-9, abs=0)


def values(metric, turns):
    return metric.conclude(metric.summarise(metric.measure(turns)))


def nltk_bleu(turns):
    references = [[word_tokenize(text.strip().lower()) for text in turn.references] for turn in turns]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bleu_score.corpus_bleu(references, [word_tokenize(turn.response.strip().lower()) for turn in turns])


@pytest.fixture(scope="session")
def py_rouge(nltk_data):
    """The paper's call. py-rouge finds its word lists by pkg_resources, which newer setuptools lack."""
    folder = Path(find_spec("rouge").origin).parent
    with pytest.MonkeyPatch.context() as patch:
        files = SimpleNamespace(resource_filename=lambda _, name: str(folder / name))
        patch.setitem(sys.modules, "pkg_resources", files)
        from rouge import Rouge

        return Rouge(metrics=["rouge-l"], apply_best=True)


def theirs(py_rouge, responses, references):
    score = py_rouge.get_scores(responses, references)["rouge-l"]
    return score["f"], score["p"], score["r"]


@pytest.mark.parametrize("corpus", ["dailyz", "personam"])
@pytest.mark.parametrize("metric", METRICS)
def test_golden_system_scores(corpus, metric):
    golden = json.loads(shared("golden/system_scores.json").read_text(encoding="utf-8"))
    scores = golden["corpora"][corpus]["metrics"][metric]["scores"]
    systems = load(annotation(corpus)).by_system
    assert [values(METRICS[metric], turns)[""] for turns in systems.values()] == [exactly(score) for score in scores]


@pytest.mark.parametrize("corpus", ["dailyz", "personam"])
def test_golden_meteor_of_each_turn(corpus):
    items = json_lines(annotation(corpus))
    for row in json_lines(shared(f"golden/{corpus}.meteor.jsonl")):
        item = items[row["item"]]
        assert meteor(item["hyps"][row["system"]], item["refs"]) == exactly(row["score_nltk35_ws"])


@pytest.mark.parametrize("corpus", SIX)
def test_meteor_of_nltk_3_5(corpus):
    scores = json.loads(NLTK_35.read_text(encoding="utf-8"))["scores"][corpus]
    systems = load(annotation(corpus)).by_system
    assert [values(METRICS["METEOR"], turns)[""] for turns in systems.values()] == [exactly(score) for score in scores]


@pytest.mark.slow
@pytest.mark.parametrize("corpus", OTHER_FOUR)
def test_bleu_on_real_text(corpus, nltk_data):
    metric = METRICS["BLEU"]
    for turns in load(annotation(corpus)).by_system.values():
        assert values(metric, turns)[""] == exactly(nltk_bleu(turns))
        some = turns[::7]
        assert list(metric.per_turn(metric.measure(some))) == [exactly(nltk_bleu([turn])) for turn in some]


@examples
@given(TURNS)
def test_bleu_of_any_text(nltk_data, texts):
    turns = [Turn("", response, references=tuple(references)) for response, references in texts]
    assert values(METRICS["BLEU"], turns)[""] == exactly(nltk_bleu(turns))


@pytest.mark.slow
@pytest.mark.parametrize("corpus", OTHER_FOUR)
def test_rouge_on_real_text(corpus, py_rouge):
    for turns in load(annotation(corpus)).by_system.values():
        responses, references = [turn.response for turn in turns], [list(turn.references) for turn in turns]
        f, precision, recall = theirs(py_rouge, responses, references)
        assert values(METRICS["ROUGE-L"], turns) == {
            "": exactly(f),
            "precision": exactly(precision),
            "recall": exactly(recall),
        }
        for turn in turns[::7]:
            expected = theirs(py_rouge, turn.response, list(turn.references))
            assert rouge_l(turn.response, turn.references) == exactly(expected)


@examples
@given(TEXT, st.lists(TEXT, min_size=1, max_size=3))
def test_rouge_of_any_text(py_rouge, response, references):
    assert rouge_l(response, references) == exactly(theirs(py_rouge, response, references))


@settings(examples, max_examples=30)
@given(LONG, LONG)
def test_rouge_of_long_texts_in_lines(py_rouge, response, reference):
    assert rouge_l(response, [reference]) == exactly(theirs(py_rouge, response, [reference]))


def test_stems_are_those_of_py_rouge(py_rouge):
    listed = py_rouge.WORDNET_KEY_VALUE
    assert len(listed) > 6000
    inflections = {form for _, exceptions in table() for form in exceptions}
    for word in sorted(filter(str.isalnum, listed.keys() | inflections)):
        assert [rouge_stem(word)] == py_rouge.stem_tokens([word])


@pytest.mark.slow
def test_the_search_for_base_forms_ends_at_every_word_of_wordnet(wordnet):
    """The stops are the words that the table lacks and from which, or from whose neighbours, the rules lead on
    to words that it has."""

    def apply(forms, suffixes):
        return [base for form in forms for base in base_forms(form, {}, suffixes)]

    for part, (lemmas, _), suffixes, stops in zip("nvar", table(), SUFFIXES, STOPS, strict=True):
        missing = {lemma for lemma, parts in wordnet._lemma_pos_offset_map.items() if part in parts} - lemmas.keys()
        wanted = set()
        for lemma in missing:
            # The neighbours of a word come from the same inflected form: "chinese" and "chines" from "chineses".
            inflected = {lemma.removesuffix(new) + old for old, new in suffixes if lemma.endswith(new)}
            for forms in ([lemma], *(apply([form], suffixes) for form in sorted(inflected))):
                level = forms
                while level and not any(form in lemmas for form in level):
                    level = apply(level, suffixes)
                if level is not forms and level:
                    wanted.add(lemma)
        assert stops == wanted
    assert len(CAPITALS) > 100
