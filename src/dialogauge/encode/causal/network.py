"""The language model itself: tokens in, log likelihoods out. Beside `gguf_file.py` the only file here that needs
torch."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers.cache_utils import DynamicLayer

from dialogauge.encode.base import Dtype
from dialogauge.encode.causal.find import LanguageModelFiles
from dialogauge.encode.causal.gguf_file import load_gguf
from dialogauge.encode.causal.prompt import Ids, Prompt, Prompter, open_prompter
from dialogauge.encode.configuration import as_input_errors, configuration
from dialogauge.encode.network import SAFELY, out_of_memory, quiet, refuse_larger_than_weights
from dialogauge.errors import DialogaugeError, InputError

WHAT = "a causal language model"
SHARED = 3
"""From so many texts on, what stands before them goes through the model once."""
KNOWN = 6
"""So many tokens whose keys and values are known count as one that is not."""
CPU, CUDA = (512, 2048, 2**26), (8192, 65_536, 2**30)
"""How many texts are sorted by length at a time; the most tokens in a batch; the most numbers of its last layer, which
has one for every token of the vocabulary."""

ENCODERS = {"bert", "electra", "roberta", "xlm-roberta", "camembert"}
"""Families that transformers also has as language models, though they learned to see what follows."""

Totals = NDArray[np.float64]
Places = list[int]
"""Of prompts."""
Row = tuple[Ids, Places]
"""What goes through the model, and which prompts stand in it."""


class CausalNetwork:
    """Says how likely texts are. Right of a text stands padding, which causal attention never sees: nothing depends on
    what else is in a batch, but for rounding."""

    prompter: Prompter

    def __init__(self, files: LanguageModelFiles, dtype: Dtype) -> None:
        self._files = files
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.window, self.budget, numbers = CUDA if self.device.type == "cuda" else CPU
        model, self.prompter = _load(files, dtype)
        self._model = model.to(self.device).eval()
        self._vocabulary = int(model.config.vocab_size)
        self.budget = max(1, min(self.budget, numbers // self._vocabulary))
        with as_input_errors(files.path, WHAT):
            self._shares = self._try_out()

    @torch.inference_mode()
    def __call__(self, prompts: Sequence[Prompt], tick: Callable[[int], Any]) -> Totals:
        """The sum over each text's tokens of log p(token | all before it), natural logarithms."""
        totals = np.zeros(len(prompts))
        after: defaultdict[Ids, Places] = defaultdict(list)
        for place, prompt in enumerate(prompts):
            after[prompt.before].append(place)
        shared = {before: places for before, places in after.items() if self._shares and len(places) >= SHARED}
        shared.pop(prompts[0].before[:1], None)  # after nothing, there is nothing to share
        for longest, befores in _nested(shared):
            self._after(longest, {before: shared[before] for before in befores}, prompts, totals)
            tick(sum(len(shared[before]) for before in befores))
        by_row: defaultdict[Ids, Places] = defaultdict(list)
        for before, places in after.items():
            for place in places if before not in shared else ():
                by_row[before + prompts[place].text].append(place)
        rows = [(row, [place for one in inside for place in by_row[one]]) for row, inside in _nested(by_row)]
        for batch in _batches(rows, self.budget):
            self._fitting(batch, partial(self._whole, prompts=prompts, totals=totals))
            tick(sum(len(places) for _, places in batch))
        if not np.isfinite(totals).all():
            raise InputError("gives numbers that are not finite: its weights are damaged", self._files.path)
        return totals

    def _whole(self, batch: list[Row], prompts: Sequence[Prompt], totals: Totals) -> None:
        """Context and text in one row; the last layer only from the first text of the batch on."""
        first = min(len(prompts[place].before) for _, places in batch for place in places) - 1
        ids = self._padded([row[:-1] for row, _ in batch])
        logits = self._model(input_ids=ids, use_cache=False, logits_to_keep=ids.shape[1] - first).logits
        for (_, places), found in zip(batch, logits, strict=True):
            for place in places:
                prompt = prompts[place]
                totals[place] = _log_likelihood(found[len(prompt.before) - 1 - first :], prompt.text)

    def _after(self, longest: Ids, shared: Mapping[Ids, Places], prompts: Sequence[Prompt], totals: Totals) -> None:
        """Many texts after each of several contexts, of which the longest begins with all others: keys and values are
        found once."""
        known = self._model(input_ids=self._padded([longest[:-1]]), use_cache=True, logits_to_keep=1).past_key_values
        for before, places in shared.items():
            cut = copy.deepcopy(known)
            if len(before) < len(longest):
                cut.crop(len(before) - len(longest))
            rows = [((before[-1], *prompts[place].text), [place]) for place in places]
            for batch in _batches(rows, self.budget, len(before)):
                self._fitting(batch, partial(self._continued, known=cut, prompts=prompts, totals=totals))

    def _continued(self, batch: list[Row], known: Any, prompts: Sequence[Prompt], totals: Totals) -> None:
        cache = copy.deepcopy(known)
        cache.batch_repeat_interleave(len(batch))
        ids = self._padded([row[:-1] for row, _ in batch])
        logits = self._model(input_ids=ids, past_key_values=cache, use_cache=True).logits
        for (_, [place]), found in zip(batch, logits, strict=True):
            totals[place] = _log_likelihood(found, prompts[place].text)

    def _fitting(self, batch: list[Row], work: Callable[[list[Row]], None]) -> None:
        """In halves where memory does not suffice for the whole."""
        try:
            work(batch)
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
            if len(batch) == 1:
                raise DialogaugeError("not enough memory for the likelihood of a single text") from error
            for half in (batch[: len(batch) // 2], batch[len(batch) // 2 :]):
                self._fitting(half, work)

    def _padded(self, rows: Sequence[Ids]) -> torch.Tensor:
        """Padding is any token at all: it comes last, and nothing before sees it."""
        padded = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
        for place, row in enumerate(rows):
            padded[place, : len(row)] = row
        if padded.max() >= self._vocabulary:
            message = f"its tokeniser has a token {padded.max()}, and the model only {self._vocabulary}"
            raise InputError(f"{message}: one is another's", self._files.path)
        return torch.from_numpy(padded).to(self.device)

    @torch.inference_mode()
    def _try_out(self) -> bool:
        """Some wrong values show only at work. Whether keys and values can be taken from one text to others."""
        out = self._model(input_ids=self._padded([(0, 0)]), use_cache=True, logits_to_keep=1)
        if out.logits.shape != (1, 1, self._vocabulary):
            message = (
                f"gives {tuple(out.logits.shape)} numbers for a token, expected one for each of {self._vocabulary}"
            )
            raise InputError(f"{message} tokens", self._files.path)
        layers = getattr(out.get("past_key_values"), "layers", ())
        return bool(layers) and all(type(layer) is DynamicLayer for layer in layers)


def _load(files: LanguageModelFiles, dtype: Dtype) -> tuple[Any, Prompter]:
    if files.directory is None:
        model, tokenizer = load_gguf(files.path)
        return model.to(getattr(torch, dtype)), open_prompter(files, tokenizer)
    from transformers import AutoModelForCausalLM

    prompter = open_prompter(files)
    with as_input_errors(files.path, WHAT), quiet():
        config = configuration(files.directory, files.directory.layers)
        refuse_larger_than_weights(files.directory, config)
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            files.path,
            config=config,
            dtype=getattr(torch, dtype),
            **SAFELY,
        )
        model, loading = loaded
        if missing := sorted(loading["missing_keys"]):
            named = ", ".join(missing[:3])
            raise InputError(f"its weights lack {named}: the file is of another model, or of no {WHAT[2:]}", files.path)
        if getattr(config, "is_decoder", True) is False and files.directory.kind in ENCODERS:
            raise InputError(f"is no {WHAT[2:]}: {files.directory.kind} sees the whole text at once", files.path)
    files.directory.refuse_changed()
    return model, prompter


def _log_likelihood(logits: torch.Tensor, text: Ids) -> float:
    """Of one text, from the row whose first numbers are about its first token."""
    targets = torch.tensor(text, device=logits.device)
    said = logits[: len(text)].float()
    picked = said.gather(1, targets[:, None])[:, 0] - said.logsumexp(1)
    return float(picked.double().sum())


def _nested(sequences: Iterable[Ids]) -> Iterator[tuple[Ids, list[Ids]]]:
    """Those that no other begins with, each with all that it begins with, itself among them. In a dialogue every turn
    but the last stands in the context of the next."""
    longest: Ids = ()
    inside: list[Ids] = []
    for sequence in sorted(sequences, reverse=True):  # each comes right after what it is the beginning of
        if longest[: len(sequence)] != sequence:
            if inside:
                yield longest, inside
            longest, inside = sequence, []
        inside.append(sequence)
    if inside:
        yield longest, inside


def _batches(rows: Iterable[Row], budget: int, before: int = 0) -> Iterator[list[Row]]:
    """Of like length, longest first, so that memory that does not suffice shows at once. `before` each stand so many
    tokens that are known, and take less."""
    batch: list[Row] = []
    for row in sorted(rows, key=lambda row: -len(row[0])):
        if batch and (len(batch) + 1) * (len(batch[0][0]) + before / KNOWN) > budget:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
