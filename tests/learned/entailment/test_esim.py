"""ESIM against loops written from the formulas of Chen et al. 2017."""

import math

import numpy as np
import pytest

from dialogauge.learned.entailment import networks
from dialogauge.learned.entailment.model import EntailmentShape
from dialogauge.learned.entailment.networks import Esim, batches
from tests.learned.small import WIDTH, random_weights, tensors_of, torch

from dialogauge.learned.words import Words, WordStates  # isort: skip

UNITS = 3
LENGTHS = [(4, 2), (1, 1), (2, 5), (3, 1), (1, 4)]
"""Of premises and hypotheses, in words."""


@pytest.fixture(scope="module")
def esim():
    """All of it is random, in 64 bits, and larger than at the beginning of a training."""
    shape = EntailmentShape("esim", WIDTH, units=UNITS, dropout=0.5)
    network = Esim(shape).double().eval()
    weights = random_weights(tensors_of(shape, None))
    network.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    return network


def texts(side, seed=0):
    rng = np.random.default_rng([seed, side])
    return [rng.normal(size=(lengths[side], WIDTH)) for lengths in LENGTHS]


def batch(arrays, longer=0, filled=0.0):
    """Texts with what stands past their ends."""
    lengths = [len(array) for array in arrays]
    states = torch.full((len(arrays), max(lengths) + longer, WIDTH), filled, dtype=torch.float64)
    for row, array in enumerate(arrays):
        states[row, : len(array)] = torch.from_numpy(array)
    return Words(states, torch.tensor(lengths))


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def linear(layer, vector):
    return [
        sum(w * x for w, x in zip(row, vector, strict=True)) + bias
        for row, bias in zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
    ]


def one_way(lstm, words, suffix):
    """Input, forget, cell and output gate; h = o * tanh(c), c = f * c + i * g."""
    take = {
        name: getattr(lstm, f"{name}_l0{suffix}").tolist() for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    }
    h, c, states = [0.0] * UNITS, [0.0] * UNITS, []
    for word in words:
        gates = [
            sum(take["weight_ih"][k][j] * word[j] for j in range(len(word)))
            + sum(take["weight_hh"][k][j] * h[j] for j in range(UNITS))
            + take["bias_ih"][k]
            + take["bias_hh"][k]
            for k in range(4 * UNITS)
        ]
        i, f, g, o = (gates[k * UNITS : (k + 1) * UNITS] for k in range(4))
        c = [sigmoid(f[k]) * c[k] + sigmoid(i[k]) * math.tanh(g[k]) for k in range(UNITS)]
        h = [sigmoid(o[k]) * math.tanh(c[k]) for k in range(UNITS)]
        states.append(h)
    return states


def both_ways(lstm, words):
    back = one_way(lstm, words[::-1], "_reverse")[::-1]
    return [ahead + behind for ahead, behind in zip(one_way(lstm, words, ""), back, strict=True)]


def aligned(own, other):
    """For each word, the mean of the other text's words, by how alike they are."""
    found = []
    for word in own:
        alike = [math.exp(sum(x * y for x, y in zip(word, there, strict=True))) for there in other]
        found.append(
            [sum(w * there[k] for w, there in zip(alike, other, strict=True)) / sum(alike) for k in range(len(word))]
        )
    return found


def composed(network, own, other):
    """v_ave and v_max of one text."""
    inputs = []
    for a, t in zip(own, aligned(own, other), strict=True):
        m = [*a, *t, *(x - y for x, y in zip(a, t, strict=True)), *(x * y for x, y in zip(a, t, strict=True))]
        inputs.append([max(value, 0.0) for value in linear(network.projection, m)])
    v = both_ways(network.composition.lstm, inputs)
    return [sum(column) / len(v) for column in zip(*v, strict=True)] + [max(column) for column in zip(*v, strict=True)]


def by_loops(network, premise, hypothesis):
    a, b = (both_ways(network.encoding.lstm, text.tolist()) for text in (premise, hypothesis))
    v = composed(network, a, b) + composed(network, b, a)
    return linear(network.classes, [math.tanh(value) for value in linear(network.hidden, v)])


@torch.no_grad()
def test_logits_by_loops(esim):
    premises, hypotheses = texts(0), texts(1)
    expected = [by_loops(esim, p, h) for p, h in zip(premises, hypotheses, strict=True)]
    found = esim(batch(premises), batch(hypotheses)).numpy()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    # Premise and hypothesis are not the same thing, nor are two pairs.
    assert np.abs(esim(batch(hypotheses), batch(premises)).numpy() - found).max(axis=1).min() > 1e-3
    assert np.ptp(found, axis=0).min() > 1e-2


@pytest.mark.parametrize("filled", [0.0, 99.0])
@torch.no_grad()
def test_padding_never_changes_a_score(esim, filled):
    premises, hypotheses = texts(0), texts(1)
    together = esim(batch(premises, 3, filled), batch(hypotheses, 2, filled)).numpy()
    for row, (p, h) in enumerate(zip(premises, hypotheses, strict=True)):
        np.testing.assert_allclose(esim(batch([p]), batch([h])).numpy()[0], together[row], rtol=0, atol=1e-12)
    # Whereas a word more does.
    longer = batch(premises, 3, 1.0)
    more = esim(longer._replace(lengths=longer.lengths + 1), batch(hypotheses)).numpy()
    assert np.abs(more - together).max(axis=1).min() > 1e-3


def test_gradients_reach_every_parameter_and_are_numbers(esim):
    esim.zero_grad()
    esim(batch(texts(0), 1), batch(texts(1), 1)).logsumexp(dim=1).sum().backward()
    for name, parameter in esim.named_parameters():
        assert torch.isfinite(parameter.grad).all(), name
        assert parameter.grad.abs().max() > 0, name


def test_both_texts_are_read_by_the_same_layers(esim):
    assert {name.partition(".")[0] for name in esim.learned()} == {
        "encoding",
        "projection",
        "composition",
        "hidden",
        "classes",
    }
    assert {parameter.data_ptr() for parameter in esim.parameters()} == {
        tensor.data_ptr() for tensor in esim.learned().values()
    }


def test_dropout_only_while_training(esim):
    given = batch(texts(0)), batch(texts(1))
    with torch.no_grad():
        assert torch.equal(esim(*given), esim(*given))
        esim.train()
        try:
            assert not torch.equal(esim(*given), esim(*given))
        finally:
            esim.eval()


@torch.no_grad()
def test_texts_without_words_have_one_of_zeros(esim):
    states = WordStates.from_texts([np.zeros((0, WIDTH), np.float32), texts(0)[0].astype(np.float32)], WIDTH)
    empty, full = (states[torch.tensor([row])] for row in (0, 1))
    wide = [words._replace(states=words.states.double()) for words in (empty, full)]
    expected = by_loops(esim, np.zeros((1, WIDTH)), texts(0)[0].astype(np.float32))
    assert esim(*wide)[0].tolist() == pytest.approx(expected, abs=1e-10)


def test_long_texts_never_make_a_batch_too_large():
    rng = np.random.default_rng(0)
    premises, hypotheses = rng.integers(1, 30, size=(2, 3000))
    premises[5], hypotheses[6], premises[7], hypotheses[7] = 9000, 5000, 40_000, 4000
    found = batches(premises, hypotheses)
    assert sorted(np.concatenate(found)) == list(range(3000))
    assert [7] in [rows.tolist() for rows in found]  # 160 million cells: too large for any company
    sizes = [(len(rows), premises[rows].max(), hypotheses[rows].max()) for rows in found if len(rows) > 1]
    assert max(n for n, _, _ in sizes) == networks.BATCH
    assert all(n * (p + h) <= networks.WORDS and n * p * h <= networks.CELLS for n, p, h in sizes)
    assert len(found) < 30
    assert batches(np.zeros(0, np.int64), np.zeros(0, np.int64)) == []
