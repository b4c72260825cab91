"""How near a response is to what was said before it: `semantic_similarity` and `semantic_distance`."""

import hashlib
import math

import numpy as np
import pytest

from dialogauge import evaluate
from dialogauge.corpus import Corpus, Turn
from dialogauge.encode.encoders import Encoders
from dialogauge.encode.model_files import packaged_file
from dialogauge.encode.universal import FILE, INSTALL, PACKAGE
from dialogauge.errors import InputError
from dialogauge.metrics.dialogue.dull import own_phrases
from dialogauge.metrics.dialogue.semantic import (
    SemanticDistance,
    SemanticSimilarity,
    history_of,
    see,
    semantic_distance,
    semantic_similarity,
    without_first,
)
from dialogauge.metrics.registry import parse_request
from tests.encode.models import LIMIT, build, encoders, minilm

METRICS = [SemanticSimilarity, SemanticDistance]
VECTORS = "hello 1 0\nworld 0 1\nthere 3 4\nbye -1 0\nknow 4 3\n"
ONE_DULL = 1 + math.log10(2 / 3)
"""The factor of one content word that is dull."""
both = pytest.mark.parametrize("cls", METRICS, ids=lambda cls: cls.name)


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors") / "five.txt"
    path.write_text(VECTORS)
    return f"static:{path}"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return str(build("bert", tmp_path_factory.mktemp("models") / "bert"))


def ready(cls, encoder, **options):
    return cls(encoder=encoder, **options).prepare(Corpus([]), encoders=encoders())


def turn(response, *context, references=()):
    return Turn("", response, context, tuple(references))


def scores(metric, *turns):
    return metric.measure(turns)[:, 0].tolist()


def values(metric, *turns):
    return metric.metric.conclude(metric.metric.summarise(metric.measure(turns)))


def told(metric, *turns):
    return {caveat.code: caveat.message for caveat in metric.caveats(metric.metric.summarise(metric.measure(turns)))}


def test_formulas_by_hand():
    assert semantic_similarity(0.5, 0, 0) == semantic_distance(0.5, 0, 0) == 0.5
    assert semantic_similarity(0.5, 3, 3) == semantic_distance(0.5, 3, 3) == 0.5
    # Two of three content words are dull: 3/5 and 5/3.
    assert semantic_similarity(0.8, 3, 1) == pytest.approx(0.8 * (1 + math.log10(0.6)))
    assert semantic_distance(0.8, 3, 1) == pytest.approx(0.2 * (1 + math.log10(5 / 3)))
    # 198 dull words and no other: factors -1 and 3. The similarity of what is alike is below that of what is not.
    assert semantic_similarity(0.8, 198, 0) == pytest.approx(-0.8)
    assert semantic_distance(0.8, 198, 0) == pytest.approx(0.6)
    # What rounding makes of two vectors that are the same.
    assert semantic_distance(1 + 1e-15, 0, 0) == 0


def test_what_the_response_is_held_against():
    said = turn("", "one", "two", "three")
    assert history_of(said, "last") == "three"
    assert history_of(said, "second_last") == "two"
    assert history_of(said, "last_two") == "two three"
    assert history_of(turn("", "one"), "last_two") == "one"
    assert history_of(turn("", "one"), "second_last") is None
    assert [history_of(turn(""), history) for history in ("last", "second_last", "last_two")] == [None] * 3


def test_histories_by_hand(words):
    said = turn("there", "hello", "world", "there")
    # The same; world at .8; the mean of world and there, (1.5, 2.5), against (3, 4): 14.5 / (5 sqrt 8.5).
    for history, expected in (("last", 1), ("second_last", 0.8), ("last_two", 14.5 / (5 * math.sqrt(8.5)))):
        assert scores(ready(SemanticSimilarity, words, history=history), said) == pytest.approx([expected])
        assert scores(ready(SemanticDistance, words, history=history), said) == pytest.approx([1 - expected])
    # Nothing further back counts.
    other = turn("there", "bye", "world", "there")
    for history in ("last", "second_last", "last_two"):
        metric = ready(SemanticSimilarity, words, history=history)
        assert scores(metric, said) == scores(metric, other)


@both
def test_turns_without_the_wanted_utterance_are_left_out(cls, words):
    metric = ready(cls, words, history="second_last")
    turns = [turn("there", "world", "hello"), turn("there", "world")]
    rows = metric.measure(turns)
    assert metric.metric.defined(rows).tolist() == [True, False]
    assert metric.metric.summarise(rows).n == 1
    assert values(metric, *turns)[""] == pytest.approx(scores(metric, turns[0])[0])
    both_of_one = ready(cls, words, history="last_two")
    assert scores(both_of_one, turns[1]) == scores(ready(cls, words), turns[1])


def test_dull_responses_by_hand(words):
    said = turn("I don’t know.", "know")
    # The vectors are the same, but one of one content words is dull.
    assert scores(ready(SemanticSimilarity, words), said) == pytest.approx([ONE_DULL])
    assert scores(ready(SemanticSimilarity, words, dull=False), said) == pytest.approx([1])
    # there is no dull word; against (4, 3) it is at 24/25.
    assert scores(ready(SemanticSimilarity, words), turn("there", "know")) == pytest.approx([0.96])
    # Against hello, know is at .8: the distance .2 times 1 + log10(3/2).
    said = turn("I do n't know .", "hello")
    assert scores(ready(SemanticDistance, words), said) == pytest.approx([0.2 * (1 + math.log10(1.5))])
    assert scores(ready(SemanticDistance, words, dull=False), said) == pytest.approx([0.2])


def test_parts(words):
    turns = [turn("I don't know", "hello"), turn("bye", "hello")]
    # Cosines .8 and -1; factors of one dull word, and of none.
    found = values(ready(SemanticSimilarity, words), *turns)
    assert list(found) == ["", "difference", "cosine", "factor"]
    assert found[""] == pytest.approx((0.8 * ONE_DULL - 1) / 2)
    assert found["cosine"] == pytest.approx(-0.1)
    assert found["factor"] == pytest.approx((ONE_DULL + 1) / 2)
    found = values(ready(SemanticDistance, words), *turns)
    assert found[""] == pytest.approx((0.2 * (1 + math.log10(1.5)) + 2) / 2)
    assert found["cosine"] == pytest.approx(-0.1)
    assert found["factor"] == pytest.approx((1 + math.log10(1.5) + 1) / 2)


def test_the_difference_from_the_true_response(words):
    similarity, distance = (ready(cls, words) for cls in METRICS)
    # hello against hello is 1; there .6, world 0, and "I don't know" .8 less for being dull.
    none = turn("hello", "hello")
    one = turn("hello", "hello", references=["there"])
    three = turn("hello", "hello", references=["there", "world", "i don t know"])
    assert math.isnan(values(similarity, none)["difference"])
    assert values(similarity, one)["difference"] == pytest.approx(1 - 0.6)
    assert values(similarity, three)["difference"] == pytest.approx(1 - (0.6 + 0 + 0.8 * ONE_DULL) / 3)
    assert values(distance, one)["difference"] == pytest.approx(0 - 0.4)
    # The mean over the turns that have references, while the score is over all.
    assert values(similarity, none, one, none)["difference"] == pytest.approx(0.4)
    assert values(similarity, none, one, turn("world", "hello"))[""] == pytest.approx(2 / 3)
    assert values(similarity, one, three)["difference"] == pytest.approx(
        (0.4 + 1 - (0.6 + 0.8 * ONE_DULL) / 3) / 2,
    )
    # A true response that says nothing known has cosine 0.
    assert values(similarity, turn("hello", "hello", references=["zebra"]))["difference"] == pytest.approx(1)


@both
def test_a_difference_for_each_resample(cls, words):
    metric = ready(cls, words)
    turns = [turn("hello", "hello"), turn("hello", "hello", references=["there"]), turn("there", "hello")]
    rows = metric.measure(turns)
    found = metric.metric.conclude(metric.metric.summarise(rows, np.array([[1.0, 1, 1], [2, 0, 1], [0, 3, 0]])))
    better = 0.4 if cls is SemanticSimilarity else -0.4
    np.testing.assert_allclose(found["difference"], [better, np.nan, better], rtol=1e-12)
    assert found[""].shape == found["factor"].shape == (3,)


def test_the_difference_says_what_it_stands_on(words):
    metric = ready(SemanticSimilarity, words)
    none, one = turn("hello", "hello"), turn("hello", "hello", references=["there"])
    assert told(metric, none, one, none) == {
        "missing_input": f"{metric.asked.label}.difference: 2 of 3 turns have no references that can be read and are "
        "left out"
    }
    # Where none has any, there is no difference to speak of.
    assert told(metric, none, none) == told(metric, one) == {}


def test_directions_and_limits():
    similarity, distance = SemanticSimilarity(), SemanticDistance()
    assert [similarity.direction(part) for part in ("", *similarity.parts)] == [True] * 4
    assert [distance.direction(part) for part in ("", *distance.parts)] == [False, False, True, False]
    endless = (-np.inf, np.inf)
    expected = [endless, endless, (-1, 1), (-np.inf, 1)]
    assert [similarity.limits(part) for part in ("", *similarity.parts)] == expected
    expected = [(0, np.inf), endless, (-1, 1), (1, np.inf)]
    assert [distance.limits(part) for part in ("", *distance.parts)] == expected
    plain = SemanticSimilarity(dull=False), SemanticDistance(dull=False)
    assert [plain[0].limits(part) for part in ("", *similarity.parts)] == [(-1, 1), (-2, 2), (-1, 1), (1, 1)]
    assert [plain[1].limits(part) for part in ("", *similarity.parts)] == [(0, 2), (-2, 2), (-1, 1), (1, 1)]


TURNS = [
    turn("I like tea .", "Hello .", "What do you drink ?", references=["Tea , please ."]),
    turn("I have no idea , ask him .", "Where is the bus ?", references=["Over there .", "I don't know ."]),
    turn("That 's great news !", "It is late .", "I won the race ."),
]


@pytest.mark.parametrize("pool", ["mean", "cls", "max"])
def test_equal_to_a_plain_loop(pool):
    minilm()
    encoder = Encoders().get("minilm")

    def vector(text):
        return encoder.pooled([text], pool).vectors[0].astype(np.float64)

    def expected(response, said, words, left):
        a, b = vector(response), vector(said)
        return (a @ b) / math.sqrt((a @ a) * (b @ b)) * (1 + math.log10((2 + left) / (2 + words)))

    # Content words: like, tea; idea, ask, less idea; great, news, less great.
    counts = [(2, 2), (2, 1), (2, 1)]
    metric = ready(SemanticSimilarity, "minilm", pool=pool)
    found = scores(metric, *TURNS)
    wanted = [expected(t.response, t.context[-1], *n) for t, n in zip(TURNS, counts, strict=True)]
    assert found == pytest.approx(wanted, abs=1e-5)
    two = ready(SemanticSimilarity, "minilm", pool=pool, history="last_two")
    wanted = [expected(t.response, " ".join(t.context[-2:]), *n) for t, n in zip(TURNS, counts, strict=True)]
    assert scores(two, *TURNS) == pytest.approx(wanted, abs=1e-5)
    # References: tea, please; nothing but function words; know, of which nothing is left.
    said = TURNS[1].context[-1]
    true = [expected(TURNS[0].references[0], TURNS[0].context[-1], 2, 2)]
    true.append((expected("Over there .", said, 0, 0) + expected("I don't know .", said, 1, 0)) / 2)
    assert values(metric, *TURNS)["difference"] == pytest.approx(np.mean(np.subtract(found[:2], true)), abs=1e-5)


@pytest.mark.parametrize("history", ["last", "last_two"])
def test_without_the_factor_distance_and_similarity_are_one(history):
    minilm()
    similarity, distance = (ready(cls, "minilm", dull=False, history=history) for cls in METRICS)
    assert scores(distance, *TURNS) == pytest.approx([1 - score for score in scores(similarity, *TURNS)])
    assert values(distance, *TURNS)["difference"] == pytest.approx(-values(similarity, *TURNS)["difference"])
    assert values(distance, *TURNS)["factor"] == values(similarity, *TURNS)["factor"] == 1


def test_the_universal_sentence_encoder():
    for package in ("onnxruntime", "onnxruntime_extensions"):
        pytest.importorskip(package, reason=f"needs the package {package}")
    if packaged_file(PACKAGE, FILE) is None:
        pytest.skip(f"needs the weights: {INSTALL}")
    metric = ready(SemanticSimilarity, "use", dull=False)
    left, right = metric.encoder.pooled([TURNS[0].response, TURNS[0].context[-1]]).vectors.astype(np.float64)
    assert scores(metric, TURNS[0]) == pytest.approx([left @ right], abs=1e-5)  # of length 1
    assert told(metric, turn(" ", "Hello .")).keys() == {"no_vectors"}
    assert scores(metric, turn(" ", "Hello .")) == [0]
    with pytest.raises(InputError, match="has one vector for a text and no pool=max"):
        scores(ready(SemanticSimilarity, "use", pool="max"), TURNS[0])


@both
def test_texts_without_a_vector_are_like_no_other(cls, words):
    metric = ready(cls, words)
    silent = [
        turn("", "hello"),
        turn(" \n", "hello"),
        turn("zebra 😀", "hello"),
        turn("hello", ""),
        turn("hello", "你好"),
    ]
    assert scores(metric, *silent) == [0 if cls is SemanticSimilarity else 1] * 5
    message = f"{metric.asked.label}: 5 of 6 turns have a text without any vector, like no other: cosine 0"
    assert told(metric, *silent, turn("hello", "hello")) == {"no_vectors": message}


def test_small_vectors_are_vectors(tmp_path):
    (tmp_path / "small.txt").write_text("hello 1e-7 0\nthere 3e-7 4e-7\n")
    metric = ready(SemanticSimilarity, f"static:{tmp_path / 'small.txt'}")
    assert scores(metric, turn("hello", "there")) == pytest.approx([0.6])
    assert told(metric, turn("hello", "there")) == {}


def test_a_transformer_has_no_vector_for_no_words(small):
    metric = ready(SemanticSimilarity, small)
    # A zero-width space is no token of the model: the text is as empty as the empty one.
    assert scores(metric, turn("", "hello you"), turn("\u200b", "hello you")) == [0, 0]
    assert metric.encoder.pooled([""]).vectors.any()
    assert told(metric, turn("\u200b", "hello you")).keys() == {"no_vectors"}
    assert told(metric, turn("hello", "hello you")) == {}


def test_of_what_was_said_the_beginning_is_cut(small):
    encoder = encoders().get(small)
    long = " ".join(["hello"] * 70 + ["you"] * 10)
    (dropped,) = encoder.pooled([long]).dropped
    assert dropped == 80 + 2 - LIMIT
    end = " ".join(["hello"] * (70 - dropped) + ["you"] * 10)
    seen = see(encoder, [long], "mean", from_end=True)[long]
    np.testing.assert_allclose(seen.vector, encoder.pooled([end]).vectors[0], atol=1e-5)
    assert seen.cut
    # Of a response it is the end.
    start = " ".join(["hello"] * (LIMIT - 2))
    np.testing.assert_allclose(see(encoder, [long], "mean")[long].vector, encoder.pooled([start]).vectors[0], atol=1e-5)
    metric = ready(SemanticSimilarity, small, history="last_two")
    split = turn("how are you", " ".join(["hello"] * 70), " ".join(["you"] * 10))
    assert scores(metric, split) == pytest.approx(scores(metric, turn("how are you", end)), abs=1e-5)
    assert scores(metric, turn(long, "how are you")) == pytest.approx(
        scores(metric, turn(start, "how are you")), abs=1e-5
    )
    message = (
        f"{metric.asked.label}: 1 of 2 turns have a text longer than the encoder takes; the end of a response, or the "
        "beginning of what was said before, is cut"
    )
    assert told(metric, split, turn("hello", "you")) == {"cut_text": message}
    assert told(metric, turn("hello", "you", references=[long])).keys() == {"cut_text"}


def test_words_too_many_by_hand():
    assert without_first("a b  c d", 1) == "b c d"
    assert without_first("a b", 2) == "a b"


def test_ten_thousand_words(words):
    metric = ready(SemanticSimilarity, words)
    assert scores(metric, turn("hello there " * 5000, "hello there")) == pytest.approx([1])


def test_layers(small, words):
    last, first = ready(SemanticSimilarity, small), ready(SemanticSimilarity, small, layer=1)
    said = turn("hello you", "how are")
    assert scores(last, said) != pytest.approx(scores(first, said), abs=1e-3)
    assert scores(last, said) == scores(ready(SemanticSimilarity, small, layer=3), said)
    with pytest.raises(InputError, match="has no layers, found layer=2"):
        scores(ready(SemanticSimilarity, words, layer=2), said)
    with pytest.raises(InputError, match="choose pool=mean or pool=max"):
        scores(ready(SemanticSimilarity, words, pool="cls"), said)


def test_phrases_of_ones_own(words, tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("hello there\n")
    metric = ready(SemanticSimilarity, words, patterns=str(path))
    # Content words are hello and world, of which world is left.
    said = turn("Hello, there world", "hello there world")
    assert scores(metric, said) == pytest.approx([1 + math.log10(3 / 4)])
    assert scores(metric, turn("I don't know", "know")) == pytest.approx([1])
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    assert f"dull:@{digest}" in metric.signature.split("|")
    assert SemanticSimilarity(patterns=str(path)).label == "semantic_similarity[patterns=mine.txt]"
    path.write_text("hello [there\n")
    with pytest.raises(InputError, match=r"mine.txt:1: expected a phrase of plain words, found '\['"):
        ready(SemanticSimilarity, words, patterns=str(path))
    with pytest.raises(InputError, match="none.txt: no such file"):
        ready(SemanticSimilarity, words, patterns=str(tmp_path / "none.txt"))
    with pytest.raises(InputError, match="patterns are of no use with dull=false"):
        SemanticSimilarity(patterns=str(path), dull=False)


@both
def test_labels_and_signatures(cls, words, small):
    text = f"{cls.name}[encoder={words},history=last_two,dull=false]"
    metric = parse_request(text).metric
    assert metric.label == f"{cls.name}[encoder=static:five.txt,history=last_two,dull=false]"
    parts = metric.prepare(Corpus([]), encoders=encoders()).signature.split("|")
    assert parts[0] == cls.name
    assert {"pool:mean", "dull:no", "history:last_two"} <= set(parts)
    parts = ready(cls, small, pool="cls", dtype="bfloat16").signature.split("|")
    assert {"pool:cls", "layer:3", "dtype:bf16", f"dull:@{own_phrases().digest}", "history:last"} <= set(parts)
    assert parse_request(cls.name).label == cls.name
    assert parse_request(f"{cls.name}.difference").part == "difference"
    ways = [{}, {"history": "last_two"}, {"history": "second_last"}, {"pool": "max"}, {"dull": False}, {"layer": 1}]
    assert len({ready(cls, small, **way).signature for way in ways}) == len(ways)


@both
def test_options_that_are_not_known(cls):
    with pytest.raises(InputError, match="option history of .* expected one of last, second_last, last_two"):
        parse_request(f"{cls.name}[history=first]")
    with pytest.raises(InputError, match=f"unknown history of {cls.name} 'lats'; did you mean last"):
        cls(history="lats")
    with pytest.raises(InputError, match=f"unknown pool of {cls.name} 'median'"):
        cls(pool="median")


def test_in_a_run(words):
    """A turn without context is left out and counted, and the difference has an interval."""
    said = [("hello", ["there"]), ("there", ["hello"]), ("know", []), ("world", ["there", "hello"])]
    turns = [
        Turn(
            str(place),
            said[place % 4][0],
            ("hello" if place % 3 else "there",),
            tuple(said[place % 4][1]),
            dialogue=str(place),
        )
        for place in range(40)
    ]
    turns.append(Turn("40", "hello"))
    names = "semantic_similarity,semantic_distance"
    result = evaluate(Corpus(turns), names, encoder=words, cache=False, resamples=50)
    for cls in METRICS:
        metric = ready(cls, words)
        expected = values(metric, *turns[:40])
        for part in ("", "difference", "cosine", "factor"):
            score = result.score("system", f"{metric.asked.label}.{part}" if part else metric.asked.label)
            assert score.value == pytest.approx(expected[part])
            assert score.n == 40
            assert score.low <= score.value <= score.high
    left_out = [caveat.message for caveat in result.caveats if caveat.code == "missing_input"]
    assert any("1 of 41 turns have no context and are left out" in message for message in left_out)
    assert any("difference: 10 of 40 turns have no references" in message for message in left_out)
