"""Histories and responses as vectors of their words, and what is cut of them."""

import numpy as np
import pytest
from tests.encode.models import LIMIT, build, open_model
from tests.learned.models.small import torch

from dialogauge.encode.encoders import Encoders
from dialogauge.learned.words import _ending, read_words

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
