import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.errors import InputError
from dialogauge.learned.ruber.pairs import NEAR, NEGATIVES, POOL, Pairs, Sampler, same_texts

ALPHABET = ["a", "A", "a !", " a", "b", "B.", "c d", "CD", "c-d e", "?", "!", "é"]
examples = settings(max_examples=80, deadline=None, derandomize=True)


def letters(text):
    return "".join(character for character in text.lower() if character.isalnum()) or text.strip()


def sampler(pairs, texts, vectors=None):
    return Sampler(pairs, texts, same_texts(texts), vectors)


def made(responses, vectors=None):
    """A sampler whose texts are the responses, each with its own row, and the texts."""
    rows = np.arange(len(responses))
    pairs = Pairs(rows, rows, rows * 0 - 1, rows)
    if vectors is None:
        vectors = np.random.default_rng(0).normal(size=(len(responses), 4)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return sampler(pairs, responses, vectors)


def drawn(found, kind, order=None, batch=4, seed=0):
    order = np.arange(len(found.pairs)) if order is None else order
    return found.draw([kind], order, batch, np.random.default_rng(seed))[:, 0]


@pytest.mark.parametrize("kind", NEGATIVES)
@examples
@given(
    responses=st.lists(st.sampled_from(ALPHABET), min_size=2, max_size=20).filter(
        lambda r: len(set(map(letters, r))) > 1
    ),
    batch=st.integers(1, 6),
    seed=st.integers(0, 99),
)
def test_the_same_text_is_never_drawn(kind, responses, batch, seed):
    order = np.random.default_rng(seed).permutation(len(responses))
    negatives = drawn(made(responses), kind, order, batch, seed)
    assert negatives.shape == (len(responses),)
    for pair, negative in zip(order, negatives, strict=True):
        assert letters(responses[negative]) != letters(responses[pair])


@pytest.mark.parametrize("kind", NEGATIVES)
def test_nearly_all_responses_are_one_text(kind):
    found = made(["yes"] * 400 + ["no"])
    negatives = drawn(found, kind, batch=16)
    assert [found.texts[row] for row in negatives] == ["no"] * 400 + ["yes"]


@pytest.mark.parametrize("responses", [["yes"], ["yes", "Yes !", " YES"], []])
def test_all_responses_are_one_text(responses):
    with pytest.raises(InputError, match="all responses are the same text: nothing to tell apart"):
        made(responses)


@pytest.mark.parametrize("kind", NEGATIVES)
def test_same_seed_same_draws(kind):
    found = made([f"text {number}" for number in range(60)])
    first, again, other = (drawn(found, kind, batch=30, seed=seed).tolist() for seed in (0, 0, 1))
    assert first == again
    assert first != other


@pytest.mark.parametrize("kind", NEGATIVES)
def test_draws_differ_from_pair_to_pair(kind):
    assert len(set(drawn(made([f"text {number}" for number in range(60)]), kind, batch=60).tolist())) > 20


def test_any_response_may_be_drawn():
    found = made([f"text {number}" for number in range(6)])
    seen = {int(row) for seed in range(40) for row in drawn(found, "random", np.array([0]), seed=seed)}
    assert seen == {1, 2, 3, 4, 5}


def test_only_responses_of_the_pairs_are_drawn():
    rows = np.arange(3)
    found = sampler(
        Pairs(rows, rows + 3, rows * 0 - 1, rows), ["q", "r", "s", "t", "u", "v"], np.eye(6, dtype=np.float32)
    )
    for kind in NEGATIVES:
        assert set(drawn(found, kind, batch=3).tolist()) <= {3, 4, 5}


def test_same_length_stays_in_its_neighbourhood():
    # Text i is the only one with i + 1 words, in an order that is not that of the lengths.
    mixed = np.random.default_rng(1).permutation(300)
    texts = [" ".join(f"w{number}" for _ in range(number + 1)) for number in mixed]
    negatives = np.concatenate([drawn(made(texts), "same_length", seed=seed) for seed in range(10)])
    away = np.abs(mixed[negatives] - np.tile(mixed, 10))
    assert away.max() <= NEAR
    assert away.max() > NEAR // 2
    assert away.min() > 0
    assert np.abs(mixed[drawn(made(texts), "random")] - mixed).max() > 2 * NEAR


@pytest.mark.parametrize("place", [0, 20, 150, 298, 299])
def test_same_length_draws_from_its_whole_neighbourhood(place):
    """Text i is the only one with i + 1 words: all within NEAR places of it are drawn, none beyond. Each of at most 100
    is missed by 4000 draws with chance 0.99 ** 4000, 3e-18."""
    found = made([" ".join(f"w{number}" for _ in range(number + 1)) for number in range(300)])
    negatives = drawn(found, "same_length", np.full(4000, place))
    near = range(max(place - NEAR, 0), min(place + NEAR + 1, 300))
    assert set(negatives.tolist()) == set(near) - {place}


def test_in_batch_stays_in_its_batch():
    found = made([f"text {number}" for number in range(23)])
    order = np.random.default_rng(0).permutation(23)
    place = np.argsort(order)
    for seed in range(10):
        negatives = drawn(found, "in_batch", order, 5, seed)
        assert (place[negatives] // 5 == np.arange(23) // 5).all()


def test_a_batch_of_one_text_takes_from_elsewhere():
    found = made(["a", "a", "a", "b", "c", "d"])
    negatives = drawn(found, "in_batch", batch=3)
    assert {found.texts[row] for row in negatives[:3]} <= {"b", "c", "d"}
    assert set(negatives[3:].tolist()) <= {3, 4, 5}
    assert drawn(found, "in_batch", batch=1).shape == (6,)


def test_hard_is_the_likest_of_its_pool():
    # Texts on a circle, 2 k of the others within k steps.
    angles = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    found = made([f"text {number}" for number in range(200)], vectors)
    hard, random = (np.concatenate([drawn(found, kind, seed=seed) for seed in range(5)]) for kind in ("hard", "random"))
    true = np.tile(np.arange(200), 5)
    likeness = [(vectors[true] * vectors[negatives]).sum(axis=1) for negatives in (hard, random)]
    # None of the pool is within k steps with chance (1 - 2 k / 200) ** 32.
    steps = sum((1 - 2 * k / 200) ** POOL for k in range(100))
    assert np.arccos(np.clip(likeness[0], -1, 1)).mean() == pytest.approx(steps * np.pi / 100, rel=0.06)
    assert abs(likeness[1].mean()) < 0.1


def test_hard_leaves_out_the_same_text_though_it_is_the_likest():
    vectors = np.array([[1, 0], [1, 0], [0.8, 0.6], [-1, 0]], np.float32)
    found = made(["tea .", "Tea", "milk", "rain"], vectors)
    negatives = np.concatenate([drawn(found, "hard", np.array([0, 1]), seed=seed) for seed in range(5)])
    assert set(negatives.tolist()) == {2}


def test_hard_in_blocks(monkeypatch):
    found = made([f"text {number}" for number in range(5000)])
    negatives = drawn(found, "hard")
    assert negatives.shape == (5000,)
    likeness = (found.vectors * found.vectors[negatives]).sum(axis=1)
    assert likeness[:2048].mean() == pytest.approx(likeness[4096:].mean(), abs=0.05)
    assert likeness.mean() > 0.5


def test_hard_needs_vectors():
    rows = np.arange(2)
    with pytest.raises(InputError, match="hard negatives need vectors"):
        drawn(sampler(Pairs(rows, rows, rows * 0 - 1, rows), ["a", "b"]), "hard")


def test_a_column_for_each_kind():
    found = made([f"text {number}" for number in range(20)])
    both = found.draw(["in_batch", "random", "random"], np.arange(20), 2, np.random.default_rng(0))
    assert both.shape == (20, 3)
    assert (both[:, 0] == np.arange(20) + 1 - 2 * (np.arange(20) % 2)).all()  # the other one of two
    assert (both[:, 1] != both[:, 2]).any()


def test_same_length_has_no_favourites():
    """Neither the shortest and longest responses nor those that stand near each other in the file."""
    different = made([" ".join(["word"] * (number + 1)) + f" {number}" for number in range(150)])
    times = np.bincount(
        np.concatenate([drawn(different, "same_length", seed=seed) for seed in range(400)]), minlength=150
    )
    assert times.max() < 3 * 400
    assert times[0] < 2 * 400
    alike = made([f"text {number}" for number in range(1000)])
    negatives = np.concatenate([drawn(alike, "same_length", seed=seed) for seed in range(5)])
    assert np.median(np.abs(negatives - np.tile(np.arange(1000), 5))) > 2 * NEAR
