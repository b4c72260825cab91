"""Texts in, vectors out: whatever else is encoded, in whatever order, and from the cache."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge import Corpus, Turn, evaluate
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.elmo.encoder import ElmoEncoder
from dialogauge.encode.elmo.files import find_elmo
from dialogauge.encode.elmo.words import cased_words, word_ids
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import InputError, UnsuitedEncoder
from dialogauge.metrics.embedding.bertscore import BertScore
from tests.encode.elmo.small import changed, write_elmo, write_options

TEXTS = [
    "Hello, how are you today?",
    "no",
    "",
    " \t ",
    'He said "Don\'t!" to İpek.',
    "😀😀",
    "何歳ですか",
    "I would really rather not say how old I am, if that is all the same to you, but my dog is seven. " * 3,
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_elmo(tmp_path_factory.mktemp("elmo") / "small")


@pytest.fixture
def encoder(folder):
    return Encoders().get(f"elmo:{folder}")


@pytest.fixture(scope="module")
def alone(folder):
    """Each text by an encoder that sees no other."""
    found = []
    for text in TEXTS:
        (tokens,) = ElmoEncoder(find_elmo(str(folder))).tokens([text])
        found.append(tokens.states)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World.", ["Hello", ",", "World", "."]),
        ("Don't! I CANNOT.", ["Do", "n't", "!", "I", "CAN", "NOT", "."]),
        ('"Yes," she said, "I do."', ['"', "Yes", ",", '"', "she", "said", ",", '"', "I", "do", ".", '"']),
        ("``Yes''", ["``", "Yes", "''"]),
        ("İpek's", ["İpek", "'s"]),
        ("", []),
    ],
)
def test_words_keep_their_case_and_quotation_marks(text, expected):
    words, places = cased_words(text)
    assert words == expected
    assert [text[start:end] for start, end in places] == expected


def test_tokens(encoder):
    (tokens,) = encoder.tokens(["Hello, you"])
    assert tokens.states.shape == (3, 12)
    assert tokens.states.dtype == np.float32
    assert tokens.offsets.tolist() == [[0, 5], [5, 6], [7, 10]]
    assert not tokens.special.any()
    assert tokens.ids.tolist() == word_ids(["Hello", ",", "you"]).tolist() == encoder.token_ids(["Hello, you"])[0]
    assert tokens.coverage == (3, 0, False)
    assert encoder.token_spellings("Hello, you", tokens) == ["Hello", ",", "you"]


@settings(max_examples=20, deadline=None)
@given(order=st.lists(st.integers(0, len(TEXTS) - 1), max_size=12))
def test_a_text_alone_is_the_text_among_others(folder, alone, order):
    """Any order, any company, with and without repeats."""
    found = ElmoEncoder(find_elmo(str(folder))).tokens([TEXTS[number] for number in order])
    for number, tokens in zip(order, found, strict=True):
        assert tokens.states == pytest.approx(alone[number], abs=1e-5)


@pytest.mark.parametrize("budget", [1, 7, 40])
def test_batches_of_any_size(folder, alone, budget):
    encoder = ElmoEncoder(find_elmo(str(folder)))
    encoder._loaded().budget = budget
    for tokens, expected in zip(encoder.tokens(TEXTS), alone, strict=True):
        assert tokens.states == pytest.approx(expected, abs=1e-5)


def test_memory_that_does_not_suffice(folder, alone, monkeypatch):
    encoder = ElmoEncoder(find_elmo(str(folder)))
    network = encoder._loaded()
    enough = type(network).__call__

    def small(self, texts):
        if len(texts) > 2:
            raise RuntimeError("can't allocate memory")
        return enough(self, texts)

    monkeypatch.setattr(type(network), "__call__", small)
    for tokens, expected in zip(encoder.tokens(TEXTS), alone, strict=True):
        assert tokens.states == pytest.approx(expected, abs=1e-5)


def test_more_words_than_are_kept_at_hand(folder, alone, monkeypatch):
    monkeypatch.setattr("dialogauge.encode.elmo.network.WORDS_AT_HAND", 3)
    monkeypatch.setattr("dialogauge.encode.elmo.network.WORDS_AT_ONCE", 2)
    encoder = ElmoEncoder(find_elmo(str(folder)))
    for text, expected in zip(TEXTS, alone, strict=True):
        assert encoder.tokens([text])[0].states == pytest.approx(expected, abs=1e-5)


def test_layers_and_their_mean(encoder):
    layers = [encoder.tokens(TEXTS[:2], layer=layer) for layer in range(3)]
    for place, tokens in enumerate(encoder.tokens(TEXTS[:2])):
        each = [layer[place].states for layer in layers]
        assert tokens.states == pytest.approx(np.mean(each, axis=0), abs=1e-6)
        assert (each[0][:, :6] == each[0][:, 6:]).all()
        assert np.abs(each[1] - each[2]).max() > 0.1
    with pytest.raises(InputError, match=r"has layers 0 \(words without context\) to 2, .*; found layer 3"):
        encoder.tokens(["x"], layer=3)


def test_pooled(encoder):
    states = [tokens.states for tokens in encoder.tokens(TEXTS)]
    mean, highest = encoder.pooled(TEXTS).vectors, encoder.pooled(TEXTS, "max").vectors
    for place, words in enumerate(states):
        assert mean[place] == pytest.approx(words.mean(0) if len(words) else np.zeros(12), abs=1e-6)
        assert highest[place] == pytest.approx(words.max(0) if len(words) else np.zeros(12), abs=1e-6)
    assert encoder.pooled([]).vectors.shape == (0, 12)
    with pytest.raises(UnsuitedEncoder, match="choose pool=mean or pool=max"):
        encoder.pooled(["x"], "cls")


def test_a_pair_is_read_as_one_text(encoder):
    pair, whole = encoder.pooled([("How are you", "fine thanks"), "How are you fine thanks"]).vectors
    assert pair == pytest.approx(whole, abs=1e-6)


def test_half_of_a_surrogate_pair(encoder):
    with pytest.raises(InputError, match="half of a surrogate pair in"):
        encoder.tokens(["a \ud800 b"])


def test_a_text_without_end(encoder):
    (tokens,) = encoder.tokens(["so " * 3000])
    assert tokens.states.shape == (3000, 12)
    assert tokens.dropped == 0


def test_the_signature_covers_options_and_weights(folder, tmp_path):
    first = find_elmo(str(folder)).digest
    assert find_elmo(str(write_elmo(tmp_path / "small"))).digest == first
    assert find_elmo(str(write_elmo(tmp_path / "small", seed=1))).digest != first
    other = write_options(write_elmo(tmp_path / "clip"), changed("lstm", cell_clip=2))
    assert find_elmo(str(other)).digest != first
    recipe = Encoders().get(f"elmo:{folder}").recipe()
    assert recipe == {"enc": f"elmo:small@{first[:8]}", "words": "nltk-punkt-cased", "dtype": "f32"}


def test_what_was_encoded_once_comes_from_the_cache(folder, tmp_path, alone):
    path = tmp_path / "cache"
    with Cache(path) as cache:
        first = Encoders(cache).get(f"elmo:{folder}")
        first.expect("mean", pairs=False)
        first.tokens(TEXTS)
        assert first.encoded == len(TEXTS)
    with Cache(path) as cache:
        second = Encoders(cache).get(f"elmo:{folder}")
        for tokens, expected in zip(second.tokens(TEXTS), alone, strict=True):
            assert tokens.states == pytest.approx(expected, abs=1e-5)
        second.pooled(TEXTS)
        assert second.encoded == 0
        assert second._network is None
        other = Encoders(cache).get(f"elmo:{write_options(write_elmo(tmp_path / 'o'), changed('lstm', cell_clip=2))}")
        other.tokens(TEXTS)
        assert other.encoded == len(TEXTS)


def test_in_metrics(folder):
    said = [("How are you?", "I am fine.", "Fine, thanks."), ("Where is it?", "Over there.", "There it is!")] * 3
    turns = [
        Turn(id=str(place), context=(asked,), response=reply, references=(reference,), system=system)
        for system in "ab"
        for place, (asked, reply, reference) in enumerate(said)
    ]
    name = f"encoder=elmo:{folder}"
    metrics = [f"{metric}[{name}]" for metric in ("embedding_average", "embedding_greedy", "embedding_extrema")]
    metrics += [f"bertscore[{name},idf=true]", f"semantic_similarity[{name},layer=1]", f"fbd[{name},pool=mean]"]
    result = evaluate(Corpus(turns), ",".join(metrics), cache=False, resamples=20)
    signatures = {score.metric.partition("[")[0]: score.signature for score in result.scores}
    assert {
        "embedding_average",
        "embedding_greedy",
        "embedding_extrema",
        "bertscore",
        "semantic_similarity",
        "fbd",
    } <= {name.partition(".")[0] for name in signatures}
    assert all(np.isfinite(score.value) for score in result.scores)
    assert "|layer:mean|" in signatures["bertscore"]
    assert "|layer:1|" in signatures["semantic_similarity"]


def test_bertscore_says_which_words_match(folder):
    metric = BertScore(encoder=f"elmo:{folder}").prepare(Corpus([]))
    alignment = metric.align("  Hello you", "you Hello")
    assert [(match.token, match.place) for match in alignment.precision] == [("Hello", (2, 7)), ("you", (8, 11))]
    with pytest.raises(InputError, match="a baseline is of one layer; choose it with layer="):
        BertScore(encoder=f"elmo:{folder}", baseline="x.csv").prepare(Corpus([]))
