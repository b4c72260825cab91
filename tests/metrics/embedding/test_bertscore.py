import math
import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge import evaluate
from dialogauge.corpus import Corpus, Turn
from dialogauge.encode.base import Tokens
from dialogauge.encode.encoders import Encoders
from dialogauge.encode.find import find_model
from dialogauge.encode.transformer import Transformer
from dialogauge.errors import InputError
from dialogauge.metrics.embedding.bertscore import BertScore, Idf, bertscore, read_baseline
from dialogauge.metrics.embedding.word_vectors import EmbeddingAverage, EmbeddingExtrema
from dialogauge.metrics.registry import parse_request
from tests.encode.models import LIMIT, SENTENCES, build, encoders, minilm

RESPONSE = np.array([[3.0, 4], [0, 2], [1, 0]])
REFERENCE = np.array([[5.0, 0], [4, 3], [-1, 0]])
# Of length 1 the rows are (.6, .8), (0, 1), (1, 0) and (1, 0), (.8, .6), (-1, 0). Cosines:
#             (1, 0)  (.8, .6)  (-1, 0)   best
#  (.6, .8)     .6      .96       -.6      .96
#  (0, 1)       0       .6         0       .6
#  (1, 0)       1       .8        -1       1
#  best         1       .96        0
ONES = np.ones(3)

TABLE = {
    "[CLS]": (0, 0, 1),
    "[SEP]": (0, 0, 1),
    "hello": (3, 4, 0),
    "you": (0, 2, 0),
    "dog": (1, 0, 0),
    "nice": (5, 0, 0),
    "like": (4, 3, 0),
    "not": (-1, 0, 0),
    "today": (0, 0, 7),
}
"""The rows above for words that the small BERT knows; the special tokens are at right angles to all but `today`."""


class Fixed(Transformer):
    """Reads texts as the small BERT does, and gives each token its vector from the table, wherever it stands and
    whatever the layer."""

    def expect(self, kind, *, pairs, layer=None):
        pass

    def tokens(self, texts, layer=None):  # noqa: ARG002
        spell = self.tokenizer.token
        return [
            Tokens(
                one.ids,
                one.offsets,
                one.special,
                np.array([TABLE[spell(number)] for number in one.ids.tolist()], np.float32),
                one.dropped,
            )
            for one in self.tokenizer.encode(texts)
        ]


class Given(Encoders):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def get(self, name, dtype="float32"):  # noqa: ARG002
        return self.encoder


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return build("bert", tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture(scope="module")
def fixed(directory):
    return Given(Fixed(find_model(str(directory))))


@pytest.fixture(scope="module")
def small(directory):
    """The metric with the small BERT itself."""
    return BertScore(encoder=str(directory)).prepare(Corpus([]))


def scores(metric, *turns):
    """F1, precision and recall of each turn: the response, then the references."""
    listed = [Turn(str(place), turn[0], references=tuple(turn[1:])) for place, turn in enumerate(turns)]
    return metric.measure(listed)[:, :3].tolist()


def f1(precision, recall):
    return 2 * precision * recall / (precision + recall)


def test_values_derived_by_hand():
    # Precision (.96 + .6 + 1) / 3, recall (1 + .96 + 0) / 3.
    expected = (f1(2.56 / 3, 1.96 / 3), 2.56 / 3, 1.96 / 3)
    assert bertscore(RESPONSE, REFERENCE, ONES, ONES) == pytest.approx(expected)
    # Swapped, each is the other.
    assert bertscore(REFERENCE, RESPONSE, ONES, ONES) == pytest.approx((expected[0], expected[2], expected[1]))


def test_weights_by_hand():
    # (0 * .96 + 1 * .6 + 3 * 1) / 4 and (1 * 1 + 0 * .96 + 1 * 0) / 2.
    expected = (f1(0.9, 0.5), 0.9, 0.5)
    assert bertscore(RESPONSE, REFERENCE, np.array([0.0, 1, 3]), np.array([1.0, 0, 1])) == pytest.approx(expected)
    # What is weighted is the share, not the number.
    assert bertscore(RESPONSE, REFERENCE, np.array([0.0, 2, 6]), np.array([5.0, 0, 5])) == pytest.approx(expected)


def test_a_token_without_weight_may_be_matched():
    # The first word is most like the second of the reference, whose weight is 0: .96 all the same.
    _, precision, _ = bertscore(RESPONSE, REFERENCE, np.array([1.0, 0, 0]), np.array([1.0, 0, 1]))
    assert precision == pytest.approx(0.96)


def test_similarities_below_zero_count():
    one = np.ones(1)
    assert bertscore(np.array([[1.0, 0]]), np.array([[-2.0, 0]]), one, one) == pytest.approx((-1, -1, -1))


def test_the_bounds_hold():
    # Precision is the cosine with (9, 1), 9 / sqrt 82; of the reference's ten words the other nine are at -1. The sum
    # of the two is small, and F1 far below -1.
    response, reference = np.array([[1.0, 0]]), np.array([[9.0, 1], *[[-1, 0]] * 9])
    score, precision, recall = bertscore(response, reference, np.ones(1), np.ones(10))
    assert (precision, recall) == pytest.approx((9 / math.sqrt(82), (9 / math.sqrt(82) - 9) / 10))
    low, high = BertScore().bounds
    assert low <= score <= high


def test_nothing_in_common():
    one = np.ones(1)
    assert bertscore(np.array([[1.0, 0]]), np.array([[0.0, 1]]), one, one) == (0, 0, 0)
    assert bertscore(np.array([[0.0, 0]]), np.array([[0.0, 1]]), one, one) == (0, 0, 0)


def test_no_weight_at_all():
    found = bertscore(RESPONSE, REFERENCE, np.zeros(3), ONES)
    assert math.isnan(found[0])
    assert math.isnan(found[1])
    assert found[2] == pytest.approx(1.96 / 3)


def test_idf_by_hand():
    # Three texts: 1 is in all, 2 in one (twice), 3 in two, 9 in none.
    idf = Idf.from_texts([[1, 2, 2, 3], [1, 4], [1, 3]])
    expected = [math.log(4 / 4), math.log(4 / 2), math.log(4 / 3), math.log(4 / 1)]
    assert idf.weights(np.array([1, 2, 3, 9], np.int32)) == pytest.approx(expected)
    assert idf.weights(np.array([], np.int32)).shape == (0,)


def test_the_digest_of_idf_tells_references_apart():
    one = Idf.from_texts([[1, 2], [3]])
    assert one.digest == Idf.from_texts([[3], [2, 1, 1]]).digest
    others = [Idf.from_texts(texts) for texts in ([[1, 2]], [[1, 2], [2]], [[1, 2], [3], []], [])]
    assert len({one.digest, *(other.digest for other in others)}) == 5


def test_the_metric_by_hand(fixed):
    metric = BertScore().prepare(Corpus([]), encoders=fixed)
    ((whole, precision, recall),) = scores(metric, ("Hello you dog", "nice like not"))
    assert (whole, precision, recall) == pytest.approx((f1(2.56 / 3, 1.96 / 3), 2.56 / 3, 1.96 / 3))


def test_special_tokens_may_be_matched_and_carry_no_weight(fixed):
    metric = BertScore().prepare(Corpus([]), encoders=fixed)
    # `today` is as [CLS] is: precision 1. `dog` is at right angles to all there is: recall 0. Were special tokens
    # to count, their own cosines of 1 would bring recall to 2/3.
    assert scores(metric, ("today", "dog")) == [[0.0, 1.0, 0.0]]


def test_idf_weighs_by_the_references(fixed):
    turns = [
        Turn("1", "hello you dog", references=("nice like not",)),
        Turn("2", "you", references=("nice",)),
        Turn("3", "like", references=("nice dog",)),
    ]
    metric = BertScore(idf=True).prepare(Corpus(turns), encoders=fixed)
    # Of 3 references `nice` is in 3, and `like`, `not`, `dog` in 1: log(4/4) = 0 and log(4/2). `hello` and `you` are
    # in none: log(4/1), twice as much. Precision (2 * .96 + 2 * .6 + 1) / 5, recall (0 * 1 + .96 + 0) / 2.
    first, second, third = metric.measure(turns)[:, :3].tolist()
    assert first == pytest.approx([f1(0.824, 0.48), 0.824, 0.48])
    # The reference is of words that all references have: nothing is left to recall, and there is no score.
    assert np.isnan(second[0])
    # `like` and `nice` .8, `like` and `dog` .8; of `nice dog` only `dog` has weight.
    assert third == pytest.approx([0.8, 0.8, 0.8])
    assert metric.metric.defined(metric.measure(turns)).tolist() == [True, False, True]


def test_idf_counts_the_references_of_a_context_once_however_many_systems_answer(fixed):
    def turns(system):
        return [
            Turn("1", "hello you dog", references=("nice like not",), system=system),
            Turn("2", "you", references=("nice",), system=system),
        ]

    one = BertScore(idf=True).prepare(Corpus(turns("a")), encoders=fixed)
    many = BertScore(idf=True).prepare(Corpus([*turns("a"), *turns("b"), *turns("c")]), encoders=fixed)
    assert one.known == many.known
    assert one.known.texts == 2
    # The same reference of two contexts are two.
    more = [*turns("a"), Turn("3", "x", references=("nice",))]
    assert BertScore(idf=True).prepare(Corpus(more), encoders=fixed).known.texts == 3


def test_of_several_references_the_best_f1_counts(fixed):
    metric = BertScore().prepare(Corpus([]), encoders=fixed)
    # `dog` and `like` .8; `dog` and `dog` 1, with `not` -1 but 0 to [CLS]: precision 1, recall 1/2; `not` 0 to [CLS].
    assert scores(metric, ("dog", "like")) == pytest.approx(np.array([[0.8, 0.8, 0.8]]))
    assert scores(metric, ("dog", "dog not")) == pytest.approx(np.array([[2 / 3, 1, 0.5]]))
    for references in (("like", "dog not", "not"), ("not", "dog not", "like")):
        # Not the best precision, which is that of another reference.
        assert scores(metric, ("dog", *references)) == pytest.approx(np.array([[0.8, 0.8, 0.8]]))


@pytest.mark.parametrize("response", ["", "  \n", "\u200b"])
def test_an_empty_text_scores_zero_and_is_counted(small, response):
    turns = [Turn("1", response, references=("hello",)), Turn("2", "hello", references=("",)), Turn("3", "", (), ("",))]
    rows = small.measure(turns)
    assert rows[:, :3].tolist() == [[0, 0, 0]] * 3
    (caveat,) = small.caveats(small.metric.summarise(rows))
    assert caveat.code == "no_vectors"
    assert caveat.message == f"{small.asked.label}: 3 of 3 turns have a text without any vector, and score 0"


def test_an_empty_reference_beside_another_does_not_make_the_score_zero(small):
    rows = small.measure([Turn("1", "hello", references=("", "hello"))])
    assert rows[0, 0] == pytest.approx(1)
    assert small.caveats(small.metric.summarise(rows)) == []


def test_a_text_that_is_cut_is_counted(small):
    long = "what would you like to eat for dinner ? " * 1112
    turns = [
        Turn("1", long, references=("hello",)),
        Turn("2", "hello", references=("hello", long)),
        Turn("3", "a", (), ("b",)),
    ]
    rows = small.measure(turns)
    assert np.isfinite(rows).all()
    (caveat,) = small.caveats(small.metric.summarise(rows))
    assert caveat.code == "cut_text"
    told = f"{small.asked.label}: 2 of 3 turns have a text longer than the encoder takes; its end is cut"
    assert caveat.message == told
    # What is cut has no part in it.
    assert scores(small, (long, "hello")) == scores(small, (f"{long} and more", "hello"))


def test_space_around_a_text_does_not_matter(small):
    plain = scores(small, ("hello you", "how are you"))
    assert scores(small, ("  hello you\n", "\thow are you ")) == plain


TURNS = [
    Turn(str(place), SENTENCES[place], references=(SENTENCES[place - 3], SENTENCES[place - 5]))
    for place in range(len(SENTENCES))
]


def test_neither_order_nor_company_matters(small):
    together = small.measure(TURNS)
    np.testing.assert_allclose(small.measure(TURNS[::-1])[::-1], together, rtol=0, atol=1e-6)
    alone = np.concatenate([small.measure([turn]) for turn in TURNS])
    np.testing.assert_allclose(alone, together, rtol=0, atol=1e-6)
    assert small.measure([]).shape == (0, 8)


def test_the_metric_is_the_mean_of_its_turns(small):
    rows = small.measure(TURNS)
    halves = small.metric.conclude(small.metric.summarise(rows[:3]) + small.metric.summarise(rows[3:]))
    for column, part in enumerate(("", "precision", "recall")):
        assert halves[part] == pytest.approx(rows[:, column].mean())
    assert small.metric.per_turn(rows).tolist() == rows[:, 0].tolist()


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.sampled_from(SENTENCES), st.sampled_from(SENTENCES), st.sampled_from([*SENTENCES, "", "😀"]))
def test_properties(small, response, reference, another):
    (score, precision, recall), (swapped, back, forth), more, itself = scores(
        small, (response, reference), (reference, response), (response, reference, another), (response, response)
    )
    assert (score, precision, recall) == pytest.approx((swapped, forth, back))
    assert -1 <= score <= 1
    assert min(precision, recall) - 1e-9 <= score <= max(precision, recall) + 1e-9
    assert more[0] >= score
    assert scores(small, (response, another, reference))[0] == more
    assert itself == pytest.approx([1, 1, 1])


def test_an_alignment_explains_the_score(fixed):
    metric = BertScore().prepare(Corpus([]), encoders=fixed)
    precision, recall = metric.align("Hello you dog", "nice like not")
    third = pytest.approx(1 / 3)
    assert precision == [
        ("hello", (0, 5), "like", (5, 9), pytest.approx(0.96), third),
        ("you", (6, 9), "like", (5, 9), pytest.approx(0.6), third),
        ("dog", (10, 13), "nice", (0, 4), pytest.approx(1), third),
    ]
    assert [(match.token, match.matched, match.similarity) for match in recall] == [
        ("nice", "dog", pytest.approx(1)),
        ("like", "hello", pytest.approx(0.96)),
        # At right angles to `you` and to the special tokens; the first of them.
        ("not", "[CLS]", pytest.approx(0)),
    ]


def test_what_stands_nowhere_has_no_place_in_an_alignment(fixed):
    metric = BertScore().prepare(Corpus([]), encoders=fixed)
    ((token, place, matched, nowhere, *_),) = metric.align("  today", "   dog").precision
    assert (token, place, matched, nowhere) == ("today", (2, 7), "[CLS]", (0, 0))


@pytest.mark.parametrize("idf", [False, True])
def test_the_parts_of_an_alignment_sum_up_to_the_score(directory, idf):
    metric = BertScore(encoder=str(directory), idf=idf).prepare(Corpus(TURNS))
    for turn in TURNS:
        response, reference = turn.response, turn.references[0]
        ((_, precision, recall),) = scores(metric, (response, reference))
        for matches, score in zip(metric.align(response, reference), (precision, recall), strict=True):
            assert sum(match.weight for match in matches) == pytest.approx(1)
            assert sum(match.weight * match.similarity for match in matches) == pytest.approx(score)


def test_the_alignment_of_an_empty_text_is_empty_on_its_side(small):
    precision, recall = small.align("", "hello")
    assert precision == []
    assert [match.token for match in recall] == ["hello"]


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_places_of_an_alignment_are_places_in_the_texts_as_given(family, tmp_path):
    directory = build(family, tmp_path / family)
    metric = BertScore(encoder=str(directory)).prepare(Corpus([]))
    response, reference = "hello , how are you", "  how are you today ? "
    precision, recall = metric.align(response, reference)
    for text, matches in ((response, precision), (reference, recall)):
        for match in matches:
            start, end = match.place
            assert text[start:end] == match.token.lstrip("Ġ").removeprefix("##")


def test_the_layer(directory, small):
    assert small.layer == 3
    inner = BertScore(encoder=str(directory), layer=1).prepare(Corpus([]))
    assert inner.layer == 1
    assert scores(inner, ("hello you", "how are you")) != scores(small, ("hello you", "how are you"))
    for layer in (-1, 4):
        with pytest.raises(InputError, match=f"has layers 0 \\(its input\\) to 3; found layer {layer}"):
            BertScore(encoder=str(directory), layer=layer).prepare(Corpus([]))


def test_the_layer_of_a_model_that_is_known_by_name(tmp_path):
    directory = str(build("roberta", tmp_path / "roberta-base", num_hidden_layers=12))
    assert BertScore(encoder=directory).prepare(Corpus([])).layer == 10
    assert BertScore(encoder=directory, layer=2).prepare(Corpus([])).layer == 2


def test_word_vectors_are_refused(tmp_path):
    (tmp_path / "v.txt").write_text("hello 1 0\n")
    with pytest.raises(InputError, match="bertscore needs an encoder that reads tokens in context, found static:"):
        BertScore(encoder=f"static:{tmp_path / 'v.txt'}").prepare(Corpus([]))


def test_the_signature_names_all_that_could_change_the_number(directory, tmp_path):
    minilm()
    plain = BertScore().prepare(Corpus(TURNS), encoders=encoders())
    parts = plain.signature.split("|")
    assert parts[:7] == [
        "bertscore",
        "enc:minilm-l6-v2@53aa5117",
        "maxlen:512",
        "dtype:f32",
        "layer:6",
        "idf:no",
        "baseline:no",
    ]
    baseline = tmp_path / "b.csv"
    baseline.write_text("LAYER,P,R,F\n3,.1,.1,.1\n2,.1,.1,.1\n")
    other = tmp_path / "c.csv"
    other.write_text("LAYER,P,R,F\n3,.2,.1,.1\n2,.1,.1,.1\n")
    ways = [
        BertScore(encoder=str(directory), **options).prepare(Corpus(turns))
        for turns, options in (
            (TURNS, {}),
            (TURNS, {"layer": 2}),
            (TURNS, {"dtype": "bfloat16"}),
            (TURNS, {"idf": True}),
            (TURNS[1:], {"idf": True}),
            (TURNS, {"baseline": str(baseline)}),
            (TURNS, {"baseline": str(other)}),
        )
    ]
    assert len({way.signature for way in ways}) == len(ways)
    # Where a file lies does not change a number.
    assert not any(str(tmp_path) in way.signature or str(directory) in way.signature for way in ways)


def test_asked_for_by_name(directory):
    request = parse_request(f"bertscore[encoder={directory},layer=2,idf=true].recall")
    assert request.part == "recall"
    assert request.metric == BertScore(encoder=str(directory), layer=2, idf=True)
    with pytest.raises(InputError, match="expected one of float32, bfloat16, found 'float16'"):
        parse_request("bertscore[dtype=float16]")


def test_in_a_run(directory, small):
    result = evaluate(Corpus(TURNS), "bertscore,bertscore.recall", encoder=str(directory), cache=False, resamples=10)
    rows = small.measure(TURNS)
    label = f"bertscore[encoder={directory.name}]"
    assert result.score("system", label).value == pytest.approx(rows[:, 0].mean())
    assert result.score("system", f"{label}.recall").value == pytest.approx(rows[:, 2].mean())


def test_other_metrics_of_a_run_share_the_pass(directory):
    """Also where they want another layer, and other space around a text."""
    shared = Encoders()
    metrics = [BertScore(layer=1), BertScore(), EmbeddingAverage(), EmbeddingExtrema(layer=2)]
    ready = [replace(metric, encoder=str(directory)).prepare(Corpus(TURNS), encoders=shared) for metric in metrics]
    spaced = [replace(turn, response=f" {turn.response}\n") for turn in TURNS]
    for metric in ready:
        metric.measure(TURNS)
        metric.measure(spaced)
    assert shared.get(str(directory)).encoded == len(SENTENCES)


def test_rescaling_by_hand(fixed, tmp_path):
    path = tmp_path / "baseline.csv"
    path.write_text("LAYER,P,R,F\n0,.9,.9,.9\n3,0.36,0.5,0.2\n")
    metric = BertScore(baseline=str(path)).prepare(Corpus([]), encoders=fixed)
    # P = 1 becomes (1 - .36) / .64 = 1, R = 1/2 becomes (.5 - .5) / .5 = 0, F = 2/3 becomes (2/3 - .2) / .8 = 7/12.
    assert scores(metric, ("dog", "dog not")) == pytest.approx(np.array([[7 / 12, 1, 0]]))
    assert metric.asked.bounds == (-np.inf, np.inf)


HEAD = "LAYER,P,R,F\n"


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", 1, "expected a baseline file with the columns LAYER,P,R,F"),
        ("3,.1,.1,.1\n", 1, "expected a baseline file with the columns LAYER,P,R,F"),
        ("LAYER,P,R\n3,.1,.1\n", 1, "expected a baseline file with the columns LAYER,P,R,F"),
        (HEAD + "0,.1,.1,.1\n3,.1,x,.1\n", 3, "expected four numbers"),
        (HEAD + "0,.1,.1,.1\n3,.1,.1\n", 3, "expected four numbers"),
        (HEAD + "three,.1,.1,.1\n", 2, "expected four numbers"),
        (HEAD + "0,.1,.1,.1\n\n\n3,.1,x,.1\n", 5, "expected four numbers"),
        (HEAD + "3,.1,1.0,.1\n", 2, "expected baselines below 1"),
        (HEAD + "3,.1,nan,.1\n", 2, "expected baselines below 1"),
        (HEAD + "3,.1,-inf,.1\n", 2, "expected"),
        (HEAD + "0,.1,.1,.1\n", None, "has no line for layer 3"),
        ("x" * 200_000, 1, "expected a baseline file"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_files_that_are_no_baselines(fixed, tmp_path, content, line, message):
    path = tmp_path / "baseline.csv"
    path.write_text(content)
    with pytest.raises(InputError) as error:
        BertScore(baseline=str(path)).prepare(Corpus([]), encoders=fixed)
    assert message in error.value.message
    assert error.value.line == line
    assert str(path) in str(error.value)


def test_a_baseline_that_is_not_there(fixed, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "none.csv", tmp_path, tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(InputError, match="cannot be read as a baseline"):
            BertScore(baseline=str(path)).prepare(Corpus([]), encoders=fixed)


@pytest.mark.parametrize(
    "content", [HEAD + "3,.1,.2,.3\n", "F,R,P,LAYER\r\n.3,.2,.1,3\r\n", "\ufeff" + HEAD + "3,.1,.2,.3"]
)
def test_a_baseline_by_the_names_of_its_columns(tmp_path, content):
    path = tmp_path / "baseline.csv"
    path.write_text(content, encoding="utf-8")
    assert read_baseline(path, 3).values.tolist() == [0.3, 0.1, 0.2]


def test_the_limit_of_the_small_model_is_what_the_tests_take_it_for(small):
    assert small.encoder.files.limit == LIMIT
