"""The same vectors as gensim reads from the same file."""

import numpy as np
import pytest

from dialogauge.encode.static import open_static
from tests.encode.vectors import WRITERS
from tests.shared import shared

KeyedVectors = pytest.importorskip("gensim.models", reason="needs gensim to compare with").KeyedVectors

GENERATOR = np.random.default_rng(7)
WORDS = [
    *(
        "the",
        "café",
        "日本語",
        "🦄",
        "n't",
        "``",
        ",",
        ".",
        "a_b",
        "3.14",
        "-",
        "x\u00a0y",
        "\u0085",
        "Ünï",
        "Cat",
        "cat",
    ),
    *("the", "cat", "ﬁ", "e\u0301", "\u200b", "'", '"', "\\n", "\t", "0x1F"),
]
ENTRIES = [(word.encode(), GENERATOR.normal(size=7).astype(np.float32).tolist()) for word in WORDS]
INVALID = [(b"caf\xc3", [1.0] * 7), (b"\xff\xfe", [2.0] * 7), (b"caf\xe9", [3.0] * 7)]


@pytest.mark.parametrize("form", WRITERS)
def test_every_form(form, tmp_path):
    path = tmp_path / f"vectors.txt{'.gz' if form.endswith('.gz') else ''}"
    path.write_bytes(WRITERS[form](ENTRIES + INVALID))
    binary, no_header = not form.startswith(("glove", "word2vec-text")), form.startswith("glove")
    theirs = KeyedVectors.load_word2vec_format(path, binary=binary, no_header=no_header, unicode_errors="replace")
    ours = open_static(path, tmp_path / "converted")
    # "the" and "cat" are there twice, and two broken spellings of "café" become the same.
    assert len(ours) == len(theirs.key_to_index) == len(ENTRIES + INVALID) - 3
    assert ours.dim == theirs.vector_size
    for word in theirs.key_to_index:
        assert np.array_equal(ours.vector(word), theirs[word]), word


def test_numbers_are_rounded_alike(tmp_path):
    """A little over half way between two 32-bit numbers, by less than 64 bits can tell; and other spellings."""
    path = tmp_path / "vectors.txt"
    path.write_text("a 1.000000059604644775390625000001 2 3\nb +1 1e-400 .5\n")
    theirs = KeyedVectors.load_word2vec_format(path, no_header=True)
    for content in (path.read_text(), path.read_text().split("\n")[0]):
        path.write_text(content)
        ours = open_static(path, tmp_path / "converted")
        for word in ("a", "b")[: len(ours)]:
            assert ours.vector(word).tolist() == theirs[word].tolist()


def test_glove(tmp_path):
    path = shared("vectors/glove.6B.100d.first50k.txt.gz")
    theirs = KeyedVectors.load_word2vec_format(path, no_header=True, limit=20_000)
    ours = open_static(path, tmp_path)
    assert (len(ours), ours.dim) == (50_000, theirs.vector_size)
    for word in theirs.index_to_key[::41]:
        assert np.array_equal(ours.vector(word), theirs[word]), word
    text = "My brother's dog -- a \"very\" good one -- didn't bark at 5,000 zyzzyvaes."
    (tokens,) = ours.tokens([text], split=str.split)
    expected = [theirs[word] for word in text.split() if word in theirs]
    assert np.array_equal(tokens.states, np.array(expected))
    assert tokens.unknown == len(text.split()) - len(expected)
