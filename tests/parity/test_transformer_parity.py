"""The same tokens and states as transformers gives, one text at a time and without padding."""

import numpy as np
import pytest

from dialogauge import load
from tests.encode.models import FAMILIES, build, minilm, open_model, torch, transformers
from tests.shared import annotation

LONG = "What would you like to eat for dinner ? " * 1112
TEXTS = [
    "Hello, how are you today?",
    "",
    "   ",
    "  stray   spaces \n and\ttabs ",
    "I'm fine 😀🦄 thank you!",
    "你好，世界",
    "Où est la gare ? Ça va très bien.",
    "soup",
    "say [SEP] or </s> or <sep> to me",
    "what\u00a0would\u200byou",
    LONG,
]
PAIRS = [
    ("Hello, how are you today?", "I'm fine, thank you."),
    ("Hello, how are you today?", ""),
    ("", "I'm fine, thank you."),
    ("", ""),
    (" what 's  that ? ", " 😀 "),
    ("你好", "Ça va ?"),
    (LONG, "I'm fine, thank you."),
]


class Peer:
    """transformers' own tokeniser and model. Its attention is written out, ours is fused."""

    def __init__(self, directory, limit):
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
        self.model = transformers.AutoModel.from_pretrained(directory, attn_implementation="eager").eval()
        self.limit = limit
        self.known = {}

    def __call__(self, text):
        """The tokeniser's output, and the states after each layer."""
        if text not in self.known:
            self.known[text] = self.run(text)
        return self.known[text]

    def run(self, text):
        pair = not isinstance(text, str)
        self.tokenizer.truncation_side = "left" if pair else "right"
        read = self.tokenizer(
            [text],  # a list of one: on its own, a pair with an empty response would be read as a single text
            truncation="only_first" if pair else True,
            max_length=self.limit,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            return_token_type_ids=True,
            return_tensors="pt",
        )
        names = ("input_ids", "attention_mask", "token_type_ids")
        if self.model.config.model_type in ("distilbert", "mpnet", "roberta"):
            names = names[:2]
        with torch.inference_mode():
            result = self.model(**{name: read[name] for name in names}, output_hidden_states=True)
        return read, [states[0].numpy() for states in result.hidden_states]


@pytest.fixture(scope="module", params=FAMILIES)
def both(request, tmp_path_factory):
    directory = build(request.param, tmp_path_factory.mktemp("models") / request.param)
    encoder = open_model(directory)
    return encoder, Peer(directory, encoder.files.limit)


@pytest.fixture(scope="module")
def real():
    return minilm(), Peer(minilm().files.directory, 512)


@pytest.fixture(scope="module")
def dialogues():
    """Every 13th of dailyz's 800 turns: all systems, 62 turns."""
    return load(annotation("dailyz")).turns[::13]


def near(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)


def compare_tokens(encoder, peer, texts, layers):
    for layer in layers:
        for text, tokens in zip(texts, encoder.tokens(texts, layer=layer), strict=True):
            read, states = peer(text)
            assert tokens.ids.tolist() == read["input_ids"][0].tolist()
            assert tokens.offsets.tolist() == read["offset_mapping"][0].tolist()
            assert tokens.special.tolist() == read["special_tokens_mask"][0].bool().tolist()
            near(tokens.states, states[-1 if layer is None else layer])


def compare_pools(encoder, peer, texts, layers):
    for layer in layers:
        for pool in ("cls", "mean", "max"):
            encoder.expect(pool, pairs=True, layer=layer)
        pooled = {pool: encoder.pooled(texts, pool, layer).vectors for pool in ("cls", "mean", "max")}
        for place, text in enumerate(texts):
            states = peer(text)[1][-1 if layer is None else layer]
            near(pooled["cls"][place], states[0])
            near(pooled["mean"][place], states.mean(axis=0))
            near(pooled["max"][place], states.max(axis=0))


def test_tokens_of_every_family(both):
    compare_tokens(*both, TEXTS, [None, 0, 1, 2])


def test_vectors_of_texts_and_pairs_of_every_family(both):
    compare_pools(*both, [*TEXTS, *PAIRS], [None, 1])


def test_the_texts_tell_the_layers_poolings_and_segments_apart(both):
    """Else the comparisons above would show nothing."""
    encoder, _ = both
    vectors = [encoder.pooled(PAIRS, pool, layer).vectors for pool in ("cls", "mean", "max") for layer in (None, 1)]
    for place, one in enumerate(vectors):
        assert all(np.abs(one - other).max() > 0.01 for other in vectors[:place])
    pair, single = encoder.pooled([("hello you", "soup"), "hello you soup"], "mean").vectors
    assert np.abs(pair - single).max() > 0.01


def test_minilm_on_real_text(real, dialogues):
    compare_tokens(*real, [turn.response for turn in dialogues[:30]], [None])
    compare_tokens(*real, [turn.response for turn in dialogues[:10]], [3])


@pytest.mark.slow
def test_minilm_on_real_pairs(real, dialogues):
    compare_pools(*real, [(" ".join(turn.context), turn.response) for turn in dialogues], [None])
