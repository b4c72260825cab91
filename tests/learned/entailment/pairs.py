"""Inference pairs whose labels follow a rule that a network can learn, and small encoders to learn them with."""

import json
from dataclasses import replace
from functools import cache

import numpy as np

from dialogauge.learned.entailment.data import Files, read_data
from dialogauge.learned.entailment.recipe import RECIPES
from dialogauge.learned.entailment.train import make_task
from tests.learned.small import torch

LABELS = ("entailment", "neutral", "contradiction")
PREMISES, HYPOTHESES = ("dog", "weather", "dinner"), ("nice", "eat", "bark")
WORDS = [*PREMISES, *HYPOTHESES, "hello", "today"]
"""All of them words of the small encoders."""
CPU = torch.device("cpu")


def pairs(count=54, rule="both", **fields):
    """Every premise with every hypothesis; the label is told by both, or by the premise alone."""
    found = []
    for place in range(count):
        p, h, form = place % 3, place // 3 % 3, place // 9 % 2
        label = LABELS[(p + h) % 3 if rule == "both" else p]
        said = [*(["hello"] * form), PREMISES[p]]
        row = {"premise": said, "hypothesis": HYPOTHESES[h], "label": label, "dialogue": str(place // 9), **fields}
        found.append({name: value for name, value in row.items() if value is not None})
    return found


def write_pairs(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_short_vectors(path, words=WORDS, width=8, seed=0):
    """Word vectors that 16 bits hold in full; their name as an encoder."""
    rows = np.random.default_rng(seed).integers(-96, 96, size=(len(words), width)) / 64
    path.write_text("".join(" ".join([word, *map(str, row)]) + "\n" for word, row in zip(words, rows, strict=True)))
    return f"static:{path}"


def quick(name, **options):
    """A recipe of this name that learns fast."""
    made = {
        "esim": {"units": 8, "rate": 0.02, "batch": 8},
        "adapter": {"rank": 4, "rate": 0.01, "batch": 8},
        "transformer": {"rate": 0.003, "batch": 8},
    }[name]
    return replace(RECIPES[name], **{**made, "epochs": 3, "dropout": 0.0, **options})


def data_of(folder, rows=None, **files):
    path = write_pairs(folder / "pairs.jsonl", rows or pairs())
    return read_data(Files([path], **{"share": 0.2, **files}), 0)


def task_of(data, encoder, recipe):
    return make_task(data, encoder, recipe, CPU)


@cache
def quiet_bert(folder):
    """A small BERT without any dropout of its own."""
    from tests.encode.models import build

    return build("bert", folder / "quiet", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
