"""A model's config.json as the library's own configuration: what it says of numbers counts, what it says of code, of
kernels and of other repositories does not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dialogauge.encode.find import CONFIG, ModelFiles
from dialogauge.errors import InputError

NOT_NEEDED = {"num_labels", "id2label", "label2id", "auto_map", "architectures", "dtype", "torch_dtype", "use_kernels"}
"""Fields of config.json that are for other heads, other libraries and code of its own."""
QUANTISED = {"quantization_config", "compression_config", "quantization", "load_in_4bit", "load_in_8bit"}
ADAPTER = "adapter_config.json"
"""Beside a model, it would have weights added that no digest covers, where peft is installed."""


def configuration(files: ModelFiles, layers: int) -> Any:
    """By the library's own class for this family: nothing that stands in the directory is run, and nothing is fetched.
    Which implementation of attention is taken is the library's choice: a field that names a repository there
    (`_attn_implementation`) would have code loaded from the hub, whatever `trust_remote_code` says."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    files.check()
    file = files.directory / CONFIG
    stated = _harmless(files.config, file)
    if (files.directory / ADAPTER).exists():
        raise InputError(f"has an {ADAPTER}: adapters are not read; merge them into the weights", files.directory)
    if files.kind is None or files.kind not in CONFIG_MAPPING:
        raise LookupError(f"nobody knows the model_type {files.kind!r}")
    with as_input_errors(file):
        config = CONFIG_MAPPING[files.kind].from_dict(stated)
        config._attn_implementation = None
    config.num_hidden_layers = layers
    config.use_mems_eval = False  # XLNet would hand back its memory of every batch
    return config


def _harmless(stated: dict[str, Any], file: Path) -> dict[str, Any]:
    """The fields of a configuration, and of those inside it, that describe the network."""
    for name in QUANTISED:
        if stated.get(name):
            raise InputError(f"{name}: quantised weights are not read", file)
    kept = {}
    for name, value in stated.items():
        if name.startswith("_") or "implementation" in name or name in NOT_NEEDED:
            continue
        kept[name] = _harmless(value, file) if isinstance(value, dict) else value
    return kept


@contextmanager
def as_input_errors(path: Path, what: str = "an encoder") -> Iterator[None]:
    """The libraries answer odd files with exceptions of any kind."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"cannot be loaded as {what}: {said}", path) from error
