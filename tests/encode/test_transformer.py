import shutil
from random import Random

import numpy as np
import pytest

from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import DialogaugeError, InputError
from tests.encode.models import (
    FAMILIES,
    LIMIT,
    build,
    change_json,
    open_model,
    random_model,
    safetensors,
    torch,
    transformers,
)

EncoderNetwork = pytest.importorskip("dialogauge.encode.network", reason="needs torch").EncoderNetwork

TEXTS = [
    "Hello , how are you today ?",
    "",
    "soup",
    "What would you like to eat for dinner ? I would like the soup .",
    "😀 你好 né",
    "my brother 's dog " * 40,
    "yes",
    "the weather is nice",
]
PAIRS = [(context, response) for context in TEXTS for response in TEXTS[:3]]


def same_tokens(left, right):
    for one, other in zip(left, right, strict=True):
        assert one.ids.tolist() == other.ids.tolist()
        assert one.offsets.tolist() == other.offsets.tolist()
        assert one.special.tolist() == other.special.tolist()
        assert (one.dropped, one.unknown) == (other.dropped, other.unknown)
        np.testing.assert_allclose(one.states, other.states, rtol=0, atol=1e-5)


@pytest.fixture
def fresh(bert):
    """An encoder that has encoded nothing, and keeps nothing on disk."""
    return open_model(bert)


@pytest.fixture
def calls(monkeypatch):
    """How many texts each call of a network got, how many tokens with padding, and the outputs that were wanted."""
    made = []
    forward = EncoderNetwork.__call__

    def noting(self, batch, outputs):
        made.append((len(batch), len(batch) * max(map(len, batch)), list(outputs)))
        return forward(self, batch, outputs)

    monkeypatch.setattr(EncoderNetwork, "__call__", noting)
    return made


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("budget", [16, 64, 4096])
def test_neither_order_nor_company_nor_budget_changes_a_vector(directories, family, budget):
    alone = open_model(directories[family])
    tokens = [alone.tokens([text])[0] for text in TEXTS]
    vectors = np.concatenate([alone.pooled([pair], "mean").vectors for pair in PAIRS])
    together = open_model(directories[family])
    together._loaded(3).budget = budget
    same_tokens(together.tokens(TEXTS), tokens)
    np.testing.assert_allclose(together.pooled(PAIRS, "mean").vectors, vectors, rtol=0, atol=1e-5)
    reverse = open_model(directories[family])
    reverse._loaded(3).budget = budget
    same_tokens(reverse.tokens(TEXTS[::-1])[::-1], tokens)
    np.testing.assert_allclose(reverse.pooled(PAIRS[::-1], "mean").vectors[::-1], vectors, rtol=0, atol=1e-5)


def test_the_same_texts_in_any_order_have_the_same_vectors_to_the_last_bit(bert):
    texts = [(text, f"{text} {number} yes") for number in range(40) for text in TEXTS if len(text) < 100]

    def vectors(texts):
        encoder = open_model(bert)
        encoder._loaded(3).window = 64
        return dict(zip(texts, map(bytes, encoder.pooled(texts, "cls").vectors), strict=True))

    expected = vectors(texts)
    for seed in range(3):
        assert vectors(Random(seed).sample(texts, len(texts))) == expected


def test_the_budget_is_kept_to(fresh, calls):
    network = fresh._loaded(3)
    network.budget = 64
    fresh.tokens(TEXTS)
    assert sum(texts for texts, _, _ in calls) == len(TEXTS)
    assert all(tokens <= 64 or texts == 1 for texts, tokens, _ in calls)
    assert len(calls) > 2


@pytest.mark.parametrize("family", FAMILIES)
def test_texts_of_any_length_go_together_where_padding_changes_nothing(directories, calls, family):
    encoder = open_model(directories[family])
    encoder._loaded(3).enough = 4096
    encoder.tokens(TEXTS)
    assert [texts for texts, _, _ in calls] == [len(TEXTS)]


def test_the_same_text_twice(fresh):
    first, second, third = fresh.tokens(["yes", "soup", "yes"])
    assert fresh.encoded == 2
    assert first.ids.tolist() == third.ids.tolist() != second.ids.tolist()
    assert (first.states == third.states).all()
    fresh.tokens(["soup", "hello"])
    assert fresh.encoded == 3


def test_a_text_is_no_pair(fresh):
    vectors = fresh.pooled(["soup", ("soup", ""), ("", "soup")], "cls").vectors
    assert len({vector.tobytes() for vector in vectors}) == 3
    assert fresh.encoded == 3


def test_nothing_to_encode(fresh):
    assert fresh.tokens([]) == []
    pooled = fresh.pooled([])
    assert pooled.vectors.shape == (0, 32)
    assert pooled.dropped.shape == (0,)
    assert (fresh.encoded, fresh._network) == (0, None)


def test_shapes_and_types(fresh):
    (tokens,) = fresh.tokens(["hello you"])
    assert tokens.states.shape == (4, 32)
    assert (tokens.states.dtype, tokens.ids.dtype, tokens.special.dtype) == (np.float32, np.int32, np.bool_)
    assert tokens.words.tolist() == tokens.states[1:3].tolist()
    pooled = fresh.pooled(["hello you", ("hello", "you")], "max")
    assert (pooled.vectors.shape, pooled.vectors.dtype, pooled.dropped.dtype) == ((2, 32), np.float32, np.int32)


def test_poolings_by_hand(fresh):
    (tokens,) = fresh.tokens(["hello how are you"])
    states = tokens.states
    for pool, expected in (("cls", states[0]), ("mean", states.mean(axis=0)), ("max", states.max(axis=0))):
        np.testing.assert_allclose(fresh.pooled(["hello how are you"], pool).vectors[0], expected, rtol=0, atol=1e-6)


def test_what_was_cut_is_counted(fresh):
    words = " ".join(["soup"] * 100)  # "soup" is in letters: 4 tokens
    pooled = fresh.pooled(["yes", words, (words, "what"), ("what", words)])
    # 400 + 2 or 3 special tokens, and 1 of "what", less 48.
    assert pooled.dropped.tolist() == [0, 402 - LIMIT, 404 - LIMIT, 404 - LIMIT]
    assert [tokens.dropped for tokens in fresh.tokens([words, "yes"])] == [402 - LIMIT, 0]


def test_one_pass_gives_all_that_is_expected(bert, calls):
    encoder = open_model(bert)
    encoder.expect("tokens", pairs=False, layer=1)
    encoder.expect("tokens", pairs=False)
    encoder.expect("cls", pairs=True)
    encoder.expect("mean", pairs=True, layer=2)
    inner = encoder.tokens(TEXTS, layer=1)
    assert encoder.encoded == len(TEXTS)
    last = encoder.tokens(TEXTS)
    assert encoder.encoded == len(TEXTS)
    first, mean = encoder.pooled(PAIRS, "cls"), encoder.pooled(PAIRS, "mean", layer=2)
    assert encoder.encoded == len(TEXTS) + len(PAIRS)
    outputs = {tuple(output) for _, _, wanted in calls for output in wanted}
    assert outputs == {("tokens", 1), ("tokens", 3), ("cls", 3), ("mean", 2)}

    same_tokens(inner, open_model(bert).tokens(TEXTS, layer=1))
    same_tokens(last, open_model(bert).tokens(TEXTS))
    for expected, (pool, layer) in ((first, ("cls", None)), (mean, ("mean", 2))):
        plain = open_model(bert).pooled(PAIRS, pool, layer)
        np.testing.assert_allclose(expected.vectors, plain.vectors, rtol=0, atol=1e-5)
        assert expected.dropped.tolist() == plain.dropped.tolist()


def test_what_was_not_expected_is_given_all_the_same(fresh):
    fresh.expect("cls", pairs=False, layer=1)
    assert fresh.pooled(["soup"], "max").vectors.shape == (1, 32)
    assert fresh.encoded == 1
    fresh.pooled(["soup"], "cls", layer=1)
    assert fresh.encoded == 1
    fresh.pooled(["soup"], "mean")
    assert fresh.encoded == 2


@pytest.mark.parametrize("family", FAMILIES)
def test_a_layer_is_the_same_whatever_deeper_ones_are_loaded(directories, family):
    for layer in range(3):
        shallow = open_model(directories[family])
        alone = shallow.tokens(TEXTS, layer=layer)
        assert shallow._network.layers == layer
        deep = open_model(directories[family])
        deep.expect("mean", pairs=True)
        same_tokens(deep.tokens(TEXTS, layer=layer), alone)
        same_tokens(shallow.tokens(TEXTS), deep.tokens(TEXTS))


@pytest.mark.parametrize("kind", ["RobertaPreLayerNormConfig", "ModernBertConfig"])
def test_a_norm_after_the_last_layer_is_for_the_last_layer(bert, copy, kind):
    """Models that norm before each layer have one more at the end, which no inner layer goes through."""
    options = {**FAMILIES["bert"].options, "num_hidden_layers": 3, "pad_token_id": 0}
    ends = {"bos_token_id": 2, "eos_token_id": 3, "cls_token_id": 2, "sep_token_id": 3}
    vocabulary = open_model(bert).files.config["vocab_size"]
    model = random_model(getattr(transformers, kind)(**options, **ends, vocab_size=vocabulary))
    model.save_pretrained(copy)
    text = "hello how are you"
    for layer in (3, 1):
        (tokens,) = open_model(copy).tokens([text], layer=layer)
        with torch.inference_mode():
            ids = torch.from_numpy(tokens.ids[None].astype(np.int64))
            theirs = model(ids, output_hidden_states=True).hidden_states[layer][0].numpy()
        np.testing.assert_allclose(tokens.states, theirs, rtol=0, atol=1e-5)
        together = open_model(copy)
        together.expect("tokens", pairs=False)
        same_tokens(together.tokens([text], layer=layer), [tokens])


def test_a_model_that_looks_at_padding(bert, copy):
    """ConvBERT's convolutions run over what attention is told to leave out."""
    options = {**FAMILIES["bert"].options, "num_hidden_layers": 3, "embedding_size": 32}
    vocabulary = open_model(bert).files.config["vocab_size"]
    random_model(transformers.ConvBertConfig(**options, vocab_size=vocabulary)).save_pretrained(copy)
    alone = open_model(copy)
    same_tokens(open_model(copy).tokens(TEXTS), [alone.tokens([text])[0] for text in TEXTS])


@pytest.mark.parametrize("layer", [-1, 4, 100])
def test_layers_that_are_not_there(fresh, layer):
    told = f"{fresh.identity} has layers 0 \\(its input\\) to 3; found layer {layer}"
    for ask in (fresh.tokens, fresh.pooled):
        with pytest.raises(InputError, match=told):
            ask(["soup"], layer=layer)
    with pytest.raises(InputError, match=told):
        fresh.expect("tokens", pairs=False, layer=layer)


def limited(monkeypatch, most, error):
    """A network that has memory for so many tokens, padding included. What it was asked for in vain is noted."""
    forward = EncoderNetwork.__call__
    failed = []

    def scarce(self, batch, outputs):
        tokens = len(batch) * max(map(len, batch))
        if tokens > most:
            failed.append(tokens)
            raise error
        return forward(self, batch, outputs)

    monkeypatch.setattr(EncoderNetwork, "__call__", scarce)
    return failed


ERRORS = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB."),
    RuntimeError("[enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory"),
]
MANY = [f"{text} {number}" for number in range(40) for text in TEXTS if len(text) < 100]


@pytest.mark.parametrize("error", ERRORS, ids=["cuda", "cpu"])
def test_too_little_memory_changes_no_vector(bert, monkeypatch, error):
    plain = open_model(bert).tokens(MANY)
    encoder = open_model(bert)
    network = encoder._loaded(3)
    network.budget, network.enough = 2048, 2048
    failed = limited(monkeypatch, 300, error)
    same_tokens(encoder.tokens(MANY), plain)
    assert encoder.encoded == len(MANY)
    assert failed
    assert network.budget <= 300 * 2


def test_the_budget_is_lowered_to_what_there_is_memory_for_and_no_further(bert, monkeypatch):
    encoder = open_model(bert)
    network = encoder._loaded(3)
    network.budget, network.enough = 512, 512
    failed = limited(monkeypatch, 300, torch.OutOfMemoryError("out of memory"))
    texts = [f"hello how are you today ? {number}" for number in range(800)]
    encoder.tokens(texts)
    # 512 does not fit and 256 does. What was learned once need not be learned again for every batch.
    assert network.budget >= 150
    assert len(failed) <= 3
    failed.clear()
    encoder.tokens([f"{text} ." for text in texts])
    assert failed == []


def test_a_text_that_does_not_fit_alone(fresh, monkeypatch):
    limited(monkeypatch, 20, torch.OutOfMemoryError("out of memory"))
    with pytest.raises(DialogaugeError, match=f"not enough memory to encode a single text of {LIMIT} tokens"):
        fresh.tokens(["yes", "my brother 's dog " * 40])
    assert fresh.tokens(["yes"])[0].states.shape == (5, 32)


def test_other_errors_are_not_taken_for_too_little_memory(fresh, monkeypatch):
    failed = limited(monkeypatch, 0, RuntimeError("a defect"))
    with pytest.raises(RuntimeError, match="a defect"):
        fresh.tokens(["yes", "soup"])
    assert len(failed) == 1


def test_more_texts_than_a_window(fresh):
    plain = fresh.tokens(MANY)
    windows = open_model(fresh.files.directory)
    windows._loaded(3).window = 7
    same_tokens(windows.tokens(MANY), plain)
    assert windows.encoded == len(MANY)


def test_what_does_not_stay_in_memory_is_encoded_again(fresh, monkeypatch):
    plain = fresh.tokens(MANY)
    monkeypatch.setattr("dialogauge.encode.transformer.AT_HAND", 2000)
    forgetful = open_model(fresh.files.directory)
    same_tokens(forgetful.tokens(MANY), plain)
    same_tokens(forgetful.tokens(MANY), plain)
    assert len(MANY) < forgetful.encoded <= 2 * len(MANY)


def test_the_cache_gives_the_same_bytes_without_a_model(bert, tmp_path, monkeypatch):
    with Cache(tmp_path / "cache") as cache:
        first = open_model(bert, cache=cache)
        first.expect("max", pairs=False, layer=1)
        tokens, vectors = first.tokens(TEXTS), first.pooled(PAIRS, "cls")

    def fail(*arguments):
        raise AssertionError("loaded a model")

    monkeypatch.setattr(EncoderNetwork, "__init__", fail)
    with Cache(tmp_path / "cache") as cache:
        second = open_model(bert, cache=cache)
        for one, other in zip(second.tokens(TEXTS), tokens, strict=True):
            for name in ("ids", "offsets", "special", "states"):
                assert np.array_equal(getattr(one, name), getattr(other, name)), name
            assert one.dropped == other.dropped
        again = second.pooled(PAIRS, "cls")
        assert np.array_equal(again.vectors, vectors.vectors)
        assert np.array_equal(again.dropped, vectors.dropped)
        assert second.pooled(TEXTS, "max", layer=1).vectors.shape == (len(TEXTS), 32)
        assert second.encoded == 0


def test_the_cache_keeps_models_types_limits_and_layers_apart(bert, tmp_path):
    """Even models whose directories have one name."""
    other = build("bert", tmp_path / "other" / "bert", seed=1)
    copy = shutil.copytree(bert, tmp_path / "copy" / "bert")
    change_json(copy / "tokenizer_config.json", model_max_length=20)
    with Cache(tmp_path / "cache") as cache:
        ways = [
            open_model(bert, cache=cache).pooled(TEXTS),
            open_model(bert, cache=cache).pooled(TEXTS, "max"),
            open_model(bert, cache=cache).pooled(TEXTS, layer=2),
            open_model(bert, dtype="bfloat16", cache=cache).pooled(TEXTS),
            open_model(other, cache=cache).pooled(TEXTS),
            open_model(copy, cache=cache).pooled(TEXTS),
        ]
    assert len({way.vectors.tobytes() for way in ways}) == len(ways)


def test_a_cache_that_cannot_be_used_changes_nothing(bert, tmp_path):
    (tmp_path / "file").write_text("")
    with Cache(tmp_path / "file" / "below") as cache:
        same_tokens(open_model(bert, cache=cache).tokens(TEXTS), open_model(bert).tokens(TEXTS))
        assert cache.problems


def test_bfloat16_is_near(fresh):
    rough = open_model(fresh.files.directory, dtype="bfloat16").pooled(TEXTS)
    exact = fresh.pooled(TEXTS)
    difference = np.abs(rough.vectors - exact.vectors)
    assert 0 < difference.max() < 0.2
    assert rough.vectors.dtype == np.float32


def test_the_recipe(fresh):
    assert fresh.recipe() == {"enc": fresh.identity, "maxlen": str(LIMIT), "dtype": "f32"}
    assert open_model(fresh.files.directory, dtype="bfloat16").recipe()["dtype"] == "bf16"


def test_weights_under_the_names_that_older_files_have(bert, copy):
    """BERT's own files: with a head, under a prefix, and gamma and beta for a norm's weight and bias."""
    older = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    named = {}
    for name, tensor in safetensors.load_file(bert / "model.safetensors").items():
        for new, old in older.items():
            name = name.replace(new, old)
        named[f"bert.{name}"] = tensor
    safetensors.save_file(
        {**named, "cls.predictions.bias": torch.zeros(3)}, copy / "model.safetensors", metadata={"format": "pt"}
    )
    same_tokens(open_model(copy).tokens(TEXTS), open_model(bert).tokens(TEXTS))


def test_a_model_saved_with_a_head_and_without_a_pooler(bert, copy):
    config = transformers.BertConfig.from_pretrained(bert)
    whole = random_model(config, kind=transformers.AutoModelForMaskedLM)
    whole.save_pretrained(copy)
    with torch.inference_mode():
        ids = torch.from_numpy(open_model(copy).tokens(["hello you"])[0].ids[None].astype(np.int64))
        theirs = whole.bert(ids).last_hidden_state[0].numpy()
    np.testing.assert_allclose(open_model(copy).tokens(["hello you"])[0].states, theirs, rtol=0, atol=1e-5)


def test_nothing_is_said_while_loading_and_much_after(fresh, capfd):
    logging = transformers.utils.logging
    before = logging.get_verbosity()
    logging.set_verbosity_info()
    try:
        fresh.tokens(["yes"], layer=1)
        assert logging.get_verbosity() == logging.INFO
    finally:
        logging.set_verbosity(before)
    assert capfd.readouterr() == ("", "")


def test_one_encoder_for_all_who_ask(bert):
    encoders = Encoders()
    assert encoders.get(str(bert)) is encoders.get(str(bert))
    assert encoders.get(str(bert)) is not encoders.get(str(bert), "bfloat16")


def test_a_vector_stays_as_it_is_when_more_is_asked_of_its_text(tmp_path):
    """Its last digits depend on what it was encoded with, and two answers to one question would differ in them."""
    encoder = open_model(build("bert", tmp_path / "bert"))
    texts = [*TEXTS, *(" ".join(TEXTS[:count]) for count in (2, 4))]
    before = encoder.pooled(texts, "mean").vectors
    encoder.expect("mean", pairs=False)
    for text in texts:
        encoder.pooled([text], "cls")
    np.testing.assert_array_equal(encoder.pooled(texts, "mean").vectors, before)
