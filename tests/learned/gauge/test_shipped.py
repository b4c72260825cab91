"""The gauges that come with dialogauge, and in the package beside it."""

import json
from pathlib import Path

import numpy as np
import pytest

from dialogauge import evaluate, load, sensitivity
from dialogauge.corpus import Corpus, Turn
from dialogauge.learned.directory import model_path
from dialogauge.learned.gauge.model import LARGE_MODEL, SHIPPED, open_gauge
from dialogauge.metrics.learned.gauge import Gauge
from tests.encode.models import encoders, minilm

ROOT = Path(__file__).resolve().parents[3]
CONTEXT = ("Do you like animals?", "Yes, I have three cats.", "What are their names?")
ANSWER = "They are called Tom, Kitty and Mia."


@pytest.fixture(scope="module")
def ready():
    minilm()  # skips without its weights
    return Gauge().prepare(Corpus([]), encoders=encoders())


def scores(ready, *replies, context=CONTEXT):
    return ready.measure([Turn(str(place), reply, context) for place, reply in enumerate(replies)])[:, :4]


@pytest.mark.parametrize(
    "worse",
    [
        "The bus leaves at nine.",
        "What are their names?",
        "I don't know.",
        "are Mia Kitty They Tom, called and",
        "They are called called called called Tom",
        "They are called",
    ],
)
def test_a_reply_that_is_worse_scores_lower(ready, worse):
    good, bad = scores(ready, ANSWER, worse)
    assert good[0] > bad[0]


def test_parts_say_what_is_wrong(ready):
    good, elsewhere, shuffled, dull = scores(
        ready, ANSWER, "The bus leaves at nine in the morning.", "are Mia Kitty They Tom, called and", "I don't know."
    )
    assert elsewhere[1] < good[1]
    assert shuffled[2] < good[2]
    assert dull[3] < good[3]


def test_the_example_systems():
    minilm()
    corpus = load(ROOT / "examples" / "everyday.jsonl")
    result = evaluate(corpus, "gauge[references=false]", cache=False, resamples=20)
    good, dull, offtopic = (
        result.score(system, "gauge[references=false]").value for system in ("good", "dull", "offtopic")
    )
    assert good > dull
    assert good > offtopic


@pytest.mark.slow
def test_it_notices_every_damage():
    """People's replies, made worse: the more of them, the lower. Untouched they are as typical as people's are."""
    minilm()
    corpus = load(ROOT / "examples" / "everyday.jsonl")
    corpus = Corpus([turn for turn in corpus if turn.system == "good"])
    found = sensitivity(corpus, "gauge[references=false]", ratios=[0.5, 1], of="reference", cache=False, resamples=20)
    system, metric = "reference", "gauge[references=false]"
    for kind in found.kinds:
        values = [point.value for point in found.series(kind, system, metric)]
        assert len(values) == 3
        assert 40 < values[0] < 60
        assert values == sorted(values, reverse=True), kind
        assert values[-1] < 0.6 * values[0], kind


def test_replies_of_its_card(ready):
    """docs/metrics/gauge.md; another processor may round the last digit otherwise."""
    shown = {
        "What is the capital of France?": {"Berlin.": 68, "Paris.": 80},
        "I lost my job yesterday.": {
            "I'm sorry to hear that.": 20,
            "Oh no, what happened?": 80,
            "Congratulations!": 45,
        },
        "Do you like animals?": {"Yes.": 25},
    }
    for said, replies in shown.items():
        found = scores(ready, *replies, context=(said,))[:, 0]
        np.testing.assert_allclose(found, list(replies.values()), atol=0.6)


def test_its_card():
    model = open_gauge()
    card = model.saved.card
    assert model.saved.directory == model_path(None, SHIPPED)
    assert (card["encoder"]["name"], card["languages"]) == ("minilm", ["English"])
    assert model.shape.rank > 0
    assert card["training"]["conversations"]
    text = (model.saved.directory / "README.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {SHIPPED}\n")
    for source in ("chitchat-dataset", "MIT", "ConTurE", "CC BY 4.0"):
        assert source in text


def test_the_large_one():
    folder = ROOT / "models" / LARGE_MODEL / "src" / "dialogauge_gauge_large" / LARGE_MODEL
    if not folder.is_dir():
        pytest.skip("the sources of a release come without the large model")
    model = open_gauge("large")
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    assert (model.saved.directory.name, card["encoder"]["name"]) == (LARGE_MODEL, "mpnet")
    assert model.shape.width == 768
    assert np.isfinite(model.calibration.log_odds("overall", np.zeros(1))).all()
