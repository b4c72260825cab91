"""Small trainings of each model."""

import json

import pytest

from tests.encode.models import build
from tests.learned.entailment.pairs import pairs, write_pairs, write_short_vectors
from tests.learned.gauge.talk import write_talk
from tests.learned.ruber.conversations import WORDS, dialogues, write
from tests.learned.small import write_vectors

QUICK = {
    "ruber": ("--epochs", 2, "--rate", 0.003, "--batch", 8),
    "entailment": ("--recipe", "esim", "--epochs", 1, "--units", 4),
    "gauge": ("--epochs", 1, "--rank", 2, "--batch", 16),
}
SHARE = {"ruber": 0.3, "entailment": 0.2, "gauge": 0.2}
RUBER, ENTAILMENT, GAUGE = (pytest.mark.parametrize("model", [name]) for name in QUICK)


@pytest.fixture(params=QUICK)
def model(request):
    return request.param


@pytest.fixture(scope="module")
def vectors(tmp_path_factory, bert):
    folder = tmp_path_factory.mktemp("vectors")
    return {
        "ruber": write_vectors(folder / "topics.txt", WORDS, width=8),
        "entailment": write_short_vectors(folder / "words.txt"),
        "gauge": bert,
    }


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return build("bert", tmp_path_factory.mktemp("bert") / "bert")


@pytest.fixture
def data(model, tmp_path):
    path = tmp_path / "data.jsonl"
    if model == "gauge":
        return write_talk(path)
    return write(path, dialogues(30)) if model == "ruber" else write_pairs(path, pairs())


@pytest.fixture
def train(dialogauge, model, data, vectors, tmp_path):
    """A short training to `m`; later options count."""

    def run(*options, files=(data,), share=("--validation-share", SHARE[model])):
        quick = ("--encoder", vectors[model], *QUICK[model], "--no-cache", *share)
        return dialogauge("train", model, *files, "--out", tmp_path / "m", *quick, *options)

    return run


@pytest.fixture
def trained_with(dialogauge, model, monkeypatch):
    """What a call would train with: data, directory and recipe, and the other options."""

    def run(*arguments):
        seen = []
        place = f"dialogauge.learned.{model}.train.train_{model}"
        monkeypatch.setattr(place, lambda *given, **options: seen.append((*given, options)) or 1 / 0)
        with pytest.raises(ZeroDivisionError):
            dialogauge("train", model, "a", "b", "--out", "m", *arguments)
        return seen[0]

    return run


@pytest.fixture
def card(tmp_path):
    return lambda: json.loads((tmp_path / "m" / "card.json").read_text())
