from dataclasses import replace

import numpy as np
import pytest

from dialogauge.learned.ruber.model import pool_words
from dialogauge.learned.ruber.train_networks import _network, ranking_accuracy, train, validate
from dialogauge.stats.arrays import cosine
from tests.learned.ruber.conversations import quick, quick_towers, telling, training_data_for


def test_accuracy_by_hand():
    true = np.array([0.5, 0.5, 0.9, 0.1] * 4)
    negative = np.array([[0.4, 0.5], [0.6, 0.6], [0.1, 0.2], [0.1, 0.1]] * 4)
    # Won shares: .75, 0, 1, .5, four times; of dialogues 0, 0, 1, 2, then 3, 3, 4, 5 and so on: twelve.
    found = ranking_accuracy(true, negative, np.concatenate([np.array([0, 0, 1, 2]) + 3 * n for n in range(4)]))
    assert found.value == 0.5625
    # Residuals by dialogue: .1875 - .5625, .4375, -.0625; sums -.375, .4375, -.0625. Student's t of 11: 2.201.
    error = 2.2009852 * np.sqrt(12 / 11 * 4 * (0.375**2 + 0.4375**2 + 0.0625**2)) / 16
    assert (found.low, found.high) == pytest.approx((0.5625 - error, 0.5625 + error))


def test_the_interval_stays_from_0_to_1():
    found = ranking_accuracy(np.array([1.0, 0.0]), np.array([[0.5], [0.5]]), np.array([0, 1]))
    assert (found.value, found.low, found.high) == (0.5, 0, 1)
    one = ranking_accuracy(np.array([1.0, 1.0]), np.array([[0.5], [0.5]]), np.array([4, 4]))
    assert (one.value, one.low, one.high) == (1, 0, 1)


def test_no_error_among_few_dialogues_is_no_proof():
    """The exact interval of Clopper and Pearson: .025 ** (1 / 10) = .6915."""
    dialogues = np.repeat(np.arange(10), 3)
    right = ranking_accuracy(np.ones(30), np.zeros((30, 1)), dialogues)
    assert (right.value, right.low, right.high) == pytest.approx((1, 0.6915, 1), abs=5e-5)
    wrong = ranking_accuracy(np.zeros(30), np.ones((30, 1)), dialogues)
    assert (wrong.value, wrong.low, wrong.high) == pytest.approx((0, 0, 0.3085), abs=5e-5)


def test_numbers_of_dialogues_may_have_gaps():
    true, negative = np.array([0.5, 0.2, 0.9]), np.array([[0.4], [0.6], [0.1]])
    assert ranking_accuracy(true, negative, np.array([0, 1, 2])) == ranking_accuracy(
        true, negative, np.array([7, 3, 90])
    )


def test_the_interval_is_that_of_a_bootstrap_over_dialogues():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 9, size=120)
    dialogues = np.repeat(np.arange(120), sizes)
    # Pairs of a dialogue are alike, so that an interval over pairs would be too narrow.
    true = np.repeat(rng.normal(0.5, 1, size=120), sizes) + rng.normal(0, 0.3, size=len(dialogues))
    negative = rng.normal(size=(len(dialogues), 3))
    found = ranking_accuracy(true, negative, dialogues)
    won = (true[:, None] > negative).mean(axis=1)
    sums = np.bincount(dialogues, weights=won)
    drawn = rng.integers(120, size=(4000, 120))
    low, high = np.quantile(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.15 * (high - low))
    naive = 2 * 1.96 * won.std() / np.sqrt(len(won))
    assert found.high - found.low > 1.3 * naive


@pytest.fixture(scope="module")
def trained(learnable):
    return train(learnable("mean"), quick(rate=1e-3, batch=4, epochs=5, members=2))


def test_what_is_said_of_the_networks(trained, learnable):
    found = learnable("mean")
    record = trained.validation.record(found)
    assert record["pairs"] == len(found.data.held) == 18
    assert record["dialogues"] == 18
    assert record["negatives"] == 5
    assert record["by_negatives"].keys() == {"same_length", "hard"}
    assert record["low"] <= record["ranking_accuracy"] <= record["high"]
    assert record["ranking_accuracy"] > 0.9


def test_the_range_of_relatedness_is_that_of_the_pairs_held_back(trained, learnable):
    found = learnable("mean")
    held = found.held
    from dialogauge.learned.ruber.networks import relatedness
    from tests.learned.small import torch

    networks = [_network(trained.shape, fitted, found.device) for fitted in trained.members]
    responses = np.column_stack([held.pairs.responses, held.negatives])
    queries = np.repeat(held.pairs.queries, responses.shape[1])
    rows = (torch.from_numpy(texts) for texts in (queries, responses.ravel(), np.full(len(queries), -1)))
    scores = relatedness(networks, found.inputs, *rows)
    used = trained.validation.normalisation.unreferenced
    assert (used.low, used.high) == pytest.approx((scores.min(), scores.max()), abs=1e-6)


def test_the_range_of_likeness_begins_with_the_least_alike(trained, learnable, encoder):
    found = learnable("mean")
    used = trained.validation.normalisation
    assert (used.pool, used.referenced.high) == ("maxmin", 1)
    responses = {found.data.texts[row] for row in found.held.pairs.responses}
    pooled = [pool_words(tokens.words, "maxmin") for tokens in encoder.tokens(sorted(responses))]
    likeness = [cosine(a, b) for a in pooled for b in pooled]
    assert min(abs(used.referenced.low - value) for value in likeness) < 1e-6
    assert used.referenced.low <= np.quantile(likeness, 0.25) + 1e-6


def test_scores_that_are_all_the_same_still_have_a_range(trained):
    from dialogauge.learned.ruber.train_networks import _range

    flat = _range(np.full(5, 0.25))
    assert (flat.low, flat.high) == (0, 1)


def test_towers_are_validated_with_what_was_said_before(encoder):
    """Without it, every answer would be as good as any other."""
    found = training_data_for(encoder, quick_towers(), telling())
    trained = train(found, quick_towers(epochs=10))
    held = found.held.pairs
    asked = np.array([found.data.texts[row] == "now" for row in held.queries])
    assert asked.any()
    assert trained.validation.accuracy.value == 1
    blind = replace(found, data=replace(found.data, held=replace(held, previous=np.full(len(held), -1))))
    networks = [_network(trained.shape, fitted, found.device) for fitted in trained.members]
    assert validate(networks, blind, 0).accuracy.value < 0.95
