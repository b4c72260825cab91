import random
import subprocess
import sys

import numpy as np
import pytest

from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.causal.language_model import CUT_CONTEXT, CUT_TEXT, LOG_P, TOKENS
from dialogauge.encode.causal.prompt import as_lines
from dialogauge.errors import InputError
from tests.encode.causal.small import LIMIT, build_causal, open_causal, plainly, smollm2
from tests.encode.models import change_json, safetensors, torch, transformers

network = pytest.importorskip("dialogauge.encode.causal.network", reason="needs torch")

SAID = ["Hello , how are you today ?", "I 'm fine , thank you .", "😀 你好 né", "soup", "What costs 25 dollars ?"]
FOLLOWING = ["That makes sense!", "I don't understand at all!", "Tell me more!", "Why?"]
CONTEXTS = ["", *("\n".join(SAID[:count]) for count in range(1, 6)), "the weather"]
PAIRS = [
    *((context, text) for context in CONTEXTS for text in FOLLOWING),  # many texts after each of several contexts
    *(("\n".join(SAID[:count]), SAID[count]) for count in range(1, 5)),  # a dialogue: each stands in the next's context
    ("a dog", "<|endoftext|> barks"),
    ("a cat", "x"),
]


@pytest.fixture(scope="session")
def llama(tmp_path_factory):
    return build_causal(tmp_path_factory.mktemp("causal") / "llama")


@pytest.fixture
def fresh(llama):
    return open_causal(llama)


def agree(lm, model, tokenizer, pairs):
    for (context, text), row in zip(pairs, lm.likelihoods(pairs), strict=True):
        log_p, tokens = plainly(model, tokenizer, context, text)
        assert row[TOKENS] == tokens
        assert row[LOG_P] / tokens == pytest.approx(log_p / tokens, abs=1e-4), (context, text)


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_equal_to_transformers_one_text_at_a_time(tmp_path, kind):
    directory = build_causal(tmp_path / kind, kind)
    lm = open_causal(directory)
    tokenizer = lm._loaded().prompter._tokenizer
    model = transformers.AutoModelForCausalLM.from_pretrained(directory).eval()
    agree(lm, model, tokenizer, PAIRS)
    assert lm._loaded()._shares


@pytest.mark.slow
def test_smollm2_is_equal_to_transformers_one_text_at_a_time():
    lm = smollm2()
    loaded = lm._loaded()
    agree(lm, loaded._model, loaded.prompter._tokenizer, PAIRS)


@pytest.mark.slow
def test_smollm2_expects_what_people_say():
    good, bad = smollm2().likelihoods([("What is the capital of France?", "Paris."), ("What is your name?", "Paris.")])
    assert good[LOG_P] > bad[LOG_P] + 3


def test_neither_order_nor_batch_nor_what_is_scored_beside_matters(llama, monkeypatch):
    whole = open_causal(llama).likelihoods(PAIRS)
    mixed = random.Random(0).sample(range(len(PAIRS)), len(PAIRS))
    monkeypatch.setattr(network, "CPU", (7, 60, 2**26))  # windows of 7 texts, batches of 60 tokens
    other = open_causal(llama).likelihoods([PAIRS[place] for place in mixed])
    np.testing.assert_allclose(other, whole[mixed], rtol=0, atol=1e-4)
    alone = np.vstack([open_causal(llama).likelihoods([pair]) for pair in PAIRS[:8]])
    np.testing.assert_allclose(alone, whole[:8], rtol=0, atol=1e-4)


def test_each_distinct_pair_goes_through_the_model_once(fresh):
    first = fresh.likelihoods([*PAIRS, *PAIRS])
    assert fresh.scored == len(set(PAIRS))
    np.testing.assert_array_equal(fresh.likelihoods(PAIRS[::-1]), first[: len(PAIRS)][::-1])
    assert fresh.scored == len(set(PAIRS))


def test_a_dialogue_goes_through_the_model_as_one_row(fresh, monkeypatch):
    rows = []
    padded = network.CausalNetwork._padded
    fresh._loaded()
    monkeypatch.setattr(network.CausalNetwork, "_padded", lambda self, given: rows.extend(given) or padded(self, given))
    fresh.likelihoods([("\n".join(SAID[:count]), SAID[count]) for count in range(1, 5)])
    assert len(rows) == 1
    rows.clear()
    fresh.likelihoods([("\n".join(SAID[:count]), text) for count in (1, 2) for text in FOLLOWING])
    assert len(rows) == 1 + 2 * len(FOLLOWING)  # the longer context, then nothing but the follow-ups
    assert max(map(len, rows[1:])) < 40


def test_what_is_kept_is_the_same_and_needs_no_torch(llama, tmp_path):
    with Cache(tmp_path / "cache") as cache:
        first = open_causal(llama, cache=cache).likelihoods(PAIRS)
        again = open_causal(llama, cache=cache)
        np.testing.assert_array_equal(again.likelihoods(PAIRS), first)
        assert again.scored == 0
    program = f"""if True:
        import sys
        from pathlib import Path
        from dialogauge.encode.cache.cache import Cache
        from dialogauge.encode.causal.find import find_language_model
        from dialogauge.encode.causal.language_model import LanguageModel

        found = LanguageModel(find_language_model({str(llama)!r}), cache=Cache(Path({str(tmp_path / "cache")!r})))
        print(found.likelihoods({PAIRS!r}).sum())
        assert not {{"torch", "transformers", "tokenizers", "gguf"}} & set(sys.modules)
    """
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert float(said) == first.sum()


def test_another_model_another_value(llama, tmp_path):
    other = build_causal(tmp_path / "other", seed=1)
    with Cache(tmp_path / "cache") as cache:
        one, two = (open_causal(directory, cache=cache) for directory in (llama, other))
        assert one.identity != two.identity
        assert one.likelihoods(PAIRS[:1])[0, LOG_P] != two.likelihoods(PAIRS[:1])[0, LOG_P]


def test_of_what_is_too_long_the_contexts_beginning_goes_first(fresh):
    long = as_lines(f"soup {number}" for number in range(200))
    cut, short, endless = fresh.likelihoods([(long, "yes"), ("soup 199", "yes"), ("a", "yes " * 500)])
    assert cut[CUT_CONTEXT] > 0
    assert cut[CUT_TEXT] == short[CUT_CONTEXT] == short[CUT_TEXT] == 0
    assert endless[TOKENS] == LIMIT - 1
    assert endless[CUT_TEXT] > 0
    [before], [whole] = (fresh._loaded().prompter.prompts([(part, "yes")]) for part in (long, long + " x"))
    assert before.text == whole.text
    assert len(before.before) + len(before.text) <= LIMIT
    lines = fresh._loaded().prompter._tokenizer.decode(before.before)
    assert lines.endswith("soup 198\nsoup 199\n")


def test_a_special_token_in_a_text_is_text(fresh):
    [prompt] = fresh._loaded().prompter.prompts([("hello", "<|endoftext|>")])
    assert prompt.before[0] == 0
    assert 0 not in (*prompt.before[1:], *prompt.text)


def test_half_of_a_surrogate_pair_is_refused(fresh):
    with pytest.raises(InputError, match="surrogate"):
        fresh.likelihoods([("", "a \ud800")])


def test_a_batch_that_is_too_large_is_halved(fresh, monkeypatch):
    whole = network.CausalNetwork._whole
    sizes = []

    def too_large(self, batch, **given):
        sizes.append(len(batch))
        if len(batch) > 2:
            raise torch.OutOfMemoryError("no")
        whole(self, batch, **given)

    expected = fresh.likelihoods([("", text) for text in SAID])
    monkeypatch.setattr(network.CausalNetwork, "_whole", too_large)
    other = type(fresh)(fresh.files)
    np.testing.assert_allclose(other.likelihoods([("", text) for text in SAID]), expected, atol=1e-4)
    assert max(sizes) > 2


def test_damaged_weights_and_other_models_are_refused(llama, tmp_path, bert):
    import shutil

    broken = shutil.copytree(llama, tmp_path / "broken")
    weights = safetensors.load_file(broken / "model.safetensors")
    weights["model.norm.weight"].fill_(float("nan"))
    safetensors.save_file(weights, broken / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match="not finite"):
        open_causal(broken).likelihoods(PAIRS[:1])
    with pytest.raises(InputError, match="language model|with which token"):
        open_causal(bert).likelihoods(PAIRS[:1])
    change_json(broken / "config.json", model_type="nonsense")
    with pytest.raises(InputError, match="nonsense"):
        open_causal(broken).likelihoods(PAIRS[:1])
