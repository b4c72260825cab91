"""RUBER: relatedness and likeness, blended."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge import evaluate
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.learned.ruber.model import SHIPPED
from dialogauge.metrics.learned.ruber import Ruber, RuberReferenced, RuberUnreferenced, blended
from dialogauge.metrics.registry import parse_request
from tests.encode.models import encoders, minilm
from tests.learned.small import write_ruber
from tests.metrics.learned.conftest import OPENED, TURNS, check_contract, concluded, ready

BLENDS = ["arithmetic", "geometric", "min", "max"]
RANGES = {"unreferenced": {"low": 0.3, "high": 0.7}, "referenced": {"low": -0.5, "high": 1.0}}


@pytest.fixture(scope="module")
def model(words, tmp_path_factory):
    return write_ruber(tmp_path_factory.mktemp("models") / "my-model", words, normalisation=RANGES)


@pytest.fixture(scope="module", params=["ruber", "towers"])
def ruber(request, model, words, tmp_path_factory):
    if request.param == "ruber":
        return ready(Ruber, model)
    directory = tmp_path_factory.mktemp("towers") / "my-model"
    return ready(Ruber, write_ruber(directory, words, network="towers", context=2, normalisation=RANGES))


def turn(response, query="hello", *references):
    return Turn("0", response, context=(query,) if query is not None else (), references=references)


@pytest.mark.parametrize(("blend", "expected"), list(zip(BLENDS, [0.5, 0.4, 0.2, 0.8], strict=True)))
def test_blends_by_hand(blend, expected):
    assert blended(np.array([0.2]), np.array([0.8]), blend).tolist() == pytest.approx([expected])
    assert blended(np.array([0.8]), np.array([0.2]), blend).tolist() == pytest.approx([expected])


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.floats(0, 1), st.floats(0, 1))
def test_blends_lie_between(a, b):
    low, geometric, arithmetic, high = (
        float(blended(np.array(a), np.array(b), blend)) for blend in ("min", "geometric", "arithmetic", "max")
    )
    # The root of a product that is too small for a float is 0.
    assert low * (1 - 1e-12) - 1e-150 <= geometric <= arithmetic + 1e-12
    assert arithmetic <= high
    assert {low, high} == {a, b}


@pytest.mark.parametrize("blend", BLENDS)
def test_the_two_scores_are_brought_to_one_scale(model, words, blend):
    said = [turn("tea", "milk", "rain"), turn("cat dog", "bye", "dog", "tea"), turn("snow", "snow rain", "bye")]
    related = ready(RuberUnreferenced, model).measure(said)[:, 0]
    alike = RuberReferenced(encoder=words, pool="maxmin").prepare(Corpus([]), encoders=OPENED).measure(said)[:, 0]
    first = [min(max((value - 0.3) / 0.4, 0), 1) for value in related]
    second = [min(max((value + 0.5) / 1.5, 0), 1) for value in alike]
    both = {
        "arithmetic": [(a + b) / 2 for a, b in zip(first, second, strict=True)],
        "geometric": [math.sqrt(a * b) for a, b in zip(first, second, strict=True)],
        "min": [min(pair) for pair in zip(first, second, strict=True)],
        "max": [max(pair) for pair in zip(first, second, strict=True)],
    }[blend]
    rows = ready(Ruber, model, blend=blend).measure(said)
    np.testing.assert_allclose(rows[:, :3], np.column_stack([both, first, second]), atol=1e-6)
    assert np.ptp(second) > 0.1


@settings(max_examples=25, deadline=None, derandomize=True)
@given(said=TURNS, data=st.data())
def test_the_contract(ruber, said, data):
    rows, values = check_contract(ruber, said, data, rtol=1e-10, atol=1e-12)
    assert ((rows[:, :3] >= 0) & (rows[:, :3] <= 1)).all()
    assert list(values) == ["", "unreferenced", "referenced"]
    assert values[""] == pytest.approx((values["unreferenced"] + values["referenced"]) / 2)


def test_one_row_per_resample(ruber):
    rows = ruber.measure([turn("tea", "milk", "rain"), turn("cat", "bye", "dog"), turn("", "bye", "dog")])
    weights = np.random.default_rng(0).integers(0, 3, (7, 3)).astype(float)
    batch = concluded(ruber, rows, weights)
    for place, row in enumerate(weights):
        single = concluded(ruber, rows, row)
        for part, values in batch.items():
            assert values.shape == (7,)
            np.testing.assert_allclose(values[place], single[part], rtol=1e-12)


def test_a_turn_scores_the_same_whatever_else_is_scored(ruber):
    (alone,) = ruber.measure([turn("tea", "milk", "rain")])
    others = [turn("", "milk", "rain"), turn("rain", "rain", "rain"), turn("bye " * 50, "cat", "dog")]
    np.testing.assert_allclose(ruber.measure([*others, turn("tea", "milk", "rain")])[3], alone, atol=1e-6)


def test_texts_without_a_vector_are_0_and_counted(ruber):
    said = [
        turn("", "hello", "tea"),
        turn("unheard-of", "hello", "tea"),
        turn("tea", "hello", ""),
        turn("tea", "hello", "tea"),
    ]
    rows = ruber.measure(said)
    np.testing.assert_array_equal(rows[:2, :3], 0)
    assert rows[2, 2] == 0
    assert rows[3, 2] == pytest.approx(1, abs=1e-6)
    (caveat,) = ruber.caveats(ruber.metric.summarise(rows))
    assert caveat.code == "no_vectors"
    assert "3 of 4 turns" in caveat.message


def test_the_best_of_several_references(ruber):
    several, one, other = ruber.measure(
        [turn("tea", "hello", "milk", "rain"), turn("tea", "hello", "milk"), turn("tea", "hello", "rain")]
    )[:, 2]
    assert several == pytest.approx(max(one, other))
    assert one != pytest.approx(other)
    again = ruber.measure([turn("tea", "hello", "rain", "milk")])[0, 2]
    assert again == pytest.approx(several)


def test_turns_without_context_or_references_are_left_out_and_counted(model):
    whole = [turn("tea", "milk", "rain"), turn("cat", "bye", "dog")]
    said = [*whole, turn("tea", None, "rain"), turn("tea", "milk")]
    said = [Turn(str(place), t.response, t.context, t.references) for place, t in enumerate(said)]
    result = evaluate(Corpus(said), f"ruber[model={model}]")
    assert [score.metric for score in result.scores] == [
        "ruber[model=my-model]",
        "ruber[model=my-model].unreferenced",
        "ruber[model=my-model].referenced",
    ]
    assert {score.n for score in result.scores} == {2}
    expected = ready(Ruber, model).measure(whole)[:, :3].mean(axis=0)
    assert [score.value for score in result.scores] == pytest.approx(expected.tolist(), abs=1e-6)
    assert any("2" in caveat.message and "references" in caveat.message for caveat in result.caveats), result.caveats


def test_a_part_can_be_asked_for(model):
    said = Corpus([turn("tea", "milk", "rain")])
    result = evaluate(said, f"ruber[model={model}].referenced")
    assert [score.metric for score in result.scores] == ["ruber[model=my-model].referenced"]
    with pytest.raises(InputError, match="did you mean referenced"):
        parse_request("ruber.referencd")


def test_other_ranges_have_another_signature(model, words, tmp_path):
    """The ranges change the number, and two models can differ in them alone."""
    other = write_ruber(tmp_path / "my-model", words)
    said = [turn("tea", "milk", "rain")]
    assert ready(Ruber, other).measure(said)[0, 0] != pytest.approx(ready(Ruber, model).measure(said)[0, 0])
    assert ready(Ruber, other).signature != ready(Ruber, model).signature


def test_the_pooling_is_the_one_of_the_ranges(words, tmp_path):
    mean = ready(Ruber, write_ruber(tmp_path / "mean", words, normalisation={"pool": "mean"}))
    expected = RuberReferenced(encoder=words, pool="mean").prepare(Corpus([]), encoders=OPENED)
    said = [turn("tea milk", "hello", "rain snow")]
    assert mean.measure(said)[0, 2] == pytest.approx((expected.measure(said)[0, 0] + 1) / 2)


def test_wrong_calls():
    with pytest.raises(InputError, match="expected one of arithmetic, geometric, min, max, found 'mean'"):
        parse_request("ruber[blend=mean]")
    with pytest.raises(InputError, match="unknown blend of ruber 'maxx'; did you mean max"):
        Ruber(blend="maxx")


def test_shipped_model_is_the_default():
    minilm()
    metric = Ruber().prepare(Corpus([]), encoders=encoders())
    tea = "Would you like some tea ?"
    good, stray = (
        turn(text, tea, "Yes , thank you .") for text in ("Yes , please , with milk .", "The train left at seven .")
    )
    rows = metric.measure([good, stray])
    assert (rows[0, :3] > rows[1, :3]).all()
    assert f"|model:{SHIPPED}@" in metric.signature
