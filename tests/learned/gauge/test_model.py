"""A gauge that was trained: texts as people write them, what logits mean, and models that cannot be used."""

import json
import math
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.encode.encoders import Encoders
from dialogauge.errors import InputError
from dialogauge.learned.directory import CARD
from dialogauge.learned.gauge import model as gauge_model
from dialogauge.learned.gauge.model import (
    PARTS,
    QUANTILES,
    Calibration,
    GaugeShape,
    as_written,
    open_gauge,
    said_before,
    said_then,
)
from tests.encode.models import build
from tests.learned.small import change_card, write_gauge
from tests.learned.test_directory import rewrite

ENCODERS = Encoders()


@pytest.mark.parametrize(
    ("split", "written"),
    [
        ("i do n't know .", "i don't know."),
        ("I 'm fine , thank you . And you ?", "I'm fine, thank you. And you?"),
        ("that ' s what i ' d say", "that's what i'd say"),
        ("we 've seen it ; they 'll go !", "we've seen it; they'll go!"),
        ("CA N'T", "CAN'T"),
        ("  two   spaces\nand a line ", "two spaces and a line"),
        ("wait ...", "wait..."),
        ("it's fine.", "it's fine."),
        ("the dogs ' house", "the dogs ' house"),
        ("rock 'n' roll 'so' he said", "rock 'n' roll 'so' he said"),
        ("3 : 30", "3: 30"),
        ("", ""),
        (" \t", ""),
    ],
)
def test_as_people_write(split, written):
    assert as_written(split) == written
    assert as_written(written) == written


def test_what_is_looked_at():
    assert said_before(["a", "b", " ", "c ?", "\u200b", "d"], 2) == "c? d"
    assert said_before(["a"], 3) == "a"
    assert said_before([], 3) == ""
    words = [str(number) for number in range(200)]
    assert said_before([" ".join(words[:100]), " ".join(words[100:])], 3) == " ".join(words[136:])
    assert said_before(["start " * 60, "end"], 3).split() == ["start"] * 60 + ["end"]
    assert said_then(" ".join(words)) == " ".join(words[:128])
    assert said_then(" \u200b\x07 ") == ""


def calibration(knots=None, likeness=(0.3, 0.2), weight=0.4):
    return Calibration(dict.fromkeys(PARTS, knots or (10 * QUANTILES).tolist()), likeness, weight)


def test_log_odds_by_hand():
    """Knots at 0.1, 0.2, … 9.9: a logit of x lies above 10 x per cent of real replies."""
    found = calibration().log_odds("overall", np.array([5.0, 2.0, 8.0, 0.1, 9.9]))
    # ln(.5 / .5), ln(.2 / .8), ln(.8 / .2), ln(.01 / .99), ln(.99 / .01)
    np.testing.assert_allclose(found, [0, math.log(1 / 4), math.log(4), math.log(1 / 99), math.log(99)], atol=1e-12)
    # Halfway between the knots of 20 and 21 per cent: the mean of their log odds.
    halfway = (math.log(20 / 80) + math.log(21 / 79)) / 2
    assert calibration().log_odds("fluency", np.array([2.05]))[0] == pytest.approx(halfway)


def test_beyond_the_ends_by_hand():
    """On goes the mean slope of the last ten knots: from 1 to 10 per cent over 0.9 of a logit."""
    slope = (math.log(10 / 90) - math.log(1 / 99)) / 0.9
    found = calibration().log_odds("overall", np.array([0.1 - 0.5, 9.9 + 0.5, -1000, 1000]))
    np.testing.assert_allclose(found[:2], [math.log(1 / 99) - 0.5 * slope, math.log(99) + 0.5 * slope])
    assert found[2:].tolist() == [-15, 15]


KNOTS = st.lists(st.floats(-20, 20), min_size=99, max_size=99).map(sorted)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(knots=KNOTS, logits=st.lists(st.floats(-50, 50), min_size=2, max_size=20).map(sorted))
def test_a_higher_logit_is_never_worse(knots, logits):
    found = calibration(knots).log_odds("overall", np.array(logits))
    assert (np.diff(found) >= -1e-9).all()
    assert np.isfinite(found).all()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(knots=st.lists(st.floats(-20, 20), min_size=99, max_size=99, unique=True).map(sorted))
def test_the_median_of_real_replies_is_50(knots):
    assert calibration(knots).log_odds("overall", np.array([knots[49]]))[0] == pytest.approx(0, abs=1e-9)


def test_likeness_by_hand():
    # As like as two people's replies are on average: nothing for or against; one deviation more: ln(.846 / .154).
    assert calibration().likeness_odds(np.array([0.3, 0.5, 0.1])).tolist() == pytest.approx([0, 1.702, -1.702])
    share = 1 / (1 + math.exp(-1.702))
    assert share == pytest.approx(0.8413, abs=0.005)  # of a normal distribution, below one deviation above its mean


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return str(build("bert", tmp_path_factory.mktemp("bert") / "bert"))


@pytest.fixture(scope="module")
def whole(bert, tmp_path_factory):
    return write_gauge(tmp_path_factory.mktemp("gauge") / "whole", bert, opened=ENCODERS.get(bert))


@pytest.fixture
def model(whole, tmp_path):
    """A model directory that may be changed."""
    return shutil.copytree(whole, tmp_path / "model")


def knots(directory, part, values):
    content = json.loads((directory / CARD).read_text())
    content["calibration"]["parts"][part] = values
    (directory / CARD).write_text(json.dumps(content))


def spoil(directory, name, change):
    def apply(weights):
        weights[name] = change(weights[name])

    rewrite(directory, apply)


DAMAGE = {
    "no calibration": (lambda d: change_card(d, calibration=None), "has no 'calibration'"),
    "no weight": (lambda d: change_card(d, calibration={"weight": None}), "expected 1 numbers"),
    "a weight above 1": (lambda d: change_card(d, calibration={"weight": 1.5}), "a weight from 0 to 1"),
    "no deviation": (lambda d: change_card(d, calibration={"likeness": [0.3, 0]}), "a deviation above 0"),
    "knots that fall": (lambda d: knots(d, "fluency", list(range(99, 0, -1))), "fluency: expected numbers in asc"),
    "too few knots": (lambda d: knots(d, "overall", [1, 2, 3]), "expected 99 numbers"),
    "no knots": (lambda d: knots(d, "overall", "high"), "expected 99 numbers"),
    "another pool": (lambda d: change_card(d, network={"pool": "sum"}), "pool: expected one of cls, mean, max"),
    "a rank of words": (lambda d: change_card(d, network={"rank": "2"}), "rank: expected a whole number"),
    "no context": (lambda d: change_card(d, network={"context": 0}), "context: expected a whole number from 1"),
    "another width": (lambda d: change_card(d, network={"width": 33}), "head.parts.weight: expected finite numbers"),
    "no head": (lambda d: rewrite(d, lambda weights: weights.pop("head.parts.bias")), "head.parts.bias"),
    "a head of NaN": (
        lambda d: spoil(d, "head.parts.weight", lambda array: array * np.nan),
        "head.parts.weight: expected finite numbers",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=list(DAMAGE))
def test_damage_is_told_when_a_model_is_opened(model, damage):
    change, message = damage
    change(model)
    with pytest.raises(InputError, match=message) as raised:
        open_gauge(model)
    assert str(raised.value).startswith(str(model))
    assert "copy the model again or train it anew" in str(raised.value)


def test_adapters_of_another_network(model):
    query = "encoder.encoder.layer.0.attention.self.query.up"
    spoil(model, query, lambda array: array[:, :1])
    with pytest.raises(InputError, match="its weights are of another network: encoder.encoder.layer.0.attention"):
        open_gauge(model).ready(Encoders()).gauged([["hello"]], ["nice"])


def test_a_card_with_another_identity_for_other_calibrations(whole, model):
    before = open_gauge(whole).saved.identity.partition("@")[2]
    change_card(model, calibration={"weight": 0.2})
    assert open_gauge(model).saved.identity.partition("@")[2] != before


def test_shapes():
    with pytest.raises(InputError, match="dropout: expected a number from 0 to below 1, found 1"):
        GaugeShape(8, 2, dropout=1)


def test_where_the_large_model_is(whole, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gauge_model, "CHECKOUT", tmp_path / "checkout")
    monkeypatch.setattr(gauge_model, "find_spec", lambda _: None)
    with pytest.raises(InputError, match="is a package of its own, dialogauge-gauge-large, and is not installed"):
        open_gauge("large")
    home = tmp_path / "checkout" / "models" / "gauge-large" / "src" / "dialogauge_gauge_large"
    shutil.copytree(whole, home / "gauge-large")
    assert open_gauge("large").saved.directory == home / "gauge-large"
    installed = tmp_path / "site" / "dialogauge_gauge_large"
    shutil.copytree(whole, installed / "gauge-large")
    spec = type("Spec", (), {"submodule_search_locations": [str(installed)]})
    monkeypatch.setattr(gauge_model, "find_spec", lambda _: spec)
    assert open_gauge("large").saved.directory == installed / "gauge-large"
    shutil.copytree(whole, tmp_path / "large")
    assert open_gauge("large").saved.directory.resolve() == tmp_path / "large"


def test_likeness_is_that_of_the_likest_reference_that_can_be_read(whole):
    ready = open_gauge(whole).ready(ENCODERS)
    said = ["the weather is nice"] * 6
    references = [
        ["the weather is nice"],
        ["my dog", "the weather is nice"],
        [],
        [" ", ""],
        ["😀"],
        ["😀", "the weather is nice"],
    ]
    found = ready.likeness(said, references)
    assert found[[0, 1, 5]].tolist() == pytest.approx([1, 1, 1])
    assert np.isnan(found[[2, 3, 4]]).all()
    vectors = ready.plain.pooled(["the weather is nice", "my dog"], "mean").vectors
    cosine = vectors[0] @ vectors[1] / np.linalg.norm(vectors, axis=1).prod()
    assert ready.likeness(said[:1], [["my dog"]])[0] == pytest.approx(cosine, abs=1e-6)
    assert np.isnan(ready.likeness([" "], [["my dog"]])).all()
    assert len(ready.likeness([], [])) == 0


def test_a_name_that_is_nearly_large():
    with pytest.raises(InputError, match=r"larg: no model here; did you mean large\?"):
        open_gauge("larg")
