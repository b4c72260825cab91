"""Values derived by hand, and the whole network beside a loop over words and letters in plain NumPy."""

import math

import numpy as np
import pytest

from dialogauge.encode.elmo.files import cell_name, find_elmo
from dialogauge.encode.elmo.network import ElmoNetwork
from dialogauge.encode.elmo.words import BEGINS_TEXT, ENDS_TEXT, letters
from tests.encode.elmo.small import OPTIONS, changed, write_elmo

TEXTS = [["Hello", ",", "you", "!"], ["no"], [], ["a", "word", "of", "more-letters-than-the-network-reads", "Ünïcödé"]]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def plain(weights, options, text, before=None):
    """The states of every layer, and where the LSTM stands afterwards: one word, one letter, one step at a time."""
    cnn, lstm = options["char_cnn"], options["lstm"]
    weights = {name: array.astype(np.float64) for name, array in weights.items()}
    activate = np.tanh if cnn["activation"] == "tanh" else lambda x: np.maximum(x, 0)
    words = []
    for spelled in letters([BEGINS_TEXT, *text, ENDS_TEXT], cnn["max_characters_per_token"]):
        seen, parts = weights["char_embed"][spelled], []
        for number, (width, _) in enumerate(cnn["filters"]):
            kernel = weights[f"CNN/W_cnn_{number}"][0]
            windows = [seen[start : start + width] for start in range(len(seen) - width + 1)]
            found = [np.einsum("ld,ldf->f", window, kernel) for window in windows]
            parts.append(activate(np.max(found, axis=0) + weights[f"CNN/b_cnn_{number}"]))
        word = np.concatenate(parts)
        for number in range(cnn["n_highway"]):
            name = f"CNN_high_{number}"
            carry = sigmoid(word @ weights[f"{name}/W_carry"] + weights[f"{name}/b_carry"])
            new = np.maximum(word @ weights[f"{name}/W_transform"] + weights[f"{name}/b_transform"], 0)
            word = carry * new + (1 - carry) * word
        words.append(word @ weights["CNN_proj/W_proj"] + weights["CNN_proj/b_proj"])
    layers, after = [[np.array(words)] * 2], {}
    for layer in range(lstm["n_layers"]):
        states = []
        for way in range(2):
            inputs = layers[-1][way][:: -1 if way else 1]
            start = (np.zeros(lstm["dim"]), np.zeros(lstm["projection_dim"]))
            cell, output = (before or {}).get((layer, way), start)
            outputs = []
            for step in inputs:
                whole = np.concatenate([step, output]) @ weights[f"{cell_name(way, layer)}/W_0"]
                take, new, keep, give = np.split(whole + weights[f"{cell_name(way, layer)}/B"], 4)
                cell = sigmoid(keep + 1) * cell + sigmoid(take) * np.tanh(new)
                cell = np.clip(cell, -lstm["cell_clip"], lstm["cell_clip"]) if lstm["cell_clip"] else cell
                output = (sigmoid(give) * np.tanh(cell)) @ weights[f"{cell_name(way, layer)}/W_P_0"]
                output = np.clip(output, -lstm["proj_clip"], lstm["proj_clip"]) if lstm["proj_clip"] else output
                outputs.append(output)
            after[layer, way] = cell, output
            found = np.array(outputs) + (inputs if layer and lstm["use_skip_connections"] else 0)
            states.append(found[:: -1 if way else 1])
        layers.append(states)
    return np.stack([np.concatenate(both, axis=1) for both in layers])[:, 1:-1], after


@pytest.mark.parametrize(
    "options",
    [
        OPTIONS,
        changed("lstm", cell_clip=0.3, proj_clip=0.2),
        changed("lstm", cell_clip=None, proj_clip=None, use_skip_connections=False, n_layers=3),
        changed("lstm", n_layers=1),
        changed("char_cnn", activation="tanh", n_highway=0, filters=[[12, 3]]),
    ],
    ids=["usual", "clipped", "unclipped", "one layer", "tanh"],
)
def test_beside_a_plain_loop(tmp_path, options):
    files = find_elmo(str(write_elmo(tmp_path, options)))
    network, weights = ElmoNetwork(files), files.read()
    together = network(TEXTS).numpy()
    assert together.shape == (options["lstm"]["n_layers"] + 1, len(TEXTS), 5, 12)
    for row, text in enumerate(TEXTS):
        expected, _ = plain(weights, options, text)
        assert together[:, row, : len(text)] == pytest.approx(expected, abs=1e-5)


def test_states_carried_beside_a_plain_loop(tmp_path):
    """A text ends where it ends, however long the others beside it are."""
    files = find_elmo(str(write_elmo(tmp_path)))
    network, weights = ElmoNetwork(files), files.read()
    befores, carried = [None] * len(TEXTS), None
    for batch in (TEXTS, TEXTS[::-1], TEXTS):
        found, carried = network.carried(batch, carried)
        for row, text in enumerate(batch):
            expected, befores[row] = plain(weights, OPTIONS, text, befores[row])
            assert found[:, row, : len(text)].numpy() == pytest.approx(expected, abs=1e-5)


def test_steps_in_blocks_of_any_size(tmp_path):
    network = ElmoNetwork(find_elmo(str(write_elmo(tmp_path))))
    whole = network(TEXTS)
    network._bytes = 1
    assert network(TEXTS).numpy() == pytest.approx(whole.numpy(), abs=1e-6)


HAND = {
    "lstm": {
        "cell_clip": 0.4,
        "use_skip_connections": True,
        "n_layers": 2,
        "proj_clip": 0.9,
        "projection_dim": 1,
        "dim": 1,
    },
    "char_cnn": {
        "embedding": {"dim": 1},
        "filters": [[1, 1]],
        "n_highway": 1,
        "max_characters_per_token": 5,
        "activation": "relu",
    },
}


def by_hand(name, shape):
    """Letters have the value of their byte over 100, all else 0; every gate of the LSTM sees zeros but its bias."""
    values = np.zeros(shape)
    if name == "char_embed":
        values[:256, 0] = np.arange(256) / 100
    elif name == "CNN/W_cnn_0" or name == "CNN_high_0/W_transform" or name == "CNN_proj/W_proj":
        values[...] = 1
    elif name == "CNN_high_0/b_transform":
        values[...] = 2
    elif name.endswith("/B"):
        values[1] = 50  # the candidate: tanh(50) = 1
    elif name.endswith("W_P_0"):
        values[...] = 10 if "RNN_0" in name else 1
    return values


def test_by_hand(tmp_path):
    """The largest letter of "az" is z = 122: 1.22. The highway's carry gate is sigmoid(0) = 1/2 between 1.22 and
    relu(1.22 + 2) = 3.22: 2.22, which the projection leaves. "zzzb": of five letters two are marks, three are read: the
    same. The marks themselves are relu(0) = 0, halfway to 2: 1.

    The LSTM never looks at its input: its first cell is sigmoid(0) * 1 = .5, clipped to .4; later ones are sigmoid(1) *
    .4 + .5 = .79, clipped to .4, too. So every output is sigmoid(0) * tanh(.4) = .18997; forward times 10,
    clipped to .9. The second layer adds the first: 1.8 and .37995.
    """
    network = ElmoNetwork(find_elmo(str(write_elmo(tmp_path, HAND, fill=by_hand))))
    once = math.tanh(0.4) / 2
    for text in (["az"], ["zzzb"]):
        layers = network([text]).numpy()
        assert layers[:, 0, 0] == pytest.approx(np.array([[2.22, 2.22], [0.9, once], [1.8, 2 * once]]), abs=1e-6)
    assert network._known[BEGINS_TEXT].item() == pytest.approx(1.0, abs=1e-6)


def test_letters_of_a_word():
    """258 and 259 stand around a word, 256 and 257 are the words before and after a text, 260 is padding."""
    found = letters(["ab", "é", "abcdef", BEGINS_TEXT, ENDS_TEXT, ""], 6)
    assert found.tolist() == [
        [258, 97, 98, 259, 260, 260],
        [258, 0xC3, 0xA9, 259, 260, 260],
        [258, 97, 98, 99, 100, 259],
        [258, 256, 259, 260, 260, 260],
        [258, 257, 259, 260, 260, 260],
        [258, 259, 260, 260, 260, 260],
    ]
