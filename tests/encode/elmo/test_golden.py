"""AllenNLP's own small weights, its sentences, and the vectors that the authors' TensorFlow program gave them."""

import json
import shutil

import numpy as np
import pytest
import torch

from dialogauge.encode.elmo.files import find_elmo
from dialogauge.encode.elmo.network import ElmoNetwork
from dialogauge.encode.elmo.words import BEGINS_TEXT, ENDS_TEXT
from tests.shared import shared

h5py = pytest.importorskip("h5py", reason="needs the package h5py")
FOLDER = "golden/elmo"
LISTS, SENTENCES = 3, 10


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    folder = tmp_path_factory.mktemp("elmo")
    shutil.copyfile(shared(f"{FOLDER}/options.json"), folder / "options.json")
    shutil.copyfile(shared(f"{FOLDER}/lm_weights.hdf5"), folder / "weights.hdf5")
    return folder


@pytest.fixture(scope="module")
def network(weights):
    return ElmoNetwork(find_elmo(str(weights)))


@pytest.fixture(scope="module")
def sentences():
    lists = json.loads(shared(f"{FOLDER}/sentences.json").read_text(encoding="utf-8"))
    assert [len(one) for one in lists] == [SENTENCES] * LISTS
    return [[sentence.split() for sentence in one] for one in lists]


@pytest.fixture(scope="module")
def expected():
    """By list and sentence: the top layer, forward and backward beside each other."""
    found = []
    for number in range(LISTS):
        with h5py.File(shared(f"{FOLDER}/lm_embeddings_{number}.hdf5"), "r") as file:
            found.append([np.concatenate(file[str(place)][...], axis=-1) for place in range(SENTENCES)])
    return found


def test_states_carried_from_sentence_to_sentence(network, sentences, expected):
    """In batches of three, the k-th sentence of each list, as the vectors were made."""
    carried, largest = None, 0.0
    for place in range(SENTENCES):
        batch = [one[place] for one in sentences]
        layers, carried = network.carried(batch, carried)
        for row, words in enumerate(batch):
            found = layers[-1, row, : len(words)].numpy()
            assert found.shape == expected[row][place].shape
            largest = max(largest, float(np.abs(found - expected[row][place]).max()))
    assert largest < 1e-5


def test_by_how_much_states_that_begin_at_zero_differ(network, sentences, expected):
    """Not at all in the first sentence of a list. In the others by .081 on average and by up to 2.63, where the largest
    state is 4.59; forward states differ at the beginning and backward states at the end of a sentence."""
    gaps = [
        np.abs(network([words])[-1, 0].numpy() - expected[row][place])
        for row, one in enumerate(sentences)
        for place, words in enumerate(one)
    ]
    first, others = gaps[::SENTENCES], [gap for place, gap in enumerate(gaps) if place % SENTENCES]
    assert max(float(gap.max()) for gap in first) < 1e-5
    assert max(float(gap.max()) for gap in others) == pytest.approx(2.63, abs=0.01)
    assert np.concatenate(others).mean() == pytest.approx(0.081, abs=0.001)
    half = network.shape.projection
    assert np.mean([gap[0, :half].mean() for gap in others]) > 5 * np.mean([gap[-1, :half].mean() for gap in others])
    assert np.mean([gap[-1, half:].mean() for gap in others]) > 5 * np.mean([gap[0, half:].mean() for gap in others])


def test_words_without_context(network):
    """Layer 0 of each word of a list, twice; <S> and </S> there stand for the marks around a text."""
    words = shared(f"{FOLDER}/vocab_test.txt").read_text(encoding="utf-8").split("\n")
    marks = {words.index("<S>"): BEGINS_TEXT, words.index("</S>"): ENDS_TEXT}
    with h5py.File(shared(f"{FOLDER}/elmo_token_embeddings.hdf5"), "r") as file:
        known = file["embedding"][...]
    layers = network([[word] for word in words])
    found = layers[0, :, 0].numpy()
    for place, mark in marks.items():
        found[place] = network._known[mark].repeat(2).numpy()
    assert found == pytest.approx(np.concatenate([known, known], axis=1), abs=1e-5)


def test_rows_of_a_batch_do_not_meet(network, sentences):
    """Texts of very different lengths together, and each alone."""
    batch = [words for one in sentences for words in one]
    together = network(batch)
    for row, words in enumerate(batch):
        alone = network([words])[:, 0]
        assert torch.allclose(together[:, row, : len(words)], alone, atol=1e-5, rtol=0)
