"""Which vectors are tested, what is said of them, and what is refused."""

import json
import sys

import numpy as np
import pytest
from scipy.stats import shapiro

from dialogauge.corpus import Corpus, Turn, load
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import InputError
from dialogauge.metrics.distance.fbd import Fbd
from dialogauge.stats import gaussian_tests
from dialogauge.studies.normality import normality
from dialogauge.studies.normality_result import NormalityRow
from tests.encode.models import SENTENCES, build, minilm
from tests.shared import annotation

WORDS = " ".join(SENTENCES[::2]).split()  # which the small model has whole


@pytest.fixture(scope="module", autouse=True)
def few_directions():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gaussian_tests, "DIRECTIONS", 30)
        yield


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(build("bert", tmp_path_factory.mktemp("model") / "bert"))


def say(seed):
    rng = np.random.default_rng(seed)
    return " ".join(rng.choice(WORDS, rng.integers(2, 10)))


def corpus(systems=("a", "b"), n=24, references=True, responses=None):
    """All systems answer the same contexts, so that they share references."""
    return Corpus(
        [
            Turn(
                id=f"{i}",
                response=responses or say([1, place, i]),
                context=(say([2, i]), say([3, i])),
                references=(say([4, i]), say([5, i])) if references else (),
                system=system,
            )
            for place, system in enumerate(systems)
            for i in range(n)
        ]
    )


def vectors_of(model, pairs, **options):
    return Fbd(encoder=model, **options).prepare(corpus(), None, Encoders()).encode(pairs).vectors


def same(one, other):
    """Whether rows agree, as far as vectors do that were made in batches of other sizes."""
    mine, others = one.record(), other.record()
    return mine.keys() == others.keys() and all(
        mine[name] == (pytest.approx(value, rel=1e-5) if isinstance(value, float) else value)
        for name, value in others.items()
    )


def codes(result):
    return [caveat.code for caveat in result.caveats]


@pytest.fixture(scope="module")
def result(model):
    return normality(corpus(), encoder=model)


def test_rows(result):
    assert [(row.name, row.kind, row.n, row.available) for row in result.rows] == [
        *(("references", "references", 24, 24), ("a", "system", 24, 24), ("b", "system", 24, 24))
    ]
    assert result.dimensions == 32
    assert result.systems == {"a": 24, "b": 24}
    assert result.caveats == []


def test_numbers_are_those_of_scipy(model, result):
    turns = corpus().by_system["b"]
    vectors = vectors_of(model, [(turn.context[-1], turn.response) for turn in turns])
    found = [shapiro(column) for column in vectors.T.astype(np.float64)]
    w, p = np.array([one.statistic for one in found]), np.array([one.pvalue for one in found])
    row = result.row("b")
    assert (row.w_mean, row.w_sd) == pytest.approx((w.mean(), w.std()), rel=1e-9)
    assert (row.p_mean, row.p_sd) == pytest.approx((p.mean(), p.std()), rel=1e-6)
    assert row.rejected == (p < 0.05).mean() > 0
    assert (row.least, row.most) == (w.argmin(), w.argmax())
    assert w[row.typical] == np.sort(w)[15]
    assert row.tests.w == pytest.approx(w, rel=1e-9)


def test_references_are_the_first_ones_and_each_counts_once(model, result):
    turns = corpus().by_system["a"]
    vectors = vectors_of(model, [(turn.context[-1], turn.references[0]) for turn in turns])
    expected = NormalityRow.from_vectors("references", "references", vectors, 24, 0)
    assert same(result.row("references", "references"), expected)


def test_one_reference_to_two_contexts_counts_twice(model):
    turns = [Turn(f"{i}", say([1, i]), (f"{i}",), references=("yes",)) for i in range(20)]
    assert normality(Corpus(turns), encoder=model, context=0).rows[0].n == 20


def test_vectors_are_made_as_asked(model):
    turns = corpus(("a",)).turns
    for options, pairs in (
        ({"pool": "mean"}, [(turn.context[-1], turn.response) for turn in turns]),
        ({"layer": 1}, [(turn.context[-1], turn.response) for turn in turns]),
        ({"context": None}, [(" ".join(turn.context), turn.response) for turn in turns]),
        ({"context": 0}, [turn.response for turn in turns]),
    ):
        found = normality(corpus(("a",)), encoder=model, **options)
        assert same(
            found.row("a"), NormalityRow.from_vectors("a", "system", vectors_of(model, pairs, **options), 24, 0)
        )
    assert found.signature.split("|")[4:8] == ["pool:cls", "layer:3", "pair:no", "dialogauge:0.1.0"]


def test_a_row_does_not_depend_on_the_others(model, result):
    alone = normality(corpus(), encoder=model, systems=["b"])
    assert [row.name for row in alone.rows] == ["references", "b"]
    assert alone.row("b") == result.row("b")


def test_seeds(model, result):
    again, other = (normality(corpus(), encoder=model, seed=seed) for seed in (0, 1))
    assert again.to_json() == result.to_json()
    assert other.row("a").w_mean == result.row("a").w_mean
    assert other.row("a").directions_w != result.row("a").directions_w


def test_real_conversations_have_a_row(model):
    real = Corpus([Turn(f"{i}", say([9, i]), (say([2, i]),)) for i in range(21)])
    found = normality(corpus(("a",)), encoder=model, real=real)
    assert [row.name for row in found.rows] == ["references", "real", "a"]
    pairs = [(turn.context[0], turn.response) for turn in real]
    assert same(found.row("real", "real"), NormalityRow.from_vectors("real", "real", vectors_of(model, pairs), 21, 0))
    assert codes(found) == ["different_sizes"]
    assert found.caveats[0].message.startswith("rows have 21 to 24 vectors")


def test_past_5000_a_draw_is_tested(model, monkeypatch):
    monkeypatch.setattr(sys.modules["dialogauge.studies.normality"], "MOST", 22)
    first, again, other = (normality(corpus(("a",)), encoder=model, seed=seed) for seed in (0, 0, 1))
    assert [(row.n, row.available) for row in first.rows] == [(22, 24), (22, 24)]
    assert first.caveats[0].message == (
        "references: of 24 vectors 22 are tested, drawn by chance (seed 0); p-values for more are not accurate"
    )
    assert codes(first) == ["part_tested", "part_tested"]
    assert first.rows == again.rows
    assert first.row("a").w_mean != other.row("a").w_mean


def test_without_references(model):
    found = normality(corpus(("a",), references=False), encoder=model)
    assert [row.name for row in found.rows] == ["a"]
    assert found.caveats[0].message == "no turn has a reference: there is no row of references"
    some = Corpus([*corpus(("a",)), Turn("x", "hello", system="a")])
    found = normality(some, encoder=model)
    assert [row.n for row in found.rows] == [24, 25]
    assert found.caveats[0].message.startswith("1 of 25 turns have no references")


def test_few_vectors(model):
    found = normality(corpus(("a",), n=5, references=False), encoder=model)
    assert found.caveats[1].message == "a: only 5 vectors; below 20 hardly any are found not to be Gaussian"
    assert found.rows[0].directions_p is not None


def test_too_few_vectors_have_no_value(model):
    found = normality(corpus(("a",), n=2, references=False), encoder=model)
    row = found.rows[0]
    assert (row.n, row.constant, row.w_mean, row.rejected, row.rejected_holm) == (2, 32, None, None, None)
    assert (row.directions_w, row.directions_p, row.least, row.examples) == (None, None, None, ())
    assert found.caveats[1].message == "a: no test of 2 vectors; it needs 3"
    assert codes(found) == ["missing_input", "undefined_scores"]
    assert str(found).splitlines()[2].split() == ["a", "2", *"––––––"]
    assert "not Gaussian (" not in str(found)
    assert json.loads(found.to_json())["rows"][0]["w_mean"] is None


def test_equal_responses_do_not_vary(model):
    found = normality(corpus(("a",), references=False, responses="no ."), encoder=model, context=0)
    assert found.rows[0].w_mean is None
    assert found.caveats[1].message == "32 of 32 dimensions do not vary and have no test: a"


def test_empty_responses_count(model):
    turns = [*corpus(("a",)), Turn("x", " ", ("hello",), references=("hi",), system="a")]
    found = normality(Corpus(turns), encoder=model)
    assert found.row("a").n == 25
    assert found.caveats[0].message == "1 of 25 responses are empty; they count, as a context with nothing after it"


def test_long_texts_are_counted(model):
    turns = [*corpus(("a",)), Turn("x", "soup " * 100, ("hello",), references=("hi",), system="a")]
    assert normality(Corpus(turns), encoder=model).caveats[0].code == "cut_text"


def test_table_and_document(result):
    text = str(result)
    assert text.splitlines()[0].split() == "vectors of n W p p < 0.05 after Holm directions: W directions: p".split()
    row = result.row("a")
    cells = text.splitlines()[3].split()
    assert cells[:5] == ["a", "24", f"{row.w_mean:.3f}", "±", f"{row.w_sd:.3f}"]
    assert cells[-4:] == [
        *(f"{100 * row.rejected:.0f}%", str(row.rejected_holm)),
        *(f"{row.directions_w:.3f}", f"{row.directions_p:.3f}"),
    ]
    assert "each of 32 dimensions" in text
    assert "along 30 random directions" in text
    shown = [row.name for row in result.rows if row.directions_p <= 0.05]
    assert f"not Gaussian (directions: p at most 0.05): {', '.join(shown) or 'shown of none'}\n" in text
    document = json.loads(result.to_json())
    assert document["schema"] == "dialogauge.normality/1"
    assert document["settings"]["seed"] == 0
    assert document["rows"] == result.to_records()
    assert set(document["rows"][0]) == set(result.to_frame().columns)
    assert "tests" not in document["rows"][0]


def test_what_the_figure_needs_is_there(result):
    for row in result.rows:
        assert [example.dimension for example in row.examples] == [row.least, row.typical, row.most]
        for example in row.examples:
            assert len(example.values) == row.n
            assert (example.values.mean(), example.values.std()) == pytest.approx((0, 1), abs=1e-9)
            assert example.w == row.tests.w[example.dimension]
            assert shapiro(example.values).statistic == pytest.approx(example.w, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pool": "sum"}, "unknown pooling 'sum'"),
        ({"dtype": "int8"}, "unknown dtype 'int8'"),
        ({"layer": -1}, "layer: expected a whole number from 0 to 1,000,000, found -1"),
        ({"context": -2}, "context: expected a whole number from 0 to 1,000,000, found -2"),
        ({"seed": -1}, "seed: expected a whole number from 0"),
        ({"systems": ["c"]}, "unknown system 'c'"),
        ({"layer": 9}, "layers 0 .* to 3; found layer 9"),
    ],
)
def test_wrong_calls(model, options, message):
    with pytest.raises(InputError, match=message):
        normality(corpus(), encoder=model, **options)


def test_no_turns(model):
    with pytest.raises(InputError, match="expected turns, found none"):
        normality(Corpus([]), encoder=model)


def test_unknown_row(result):
    with pytest.raises(InputError, match="found no row with all of name 'references', kind 'system'"):
        result.row("references")


@pytest.mark.slow
def test_published_corpus(monkeypatch):
    minilm()
    monkeypatch.setattr(gaussian_tests, "DIRECTIONS", 1000)
    found = normality(load(annotation("dailyz")), systems=["s00"])
    row = found.row("references", "references")
    assert (row.n, row.dimensions, row.constant, row.rejected_holm) == (100, 384, 3, 1)
    assert (row.w_mean, row.w_sd) == pytest.approx((0.9838, 0.0094), abs=1e-4)
    assert (row.p_mean, row.p_sd) == pytest.approx((0.417, 0.295), abs=2e-3)
    assert (row.directions, row.directions_p) == (1000, 0.005)
