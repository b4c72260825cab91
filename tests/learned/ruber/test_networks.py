"""RUBER's network against loops written by hand."""

import math

import numpy as np
import pytest

from dialogauge.learned.ruber.inputs import SENTENCES, RuberShape
from tests.learned.small import WIDTH, random_network, torch

from dialogauge.learned.words import Words, WordStates  # isort: skip
from dialogauge.learned.ruber.inputs import KINDS

from dialogauge.learned.ruber.networks import earlier, make_network, relatedness  # isort: skip
from dialogauge.learned.ruber.networks import Relatedness  # isort: skip
from dialogauge.learned.ruber.networks import Towers  # isort: skip


POOLED = [sentence for sentence in SENTENCES if sentence != "rnn"]


def draw(rows, width=WIDTH, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(rows, width)).astype(np.float32))


def texts(*lengths, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(length, WIDTH)).astype(np.float32) for length in lengths]


def rows(*numbers):
    return torch.tensor(numbers)


def by_loops(network, q, r):
    """One pair: features, three layers of tanh, and a logit."""
    features = [float(x) for x in q]
    features.append(sum(float(q[i] * network.bilinear[i, j] * r[j]) for i in range(len(q)) for j in range(len(r))))
    features += [float(x) for x in r]
    linear = [layer for layer in network.layers if isinstance(layer, torch.nn.Linear)]
    values = np.array(features)
    for place, layer in enumerate(linear):
        values = np.array(
            [
                sum(w * x for w, x in zip(row, values, strict=True)) + bias
                for row, bias in zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
            ]
        )
        if place < len(linear) - 1:
            values = np.array([math.tanh(value) for value in values])
    assert [len(layer.bias) for layer in linear] == [256, 512, 128, 1]
    return values[0]


@pytest.mark.parametrize("layers", [(), (2, 0)])
@pytest.mark.parametrize("sentence", POOLED)
@torch.no_grad()
def test_logits_by_loops(sentence, layers):
    shape = RuberShape(WIDTH, sentence=sentence, layers=layers)
    network = random_network(shape)
    q, r = (draw(2, shape.sentence_width, seed) for seed in (1, 2))
    expected = [by_loops(network, q[i], r[i]) for i in range(2)]
    assert network(q, r).tolist() == pytest.approx(expected, abs=1e-4)


@torch.no_grad()
def test_query_and_response_are_not_the_same_thing():
    network = random_network(RuberShape(WIDTH))
    q, r = draw(3, seed=1), draw(3, seed=2)
    assert (network(q, r) - network(r, q)).abs().min() > 1e-3


@pytest.mark.parametrize("sentence", SENTENCES)
@torch.no_grad()
def test_several_responses_to_a_query_stand_one_after_the_other(sentence):
    network = random_network(RuberShape(WIDTH, sentence=sentence))
    if sentence == "rnn":
        queries, responses = (WordStates.from_texts(texts(*lengths), WIDTH) for lengths in ((2, 3), (1, 2, 3, 4, 5, 6)))
    else:
        queries, responses = draw(2), draw(6, seed=1)
    together = network(queries[rows(0, 1)], responses[torch.arange(6)])
    alone = [network(queries[rows(row // 3)], responses[rows(row)]).item() for row in range(6)]
    assert together.tolist() == pytest.approx(alone, abs=1e-5)
    swapped = [network(queries[rows(1 - row // 3)], responses[rows(row)]).item() for row in range(6)]
    assert together.tolist() != pytest.approx(swapped, abs=1e-3)


@torch.no_grad()
def test_recurrent_units_against_one_unpadded_text():
    network = random_network(RuberShape(WIDTH, sentence="rnn"))
    listed = texts(4, 1, 9)
    batch = WordStates.from_texts(listed, WIDTH)[torch.arange(3)]
    for rnn in (network.query_rnn, network.response_rnn):
        gru = torch.nn.GRU(WIDTH, 128, num_layers=2, bidirectional=True, batch_first=True)
        gru.load_state_dict(rnn.gru.state_dict())
        together = rnn(batch)
        assert together.shape == (3, 256)
        for row, text in enumerate(listed):
            states, _ = gru(torch.from_numpy(text)[None])
            # Forwards the state after the last word, backwards that after the first.
            expected = torch.cat([states[0, -1, :128], states[0, 0, 128:]])
            torch.testing.assert_close(together[row], expected, atol=1e-5, rtol=0)
    assert (network.query_rnn(batch) - network.response_rnn(batch)).abs().max() > 1e-2


@torch.no_grad()
def test_queries_and_responses_have_recurrent_networks_of_their_own():
    network = random_network(RuberShape(WIDTH, sentence="rnn"))
    states = WordStates.from_texts(texts(3, 2), WIDTH)
    q, r = network.query_rnn(states[rows(0)])[0], network.response_rnn(states[rows(1)])[0]
    assert network(states[rows(0)], states[rows(1)]).item() == pytest.approx(by_loops(network, q, r), abs=1e-4)


@torch.no_grad()
def test_what_stands_past_the_end_of_a_text_means_nothing():
    network = random_network(RuberShape(WIDTH, sentence="rnn"))
    (text,) = texts(3)
    plain = Words(torch.from_numpy(text)[None], rows(3))
    padded = torch.full((1, 7, WIDTH), 99.0)
    padded[0, :3] = torch.from_numpy(text)
    torch.testing.assert_close(network(Words(padded, rows(3)), plain), network(plain, plain), atol=1e-6, rtol=0)
    torch.testing.assert_close(network(plain, Words(padded, rows(3))), network(plain, plain), atol=1e-6, rtol=0)
    # Whereas the words of a text do mean something.
    assert (network(Words(padded, rows(4)), plain) - network(plain, plain)).abs() > 1e-3


@torch.no_grad()
def test_what_was_said_before_the_query_is_nothing_to_it():
    network = random_network(RuberShape(WIDTH))
    q, r = draw(3, seed=1), draw(3, seed=2)
    assert torch.equal(network(q, r, draw(3, seed=3)), network(q, r))


def test_dropout_only_while_training():
    network = random_network(RuberShape(WIDTH, dropout=0.5))
    q, r = draw(4), draw(4, seed=1)
    assert torch.equal(network(q, r), network(q, r))
    network.train()
    assert not torch.equal(network(q, r), network(q, r))


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
