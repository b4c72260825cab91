import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learned.small import torch

from dialogauge.learned.words import WordStates  # isort: skip
import pytest

from dialogauge.encode.encoders import Encoders
from dialogauge.learned.words import _ending, read_words
from tests.encode.models import LIMIT, build, open_model


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data(), st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_a_batch_holds_the_texts(data, lengths):
    rng = np.random.default_rng(len(lengths))
    texts = [rng.normal(size=(length, 3)).astype(np.float32) for length in lengths]
    states = WordStates.from_texts(texts, 3)
    assert len(states) == len(texts)
    chosen = data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=1, max_size=8))
    batch = states[torch.tensor(chosen)]
    # A text without words has one, of zeros.
    expected = [texts[row] if len(texts[row]) else np.zeros((1, 3)) for row in chosen]
    assert batch.lengths.tolist() == [len(text) for text in expected]
    assert batch.states.shape == (len(chosen), max(map(len, expected)), 3)
    for row, text in enumerate(expected):
        np.testing.assert_array_equal(batch.states[row, : len(text)], text)


def test_texts_without_any_words():
    batch = WordStates.from_texts([np.zeros((0, 2), np.float32)] * 2, 2)[torch.tensor([1, 0, 1])]
    assert batch.states.tolist() == [[[0, 0]]] * 3
    assert batch.lengths.tolist() == [1, 1, 1]


def test_states_in_64_bits():
    states = WordStates.from_texts([np.ones((2, 3), np.float32), np.full((1, 3), 0.1, np.float32)], 3)
    wide = states.to(torch.device("cpu"), torch.float64)
    assert states.states.dtype == states.to(torch.device("cpu")).states.dtype == torch.float32
    batch = wide[torch.tensor([1, 0])]
    assert (batch.states.dtype, batch.lengths.dtype) == (torch.float64, torch.int64)
    assert batch.states[0, 0].tolist() == [float(np.float32(0.1))] * 3
    assert batch.lengths.tolist() == [1, 2]


FAMILIES = ["bert", "roberta", "xlnet"]


@pytest.fixture(scope="module", params=FAMILIES)
def each(request, tmp_path_factory):
    return open_model(build(request.param, tmp_path_factory.mktemp("words") / request.param))


@pytest.fixture(scope="module")
def opened(vectors):
    return Encoders().get(vectors)


def words(pairs, side, row):
    batch = pairs.states[torch.from_numpy(getattr(pairs, side))[row : row + 1]]
    return batch.states[0].numpy()


def test_every_pair_has_its_texts(opened):
    premises, hypotheses = ["tea milk", "rain", "tea milk", "snow unheard-of"], ["cat", "tea milk", "dog", "cat"]
    pairs = read_words(opened, premises, hypotheses, 5)
    for row, texts in enumerate(zip(premises, hypotheses, strict=True)):
        for side, text in zip(("premises", "hypotheses"), texts, strict=True):
            (tokens,) = opened.tokens([text])
            np.testing.assert_array_equal(words(pairs, side, row), tokens.words)
    assert not pairs.cut.any()
    assert not pairs.silent.any()
    assert pairs.premises[0] == pairs.premises[2]


def test_blocks_change_nothing(opened, monkeypatch):
    texts = ["tea", "milk rain", "snow", "cat dog", "bye"]
    whole = read_words(opened, texts, texts[::-1], 5)
    monkeypatch.setattr("dialogauge.learned.words.AT_ONCE", 2)
    parts = read_words(opened, texts, texts[::-1], 5)
    assert torch.equal(parts.states.states, whole.states.states)
    assert torch.equal(parts.states.lengths, whole.states.lengths)


def test_vectors_in_16_bits(opened):
    whole, half = (read_words(opened, ["tea", ""], ["milk rain"] * 2, 5, np.dtype(kind)) for kind in ("f4", "f2"))
    assert (whole.states.states.dtype, half.states.states.dtype) == (torch.float32, torch.float16)
    assert torch.equal(half.states.states, whole.states.states.half())


def test_texts_without_any_vector(opened):
    pairs = read_words(opened, ["tea", "", "unheard-of", "tea"], ["milk", "milk", "unheard-of", ""], 5)
    assert pairs.silent.tolist() == [[False, False], [True, False], [True, True], [False, True]]
    assert (words(pairs, "premises", 1) == 0).all()


def test_a_long_history_loses_its_beginning_and_a_long_response_its_end(each):
    long = " ".join(["weather"] * 40 + ["the dog is nice"] * 12)
    pairs = read_words(each, [long, "nice", long], ["nice", long, "nice"], 32)
    assert pairs.cut.tolist() == [True, True, True]
    kept = _ending(each, each.spelled(long))
    assert len(kept) > 20
    assert long.endswith(kept.strip())
    (tokens,) = each.tokens([kept])
    assert tokens.dropped == 0
    np.testing.assert_array_equal(words(pairs, "premises", 0), tokens.words)
    (ahead,) = each.tokens([each.spelled(long)])
    assert ahead.dropped > 0
    np.testing.assert_array_equal(words(pairs, "hypotheses", 1), ahead.words)


def test_endings_are_encoded_together(each, monkeypatch):
    asked, plain = [], each.tokens
    monkeypatch.setattr(each, "tokens", lambda texts: asked.append(len(texts)) or plain(texts))
    long = [f"{word} " * 60 for word in ("dog", "weather", "nice")]
    pairs = read_words(each, [long[0], "dog", *long[1:]], ["nice"] * 4, 32)
    assert asked == [4, 3, 1]
    assert pairs.cut.tolist() == [True, False, True, True]
    for row, text in ((0, long[0]), (2, long[1]), (3, long[2])):
        (ending,) = plain([_ending(each, each.spelled(text))])
        np.testing.assert_allclose(words(pairs, "premises", row), ending.words, atol=1e-5)


def test_as_much_is_kept_as_fits(each):
    long = " ".join(f"{word} soup bread" for word in ["dog", "weather", "nice", "dinner"] * 12)
    kept = _ending(each, each.spelled(long)).strip()
    before = long.removesuffix(kept).split()[-1]
    assert each.tokens([each.spelled(kept)])[0].dropped == 0
    assert each.tokens([each.spelled(f"{before} {kept}")])[0].dropped > 0


def test_a_single_word_that_does_not_fit(each):
    kept = _ending(each, each.spelled("hello " + "xyz" * 40 + "end")).strip()
    assert 5 < len(kept) <= LIMIT * 3
    assert kept.endswith("xyzend")
    assert not each.tokens([each.spelled(kept)])[0].dropped
