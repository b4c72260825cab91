import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.encode.find import find_model
from dialogauge.encode.tokenizer import Tokenizer
from dialogauge.errors import InputError
from tests.encode.models import FAMILIES, LIMIT, tokenizers, write_json

LONG = "what would you like to eat for dinner ? " * 1112
"""10,008 words."""
RESPONSE = "My dog did not like the soup 😀 at all ."


@pytest.fixture(scope="module")
def tokenizer(bert):
    return Tokenizer(find_model(str(bert)))


@pytest.fixture(scope="module", params=FAMILIES)
def each(request, directories):
    """The family, its tokeniser, and the same one bare."""
    directory = directories[request.param]
    bare = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
    return request.param, Tokenizer(find_model(str(directory))), bare


@pytest.fixture(scope="module")
def three(directories):
    """One of each kind: word pieces, byte level, Unigram."""
    return [Tokenizer(find_model(str(directories[family]))) for family in ("bert", "roberta", "xlnet")]


def by_hand(family, first, second=None):
    """The ids of a text or pair with what the family's models want around them, and the segments where they do."""
    separate, classify = (number for _, number in FAMILIES[family].ends)
    rest = [] if second is None else [*second, separate]
    if family == "xlnet":
        return [*first, separate, *rest, classify], [0] * (len(first) + 1) + [1] * len(rest) + [2]
    if family in ("roberta", "mpnet"):
        between = [] if second is None else [separate]
        return [classify, *first, separate, *between, *rest], None
    segments = None if family == "distilbert" else [0] * (len(first) + 2) + [1] * len(rest)
    return [classify, *first, separate, *rest], segments


def read(encoded):
    return encoded.ids.tolist(), None if encoded.segments is None else encoded.segments.tolist()


def ids_of(bare, text):
    return bare.encode(text, add_special_tokens=False).ids


def test_values_derived_by_hand(tokenizer, bert):
    numbers = json.loads((bert / "tokenizer.json").read_text())["model"]["vocab"]
    single, pair = tokenizer.encode(["Hello, BROTHER!", ("what ?", "go")])
    # "brother" is a word of the sentences, "go" and "!" are not: there is no "!" at all, and no "go" but in letters.
    expected = ["[CLS]", "hello", ",", "brother", "[UNK]", "[SEP]"]
    assert single.ids.tolist() == [numbers[token] for token in expected]
    assert single.offsets.tolist() == [[0, 0], [0, 5], [5, 6], [7, 14], [14, 15], [0, 0]]
    assert single.special.tolist() == [True, False, False, False, False, True]
    assert single.segments.tolist() == [0] * 6
    assert pair.ids.tolist() == [numbers[token] for token in ["[CLS]", "what", "?", "[SEP]", "g", "##o", "[SEP]"]]
    assert pair.segments.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert pair.special.tolist() == [True, False, False, True, False, False, True]
    assert (single.dropped, pair.dropped, len(single), len(pair)) == (0, 0, 6, 7)
    assert [single.ids.dtype, single.offsets.dtype, single.segments.dtype] == [np.int32] * 3


@pytest.mark.parametrize("text", ["", "Hello, how are you?", "  a  b ", "😀 你好 né", "soup"])
def test_single_texts_and_pairs_in_every_family(each, text):
    family, tokenizer, bare = each
    one, two, three = tokenizer.encode([text, (text, "Yes, it is."), ("Yes, it is.", text)])
    mine, other = ids_of(bare, text), ids_of(bare, "Yes, it is.")
    assert read(one) == by_hand(family, mine)
    assert read(two) == by_hand(family, mine, other)
    assert read(three) == by_hand(family, other, mine)


def test_a_pair_loses_the_beginning_of_its_context(each):
    family, tokenizer, bare = each
    context, response = ids_of(bare, LONG), ids_of(bare, RESPONSE)
    (pair,) = tokenizer.encode([(LONG, RESPONSE)])
    added = 4 if family in ("roberta", "mpnet") else 3
    kept = LIMIT - added - len(response)
    assert 0 < kept < len(context)
    assert read(pair) == by_hand(family, context[-kept:], response)
    assert pair.dropped == len(context) - kept
    assert pair.special.sum() == added


def test_a_response_that_is_too_long_alone_loses_its_end(each):
    family, tokenizer, bare = each
    response = ids_of(bare, LONG)
    (pair,) = tokenizer.encode([("Hello , how are you ?", LONG)])
    kept = LIMIT - (4 if family in ("roberta", "mpnet") else 3)
    assert read(pair) == by_hand(family, [], response[:kept])
    assert pair.dropped == len(response) - kept + len(ids_of(bare, "Hello , how are you ?"))


def test_a_single_text_loses_its_end(each):
    family, tokenizer, bare = each
    whole = ids_of(bare, LONG)
    (text,) = tokenizer.encode([LONG])
    kept = LIMIT - 2
    assert read(text) == by_hand(family, whole[:kept])
    assert text.dropped == len(whole) - kept
    assert len(text) == LIMIT


def test_what_is_left_of_a_text_stands_where_it_stood(each):
    """Offsets of a text that is cut are those of the whole text."""
    _, tokenizer, bare = each
    text, pair = tokenizer.encode([LONG, (LONG, RESPONSE)])
    whole, response = bare.encode(LONG), bare.encode(RESPONSE)
    tokens = [place for place, special in zip(whole.offsets, whole.special_tokens_mask, strict=True) if not special]
    said = [place for place, special in zip(response.offsets, response.special_tokens_mask, strict=True) if not special]
    assert [tuple(place) for place in text.offsets[~text.special].tolist()] == tokens[: LIMIT - 2]
    kept = len(pair) - pair.special.sum() - len(said)
    assert [tuple(place) for place in pair.offsets[~pair.special].tolist()] == [*tokens[-kept:], *said]


@pytest.mark.parametrize("extra", [0, 1])
def test_the_limit_is_exact(each, extra):
    _, tokenizer, bare = each
    words = ["soup"] * (LIMIT + 5)
    while len(bare.encode(" ".join(words))) > LIMIT + extra:
        words.pop()
    room = LIMIT + extra - len(bare.encode(" ".join(words)))
    text = " ".join(words) + " a" * room
    assert len(bare.encode(text)) == LIMIT + extra
    (encoded,) = tokenizer.encode([text])
    assert (len(encoded), encoded.dropped) == (LIMIT, extra)


def test_ids_alone_are_the_same_ids(each):
    _, tokenizer, _ = each
    texts = ["", "Hello, how are you?", "😀 你好 né", LONG, "soup " * 46]
    assert tokenizer.ids(texts) == [encoded.ids.tolist() for encoded in tokenizer.encode(texts)]
    assert tokenizer.ids([]) == tokenizer.encode([]) == []


def test_without_places_the_rest_is_the_same(each):
    _, tokenizer, _ = each
    texts = ["", "Hello, how are you?", ("😀 你好", "né"), LONG, (LONG, RESPONSE)]
    for quick, slow in zip(tokenizer.encode(texts, places=False), tokenizer.encode(texts), strict=True):
        assert read(quick) == read(slow)
        assert quick.dropped == slow.dropped


def test_only_byte_level_vocabularies_mark_how_a_text_begins(each):
    family, tokenizer, _ = each
    assert tokenizer.marks_word_starts is (family == "roberta")


def test_tokens_as_the_vocabulary_spells_them(directories, tokenizer):
    (encoded,) = tokenizer.encode(["hello go"])
    assert [tokenizer.token(number) for number in encoded.ids.tolist()] == ["[CLS]", "hello", "g", "##o", "[SEP]"]
    roberta = Tokenizer(find_model(str(directories["roberta"])))
    (encoded,) = roberta.encode(["you you"])
    assert [roberta.token(number) for number in encoded.ids.tolist()][-2:] == ["Ġyou", "</s>"]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.text(max_size=60) | st.text(alphabet="ab \n'[]SEP<>/s", max_size=80), min_size=1, max_size=4))
def test_any_text(three, texts):
    for tokenizer in three:
        together = tokenizer.encode(texts)
        for text, encoded in zip(texts, together, strict=True):
            (alone,) = tokenizer.encode([text])
            assert alone.ids.tolist() == encoded.ids.tolist()
            assert encoded.special.sum() == 2
            assert len(encoded) == len(encoded.offsets) == len(encoded.special)
            assert (encoded.dropped > 0) <= (len(encoded) == LIMIT)
            assert ((encoded.offsets >= 0) & (encoded.offsets <= len(text))).all()
            assert (encoded.offsets[:, 0] <= encoded.offsets[:, 1]).all()
        assert tokenizer.ids(texts) == [encoded.ids.tolist() for encoded in together]


def test_truncation_and_padding_that_the_file_asks_for_are_not_wanted(copy, tokenizer):
    # The file of the real minilm cuts at 128 tokens and pads to 128.
    file = str(copy / "tokenizer.json")
    meddling = tokenizers.Tokenizer.from_file(file)
    meddling.enable_truncation(8)
    meddling.enable_padding(length=32)
    meddling.save(file)
    texts = ["a", "what would you like to eat for dinner ?"]
    again = Tokenizer(find_model(str(copy)))
    assert again.ids(texts) == tokenizer.ids(texts)
    assert [len(encoded) for encoded in again.encode(texts)] == [3, 11]


def test_the_limit_that_the_tokeniser_states(copy):
    write_json(copy / "tokenizer_config.json", {"model_max_length": 7})
    single, pair = Tokenizer(find_model(str(copy))).encode(["what would you like to eat", ("what would you", "like")])
    assert (len(single), single.dropped) == (7, 1)
    assert (len(pair), pair.dropped) == (7, 0)


def test_a_vocabulary_without_tokenizer_json(copy, tokenizer):
    numbers = json.loads((copy / "tokenizer.json").read_text())["model"]["vocab"]
    (copy / "tokenizer.json").unlink()
    (copy / "vocab.txt").write_text("".join(f"{token}\n" for token in numbers), encoding="utf-8")
    texts = ["Hello, BROTHER go!", "", "😀"]
    assert Tokenizer(find_model(str(copy))).ids(texts) == tokenizer.ids(texts)


def test_no_vocabulary_at_all(copy):
    # transformers makes a tokeniser of nothing but special tokens of it: every word of every text is [UNK].
    (copy / "tokenizer.json").unlink()
    with pytest.raises(InputError, match="has no tokenizer.json") as error:
        Tokenizer(find_model(str(copy)))
    assert str(copy) in str(error.value)


@pytest.mark.parametrize("content", ["", "{}", "[]", "\x00", '{"model": 3}'])
def test_a_file_that_is_no_tokeniser(copy, content):
    (copy / "tokenizer.json").write_text(content)
    with pytest.raises(InputError, match="tokenizer.json: cannot be read as a tokeniser: "):
        Tokenizer(find_model(str(copy)))


def test_a_tokeniser_that_adds_nothing(copy):
    file = copy / "tokenizer.json"
    write_json(file, {**json.loads(file.read_text(encoding="utf-8")), "post_processor": None})
    with pytest.raises(InputError, match="adds no special tokens"):
        Tokenizer(find_model(str(copy)))


@pytest.mark.parametrize("text", ["a \ud800 b", ("a", "\udfff"), ("\ud800", "a")])
def test_half_of_a_surrogate_pair_is_an_error_that_says_so(tokenizer, text):
    with pytest.raises(InputError, match="surrogate"):
        tokenizer.encode(["fine", text])


def test_half_of_a_surrogate_pair_among_references(tokenizer):
    with pytest.raises(InputError, match="surrogate"):
        tokenizer.ids(["fine", "a \ud800 b"])
