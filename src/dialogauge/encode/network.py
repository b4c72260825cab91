"""The model itself: batches of token ids in, states out. The only file here that needs torch."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from dialogauge.encode.base import Dtype, Tuning
from dialogauge.encode.cache.store import Output
from dialogauge.encode.configuration import NOT_NEEDED, as_input_errors, configuration
from dialogauge.encode.find import CONFIG, ModelFiles
from dialogauge.encode.tokenizer import TokenizedText
from dialogauge.errors import DialogaugeError, InputError

BACKENDS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Without cuDNN's attention, which builds a plan for every new shape: five times as slow where no shape comes twice."""
PLAIN = {"bert", "camembert", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta", "xlnet"}
"""Models known to leave masked tokens alone, and to have nothing after their last layer. Of any other, texts of one
length make a batch, and all layers run."""
CPU, CUDA = (1024, 4096, 1024), (16_384, 65_536, 32_768)
"""How many texts are sorted by length at a time; the most tokens in a batch, and how many are enough where more would
mean padding."""

SIZES = re.compile(r"size|dim|layer|head|position|embeddings|d_model|d_inner|^n_|^num_|units|experts|kernel|stride")
LEAST_SIZE = 10**6
"""Below so many numbers nothing is too large to be built."""


class EncoderNetwork:
    """A model with its layers up to the deepest that is wanted."""

    def __init__(self, files: ModelFiles, dtype: Dtype, deepest: int, tuning: Tuning | None = None) -> None:
        self._files = files
        self.padding = files.kind in PLAIN
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
    def __call__(self, batch: Sequence[TokenizedText], outputs: Sequence[Output]) -> list[torch.Tensor]:
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
        try:
            with sdpa_kernel(BACKENDS):
                result = self._model(**inputs, output_hidden_states=inner)
        except IndexError as error:
            message = f"its tokeniser gives numbers that the model has no rows for: {error}"
            raise InputError(message, self._files.directory) from error
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
    if (rows := files.vocabulary) is not None and largest >= rows:
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


def too_long_alone(encoded: TokenizedText) -> DialogaugeError:
    return DialogaugeError(f"not enough memory to encode a single text of {len(encoded)} tokens")


SAFELY = {
    "local_files_only": True,
    "trust_remote_code": False,
    "use_safetensors": True,
    "output_loading_info": True,
}
"""How weights are loaded: from this machine, with no code of theirs, and telling what was missing."""


def load_model(files: ModelFiles, dtype: Dtype, layers: int) -> Any:
    """The model with so many of its layers. Whatever is wrong with its files shows here and nowhere later."""
    from transformers import AutoModel

    with as_input_errors(files.directory), quiet():
        config = configuration(files, layers)
        refuse_larger_than_weights(files, config)
        model, loading = AutoModel.from_pretrained(
            files.directory,
            config=config,
            dtype=getattr(torch, dtype),
            **SAFELY,
        )
        missing = sorted(name for name in loading["missing_keys"] if not _is_left_out(name))
        if missing:
            raise InputError(
                f"its weights lack {', '.join(missing[:3])}: the file is of another model", files.directory
            )
        files.refuse_changed()
        model.eval()
        _try_out(model, files)
    return model


def skeleton(files: ModelFiles) -> Any:
    """The model without its weights: names and shapes alone."""
    with as_input_errors(files.directory):
        config = configuration(files, files.layers)
        refuse_larger_than_weights(files, config)
        return _without_weights(config)


def refuse_larger_than_weights(files: ModelFiles, config: Any) -> None:
    """Before anything is built: by each size alone, then by the numbers of all tensors together."""
    from safetensors import safe_open

    held = 0
    for file in files.weights():
        with safe_open(file, framework="numpy") as tensors:
            held += sum(math.prod(tensors.get_slice(name).get_shape()) for name in tensors.keys())  # noqa: SIM118
    for name, value in files.config.items():
        size = isinstance(value, int) and name not in NOT_NEEDED and SIZES.search(name)
        if size and value > max(held, LEAST_SIZE):
            message = f"{name}: {value:,} is more than all {held:,} numbers of its weights"
            raise InputError(message, files.directory / CONFIG)
    named = _without_weights(config).named_parameters()
    wanted = sum(tensor.numel() for name, tensor in named if not _is_left_out(name))
    if wanted > max(2 * held, LEAST_SIZE):
        message = f"describes a network of {wanted:,} numbers; its weights have {held:,}"
        raise InputError(message, files.directory / CONFIG)


def _without_weights(config: Any) -> Any:
    from transformers import AutoModel

    with torch.device("meta"):
        return AutoModel.from_config(config, trust_remote_code=False)  # type: ignore[no-untyped-call]


def _is_left_out(name: str) -> bool:
    """What a file may lack, since no vector depends on it."""
    return "pooler" in name or "position_ids" in name


@torch.inference_mode()
def _try_out(model: Any, files: ModelFiles) -> None:
    """Some wrong values (a norm's epsilon that is text) show only at work."""
    ids = torch.zeros((2, min(files.limit, 2)), dtype=torch.long)
    more = {"token_type_ids": ids} if files.segments else {}
    states = model(input_ids=ids, attention_mask=torch.ones_like(ids), **more).last_hidden_state
    if states.shape != (*ids.shape, files.width):
        message = f"gives states of the shape {tuple(states.shape)}, expected {files.width} numbers for each token"
        raise InputError(message, files.directory)
    if not states.isfinite().all():
        raise InputError("gives numbers that are not finite: its weights are damaged", files.directory)


@contextmanager
def quiet() -> Iterator[None]:
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
