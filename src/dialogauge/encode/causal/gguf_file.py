"""SmolLM2 from a GGUF file, as transformers has it. The package gguf turns its weights into plain numbers: transformers
reads GGUF files too, but only beside accelerate."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge.errors import InputError, MissingPackage, quote

if TYPE_CHECKING:
    import torch

ARCHITECTURE, PRE_TOKENIZER = "llama", "smollm"
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


def load_gguf(path: Path) -> tuple[Any, Any]:
    """The model in float32 on the CPU, and its tokeniser (of the package tokenizers)."""
    if find_spec("gguf") is None:
        raise MissingPackage("gguf", "likelihood", f"the language model in {path.name}")
    with _as_input_errors(path):
        from gguf import GGUFReader

        reader = GGUFReader(path)
        _refuse_others(reader, path)
        config = _config(reader)
        return assembled(config, _weights(reader, config), path), _tokenizer(reader)


def assembled(config: Any, weights: dict[str, torch.Tensor], path: Path) -> Any:
    """A LlamaForCausalLM of these weights, whose output layer is the embedding."""
    from transformers import LlamaForCausalLM

    from dialogauge.encode.network import quiet

    with quiet():
        loaded: Any = LlamaForCausalLM.from_pretrained(
            None,
            config=config,
            state_dict={name: part.float() for name, part in weights.items()},
            output_loading_info=True,
        )
    model, loading = loaded
    missing, unexpected = sorted(loading["missing_keys"]), sorted(loading["unexpected_keys"])
    if missing or unexpected:
        raise InputError(f"is no SmolLM2: {missing} are missing, {unexpected} are not known", path)
    return model


@contextmanager
def _as_input_errors(path: Path) -> Iterator[None]:
    """The library answers odd files with exceptions of any kind."""
    try:
        yield
    except (InputError, MissingPackage):
        raise
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"cannot be read as a GGUF file of SmolLM2: {said}", path) from error


def _refuse_others(reader: Any, path: Path) -> None:
    expected = {"general.architecture": ARCHITECTURE, "tokenizer.ggml.pre": PRE_TOKENIZER}
    for name, value in expected.items():
        found = reader.fields[name].contents()
        if found != value:
            raise InputError(f"is no SmolLM2: expected {name} {value}, found {quote(str(found))}", path)


def _weights(reader: Any, config: Any) -> dict[str, torch.Tensor]:
    import torch
    from gguf import dequantize

    weights = {}
    for tensor in reader.tensors:
        weight = torch.from_numpy(dequantize(tensor.data, tensor.tensor_type).copy())
        if ".attn_q." in tensor.name:
            weight = _halves(weight, config.num_attention_heads)
        elif ".attn_k." in tensor.name:
            weight = _halves(weight, config.num_key_value_heads or config.num_attention_heads)
        weights[_name(tensor.name)] = weight
    return weights


def _name(name: str) -> str:
    """blk.3.attn_q.weight is model.layers.3.self_attn.q_proj.weight."""
    match = re.fullmatch(r"(?:blk\.(\d+)\.)?(\w+)\.weight", name)
    if match is None or match[2] not in NAMES:
        raise ValueError(f"nobody knows the tensor {name}")
    return f"model.layers.{match[1]}.{NAMES[match[2]]}.weight" if match[1] else f"{NAMES[match[2]]}.weight"


def _halves(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """GGUF interleaves the two halves that rotary positions turn; transformers has one after the other."""
    pairs = weight.view(heads, -1, 2, weight.shape[1])
    return pairs.transpose(1, 2).reshape(weight.shape)


def _config(reader: Any) -> Any:
    from transformers import LlamaConfig

    def field(name: str) -> Any:
        return reader.fields[f"llama.{name}"].contents()

    base = field("rope.freq_base")  # which transformers 4 and 5 look for in different places
    rotation: Any = {"rope_theta": base, "rope_parameters": {"rope_type": "default", "rope_theta": base}}
    return LlamaConfig(
        vocab_size=field("vocab_size"),
        hidden_size=field("embedding_length"),
        intermediate_size=field("feed_forward_length"),
        num_hidden_layers=field("block_count"),
        num_attention_heads=field("attention.head_count"),
        num_key_value_heads=field("attention.head_count_kv"),
        max_position_embeddings=field("context_length"),
        rms_norm_eps=field("attention.layer_norm_rms_epsilon"),
        tie_word_embeddings=True,
        **rotation,
    )


def _tokenizer(reader: Any) -> Any:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    tokens, kinds, merges = (
        reader.fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "token_type", "merges")
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
