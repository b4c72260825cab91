"""The model itself: batches of token ids in, states out. The only file here that needs torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from dialogauge.encode.base import Dtype
from dialogauge.encode.entries import Output
from dialogauge.encode.find import ModelFiles
from dialogauge.encode.tokenizer import Encoded
from dialogauge.encode.tuning import Tuning
from dialogauge.errors import DialogaugeError, InputError

BACKENDS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Without cuDNN's attention, which builds a plan for every new shape: five times as slow where no shape comes twice."""
PLAIN = {"bert", "camembert", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta", "xlnet"}
"""Models known to leave masked tokens alone, and to have nothing after their last layer. Of any other, texts of one
length make a batch, and all layers run."""
CPU, CUDA = (1024, 4096, 1024), (16_384, 65_536, 32_768)
"""How many texts are sorted by length at a time; the most tokens in a batch, and how many are enough where more would
mean padding."""


class Network:
    """A model with its layers up to the deepest that is wanted."""

    def __init__(self, files: ModelFiles, dtype: Dtype, deepest: int, tuning: Tuning | None = None) -> None:
        self._files = files
        self.padding = files.config.get("model_type") in PLAIN
        self.layers = deepest if self.padding else files.layers
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.window, self.budget, self.enough = CUDA if self.device.type == "cuda" else CPU
        self._model = load_model(files, dtype, self.layers)
        if tuning:
            tuning.apply(self._model)
        self._model.to(self.device)

    @property
    def parameters(self) -> int:
        """Weights that every token is multiplied with: all but the embedding tables and the pooler."""
        named = self._model.named_parameters()
        return sum(tensor.numel() for name, tensor in named if "embedding" not in name and "pooler" not in name)

    @torch.inference_mode()
    def __call__(self, batch: Sequence[Encoded], outputs: Sequence[Output]) -> list[torch.Tensor]:
        """For each output, on the model's device: states of shape (texts, tokens, width), or vectors (texts, width)."""
        lengths = np.array([len(encoded) for encoded in batch])
        inputs = {"input_ids": self._pad([encoded.ids for encoded in batch], lengths)}
        segments = [encoded.segments for encoded in batch if encoded.segments is not None]
        if segments:
            inputs["token_type_ids"] = self._pad(segments, lengths)
        mask = None
        if lengths.min() < lengths.max():
            counts = torch.from_numpy(lengths).to(self.device)
            mask = torch.arange(int(lengths.max()), device=self.device) < counts[:, None]
            inputs["attention_mask"] = mask.long()
        inner = any(output.layer != self.layers for output in outputs)
        with sdpa_kernel(BACKENDS):
            result = self._model(**inputs, output_hidden_states=inner)
        states = {layer: result.hidden_states[layer] for layer in range(self.layers)} if inner else {}
        states[self.layers] = result.last_hidden_state
        return [pool(states[output.layer], mask, output.kind) for output in outputs]

    def _pad(self, rows: Sequence[Any], lengths: Any) -> torch.Tensor:
        """Padding is any id at all: it is masked, and its own state is never looked at."""
        padded = np.zeros((len(rows), lengths.max()), dtype=np.int64)
        padded[np.arange(lengths.max()) < lengths[:, None]] = np.concatenate(rows)
        refuse_unknown_token(self._files, padded.max())
        return torch.from_numpy(padded).to(self.device)


def refuse_unknown_token(files: ModelFiles, largest: int) -> None:
    """A GPU would not survive it."""
    if largest >= (rows := files.config.get("vocab_size", np.inf)):
        message = f"its tokeniser has a token {largest}, and the model only {rows}: one is another's"
        raise InputError(message, files.directory)


def pool(states: torch.Tensor, mask: torch.Tensor | None, kind: str) -> torch.Tensor:
    """Of states (texts, tokens, width); `mask` says where tokens are, None where all are."""
    if kind == "tokens":
        return states.float()
    if kind == "cls":
        return states[:, 0].float()
    states = states.float()
    if kind == "max":
        return states.amax(dim=1) if mask is None else states.masked_fill(~mask[..., None], -torch.inf).amax(dim=1)
    if mask is None:
        return states.mean(dim=1)
    return (states * mask[..., None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)


def out_of_memory(error: RuntimeError) -> bool:
    """Whether a smaller batch may help."""
    return isinstance(error, torch.OutOfMemoryError) or "allocate memory" in str(error)


def too_long_alone(encoded: Encoded) -> DialogaugeError:
    return DialogaugeError(f"not enough memory to encode a single text of {len(encoded)} tokens")


def load_model(files: ModelFiles, dtype: Dtype, layers: int) -> Any:
    """The model with so many of its layers."""
    from safetensors import SafetensorError
    from transformers import AutoConfig, AutoModel

    try:
        with _quiet():
            config = AutoConfig.from_pretrained(files.directory, local_files_only=True, trust_remote_code=False)
            config.num_hidden_layers = layers
            config.use_mems_eval = False  # XLNet would hand back its memory of every batch
            model, told = AutoModel.from_pretrained(
                files.directory,
                config=config,
                dtype=getattr(torch, dtype),
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                output_loading_info=True,
            )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise InputError(f"cannot be loaded as an encoder: {error}", files.directory) from error
    missing = sorted(name for name in told["missing_keys"] if "pooler" not in name and "position_ids" not in name)
    if missing:
        raise InputError(f"its weights lack {', '.join(missing[:3])}: the file is of another model", files.directory)
    return model.eval()


def skeleton(files: ModelFiles) -> Any:
    """The model without its weights: names and shapes alone."""
    from transformers import AutoConfig, AutoModel

    config = AutoConfig.from_pretrained(files.directory, local_files_only=True, trust_remote_code=False)
    with torch.device("meta"):
        return AutoModel.from_config(config, trust_remote_code=False)  # type: ignore[no-untyped-call]


@contextmanager
def _quiet() -> Iterator[None]:
    """Weights that are left out on purpose (deeper layers, other heads) are not worth a warning."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
