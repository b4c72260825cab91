import gzip
import importlib.util
import json
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from nltk.tokenize import word_tokenize
from nltk.translate.meteor_score import align_words, meteor_score

from dialogauge.metrics.overlap.meteor import FILE, align, meteor, meteor_tokens, synonyms
from dialogauge.metrics.overlap.porter import stem
from dialogauge.text.words import words
from tests.shared import annotation, json_lines, shared

STEMMER, ORIGINAL = PorterStemmer(), PorterStemmer(mode="ORIGINAL_ALGORITHM")
BUILD = Path(__file__).parents[2] / "scripts" / "build_synonyms.py"

examples = settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
# Code points that the regex engine of NLTK may know and this Python's Unicode tables do not are left out.
CHARACTERS = st.characters(exclude_categories=("Cs", "Cn", "Co"))
PIECES = st.sampled_from(
    "mr. u.s. j. é. 3. 1,000. 5p.m. st. ok etc. administrators b-week. ... .. . ? ! ?! , : ; ' '' \" ` `` ( ) [ ] < > "
    "-- - — * @ # « » “ ” ‘ ’ „ 's 'll n't 'tis cannot gonna wanna d'ye do don't x a 你好。 😀 की ½ 𝐀 ſ".split()
) | st.sampled_from([" ", " ", "\n", "\xa0", "\x1c", "  "])
TEXT = st.lists(PIECES, max_size=20).map("".join) | st.text(CHARACTERS, max_size=40)
WORDS = st.lists(
    st.sampled_from(
        "the a cat cats car auto machines runs running ran be is glad happy go went big large . 😀 É".split()
    ),
    max_size=15,
)


def _texts(value):
    """Every string inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


@pytest.mark.parametrize("corpus", ["dailyz", "personam"])
def test_golden_scores(corpus):
    items = json_lines(annotation(corpus))
    for row in json_lines(shared(f"golden/{corpus}.meteor.jsonl")):
        item = items[row["item"]]
        assert meteor(item["hyps"][row["system"]], item["refs"]) == pytest.approx(row["score"], abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["convai2", "dailyh", "empathetic", "personaz"])
def test_real_text(corpus, wordnet):
    for item in json_lines(annotation(corpus)):
        references = [word_tokenize(text.strip().lower()) for text in item["refs"]]
        for response in item["hyps"]:
            theirs = meteor_score(references, word_tokenize(response.strip().lower()), wordnet=wordnet)
            assert meteor(response, item["refs"]) == pytest.approx(theirs, abs=1e-12)


@examples
@given(WORDS, st.lists(WORDS, min_size=1, max_size=3), st.floats(0.1, 0.9), st.floats(0.5, 4), st.floats(0, 1))
def test_any_words_and_parameters(wordnet, response, references, alpha, beta, gamma):
    theirs = meteor_score(references, response, wordnet=wordnet, alpha=alpha, beta=beta, gamma=gamma)
    assert meteor_tokens(response, references, alpha, beta, gamma) == pytest.approx(theirs, abs=1e-12)
    assert align(response, references[0]) == align_words(response, references[0], wordnet=wordnet)[0]


@examples
@given(TEXT, TEXT)
def test_any_text(wordnet, response, reference):
    tokens = [word_tokenize(text.strip().lower()) for text in (response, reference)]
    theirs = meteor_score([tokens[1]], tokens[0], wordnet=wordnet)
    assert meteor(response, [reference]) == pytest.approx(theirs, abs=1e-12)


@settings(examples, max_examples=1000)
@given(TEXT)
def test_words_of_any_text(nltk_data, text):
    assert words(text) == word_tokenize(text.strip().lower())


@pytest.mark.parametrize("name", ["fed/fed_data.json", "conture/data.json", "usr_persona/pc_usr_data.json"])
def test_words_of_untokenised_text(nltk_data, name):
    texts = {text for text in _texts(json.loads(shared(f"corpora/{name}").read_text(encoding="utf-8")))}
    assert len(texts) > 300
    for text in sorted(texts)[::3]:
        assert words(text) == word_tokenize(text.strip().lower())


@examples
@given(st.text(max_size=12) | st.text(alphabet="aeiouylstzdngrme", max_size=12))
def test_stems_of_any_word(word):
    assert stem(word) == STEMMER.stem(word)
    assert stem(word, original=True) == ORIGINAL.stem(word)


def test_stems_and_synonyms_of_a_sample_of_wordnet(wordnet):
    for lemma in sorted(wordnet.all_lemma_names())[::97]:
        for word in (lemma, *(lemma + ending for ending in ("s", "es", "ed", "ing", "er", "est", "men"))):
            assert stem(word) == STEMMER.stem(word)
            names = {name for synset in wordnet.synsets(word) for name in synset.lemma_names()}
            assert synonyms(word) == {name for name in names if "_" not in name and name == name.lower()}


def test_the_table_comes_from_this_wordnet(wordnet_folder):
    spec = importlib.util.spec_from_file_location("build_synonyms", BUILD)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    ours = files("dialogauge.metrics").joinpath("data", FILE).read_bytes()
    assert gzip.decompress(script.build_table(wordnet_folder)) == gzip.decompress(ours)
