"""What can be wrong with a directory: every error names the file."""

import json
import os
import shutil

import numpy as np
import pytest

from dialogauge.encode.elmo import files as elmo_files
from dialogauge.encode.elmo.files import find_elmo
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import InputError, MissingPackage
from tests.encode.elmo.small import OPTIONS, changed, write_elmo, write_options

h5py = pytest.importorskip("h5py", reason="needs the package h5py")


@pytest.fixture
def folder(tmp_path):
    return write_elmo(tmp_path / "small")


def refused(folder, file, *parts):
    """Where the encoder is opened, or at the latest where it is first used."""
    with pytest.raises(InputError) as error:
        Encoders().get(f"elmo:{folder}").tokens(["hello"])
    assert str(error.value).startswith(f"{folder / file}: ")
    for part in parts:
        assert part in str(error.value)


@pytest.mark.parametrize("name", ["", "nowhere", "~nosuchuser", "a\0b"])
def test_no_such_directory(name):
    with pytest.raises(InputError):
        Encoders().get(f"elmo:{name}")


def test_the_name_alone():
    with pytest.raises(InputError, match=r"no ELMo '': expected a directory with options.json and weights.hdf5"):
        Encoders().get("elmo")


def test_missing_files(folder):
    (folder / "weights.hdf5").rename(folder / "elmo_weights.hdf5")
    refused(folder, "weights.hdf5", "is not there as a file; other HDF5 files beside it: elmo_weights.hdf5")
    (folder / "options.json").unlink()
    refused(folder, "options.json", "is not there")


def test_missing_package(folder, monkeypatch):
    monkeypatch.setattr(elmo_files, "find_spec", lambda name: None if name == "h5py" else name)
    with pytest.raises(MissingPackage, match=r"pip install 'dialogauge\[elmo\]'"):
        find_elmo(str(folder))


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.9, 0.999])
def test_a_truncated_file(folder, share):
    file = folder / "weights.hdf5"
    file.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
    refused(folder, "weights.hdf5")


def test_no_hdf5(folder):
    (folder / "weights.hdf5").write_bytes(b"\x80\x04cos\nsystem\n" * 10_000)
    refused(folder, "weights.hdf5", "cannot be read as HDF5")


def test_a_pipe(folder):
    (folder / "weights.hdf5").unlink()
    os.mkfifo(folder / "weights.hdf5")
    refused(folder, "weights.hdf5", "expected a plain file")


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        ("lstm", "dim", 11),
        ("lstm", "projection_dim", 5),
        ("lstm", "n_layers", 1),
        ("lstm", "n_layers", 3),
        ("char_cnn", "embedding", {"dim": 2}),
        ("char_cnn", "filters", [[1, 4], [2, 5], [4, 6]]),
        ("char_cnn", "filters", [[1, 4], [2, 5]]),
        ("char_cnn", "n_highway", 3),
    ],
)
def test_weights_of_other_options(folder, section, field, value):
    write_options(folder, changed(section, **{field: value}))
    refused(folder, "weights.hdf5", "options.json")


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        ("lstm", "dim", 0),
        ("lstm", "dim", "64"),
        ("lstm", "dim", None),
        ("lstm", "projection_dim", 10**9),
        ("lstm", "n_layers", True),
        ("lstm", "cell_clip", -1),
        ("lstm", "proj_clip", "3"),
        ("lstm", "use_skip_connections", 1),
        ("char_cnn", "activation", "__import__"),
        ("char_cnn", "activation", ["relu"]),
        ("char_cnn", "max_characters_per_token", 2),
        ("char_cnn", "filters", []),
        ("char_cnn", "filters", [[1, 4, 4]]),
        ("char_cnn", "filters", [[13, 4]]),
        ("char_cnn", "filters", {"1": 4}),
        ("char_cnn", "n_highway", -1),
    ],
)
def test_odd_options(folder, section, field, value):
    write_options(folder, changed(section, **{field: value}))
    refused(folder, "options.json", field)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"lstm": {}}', '{"lstm": NaN}', "{}"])
def test_other_json(folder, content):
    (folder / "options.json").write_text(content)
    refused(folder, "options.json")


def test_a_network_far_larger_than_its_file(folder):
    write_options(folder, changed("lstm", dim=2**16, projection_dim=2**16))
    refused(folder, "weights.hdf5", "is too small for the network of options.json")


def change(folder, name, make):
    with h5py.File(folder / "weights.hdf5", "a") as file:
        before = file[name][...]
        del file[name]
        make(file, name, before)


def as_nan(file, name, before):
    file[name] = np.full_like(before, np.nan)


def as_text(file, name, before):
    file.create_dataset(name, shape=before.shape, dtype=h5py.string_dtype())


def as_whole_numbers(file, name, before):
    file[name] = before.astype(np.int64)


def as_group(file, name, before):
    file.create_group(name)


def as_link(file, name, before):
    file[name] = h5py.SoftLink("/char_embed")


def as_other_file(file, name, before):
    file[name] = h5py.ExternalLink("other.hdf5", name)


def as_outside(file, name, before):
    file.create_dataset(name, before.shape, before.dtype, external=[("/etc/passwd", 0, before.nbytes)])


def as_virtual(file, name, before):
    layout = h5py.VirtualLayout(before.shape, before.dtype)
    layout[...] = h5py.VirtualSource("other.hdf5", name, before.shape)
    file.create_virtual_dataset(name, layout)


def as_nothing(file, name, before):
    pass


@pytest.mark.parametrize(
    "make",
    [as_nan, as_text, as_whole_numbers, as_group, as_link, as_other_file, as_outside, as_virtual, as_nothing],
)
def test_odd_datasets(folder, make):
    """None of them is followed to another file."""
    shutil.copyfile(folder / "weights.hdf5", folder / "other.hdf5")
    change(folder, "CNN_proj/W_proj", make)
    refused(folder, "weights.hdf5", "CNN_proj/W_proj")


def test_other_numbers_and_compression(folder, tmp_path):
    """Weights in 16 or 64 bits, and gzip, are read as they are meant."""
    plain = find_elmo(str(folder)).read()
    half = find_elmo(str(write_elmo(tmp_path / "half", storage="f2"))).read()
    double = find_elmo(str(write_elmo(tmp_path / "double", storage="f8"))).read()
    change(folder, "char_embed", lambda file, name, before: file.create_dataset(name, data=before, compression="gzip"))
    packed = find_elmo(str(folder)).read()
    for name, values in plain.items():
        assert half[name] == pytest.approx(values, abs=2e-3)
        assert (double[name] == values).all()
        assert (packed[name] == values).all()
        assert half[name].dtype == np.float32


def test_options_as_they_are_published(folder):
    """With fields that only training needs, and without those that may be left out."""
    options = json.loads(json.dumps(OPTIONS))
    options |= {"bidirectional": True, "dropout": 0.1, "n_tokens_vocab": 793471}
    options["char_cnn"]["n_characters"] = 261
    del options["lstm"]["cell_clip"]
    write_options(folder, options)
    assert find_elmo(str(folder)).shape.cell_clip is None
    assert len(Encoders().get(f"elmo:{folder}").tokens(["hello there"])[0].states) == 2
