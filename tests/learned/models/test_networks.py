"""Several networks of any kind, asked together."""

import numpy as np
import pytest
from tests.learned.models.small import WIDTH, random_network, torch

from dialogauge.learned.ruber.inputs import KINDS, SENTENCES, RuberShape

from dialogauge.learned.ruber.networks import earlier, make_network, relatedness  # isort: skip
from dialogauge.learned.ruber.networks import Relatedness  # isort: skip
from dialogauge.learned.ruber.networks import Towers  # isort: skip
from dialogauge.learned.words import WordStates  # isort: skip

SHAPES = [
    *(RuberShape(WIDTH, sentence=sentence) for sentence in SENTENCES),
    RuberShape(WIDTH, "towers"),
    RuberShape(WIDTH, "towers", "max", (3, 1)),
]


def inputs_for(shape, count=12):
    rng = np.random.default_rng(0)
    if shape.sentence == "rnn":
        return WordStates.from_texts([rng.normal(size=(k + 1, WIDTH)).astype(np.float32) for k in range(count)], WIDTH)
    return torch.from_numpy(rng.normal(size=(count, shape.sentence_width)).astype(np.float32))


def test_by_their_shape():
    assert [type(make_network(RuberShape(WIDTH, kind))) for kind in KINDS] == [Relatedness, Towers]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.network}-{shape.sentence}")
def test_what_else_is_scored_changes_nothing(shape, monkeypatch):
    """Pairs with and without something before the query, alone, in batches and together."""
    networks = [random_network(shape, seed) for seed in (0, 1)]
    inputs = inputs_for(shape)
    q, r = torch.arange(12), torch.arange(12).flip(0)
    p = torch.full((12,), -1)
    if shape.network == "towers":
        p[5:9] = torch.tensor([2, 0, 11, 7])
    together = relatedness(networks, inputs, q, r, p)
    assert together.dtype == np.float64
    assert ((together > 0) & (together < 1)).all()
    monkeypatch.setattr("dialogauge.learned.ruber.networks.BATCH", 5)
    np.testing.assert_allclose(relatedness(networks, inputs, q, r, p), together, atol=1e-6)
    for row in (0, 6, 8, 11):
        alone = relatedness(networks, inputs, *(rows[row : row + 1] for rows in (q, r, p)))
        np.testing.assert_allclose(alone, together[row], atol=1e-6)
    with torch.no_grad():
        each = [network(inputs[q], inputs[r], earlier(inputs, p)).double().numpy() for network in networks]
    expected = sum(1 / (1 + np.exp(-logits)) for logits in each) / 2
    np.testing.assert_allclose(together, expected, atol=1e-6)
    # The mean of sigmoids, not the sigmoid of the mean.
    assert abs(together - 1 / (1 + np.exp(-sum(each) / 2))).max() > 1e-4


def test_what_was_said_before():
    inputs = inputs_for(RuberShape(WIDTH), 4)
    found = earlier(inputs, torch.tensor([2, -1, 0]))
    np.testing.assert_array_equal(found, np.stack([inputs[2], np.zeros(WIDTH), inputs[0]]))
    assert earlier(inputs, torch.tensor([-1, -1])) is None
