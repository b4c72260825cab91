"""A few word vectors, and models of every learned metric with random weights."""

import json
from dataclasses import asdict

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch to make small models")

from dialogauge.encode.static import open_static  # noqa: E402
from dialogauge.learned.directory import CARD, WEIGHTS, write_model  # noqa: E402
from dialogauge.learned.entailment import model as entailment_shape  # noqa: E402
from dialogauge.learned.gauge.model import PARTS, QUANTILES, Calibration, GaugeShape  # noqa: E402
from dialogauge.learned.ruber.inputs import RuberShape, width_of  # noqa: E402
from dialogauge.learned.ruber.networks import make_network  # noqa: E402

torch.set_num_threads(1)

WORDS = "hello world there bye tea milk rain snow cat dog".split()
WIDTH = 5
RANGES = {"unreferenced": {"low": 0.0, "high": 1.0}, "referenced": {"low": -1.0, "high": 1.0}}


def write_vectors(path, words=WORDS, width=WIDTH, seed=0):
    """A file of word vectors; its name as an encoder."""
    rows = np.random.default_rng(seed).normal(size=(len(words), width))
    lines = (" ".join([word, *(f"{value:.4f}" for value in row)]) for word, row in zip(words, rows, strict=True))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"static:{path}"


def random_network(shape, seed=0):
    """All of it is random: biases of 0 and a calibration that changes nothing would hide that they are not read."""
    generator = torch.Generator().manual_seed(seed)
    network = make_network(shape).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            wide = parameter.shape[-1] if parameter.ndim else 1
            parameter.copy_(torch.randn(parameter.shape, generator=generator) / wide**0.5)
        for buffer in network.buffers():
            buffer.copy_(torch.rand(buffer.shape, generator=generator) + 0.5)
    return network


def write_ruber(
    directory,
    encoder,
    *,
    opened=None,
    members=1,
    context=1,
    seed=0,
    normalisation=None,
    pool="maxmin",
    dtype=np.float32,
    **shape,
):
    """A model for the encoder of this name (`opened`, or static vectors), with weights that no one trained."""
    vectors = opened or open_static(encoder.removeprefix("static:"))
    made = RuberShape(width_of(vectors), **shape)
    weights = {
        f"{member}.{name}": tensor.numpy().astype(dtype)
        for member in range(members)
        for name, tensor in random_network(made, seed + member).state_dict().items()
    }
    card = {
        "kind": "ruber",
        "encoder": {"name": encoder, "identity": vectors.identity},
        "network": {**asdict(made), "members": members, "context": context},
        "normalisation": {**RANGES, "pool": pool, **(normalisation or {})},
    }
    return write_model(directory, weights, card, "# A model for tests\n")


def random_weights(shapes, seed=0):
    """An array for each name; matrices are as small as their width asks for."""
    rng = np.random.default_rng(seed)
    return {
        name: rng.normal(size=size) * (3 / size[-1] ** 0.5 if len(size) > 1 else 1) for name, size in shapes.items()
    }


def tensors_of(shape, opened):
    """Names and shapes of the weights of an entailment model."""
    from dialogauge.encode.network import skeleton
    from dialogauge.learned.entailment.model import _tensors_of_esim, tensors_of_tuned

    return _tensors_of_esim(shape) if shape.network == "esim" else tensors_of_tuned(skeleton(opened.files), shape)


def write_entailment(
    directory, encoder, network="esim", *, opened=None, seed=0, temperature=1.5, dtype=np.float32, **shape
):
    """An entailment model for the encoder of this name (`opened`, or static vectors), that no one trained."""
    vectors = opened or open_static(encoder.removeprefix("static:"))
    defaults = {"units": 4} if network == "esim" else {"rank": 2}
    made = entailment_shape.EntailmentShape(network, width_of(vectors), **{**defaults, **shape})
    weights = {name: array.astype(dtype) for name, array in random_weights(tensors_of(made, vectors), seed).items()}
    card = {
        "kind": "entailment",
        "encoder": {"name": encoder, "identity": vectors.identity},
        "network": asdict(made),
        "calibration": {"temperature": temperature},
    }
    return write_model(directory, weights, card, "# A model for tests\n")


def write_gauge(
    directory, encoder, *, opened=None, seed=0, dtype=np.float32, likeness=(0.3, 0.2), weight=0.4, knots=None, **shape
):
    """A gauge for the transformer of this name; its calibration is that of normal logits unless `knots` are given."""
    from scipy.stats import norm

    from dialogauge.encode.encoders import Encoders
    from dialogauge.encode.network import skeleton
    from dialogauge.learned.gauge.networks import GaugeHead
    from dialogauge.learned.pair_network import expected_tensors

    vectors = opened or Encoders().get(encoder)
    made = GaugeShape(**{"width": width_of(vectors), "rank": 2, **shape})
    with torch.device("meta"):
        tensors = expected_tensors(skeleton(vectors.files), made.rank, GaugeHead(made.width, made.dropout))
    weights = {name: array.astype(dtype) for name, array in random_weights(tensors, seed).items()}
    usual = dict.fromkeys(PARTS, (3 * norm.ppf(QUANTILES)).tolist())
    card = {
        "kind": "gauge",
        "encoder": {"name": encoder, "identity": vectors.identity},
        "network": asdict(made),
        "calibration": Calibration({**usual, **(knots or {})}, likeness, weight).record(),
    }
    return write_model(directory, weights, card, "# A model for tests\n")


def change_card(directory, **sections):
    """Changes entries of sections of the card, or whole entries; None takes one away."""
    card = json.loads((directory / CARD).read_text())
    for name, value in sections.items():
        card[name] = {**card[name], **value} if isinstance(value, dict) else value
    (directory / CARD).write_text(json.dumps({name: value for name, value in card.items() if value is not None}))


def sign(directory):
    """Makes the card vouch for the weights that are there now."""
    from hashlib import sha256

    change_card(directory, weights={"sha256": sha256((directory / WEIGHTS).read_bytes()).hexdigest()})
