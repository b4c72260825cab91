"""The entailment model that comes with dialogauge."""

import json

import numpy as np
import pytest

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
        "I have three cats.": (0.992, 0.005, 0.002),
        "I don't have cats.": (0.000, 0.000, 0.999),
        "Three.": (0.934, 0.016, 0.050),
        "I don't know.": (0.005, 0.995, 0.001),
        "The bus leaves at nine.": (0.086, 0.900, 0.014),
        "three cats have I": (0.008, 0.000, 0.992),
        "I have two cats.": (0.992, 0.005, 0.003),
    }
    found = probabilities(ready, CATS, *shown)
    np.testing.assert_allclose(found, list(shown.values()), atol=0.0015)


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
