"""Small corpora as GRADE's, FED and ConTurE, and an entailment model that no one trained."""

import json
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.learned.directory import WEIGHTS
from dialogauge.metrics.learned.entailment import Entailment
from dialogauge.papers.entailment import inputs
from tests.corpus.readers.test_grade import build, judged
from tests.learned.small import WORDS, sign, write_entailment, write_vectors

CONTEXTS = 12


def said(rng, length=4):
    return " ".join(rng.choice(WORDS, length))


def write_grade(root: Path, corpora=("convai2", "dailydialog"), seed=0) -> Path:
    """Two systems answer the same contexts; three raters, from 1 to 5."""
    rng = np.random.default_rng(seed)
    systems, judgements = {}, []
    for corpus in corpora:
        contexts = [(f"{said(rng)}|||{said(rng)}", said(rng)) for _ in range(CONTEXTS)]
        for system in ("one", "two"):
            rows = systems[corpus, system] = []
            for context, reference in contexts:
                response, scores = said(rng), rng.integers(1, 6, 3).tolist()
                rows.append((context, response, reference, f"{np.mean(scores):.6f}"))
                judgements.append(judged(system, context, response, scores, f"{corpus}_EVAL"))
    return build(root, systems, judgements)


def write_fed(path: Path, seed=1) -> Path:
    """Dialogues of one system with two rated turns each."""
    rng = np.random.default_rng(seed)
    records = []
    for _ in range(8):
        context = f"User: {said(rng)}\nSystem: {said(rng)}\nUser: {said(rng)}"
        records += [
            {
                "context": context,
                "response": f"System: {said(rng)}",
                "system": "Bot",
                "annotations": {"Relevant": rng.integers(0, 3, 5).tolist(), "Fluent": [1, 2]},
            }
            for _ in range(2)
        ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records))
    return path


def write_conture(path: Path, seed=2) -> Path:
    """Of each dialogue the first reply has one utterance before it, the second three."""
    rng = np.random.default_rng(seed)
    records = [
        {
            "dialog_id": number,
            "turns": [
                {"user": said(rng), "chatbot": said(rng), "overall impression": int(rng.integers(0, 3))}
                for _ in range(2)
            ],
        }
        for number in range(10)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records))
    return path


def small_world(folder: Path) -> Path:
    """GRADE's without EmpatheticDialogues, FED and ConTurE in one folder; `vectors.txt` and `model` beside it."""
    corpora = folder / "corpora"
    (corpora / "grade").mkdir(parents=True)
    write_grade(corpora / "grade")
    write_fed(corpora / "fed" / "fed_data.json")
    write_conture(corpora / "conture" / "data.json")
    write_model(folder / "model", write_vectors(folder / "vectors.txt"), 3)
    return corpora


def write_model(directory: Path, encoder: str, seed: int) -> Path:
    """Random weights, but for a bias that makes all classes about as likely: each is predicted of some responses."""
    from safetensors.numpy import load_file, save_file

    write_entailment(directory, encoder, seed=seed, temperature=1.0)
    rng = np.random.default_rng(0)
    turns = [Turn(str(place), said(rng), (said(rng), said(rng))) for place in range(60)]
    probabilities = Entailment(model=str(directory)).prepare(Corpus(turns)).measure(turns)[:, 1:4]
    weights = load_file(directory / WEIGHTS)
    weights["classes.bias"] -= np.log(probabilities).mean(axis=0).astype(np.float32)
    save_file(weights, directory / WEIGHTS)
    sign(directory)
    return directory


@contextmanager
def without_shipped():
    """As if dialogauge came without a model of its own, and without the Universal Sentence Encoder: both are large."""
    opened = inputs.open_entailment

    def only_given(directory=None):
        if directory is None:
            raise InputError("no model here")
        return opened(directory)

    def no_use():
        raise InputError("no weights")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inputs, "open_entailment", only_given)
        patch.setattr(inputs, "open_universal", no_use)
        yield
