"""A small language model with random weights, in the layout of Hugging Face; and the real SmolLM2."""

import math
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dialogauge.encode.causal.find import INSTALL, find_language_model, smollm2_at_hand
from dialogauge.encode.causal.language_model import LanguageModel
from tests.encode.models import SENTENCES, random_model, tokenizers, torch, transformers, write_json

LIMIT = 256
"""The most tokens it takes."""
START = "<|endoftext|>"


def build_causal(folder: Path, kind: str = "llama", seed: int = 0) -> Path:
    """Two layers. GPT-2 has positions of its own, and other names for everything."""
    tokenizer = _byte_level()
    rows = tokenizer.get_vocab_size()
    if kind == "gpt2":
        config = transformers.GPT2Config(vocab_size=rows, n_embd=32, n_layer=2, n_head=4, n_positions=LIMIT)
    else:
        config = transformers.LlamaConfig(
            vocab_size=rows,
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=LIMIT,
            tie_word_embeddings=True,
        )
    random_model(config, seed, transformers.AutoModelForCausalLM).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "GPT2Tokenizer"})
    return folder


def open_causal(directory: Path, **options: Any) -> LanguageModel:
    return LanguageModel(find_language_model(str(directory)), **options)


@cache
def smollm2() -> LanguageModel:
    if smollm2_at_hand() is None:
        pytest.skip(f"needs the weights of SmolLM2: {INSTALL}")
    return LanguageModel(find_language_model("smollm2"))


@torch.no_grad()
def plainly(model: Any, tokenizer: Any, context: str, text: str) -> tuple[float, int]:
    """The sum of log p and the number of tokens, by transformers alone: one text at a time, no batch, no cache, its own
    cross-entropy."""
    start = tokenizer.token_to_id(START)
    before = [i for line in context.splitlines() for i in tokenizer.encode(f"{line}\n", add_special_tokens=False).ids]
    own = tokenizer.encode(f"{text}\n", add_special_tokens=False).ids
    ids = torch.tensor([[start, *before, *own]])
    labels = ids.clone()
    labels[0, : 1 + len(before)] = -100
    loss = model(input_ids=ids, labels=labels).loss
    assert math.isfinite(loss)
    return -float(loss) * len(own), len(own)


def _byte_level() -> Any:
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    letters = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400, special_tokens=[START], initial_alphabet=letters, show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return tokenizer
