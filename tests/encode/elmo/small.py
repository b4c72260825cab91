"""A small ELMo, written by the tests."""

import json

import numpy as np
import pytest

from dialogauge.encode.elmo.files import find_elmo

OPTIONS = {
    "lstm": {
        "cell_clip": 3,
        "use_skip_connections": True,
        "n_layers": 2,
        "proj_clip": 3,
        "projection_dim": 6,
        "dim": 10,
    },
    "char_cnn": {
        "embedding": {"dim": 3},
        "filters": [[1, 4], [2, 5], [3, 6]],
        "n_highway": 2,
        "n_characters": 262,
        "max_characters_per_token": 12,
        "activation": "relu",
    },
}


def changed(section, **fields):
    """The options with other values in a section."""
    return {**OPTIONS, section: {**OPTIONS[section], **fields}}


def write_options(folder, options=OPTIONS):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "options.json").write_text(json.dumps(options), encoding="utf-8")
    return folder


def write_elmo(folder, options=OPTIONS, seed=0, fill=None, storage="f4"):
    """A directory with these options and weights that are random, or what `fill` gives for a name and a shape."""
    h5py = pytest.importorskip("h5py", reason="needs the package h5py")
    write_options(folder, options)
    (folder / "weights.hdf5").touch()
    random = np.random.default_rng(seed)
    with h5py.File(folder / "weights.hdf5", "w") as file:
        for name, shape in find_elmo(str(folder)).shape.tensors().items():
            values = random.normal(scale=0.5, size=shape) if fill is None else fill(name, shape)
            file.create_dataset(name, data=np.asarray(values, storage))
    return folder
