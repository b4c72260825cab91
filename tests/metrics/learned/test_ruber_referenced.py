"""RUBER's referenced metric."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.metrics.embedding.word_vectors import EmbeddingAverage
from dialogauge.metrics.learned.ruber import RuberReferenced, pool_words, ruber_referenced
from dialogauge.metrics.registry import parse_request
from tests.encode.models import encoders, minilm

VECTORS = "hello 1 0\nworld 0 1\nthere 3 4\nbye -1 0\n"
TEXTS = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 6), st.just(3)), elements=st.floats(-9, 9).filter(lambda x: abs(x) > 1e-6)
)


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors") / "four.txt"
    path.write_text(VECTORS)
    return f"static:{path}"


def scores(metric, *turns):
    listed = [Turn(str(place), turn[0], references=tuple(turn[1:])) for place, turn in enumerate(turns)]
    return metric.measure(listed)[:, 0].tolist()


def test_pooling_by_hand():
    text = np.array([[1.0, -2], [-3, 1]])
    assert pool_words(text, "max").tolist() == [1, 1]
    assert pool_words(text, "mean").tolist() == [-1, -0.5]
    # The largest of each dimension, then the smallest.
    assert pool_words(text, "maxmin").tolist() == [1, 1, -3, -2]


def test_cosine_by_hand():
    response, reference = np.array([[1.0, -2], [-3, 1]]), np.array([[2.0, 1], [-1, -1]])
    # (1, 1, -3, -2) and (2, 1, -1, -1): 2 + 1 + 3 + 2 = 8 over sqrt(15 * 7).
    assert ruber_referenced(response, reference) == pytest.approx(8 / math.sqrt(105))
    # (1, 1) and (2, 1): 3 over sqrt(2 * 5).
    assert ruber_referenced(response, reference, "max") == pytest.approx(3 / math.sqrt(10))
    # (-1, -0.5) and (0.5, 0): -0.5 over sqrt(1.25 * 0.25).
    assert ruber_referenced(response, reference, "mean") == pytest.approx(-0.5 / math.sqrt(1.25 * 0.25))


@settings(max_examples=50, deadline=None, derandomize=True)
@given(TEXTS, TEXTS, st.sampled_from(["maxmin", "max", "mean"]))
def test_properties(response, reference, pool):
    score = ruber_referenced(response, reference, pool)
    assert -1 - 1e-12 <= score <= 1 + 1e-12
    assert score == pytest.approx(ruber_referenced(reference, response, pool))
    assert score == pytest.approx(ruber_referenced(response[::-1], reference, pool))
    # However often a word is repeated, extremes stay; of means, when all are.
    again = np.concatenate([response, response])
    assert score == pytest.approx(ruber_referenced(again, reference, pool))


def test_static_vectors_keep_their_smallest_values_too(words):
    metric = RuberReferenced(encoder=words).prepare(Corpus([]), encoders=encoders())
    assert metric.metric.pool == "maxmin"
    # hello bye: (1, 0, -1, 0); there: (3, 4, 3, 4), so 3 - 3 = 0; hello: (1, 0, 1, 0), at 6 / (sqrt 2 * sqrt 50).
    assert scores(metric, ("hello bye", "there"), ("hello", "there")) == pytest.approx([0, 0.6])
    largest = RuberReferenced(encoder=words, pool="max").prepare(Corpus([]), encoders=encoders())
    assert scores(largest, ("hello bye", "there")) == pytest.approx([0.6])


def test_the_best_of_several_references(words):
    metric = RuberReferenced(encoder=words).prepare(Corpus([]), encoders=encoders())
    assert scores(metric, ("hello", "bye", "there", "hello")) == pytest.approx([1])
    assert scores(metric, ("hello", "bye", "there")) == pytest.approx([0.6])
    assert scores(metric, ("", "hello"), ("unheard-of", "hello")) == [0, 0]


def test_contextual_vectors_by_their_largest_values():
    minilm()
    metric = RuberReferenced(pool="max").prepare(Corpus([]), encoders=encoders())
    texts = ["I like tea .", "He likes coffee ."]
    states = [tokens.words.astype(np.float64) for tokens in metric.encoder.tokens(texts)]
    (score,) = scores(metric, tuple(texts))
    assert score == pytest.approx(ruber_referenced(*states, "max"), abs=1e-6)
    assert score != pytest.approx(ruber_referenced(*states, "mean"), abs=1e-3)


def test_by_default_contextual_vectors_are_averaged():
    minilm()
    mean = RuberReferenced().prepare(Corpus([]), encoders=encoders())
    assert mean.metric.pool == "mean"
    average = EmbeddingAverage().prepare(Corpus([]), encoders=encoders())
    turn = ("I like tea .", "He likes coffee .")
    assert scores(mean, turn) == pytest.approx(scores(average, turn))


def test_signature_says_how_words_are_pooled(words):
    metric = parse_request(f"ruber_referenced[encoder={words}]").metric.prepare(Corpus([]), encoders=encoders())
    assert "|pool:maxmin|" in metric.signature
    assert parse_request("ruber_referenced[pool=mean]").label == "ruber_referenced[pool=mean]"


def test_an_unknown_pooling():
    with pytest.raises(InputError, match="pool"):
        parse_request("ruber_referenced[pool=median]")
    with pytest.raises(InputError, match="unknown pool of ruber_referenced 'min'"):
        RuberReferenced(pool="min")
