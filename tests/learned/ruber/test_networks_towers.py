"""Two towers against NumPy, text by text."""

import math

import numpy as np
import pytest

from dialogauge.learned.ruber.inputs import RuberShape
from tests.learned.small import WIDTH, random_network, torch

from dialogauge.learned.ruber.networks import SCALE, Towers  # isort: skip

LAYERS = [(), (3, 1, 0)]
erf = np.vectorize(math.erf)


def draw(rows, shape, seed=0):
    drawn = np.random.default_rng(seed).normal(size=(rows, shape.sentence_width))
    return torch.from_numpy(drawn * np.arange(1, rows + 1)[:, None])  # of different lengths


def seeded(shape, seed=0):
    torch.manual_seed(seed)
    return Towers(shape).eval().double()


def even(text):
    """The vector of each layer has the length of a vector of ones."""
    pieces = [text[start : start + WIDTH] for start in range(0, len(text), WIDTH)]
    return np.concatenate([p / np.linalg.norm(p) * math.sqrt(WIDTH) if p.any() else p for p in pieces])


def tower(of, text):
    weights = {name: parameter.numpy() for name, parameter in of.state_dict().items()}
    seen = even(text)
    hidden = weights["inward.weight"] @ seen + weights["inward.bias"]
    gelu = hidden * (1 + erf(hidden / math.sqrt(2))) / 2
    return weights["linear.weight"] @ seen + weights["linear.bias"] + weights["outward.weight"] @ gelu


def by_hand(network, query, response, previous=None, calibrated=True):
    q, r = tower(network.query, query.numpy()), tower(network.response, response.numpy())
    if previous is not None:
        q = q + network.previous.weight.numpy() @ even(previous.numpy())
    score = q @ r / np.linalg.norm(q) / np.linalg.norm(r) * math.exp(network.scale)
    slope, offset = network.calibration.tolist() if calibrated else (1, 0)
    return score * slope + offset


@pytest.mark.parametrize("layers", LAYERS)
@pytest.mark.parametrize("shown", [True, False])
@torch.no_grad()
def test_logits_by_hand(layers, shown):
    shape = RuberShape(WIDTH, "towers", layers=layers)
    network = random_network(shape).double()
    q, r, p = (draw(4, shape, seed) for seed in (1, 2, 3))
    p[2] = 0  # where nothing was said before
    before = p if shown else None
    expected = [by_hand(network, q[i], r[i], p[i] if shown else None) for i in range(4)]
    np.testing.assert_allclose(network(q, r, before), expected, rtol=1e-12)
    np.testing.assert_allclose(network(q, r, before)[2], by_hand(network, q[2], r[2]), rtol=1e-12)
    assert np.ptp(expected) > 0.1


@pytest.mark.parametrize("shown", [True, False])
@torch.no_grad()
def test_several_responses_to_a_query_stand_one_after_the_other(shown):
    shape = RuberShape(WIDTH, "towers", layers=(2, 1))
    network = random_network(shape).double()
    q, r, p = draw(2, shape, 1), draw(6, shape, 2), draw(2, shape, 3)
    together = network(q, r, p if shown else None)
    expected = [by_hand(network, q[i // 3], r[i], p[i // 3] if shown else None) for i in range(6)]
    np.testing.assert_allclose(together, expected, rtol=1e-12)
    swapped = [by_hand(network, q[1 - i // 3], r[i], p[1 - i // 3] if shown else None) for i in range(6)]
    assert np.abs(together.numpy() - swapped).max() > 1e-2


@pytest.mark.parametrize("shown", [True, False])
@torch.no_grad()
def test_every_query_with_every_response(shown):
    shape = RuberShape(WIDTH, "towers", layers=(2, 1))
    network = random_network(shape).double()
    q, r, p = draw(3, shape, 1), draw(4, shape, 2), draw(3, shape, 3)
    before = p if shown else None
    found = network.all_pairs(q, r, before)
    expected = [
        [by_hand(network, q[i], r[j], p[i] if shown else None, calibrated=False) for j in range(4)] for i in range(3)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert (found.diagonal() - network(q, r[:3], before)).abs().max() > 1e-2
    network.calibration.copy_(torch.tensor([1.0, 0.0]))
    np.testing.assert_allclose(found.diagonal(), network(q, r[:3], before), rtol=1e-12)


@pytest.mark.parametrize("layers", LAYERS)
@torch.no_grad()
def test_untrained_it_is_the_cosine_of_the_first_layers_vectors(layers):
    shape = RuberShape(64, "towers", layers=layers)
    network = seeded(shape)
    q, r, p = (draw(20, shape, seed) for seed in (1, 2, 3))
    r[:, :64] += q[:, :64] * torch.linspace(-3, 3, 20)[:, None]
    cosines = torch.nn.functional.cosine_similarity(q[:, :64], r[:, :64])
    assert np.ptp(cosines.numpy()) > 1
    for before in (None, p):
        np.testing.assert_allclose(network(q, r, before) / SCALE, cosines, atol=0.05)
    # What stands in the other layers and before the query has hardly a say.
    assert (network(q, r, p) - network(q, r)).abs().max() / SCALE < 0.05


@torch.no_grad()
def test_no_logit_lies_beyond_the_scale():
    """It is a cosine times the scale."""
    shape = RuberShape(WIDTH, "towers")
    network = seeded(shape)
    texts = draw(8, shape)
    for other in (texts, -texts, texts * 1e6, texts * 1e-6):
        logits = network(texts, other)
        assert (logits.abs() <= SCALE * (1 + 1e-9)).all()
    assert network(texts, texts).min() > 0.95 * SCALE
    assert network(texts, -texts).max() < -0.95 * SCALE


@torch.no_grad()
def test_the_length_of_vectors_means_nothing():
    shape = RuberShape(WIDTH, "towers", layers=(1, 0))
    network = random_network(shape).double()
    q, r, p = (draw(3, shape, seed) for seed in (1, 2, 3))
    longer = q.clone()
    longer[:, :WIDTH] *= 7
    np.testing.assert_allclose(network(longer, r * 0.1, p * 3), network(q, r, p), rtol=1e-12)


@torch.no_grad()
def test_texts_without_a_vector_have_numbers():
    shape = RuberShape(WIDTH, "towers", layers=(1, 0))
    for network in (random_network(shape), seeded(shape).float()):
        nothing, some = torch.zeros(2, shape.sentence_width), draw(2, shape).float()
        for texts in ((nothing, some), (some, nothing), (nothing, nothing), (nothing, nothing, nothing)):
            assert torch.isfinite(network(*texts)).all()


@torch.no_grad()
def test_query_and_response_are_not_the_same_thing():
    shape = RuberShape(WIDTH, "towers")
    network = random_network(shape).double()
    q, r = draw(3, shape, 1), draw(3, shape, 2)
    assert (network(q, r) - network(r, q)).abs().min() > 1e-3


@torch.no_grad()
def test_dropout_and_hiding_only_while_training():
    shape = RuberShape(WIDTH, "towers", dropout=0.5)
    network = random_network(shape).double()
    q, r, p = (draw(4, shape, seed) for seed in (1, 2, 3))
    assert torch.equal(network(q, r, p), network(q, r, p))
    network.train()
    assert not torch.equal(network(q, r), network(q, r))


def test_while_training_what_was_said_before_is_shown_for_half_the_pairs():
    shape = RuberShape(WIDTH, "towers")
    network = random_network(shape).double()
    q, r, p = (draw(1, shape, seed).expand(4000, -1) for seed in (1, 2, 3))
    with torch.no_grad():
        shown, hidden = network(q[:1], r[:1], p[:1]), network(q[:1], r[:1])
        network.train()
        torch.manual_seed(0)
        found = network(q, r, p)
    seen = torch.isclose(found, shown, atol=1e-9)
    assert (seen | torch.isclose(found, hidden, atol=1e-9)).all()
    # Half of 4000, give or take four standard deviations.
    assert abs(int(seen.sum()) - 2000) < 4 * math.sqrt(1000)


def test_gradients_reach_every_parameter():
    shape = RuberShape(WIDTH, "towers", layers=(1, 0), dropout=0.1)
    torch.manual_seed(0)
    network = Towers(shape).train()
    q, r, p = (draw(32, shape, seed).float() for seed in (1, 2, 3))
    torch.nn.functional.cross_entropy(network.all_pairs(q, r, p), torch.arange(32)).backward()
    names = dict(network.named_parameters())
    assert {name.partition(".")[0] for name in names} == {"query", "response", "previous", "scale"}
    for name, parameter in names.items():
        assert parameter.grad.abs().max() > 0, name
    assert "calibration" not in names
