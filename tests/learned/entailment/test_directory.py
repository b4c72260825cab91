"""Entailment models on disk are never trusted: a clear error for each thing that can be wrong, nothing executed."""

import json
import pickle
import shutil

import numpy as np
import pytest

from dialogauge.encode.encoders import Encoders
from dialogauge.errors import InputError
from dialogauge.learned.directory import CARD, WEIGHTS
from dialogauge.learned.entailment.model import open_entailment
from dialogauge.learned.ruber.model import open_ruber
from tests.encode.models import build
from tests.learned.small import change_card, write_entailment
from tests.learned.test_directory import Trap, card, flip, put, rewrite, sign, signed, text, truncate

ADVICE = "copy the model again or train it anew"
ENCODERS = Encoders()
QUERY = "encoder.encoder.layer.0.attention.self.query"


@pytest.fixture(scope="module")
def whole(tmp_path_factory, vectors):
    """A model of each kind, unharmed."""
    folder = tmp_path_factory.mktemp("whole")
    bert = str(build("bert", folder / "bert"))
    tuned = {"network": "transformer", "opened": ENCODERS.get(bert)}
    return {
        "esim": write_entailment(folder / "esim", vectors),
        "adapter": write_entailment(folder / "adapter", bert, **tuned),
        "transformer": write_entailment(folder / "transformer", bert, rank=0, **tuned),
    }


def forget(section, name):
    def change(directory):
        content = json.loads((directory / CARD).read_text())
        del content[section][name]
        (directory / CARD).write_text(json.dumps(content))

    return change


def spoiled(name, value):
    def change(weights):
        weights[name] = np.full_like(weights[name], value)

    return lambda directory: rewrite(directory, change)


def without(name):
    return lambda directory: rewrite(directory, lambda weights: weights.pop(name))


DAMAGE = {
    "no card": (lambda directory: (directory / CARD).unlink(), "it has no card.json"),
    "no weights": (lambda directory: (directory / WEIGHTS).unlink(), "it has no model.safetensors"),
    "a flipped bit": (flip, "changed or damaged"),
    "weights cut off": (truncate, "changed or damaged"),
    "no weights in the file": (signed(b""), "cannot be read as safetensors"),
    "a card that is not JSON": (text(b"kind: entailment\n"), "not valid JSON"),
    "another kind": (card(kind="ruber"), "expected a model of the kind 'entailment', found .*ruber"),
    "no network": (card(network=None), "has no 'network'"),
    "no encoder": (card(encoder=None), "has no 'encoder'"),
    "an encoder without a name": (forget("encoder", "name"), "its card cannot be used: 'name'"),
    "an encoder without identity": (forget("encoder", "identity"), "its card cannot be used: 'identity'"),
    "no calibration": (card(calibration=None), "has no 'calibration'"),
    "no temperature": (forget("calibration", "temperature"), "its card cannot be used: 'temperature'"),
    **{
        f"a temperature of {value!r}": (
            card(calibration={"temperature": value}),
            "temperature: expected a number above 0",
        )
        for value in (0, -1.5, "1", True, None, [1])
    },
    "a temperature that is no number": (card(calibration={"temperature": float("nan")}), "NaN"),
    "a temperature without end": (card(calibration={"temperature": float("inf")}), "Infinity"),
    "an unknown network": (card(network={"network": "esin"}), "did you mean esim"),
    "a network that is a list": (card(network={"network": ["esim"]}), "unknown network"),
    "no rank": (forget("network", "rank"), "its card cannot be used: 'rank'"),
    "a rank below 0": (card(network={"rank": -1}), "rank: expected a whole number from 0"),
    "a rank that is true": (card(network={"rank": True}), "rank: expected a whole number from 0"),
    "no width": (card(network={"width": 0}), "width: expected a whole number from 1"),
    "an absurd width": (card(network={"width": 10**200}), "width: expected a whole number from 1"),
    "absurdly many units": (card(network={"units": 10**12}), "units: expected a whole number from 1"),
    "an unknown pooling": (card(network={"pool": "meen"}), "did you mean mean"),
    "a dropout beyond 1": (card(network={"dropout": 1}), "dropout"),
    "a dropout that is text": (card(network={"dropout": "0.1"}), "dropout"),
    "a premise that is half hidden": (
        card(network={"hypothesis_only": 0.5}),
        "hypothesis_only: expected true or false",
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found_before_an_encoder_is_opened(whole, tmp_path, name):
    for kind, directory in whole.items():
        model = shutil.copytree(directory, tmp_path / kind)
        damage, message = DAMAGE[name]
        damage(model)
        with pytest.raises(InputError, match=message) as raised:
            open_entailment(model)
        assert str(raised.value).startswith(str(model))
        assert len(str(raised.value)) < len(str(model)) + 400
        assert ADVICE in str(raised.value) or name in ("another kind",)


OTHER_WEIGHTS = {
    "esim": {
        "another width": (card(network={"width": 6}), "another network"),
        "other units": (card(network={"units": 5}), "another network"),
        "a weight of another shape": (
            put("classes.weight", np.ones((2, 4), np.float32)),
            r"classes.weight is \(2, 4\)",
        ),
        "a weight too many": (put("more", np.ones(1, np.float32)), r"more is \(1,\)"),
        "a weight too few": (without("hidden.bias"), "hidden.bias is nothing"),
        "a weight that is NaN": (spoiled("hidden.bias", np.nan), "not finite"),
        "said to be tuned": (
            card(network={"network": "transformer"}),
            "is a tuned transformer, its encoder ten@.* is none",
        ),
    },
    "adapter": {
        "another rank": (card(network={"rank": 3}), "another network"),
        "no rank": (card(network={"rank": 0}), "another network"),
        "a weight of another shape": (put(f"{QUERY}.up", np.ones((32, 3), np.float32)), r"query.up is \(32, 3\)"),
        "a layer too few": (without(f"{QUERY}.down"), "query.down is nothing"),
        "a weight too many": (put("encoder.pooler.dense.up", np.ones(1, np.float32)), r"pooler.dense.up is \(1,\)"),
        "no top": (without("head.classes.bias"), "head.classes.bias is nothing"),
        "a weight that is infinite": (spoiled("head.hidden.bias", np.inf), "not finite"),
        "said to be esim": (card(network={"network": "esim"}), "another network"),
        "another width": (card(network={"width": 16}), "gives vectors of 32 numbers, its card says 16"),
    },
    "transformer": {
        "a rank": (card(network={"rank": 2}), "another network"),
        "a weight of another shape": (put(f"{QUERY}.bias", np.ones(31, np.float32)), r"query.bias is \(31,\)"),
        "a weight too few": (without(f"{QUERY}.bias"), "query.bias is nothing"),
        "a weight that is NaN": (spoiled(f"{QUERY}.bias", np.nan), "not finite"),
    },
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, cases in OTHER_WEIGHTS.items() for name in cases])
def test_weights_that_are_not_of_the_network(whole, tmp_path, kind, name):
    model = shutil.copytree(whole[kind], tmp_path / kind)
    damage, message = OTHER_WEIGHTS[kind][name]
    damage(model)
    with pytest.raises(InputError, match=message) as raised:
        open_entailment(model).ready(ENCODERS)
    assert raised.value.path == model
    assert raised.value.message.endswith(ADVICE)


def test_a_top_of_another_width_than_the_encoder(whole, tmp_path):
    """Card and weights agree, and both are of another encoder."""
    model = shutil.copytree(whole["adapter"], tmp_path / "m")

    def narrow(weights):
        weights["head.hidden.weight"] = np.ones((16, 16), np.float32)
        weights["head.hidden.bias"] = np.ones(16, np.float32)
        weights["head.classes.weight"] = np.ones((3, 16), np.float32)

    rewrite(model, narrow)
    change_card(model, network={"width": 16})
    with pytest.raises(InputError, match="gives vectors of 32 numbers, its card says 16; copy"):
        open_entailment(model).ready(ENCODERS)


def test_models_of_one_metric_given_to_another(whole, pristine):
    with pytest.raises(InputError, match="expected a model of the kind 'entailment', found 'ruber'|found .ruber"):
        open_entailment(pristine)
    with pytest.raises(InputError, match="expected a model of the kind 'ruber', found .*entailment"):
        open_ruber(whole["esim"])


@pytest.mark.parametrize("name", ["absent", "x" * 300, "a\0b"])
def test_what_is_no_directory(tmp_path, name):
    with pytest.raises(InputError, match="no model here"):
        open_entailment(f"{tmp_path}/{name}")


@pytest.mark.parametrize("kind", ["esim", "adapter"])
def test_nothing_in_a_directory_is_executed(whole, tmp_path, kind):
    model = shutil.copytree(whole[kind], tmp_path / "m")
    sentinel = tmp_path / "sentinel"
    trap = pickle.dumps(Trap(sentinel))
    code = f"open({str(sentinel)!r}, 'w').close()"
    for name in ("pytorch_model.bin", "model.pt", "adapter_model.bin"):
        (model / name).write_bytes(trap)
    for name in ("__init__.py", "modeling.py", "card.py"):
        (model / name).write_text(code)
    evil = f"__import__('os').system('touch {sentinel}')"
    change_card(model, encoder={"trust_remote_code": True, "auto_map": "modeling.Model"}, code=evil)
    open_entailment(model).ready(ENCODERS).judged(["tea"], ["milk"])
    change_card(model, network={"pool": evil})
    with pytest.raises(InputError, match="unknown pool"):
        open_entailment(model)
    change_card(model, network={"pool": "cls"}, encoder={"name": evil})
    with pytest.raises(InputError, match="no encoder"):
        open_entailment(model).ready(Encoders())
    (model / WEIGHTS).write_bytes(trap)
    sign(model)
    with pytest.raises(InputError, match="cannot be read as safetensors"):
        open_entailment(model)
    assert not sentinel.exists()
