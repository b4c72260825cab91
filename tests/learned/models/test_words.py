import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learned.models.small import torch

from dialogauge.learned.words import WordStates  # isort: skip


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
