"""Conversations, ratings and recipes from which a small network learns a gauge."""

import json
from dataclasses import replace

from dialogauge.learned.gauge.recipe import RECIPES

TALK = {
    "dinner": ("what would you like to eat for dinner ?", "you eat dinner all today .", "for dinner ?"),
    "weather": ("how are you , is the weather nice ?", "the weather is nice today .", "is it nice ?"),
    "dog": ("did my brother 's dog bark ?", "the dog did not bark at all .", "not at all ?"),
}
"""For each topic a question, its answer, and what is said to that; all words are those of the small encoders."""


def dialogues(count=24):
    """Questions come in two forms, so that not all conversations are the same."""
    found = []
    for place in range(count):
        question, *rest = list(TALK.values())[place % len(TALK)]
        found.append([f"hello , {question}" if place // len(TALK) % 2 else question, *rest])
    return found


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_talk(path, count=24):
    said = dialogues(count)
    return write_lines(path, ({"dialogue": str(name), "utterances": each} for name, each in enumerate(said)))


def rated(count=48, dimension="overall"):
    """People like short answers here, whatever was asked: the other way round than conversations say."""
    rows = []
    for place in range(count):
        question, answer, _ = list(TALK.values())[place % len(TALK)]
        words = answer.split()
        kept = 1 + place // len(TALK) % len(words)
        rows.append(
            {
                "id": str(place),
                "dialogue": f"r{place}",
                "context": [question],
                "response": " ".join(words[:kept]),
                "ratings": {dimension: [10 - kept, 11 - kept]},
            }
        )
    return rows


def quick(name="transformer", **options):
    """A recipe of this name that learns fast."""
    made = {"adapter": {"rank": 4, "rate": 0.01}, "transformer": {"rate": 0.003, "rating_rate": 0.003}}[name]
    return replace(RECIPES[name], **{**made, "batch": 16, "epochs": 3, "dropout": 0.0, **options})
