"""Learned metrics and their models: what holds for each of them."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from dialogauge import evaluate
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.learned.directory import read_model
from dialogauge.metrics.learned.entailment import Entailment
from dialogauge.metrics.learned.gauge import Gauge
from dialogauge.metrics.learned.ruber import Ruber, RuberUnreferenced
from dialogauge.metrics.registry import parse_request
from tests.encode.models import build
from tests.learned.small import write_entailment, write_gauge, write_ruber, write_vectors
from tests.metrics.learned.conftest import OPENED, ready

METRICS = {"ruber_unreferenced": RuberUnreferenced, "ruber": Ruber, "entailment": Entailment, "gauge": Gauge}
SAID = [Turn("0", "tea", context=("milk",), references=("rain",))]


def write_model(name, directory, encoder, **options):
    if name == "entailment":
        return write_entailment(directory, encoder, **options)
    if name == "gauge":
        return write_gauge(directory, encoder, **options)
    return write_ruber(directory, encoder, **{"context": 2, **options})


@pytest.fixture(params=METRICS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return build("bert", tmp_path_factory.mktemp("bert") / "bert")


def is_read_by(name, words, bert):
    """The encoder that models of this metric are made for here: a gauge tunes a transformer."""
    return str(bert) if name == "gauge" else words


@pytest.fixture
def encoder(name, words, bert):
    return is_read_by(name, words, bert)


@pytest.fixture
def model(name, encoder, tmp_path):
    return write_model(name, tmp_path / "models" / "my-model", encoder)


@pytest.mark.parametrize(
    ("name", "options", "spelled", "signed"),
    [
        ("ruber_unreferenced", {}, "", "|context:2|"),
        ("ruber", {"blend": "min"}, "blend=min,", "|context:2|pool:maxmin|blend:min|"),
        ("entailment", {"score": "expected", "history": 2}, "score=expected,history=2,", "|score:expected|history:2|"),
        ("gauge", {"with_references": False}, "references=false,", "|context:3|refs:no|"),
    ],
)
def test_signature_and_label(name, model, encoder, options, spelled, signed):
    metric = ready(METRICS[name], model, **options)
    assert metric.signature.startswith(f"{name}|")
    assert f"|model:{read_model(model, name.partition('_')[0]).identity}|" in metric.signature
    static = "" if name == "gauge" else "static:"
    assert f"|enc:{static}{OPENED.get(encoder).identity}|" in metric.signature
    assert signed in metric.signature
    assert str(model.parent) not in metric.signature
    assert metric.asked.label == f"{name}[{spelled}model=my-model]"
    assert parse_request(f"{name}[{spelled}model={model}]").label == metric.asked.label
    assert METRICS[name]().label == name
    assert not options or ready(METRICS[name], model).signature != metric.signature


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {"seed": 9}) for name in METRICS),
        ("entailment", {"temperature": 3.0}),
        ("gauge", {"weight": 0.1}),
        ("gauge", {"likeness": (0.5, 0.2)}),
    ],
)
def test_another_model_has_another_signature(name, model, encoder, tmp_path, options):
    other = write_model(name, tmp_path / "my-model", encoder, **options)
    first, second = (ready(METRICS[name], directory) for directory in (model, other))
    assert first.measure(SAID)[0, 0] != second.measure(SAID)[0, 0]
    assert first.signature != second.signature
    assert first.asked.label == second.asked.label


def test_another_encoder_is_refused(name, model, tmp_path):
    with pytest.raises(InputError, match="was trained with the encoder (ten|bert)@.*found other@"):
        ready(METRICS[name], model, encoder=write_vectors(tmp_path / "other.txt", seed=1))


def test_the_encoder_may_be_elsewhere(name, model, encoder, tmp_path):
    kind, colon, path = encoder.rpartition(":")
    copy = (shutil.copytree if Path(path).is_dir() else shutil.copy)(path, tmp_path / "copied")
    moved = ready(METRICS[name], model, encoder=f"{kind}{colon}{copy}")
    np.testing.assert_array_equal(moved.measure(SAID), ready(METRICS[name], model).measure(SAID))


def test_an_encoder_that_is_no_longer_there(name, bert, tmp_path):
    """Whoever gets a model from someone else meets this first, and is told which option helps."""
    path = tmp_path / "gone"
    encoder = is_read_by(name, write_vectors(path), shutil.copytree(bert, tmp_path / "gone-bert"))
    directory = write_model(name, tmp_path / "m", encoder)
    path.rename(tmp_path / "elsewhere")
    (tmp_path / "gone-bert").rename(tmp_path / "elsewhere-bert")
    with pytest.raises(InputError, match="encoder=") as raised:
        METRICS[name](model=str(directory)).prepare(Corpus([]))
    assert str(path) in str(raised.value)


def test_a_model_that_is_not_there(name, tmp_path):
    with pytest.raises(InputError, match="no model here"):
        evaluate(Corpus(SAID), f"{name}[model={tmp_path / 'none'}]")


@pytest.mark.parametrize(
    ("name", "asked"),
    [("ruber", "entailment"), ("entailment", "ruber"), ("entailment", "ruber_unreferenced"), ("ruber", "gauge")],
)
def test_a_model_of_another_metric(model, asked):
    with pytest.raises(InputError, match=f"expected a model of the kind '{asked.partition('_')[0]}'"):
        evaluate(Corpus(SAID), f"{asked}[model={model}]")
