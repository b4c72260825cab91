import math
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dialogauge import evaluate
from dialogauge.corpus import Corpus, Turn
from dialogauge.encode.encoders import Encoders
from dialogauge.encode.static import open_static
from dialogauge.errors import InputError
from dialogauge.metrics.embedding.word_vectors import (
    EmbeddingAverage,
    EmbeddingExtrema,
    EmbeddingGreedy,
    embedding_average,
    embedding_extrema,
    embedding_greedy,
    extrema,
)
from dialogauge.metrics.registry import metric_class, parse_request
from dialogauge.stats.arrays import unit_rows
from tests.encode.models import SENTENCES, build, encoders, minilm

METRICS = [EmbeddingAverage, EmbeddingGreedy, EmbeddingExtrema]
FUNCTIONS = [embedding_average, embedding_greedy, embedding_extrema]
PAPER = [metric_class(metric.name, "fbd-paper") for metric in METRICS]
VECTORS = "hello 1 0\nworld 0 1\nthere 3 4\nbye -1 0\nzero 0 0\n, 0 -2\n"
ROOT = math.sqrt(2)


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """The name of an encoder of six words."""
    path = tmp_path_factory.mktemp("vectors") / "six.txt"
    path.write_text(VECTORS)
    return f"static:{path}"


@pytest.fixture(scope="module")
def opened():
    """The encoders of these tests: each is opened once."""
    return Encoders()


def prepared(cls, encoder, opened, **options):
    return cls(encoder=encoder, **options).prepare(Corpus([]), encoders=opened)


def scores(metric, *turns):
    """Of each turn: the response, then the references."""
    listed = [Turn(str(place), turn[0], references=tuple(turn[1:])) for place, turn in enumerate(turns)]
    return metric.measure(listed)[:, 0].tolist()


def told(metric, *turns):
    """The caveats on the turns, by their codes."""
    listed = [Turn(str(place), turn[0], references=tuple(turn[1:])) for place, turn in enumerate(turns)]
    return {caveat.code: caveat.message for caveat in metric.caveats(metric.metric.summarise(metric.measure(listed)))}


def test_average_by_hand():
    # The mean is (1/2, 1/2); the cosine with (3, 4) is 3.5 / (5 / sqrt 2).
    two, one = np.array([[1.0, 0], [0, 1]]), np.array([[3.0, 4]])
    assert embedding_average(two, one) == pytest.approx(7 / (5 * ROOT))
    # Means of opposite words are zero, and like nothing.
    assert embedding_average(np.array([[1.0, 0], [-1, 0]]), one) == 0


def test_greedy_by_hand():
    two, one = np.array([[1.0, 0], [0, 1]]), np.array([[3.0, 4]])
    # Cosines .6 and .8. From the response (.6 + .8) / 2, from the reference .8: one way is not the other.
    assert embedding_greedy(two, one) == pytest.approx((0.7 + 0.8) / 2)
    assert embedding_greedy(one, two) == pytest.approx((0.7 + 0.8) / 2)
    # (1, 0) is at 0 of (0, 1), at -1 of (-1, 0): best 0. Back 0 and -1: mean -1/2.
    assert embedding_greedy(np.array([[2.0, 0]]), np.array([[0.0, 3], [-1, 0]])) == pytest.approx((0 - 0.5) / 2)


def test_extrema_by_hand():
    # -3 is further out than 1, -2 than 1.
    assert extrema(np.array([[1.0, -2], [-3, 1]])).tolist() == [-3, -2]
    # 2 is further out than -1; of 1 and -1, as far out, the negative one.
    assert extrema(np.array([[2.0, 1], [-1, -1]])).tolist() == [2, -1]
    assert extrema(np.array([[0.0, 5, -5]])).tolist() == [0, 5, -5]
    expected = (-3 * 2 + -2 * -1) / math.sqrt(13 * 5)
    assert embedding_extrema(np.array([[1.0, -2], [-3, 1]]), np.array([[2.0, 1], [-1, -1]])) == pytest.approx(expected)


def test_zero_vectors_are_like_nothing():
    for function in FUNCTIONS:
        assert function(np.zeros((1, 2)), np.ones((2, 2))) == 0


TEXTS = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 5), st.just(3)), elements=st.integers(-9, 9).map(float)
).filter(lambda text: np.abs(text).sum(axis=1).all())


@settings(max_examples=200, deadline=None, derandomize=True)
@given(TEXTS, TEXTS, st.randoms(use_true_random=False))
def test_properties(response, reference, random):
    shuffled = response[random.sample(range(len(response)), len(response))]
    for function in FUNCTIONS:
        score = function(response, reference)
        assert -1 - 1e-9 <= score <= 1 + 1e-9
        assert function(reference, response) == pytest.approx(score)
        assert function(shuffled, reference) == pytest.approx(score)
        assert function(response * 8, reference) == pytest.approx(score)
    assert embedding_greedy(response, response) == pytest.approx(1)
    if response.mean(axis=0).any():
        assert embedding_average(response, response) == pytest.approx(1)
    assert embedding_extrema(response, response) == pytest.approx(1)


@pytest.mark.parametrize(
    ("cls", "expected"),
    [(EmbeddingAverage, 7 / (5 * ROOT)), (EmbeddingGreedy, 0.75), (EmbeddingExtrema, 7 / (5 * ROOT))],
)
def test_the_metrics_by_hand(cls, expected, words, opened):
    metric = prepared(cls, words, opened)
    assert scores(metric, ("Hello world", "there")) == pytest.approx([expected])
    # The best of several, in any order; `bye` is -1 like `hello`.
    assert scores(metric, ("hello", "bye", "world", "there")) == pytest.approx([0.6])
    assert scores(metric, ("hello", "there", "world", "bye")) == pytest.approx([0.6])
    assert scores(metric, ("hello", "bye")) == pytest.approx([-1])
    assert scores(metric, (" hello ", "\thello\n")) == pytest.approx([1])


@pytest.mark.parametrize("cls", METRICS)
def test_texts_without_a_vector_score_zero_and_are_counted(cls, words, opened):
    metric = prepared(cls, words, opened)
    empty = [("", "hello"), ("hello", ""), ("", ""), (" \n", "hello"), ("zebra 😀", "hello"), ("hello", "你好")]
    assert scores(metric, *empty) == [0] * 6
    assert told(metric, *empty) == {
        "no_vectors": f"{metric.asked.label}: 6 of 6 turns have a text without any vector, and score 0",
        # zebra and 😀, 你好; with four times hello they are seven.
        "unknown_words": f"{metric.asked.label}: 3 of 8 words have no vector and are left out",
    }
    # A reference without a vector beside one that has one takes nothing away.
    assert scores(metric, ("hello", "zebra", "hello")) == pytest.approx([1])
    assert "no_vectors" not in told(metric, ("hello", "zebra", "hello"))


@pytest.mark.parametrize("cls", METRICS)
def test_unknown_words_are_left_out_and_counted(cls, words, opened):
    metric = prepared(cls, words, opened)
    assert scores(metric, ("hello zebra", "hello")) == pytest.approx([1])
    message = f"{metric.asked.label}: 2 of 5 words have no vector and are left out"
    assert told(metric, ("hello zebra", "hello"), ("zebra", "hello")) == {
        "no_vectors": f"{metric.asked.label}: 1 of 2 turns have a text without any vector, and score 0",
        "unknown_words": message,
    }
    assert told(metric, ("hello", "there")) == {}


@pytest.mark.parametrize("cls", [*METRICS, *PAPER])
def test_ten_thousand_words(cls, words, opened):
    metric = prepared(cls, words, opened)
    long = "hello there " * 5000
    assert scores(metric, (long, "hello there"), ("hello there", long)) == pytest.approx([1, 1])
    assert told(metric, (long, "there")) == {}


@pytest.mark.parametrize("lengths", [(1300, 700), (700, 1300), (512, 513), (1024, 1)])
def test_greedy_holds_every_word_of_a_long_text_against_every_other(lengths):
    left, right = (np.random.default_rng(length).normal(size=(length, 8)) for length in lengths)
    cosines = unit_rows(left) @ unit_rows(right).T
    expected = (cosines.max(axis=1).mean() + cosines.max(axis=0).mean()) / 2
    assert embedding_greedy(left, right) == pytest.approx(expected)


def test_two_long_texts_do_not_fill_the_memory():
    """Every word against every word would be 800 MB at once."""
    texts = [np.random.default_rng(seed).normal(size=(10_000, 2)) for seed in range(2)]
    tracemalloc.start()
    try:
        score = embedding_greedy(*texts)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert score > 0.99
    assert peak < 200 * 2**20


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return str(build("bert", tmp_path_factory.mktemp("models") / "bert"))


TURNS = [
    Turn(str(place), SENTENCES[place], references=(SENTENCES[place - 3], SENTENCES[place - 5]))
    for place in range(len(SENTENCES))
]


@pytest.mark.parametrize("cls", METRICS)
def test_words_in_context(cls, small, opened):
    """Special tokens are no words of the text."""
    metric = prepared(cls, small, opened)
    model = opened.get(small)
    response, reference = (tokens.states[1:-1].astype(np.float64) for tokens in model.tokens(["hello you", "how are"]))
    expected = FUNCTIONS[METRICS.index(cls)](response, reference)
    assert scores(metric, ("hello you", "how are")) == pytest.approx([expected])
    inner = prepared(cls, small, opened, layer=1)
    response, reference = (
        tokens.words.astype(np.float64) for tokens in model.tokens(["hello you", "how are"], layer=1)
    )
    assert scores(inner, ("hello you", "how are")) == pytest.approx(
        [FUNCTIONS[METRICS.index(cls)](response, reference)]
    )
    assert scores(inner, ("hello you", "how are")) != scores(metric, ("hello you", "how are"))


@pytest.mark.parametrize("cls", METRICS)
def test_neither_order_nor_company_matters(cls, small, opened):
    metric = prepared(cls, small, opened)
    together = metric.measure(TURNS)
    fresh = prepared(cls, small, Encoders())
    np.testing.assert_allclose(fresh.measure(TURNS[::-1])[::-1], together, rtol=0, atol=1e-6)
    fresh = prepared(cls, small, Encoders())
    np.testing.assert_allclose(np.concatenate([fresh.measure([turn]) for turn in TURNS]), together, rtol=0, atol=1e-6)
    halves = metric.metric.conclude(metric.metric.summarise(together[:3]) + metric.metric.summarise(together[3:]))
    assert halves[""] == pytest.approx(together[:, 0].mean())
    assert metric.metric.per_turn(together).tolist() == together[:, 0].tolist()
    assert metric.measure([]).shape == (0, 8)


@pytest.mark.parametrize("cls", METRICS)
def test_what_an_encoder_cuts_is_counted(cls, small, opened):
    metric = prepared(cls, small, opened)
    long = "what would you like to eat for dinner ? " * 1112
    expected = f"{metric.asked.label}: 2 of 3 turns have a text longer than the encoder takes; its end is cut"
    assert told(metric, (long, "hello"), ("hello", "you", long), ("hello", "you")) == {"cut_text": expected}
    assert scores(metric, ("", "hello"), ("hello", "hello")) == pytest.approx([0, 1])


def test_layers_that_are_not_there(small, words, opened):
    with pytest.raises(InputError, match="has layers 0 \\(its input\\) to 3; found layer 4"):
        prepared(EmbeddingAverage, small, opened, layer=4)
    with pytest.raises(InputError, match="has no layers, found layer=2"):
        scores(prepared(EmbeddingAverage, words, opened, layer=2), ("hello", "there"))


def test_the_paper_takes_the_plain_maximum(words, opened):
    ours, theirs = (prepared(cls, words, opened) for cls in (EmbeddingExtrema, PAPER[2]))
    # Of `bye hello` ours is (-1, 0), as far out as (1, 0); the paper's is (1, 0).
    assert scores(ours, ("bye hello", "hello")) == pytest.approx([-1])
    assert scores(theirs, ("bye hello", "hello")) == pytest.approx([1])
    # Of `world ,`: (0, 1) and (0, -2).
    assert scores(ours, ("world ,", "world")) == pytest.approx([-1])
    assert scores(theirs, ("world ,", "world")) == pytest.approx([1])


@pytest.mark.parametrize(("ours", "theirs"), list(zip(METRICS, PAPER, strict=True)))
def test_the_paper_takes_words_between_spaces(ours, theirs, words, opened):
    turn = ("hello, world", "there")
    # "hello," is no word of the table: world alone is left, at .8 of there. Greedy divides by both words:
    # (.8 / 2 + .8) / 2.
    expected = 0.6 if ours is EmbeddingGreedy else 0.8
    assert scores(prepared(theirs, words, opened), turn) == pytest.approx([expected])
    message = f"{prepared(theirs, words, opened).asked.label}: 1 of 3 words have no vector and are left out"
    assert told(prepared(theirs, words, opened), turn) == {"unknown_words": message}
    assert told(prepared(ours, words, opened), turn) == {}
    assert scores(prepared(ours, words, opened), turn) != pytest.approx([expected])


@pytest.mark.parametrize("theirs", PAPER)
def test_the_paper_takes_the_first_reference(theirs, words, opened):
    metric = prepared(theirs, words, opened)
    assert scores(metric, ("hello", "there", "hello"), ("hello", "hello", "there")) == pytest.approx([0.6, 1])
    # What the others say is not read at all.
    assert told(metric, ("hello", "there", "zebra")) == {}


@pytest.mark.parametrize("theirs", PAPER)
def test_the_paper_has_no_words_in_context(theirs, small, opened):
    with pytest.raises(InputError) as error:
        prepared(theirs, small, opened)
    assert str(error.value) == (f"{theirs.name} of fbd-paper needs word vectors: encoder=static:FILE, found {small}")


def test_the_paper_by_name():
    for ours, theirs in zip(METRICS, PAPER, strict=True):
        assert theirs is not ours
        assert theirs.name == ours.name
        assert type(parse_request(ours.name, "fbd-paper").metric) is theirs
        assert parse_request(ours.name, "fbd-paper").metric.encoder == "static:minilm"
        assert type(parse_request(ours.name).metric) is ours
        assert parse_request(ours.name).metric.encoder == "minilm"


def test_signatures(words, opened, small, tmp_path):
    identity = open_static(words.removeprefix("static:")).identity
    for ours, theirs in zip(METRICS, PAPER, strict=True):
        parts = prepared(ours, words, opened).signature.split("|")
        expected = [ours.name, f"enc:static:{identity}", "words:nltk-punkt", "unknown:left-out"]
        assert parts[:4] == expected
        parts = prepared(theirs, words, opened).signature.split("|")
        for part in ("compat:fbd-paper", f"enc:static:{identity}", "words:spaces", "references:first"):
            assert part in parts
        assert ("extrema:maximum" in parts) is (ours is EmbeddingExtrema)
        ways = [
            prepared(ours, small, opened),
            prepared(ours, small, opened, layer=1),
            prepared(ours, small, opened, dtype="bfloat16"),
            prepared(ours, words, opened),
            prepared(theirs, words, opened),
        ]
        assert len({way.signature for way in ways}) == len(ways)
        assert "dtype:bf16" in ways[2].signature.split("|")
        assert "layer:1" in ways[1].signature.split("|")


def test_the_signature_of_minilm():
    minilm()
    for cls in METRICS:
        parts = prepared(cls, "minilm", encoders()).signature.split("|")
        assert parts[:5] == [cls.name, "enc:minilm-l6-v2@53aa5117", "maxlen:512", "dtype:f32", "layer:6"]
        parts = prepared(cls, "static:minilm", encoders()).signature.split("|")
        assert parts[:3] == [cls.name, "enc:static:minilm-l6-v2@53aa5117", "words:its-tokenizer"]
        assert not any(part.startswith("dtype") for part in parts)


def test_in_a_run(words, opened):
    turns = [Turn("1", "hello world", references=("there",)), Turn("2", "zebra", references=("hello",))]
    names = [cls.name for cls in METRICS]
    result = evaluate(Corpus(turns), ",".join(names), encoder=words, cache=False, resamples=10)
    for cls in METRICS:
        expected = np.mean(scores(prepared(cls, words, opened), ("hello world", "there"), ("zebra", "hello")))
        assert result.score("system", f"{cls.name}[encoder=static:{Path(words).name}]").value == pytest.approx(expected)
    paper = evaluate(Corpus(turns), names, compat="fbd-paper", encoder=words, cache=False, resamples=10)
    for cls in PAPER:
        expected = np.mean(scores(prepared(cls, words, opened), ("hello world", "there"), ("zebra", "hello")))
        assert paper.score("system", f"{cls.name}[encoder=static:{Path(words).name}]").value == pytest.approx(expected)
