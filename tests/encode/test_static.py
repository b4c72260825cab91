import gzip
import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dialogauge.encode.static import open_static, spans
from dialogauge.encode.word_vectors import store
from dialogauge.errors import InputError
from dialogauge.text.words import words
from tests.encode.vectors import THREE


def test_tokens_by_hand(three):
    (tokens,) = three.tokens(["Hello, WORLD."])
    # NLTK's words are hello , world . and the comma has no vector.
    assert tokens.ids.tolist() == [0, 1, 2]
    assert tokens.offsets.tolist() == [[0, 5], [7, 12], [12, 13]]
    assert tokens.states.tolist() == [[1, 0], [0, 2], [0.5, 0.5]]
    assert tokens.special.tolist() == [False] * 3
    assert (tokens.unknown, tokens.dropped) == (1, 0)
    assert [array.dtype for array in (tokens.ids, tokens.offsets, tokens.states)] == [np.int32, np.int32, np.float32]


def test_pooled_by_hand(three):
    texts = ["Hello, WORLD.", "", "zebra", "hello hello world"]
    # (1 + 0 + 1/2) / 3 and (0 + 2 + 1/2) / 3; nothing known; nothing known; 2/3 and 2/3.
    assert three.pooled(texts).vectors == pytest.approx(np.array([[0.5, 5 / 6], [0, 0], [0, 0], [2 / 3, 2 / 3]]))
    assert three.pooled(texts, pool="max").vectors.tolist() == [[1, 2], [0, 0], [0, 0], [1, 2]]
    assert three.pooled(texts).dropped.tolist() == [0] * 4
    assert three.pooled([]).vectors.shape == (0, 2)


def test_a_word_is_looked_up_as_it_stands(tmp_path, folder):
    path = tmp_path / "cased.txt"
    path.write_text("Apple 1 1\napple 2 2\npear 3 3\n")
    (tokens,) = open_static(path, folder).tokens(["Apple APPLE Pear pear"], split=str.split)
    assert tokens.ids.tolist() == [0, 2]
    assert tokens.offsets.tolist() == [[0, 5], [17, 21]]
    assert tokens.unknown == 2


def test_nothing_known_and_nothing_given(three):
    assert three.tokens([]) == []
    for text, unknown in (("", 0), ("  \n", 0), ("été 🦄 \ud800", 3)):
        (tokens,) = three.tokens([text])
        assert tokens.states.shape == (0, 2)
        assert tokens.offsets.shape == (0, 2)
        assert tokens.unknown == unknown


def test_a_text_has_the_same_tokens_alone_and_among_others(three):
    texts = ["hello world", "world. hello", "no", "Hello " * 10_000]
    for alone, together in zip([three.tokens([text])[0] for text in texts], three.tokens(texts), strict=True):
        assert alone.ids.tolist() == together.ids.tolist()
        assert alone.unknown == together.unknown


def test_for_people(three, source):
    assert (len(three), three.dim) == (3, 2)
    assert "world" in three
    assert "World" not in three
    assert three.vector("hello").tolist() == [1, 0]
    assert three.vector("comma") is None
    assert three.identity == f"three@{store.sha256(source)[:8]}"
    assert three.recipe() == {"enc": f"static:{three.identity}", "words": "nltk-punkt", "unknown": "left-out"}


@pytest.mark.parametrize("name", ["v.6B.txt.gz", "v.6B.bin", "v.6B.bin.gz", "v.6B", "v.6B.TXT"])
def test_the_identity_has_no_suffix_that_says_how_the_file_is_packed(name, tmp_path, folder):
    path = tmp_path / name
    path.write_bytes(gzip.compress(THREE.encode()) if name.endswith("gz") else THREE.encode())
    assert open_static(path, folder).identity.partition("@")[0] == "v.6B"


def test_what_it_does_not_have(three):
    with pytest.raises(InputError, match="has no layers, found layer=3"):
        three.tokens(["a"], layer=3)
    with pytest.raises(InputError, match="has no layers"):
        three.pooled(["a"], layer=-1)
    with pytest.raises(InputError, match="has no 'cls' vector"):
        three.pooled(["a"], pool="cls")
    with pytest.raises(InputError, match="takes single texts"):
        three.pooled(["a", ("a", "b")])
    assert three.tokens(["hello"], layer=0)[0].ids.tolist() == [0]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text(max_size=40) | st.text(alphabet="aBİΣ \"'`.\n", max_size=30))
@example("he said \"yes\" and then ''no'' to it")
def test_a_word_stands_where_its_offsets_say(text):
    found = words(text)
    last = 0
    for word, (start, end) in zip(found, spans(text, found), strict=True):
        if (start, end) != (0, 0):
            # Which small sigma a capital one becomes depends on what stands around it.
            assert word.replace("ς", "σ") in text[start:end].lower().replace("ς", "σ")
            assert last <= start < end
            last = end


def test_offsets_by_hand():
    assert spans('Say "hi" İt\'s', ["say", "``", "hi", "''", "i̇t", "'s"]) == [
        (0, 3),
        (0, 0),
        (5, 7),
        (0, 0),
        (9, 11),
        (11, 13),
    ]
    # The '' that NLTK writes for the first " is not the '' at the end.
    assert spans("a\" b ''", ["a", "''", "b", "''"]) == [(0, 1), (0, 0), (3, 4), (5, 7)]


def test_duplicates_and_collisions_the_first_counts(tmp_path, folder, monkeypatch):
    real = store.hashes

    def colliding(given, salt=b""):
        return real([word if salt else word.replace("pear", "apple") for word in given], salt)

    monkeypatch.setattr(store, "hashes", colliding)
    path = tmp_path / "v.txt"
    path.write_text("fig 1 1\napple 2 2\npear 3 3\nfig 4 4\napple 5 5\nplum 6 6\n")
    encoder = open_static(path, folder)
    about = json.loads(next(folder.glob("*/about.json")).read_text())
    assert (about["duplicates"], about["collisions"], about["count"], about["rows"]) == (2, 1, 3, 6)
    assert [encoder.vector(word)[0] for word in ("fig", "apple", "plum")] == [1, 2, 6]
    assert len(encoder) == 3
