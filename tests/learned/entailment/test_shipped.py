"""The entailment model that comes with dialogauge."""

import json
from pathlib import Path

import numpy as np
import pytest

from dialogauge.corpus.inference import LABELS, read_inference
from dialogauge.encode.encoders import Encoders
from dialogauge.learned.directory import model_path
from dialogauge.learned.entailment.model import CONTRADICTION, ENTAILMENT, NEUTRAL, SHIPPED, open_entailment, premise_of

CATS = ["Do you like animals?", "Yes, I have three cats", "How many cats do you have?"]


@pytest.fixture(scope="module")
def ready():
    return open_entailment().ready(Encoders())


def probabilities(ready, context, *responses):
    return ready.judged([premise_of(context)] * len(responses), responses).probabilities


def test_example_of_the_paper(ready):
    three, none = probabilities(ready, CATS, "I have three cats.", "I don't have cats.")
    assert three[ENTAILMENT] > 0.9
    assert none[CONTRADICTION] > 0.9
    assert three[ENTAILMENT] > none[ENTAILMENT]


def test_what_the_page_shows(ready):
    """The table of docs/entailment-models.md; another processor may round the last digit otherwise."""
    shown = {
        "I have three cats.": (0.984, 0.008, 0.008),
        "I don't have cats.": (0.002, 0.001, 0.997),
        "Three.": (0.772, 0.028, 0.200),
        "I don't know.": (0.009, 0.984, 0.007),
        "The bus leaves at nine.": (0.027, 0.969, 0.004),
        "three cats have I": (0.712, 0.007, 0.282),
        "I have two cats.": (0.020, 0.003, 0.977),
    }
    found = probabilities(ready, CATS, *shown)
    np.testing.assert_allclose(found, list(shown.values()), atol=0.0015)


def test_contradictions_that_need_content(ready):
    assert probabilities(ready, ["I have three cats."], "I have two cats.")[0, CONTRADICTION] > 0.9
    assert probabilities(ready, ["Where do you live?", "I live in Paris."], "I live in London.")[0, CONTRADICTION] > 0.9


def test_minimal_pairs(ready):
    """Of 200 pairs that differ in a number, a place, a relative or a word for its antonym, .855 are judged right."""
    pairs = list(read_inference(Path(__file__).parent / "minimal_pairs.jsonl"))
    found = ready.judged([premise_of(pair.premise) for pair in pairs], [pair.hypothesis for pair in pairs])
    labels = np.array([LABELS.index(pair.label) for pair in pairs])
    assert len(pairs) == 200
    assert (found.probabilities.argmax(axis=1) == labels).mean() >= 0.85


def test_it_tells_the_classes_of_plain_inference_apart(ready):
    classes = probabilities(
        ready,
        ["A man is playing a guitar on stage."],
        "A man is playing music.",
        "A man is famous.",
        "A man is asleep.",
    ).argmax(axis=1)
    assert classes.tolist() == [ENTAILMENT, NEUTRAL, CONTRADICTION]


def test_models_that_come_along_are_small():
    """Together under 10 MB, and each with a card that says by which recipe and data it was made."""
    folder = model_path(None, SHIPPED).parent
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < 10_000_000
    card = json.loads((folder / SHIPPED / "card.json").read_text(encoding="utf-8"))
    assert card["training"]["recipe"]["rank"] == 32
    assert card["training"]["files"][0]["name"] == "chitchat-pairs.jsonl"
    readme = (folder / SHIPPED / "README.md").read_text(encoding="utf-8")
    assert readme.startswith(f"# {SHIPPED}\n")
    assert "chitchat-dataset" in readme
    assert "CC BY-SA" in readme
