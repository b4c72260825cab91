"""ELMo's network: words in, the states of every layer out. The only file here that needs torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from dialogauge.encode.elmo.files import ElmoFiles, ElmoShape, cell_name
from dialogauge.encode.elmo.words import BEGINS_TEXT, ENDS_TEXT, Word, letters
from dialogauge.errors import DialogaugeError

WINDOW = 1024
"""Texts that are sorted by length at a time."""
CPU, CUDA = (4096, 64 * 2**20), (65_536, 2**31)
"""The most words in a batch; bytes of what is computed for several steps of the LSTM together."""
WORDS_AT_ONCE = 512
WORDS_AT_HAND = 50_000
"""Words whose vectors before the LSTM are kept."""


class Carried(NamedTuple):
    """Where the LSTM layers stand after a text: (layers, directions, texts, …)."""

    cells: Tensor
    outputs: Tensor


class ElmoNetwork:
    """Peters et al. 2018, after Jozefowicz et al. 2016: a convolution over the letters of each word, highway layers, a
    projection; then in each direction LSTM layers with projections (Sak et al. 2014), clipped."""

    def __init__(self, files: ElmoFiles) -> None:
        self.shape: ElmoShape = files.shape
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.budget, self._bytes = CUDA if self.device.type == "cuda" else CPU
        self._weights = {name: torch.from_numpy(array).to(self.device) for name, array in files.read().items()}
        cells = [[cell_name(way, layer) for way in range(2)] for layer in range(self.shape.layers)]
        self._inner, self._bias, self._down = (
            [torch.stack([self._weights.pop(f"{name}/{part}") for name in names]) for names in cells]
            for part in ("W_0", "B", "W_P_0")
        )
        for bias in self._bias:  # TensorFlow adds 1 to the forget gate whenever it runs
            bias[:, 2 * self.shape.cell : 3 * self.shape.cell] += 1
        self._known: dict[Word, Tensor] = {}

    @torch.inference_mode()
    def __call__(self, texts: Sequence[Sequence[str]]) -> Tensor:
        """States of shape (layers, texts, words of the longest, width), for each text as if it stood alone; past a
        text's length they mean nothing. Layer 0 is the words without their context, twice."""
        return torch.stack(self._layers(texts, None, None))

    @torch.inference_mode()
    def carried(self, texts: Sequence[Sequence[str]], before: Carried | None) -> tuple[Tensor, Carried]:
        """The same with the LSTM's states as a text before each left them, as the authors' own programs do; and where
        they stand afterwards."""
        ends: list[Carried] = []
        layers = self._layers(texts, before, ends)
        after = Carried(torch.stack([end.cells for end in ends]), torch.stack([end.outputs for end in ends]))
        return torch.stack(layers), after

    def _layers(
        self, texts: Sequence[Sequence[str]], before: Carried | None, ends: list[Carried] | None
    ) -> list[Tensor]:
        """Where `ends` is a list, it gets for each layer where it stands after each text."""
        marked: list[list[Word]] = [[BEGINS_TEXT, *text, ENDS_TEXT] for text in texts]
        lengths = torch.tensor([len(text) for text in marked], device=self.device)
        words = self._words(marked)
        steps = torch.arange(words.shape[1], device=self.device)
        # Backward, a text begins with its own last word, so that padding comes after it in both directions.
        mirrored = torch.where(steps < lengths[:, None], lengths[:, None] - 1 - steps, steps)
        states = torch.stack([words, _ordered(words, mirrored)])
        layers = [words.repeat(1, 1, 2)]
        for layer in range(self.shape.layers):
            first = None if before is None else Carried(before.cells[layer], before.outputs[layer])
            found = self._lstm(layer, states, lengths, first, ends)
            states = found + states if layer and self.shape.skip else found
            layers.append(torch.cat([states[0], _ordered(states[1], mirrored)], dim=-1))
        return [layer[:, 1:-1] for layer in layers]

    def _lstm(
        self, layer: int, inputs: Tensor, lengths: Tensor, before: Carried | None, ends: list[Carried] | None
    ) -> Tensor:
        """Both directions of a layer. Padding is read, too, but only after all that counts."""
        shape, (ways, texts, steps, width) = self.shape, inputs.shape
        inner, bias, down = self._inner[layer], self._bias[layer], self._down[layer]
        of_input, of_output = inner[:, :width].contiguous(), inner[:, width:].contiguous()
        if before is None:
            cell, output = inputs.new_zeros(ways, texts, shape.cell), inputs.new_zeros(ways, texts, width)
        else:
            cell, output = before
        outputs = torch.empty_like(inputs)
        last_cell = cell
        together = max(1, self._bytes // (4 * 4 * shape.cell * ways * texts))
        for start in range(0, steps, together):
            block = inputs[:, :, start : start + together].transpose(1, 2)
            count = block.shape[1]
            ready = torch.baddbmm(bias[:, None], block.reshape(ways, count * texts, width), of_input)
            ready = ready.view(ways, count, texts, 4 * shape.cell)
            for step in range(count):
                gates = torch.baddbmm(ready[:, step], output, of_output)
                take, new, keep, give = gates.chunk(4, dim=-1)
                cell = torch.sigmoid(keep) * cell + torch.sigmoid(take) * torch.tanh(new)
                cell = _clipped(cell, shape.cell_clip)
                output = _clipped(torch.bmm(torch.sigmoid(give) * torch.tanh(cell), down), shape.projection_clip)
                outputs[:, :, start + step] = output
                if ends is not None:
                    last_cell = torch.where((lengths == start + step + 1)[:, None], cell, last_cell)
        if ends is not None:
            ends.append(Carried(last_cell, outputs[:, torch.arange(texts, device=self.device), lengths - 1]))
        return outputs

    def _words(self, texts: Sequence[Sequence[Word]]) -> Tensor:
        """The vectors of words without their context: (texts, words of the longest, projection). Each word once."""
        distinct = list(dict.fromkeys(word for text in texts for word in text))
        if len(self._known) + len(distinct) > WORDS_AT_HAND:
            self._known.clear()
        new = [word for word in distinct if word not in self._known]
        for start in range(0, len(new), WORDS_AT_ONCE):
            some = new[start : start + WORDS_AT_ONCE]
            self._known.update(zip(some, self._convolved(letters(some, self.shape.longest)), strict=True))
        row = {word: number for number, word in enumerate(distinct)}
        places = np.zeros((len(texts), max(map(len, texts))), np.int64)
        for place, text in zip(places, texts, strict=True):
            place[: len(text)] = [row[word] for word in text]
        table = torch.stack([self._known[word] for word in distinct])
        return table[torch.from_numpy(places).to(self.device)]

    def _convolved(self, spelled: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> Tensor:
        weights = self._weights
        activate = torch.relu if self.shape.activation == "relu" else torch.tanh
        inputs = weights["char_embed"][torch.from_numpy(spelled).to(self.device)].transpose(1, 2)
        found = []
        for number in range(len(self.shape.filters)):
            kernel = weights[f"CNN/W_cnn_{number}"][0].permute(2, 1, 0)
            found.append(functional.conv1d(inputs, kernel).amax(dim=-1) + weights[f"CNN/b_cnn_{number}"])
        words = activate(torch.cat(found, dim=-1))
        for number in range(self.shape.highways):
            name = f"CNN_high_{number}"
            carry = torch.sigmoid(torch.addmm(weights[f"{name}/b_carry"], words, weights[f"{name}/W_carry"]))
            changed = torch.relu(torch.addmm(weights[f"{name}/b_transform"], words, weights[f"{name}/W_transform"]))
            words = carry * changed + (1 - carry) * words
        return torch.addmm(weights["CNN_proj/b_proj"], words, weights["CNN_proj/W_proj"])


def too_long_alone(words: int) -> DialogaugeError:
    return DialogaugeError(f"not enough memory to encode a single text of {words} words")


def _ordered(states: Tensor, places: Tensor) -> Tensor:
    return states.gather(1, places[:, :, None].expand(-1, -1, states.shape[-1]))


def _clipped(values: Tensor, limit: float | None) -> Tensor:
    return values if limit is None else values.clamp(-limit, limit)
