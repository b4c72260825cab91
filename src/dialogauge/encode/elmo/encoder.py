"""ELMo as an encoder: each distinct text goes through the network once, and what comes out is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dialogauge.encode.base import Coverage, Encoder, Pool, Pooled, Text, Tokens
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.cache.store import Entry, Output, Vector, keys, pack, size, unpack
from dialogauge.encode.elmo.files import ElmoFiles
from dialogauge.encode.elmo.words import RECIPE, CasedWords, read, word_ids
from dialogauge.encode.transformer import AT_HAND, TOKENS, Memory, batches
from dialogauge.errors import InputError, UnsuitedEncoder
from dialogauge.progress import progress_bar

if TYPE_CHECKING:
    from dialogauge.encode.elmo.network import ElmoNetwork

MEAN = -1
"""Stands for the mean of all layers, the default."""
LAYOUT = 1
"""Of what goes into keys: how texts become words, and words ids."""


class ElmoEncoder(Encoder):
    """Vectors of words: forward and backward states beside each other. The LSTM begins at zero for every text, so that
    a vector never depends on what else is encoded; the authors' programs go on from the text before.

    Layer 0 is the words without context, the others are the LSTM's; without a layer it is the mean of all. A text of
    any length is read to its end. Every word has a vector, by its letters. The weights are read when first needed.
    """

    contextual = True

    def __init__(self, files: ElmoFiles, cache: Cache | None = None, progress: bool = False) -> None:
        self.files = files
        self.identity = files.identity
        self.encoded = 0
        """How many texts and pairs went through the network."""
        self._cache = cache
        self._progress = progress
        self._memory: Memory[Entry] = Memory(AT_HAND, size)
        self._expected: dict[bool, dict[Output, None]] = {False: {}, True: {}}
        self._network: ElmoNetwork | None = None

    @property
    def last_layer(self) -> int:
        return self.files.shape.layers

    @property
    def usual_layer(self) -> None:
        """The mean of all layers."""
        return

    def recipe(self) -> dict[str, str]:
        return {"enc": f"elmo:{self.identity}", **RECIPE, "dtype": "f32"}

    def layer_name(self, layer: int | None) -> str:
        return "mean" if layer is None else str(layer)

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [word_ids(read(text).words).tolist() for text in texts]

    def expect(self, kind: str, *, pairs: bool, layer: int | None = None) -> None:
        """Refuses what ELMo has not, and remembers the rest, so that one pass gives all of it."""
        self._expected[pairs][self._output(kind, layer)] = None

    def tokens(self, texts: Sequence[str], layer: int | None = None) -> list[Tokens]:
        """The words of each text, without marks around it. Ids are hashes of words."""
        return self._entries(texts, self._output(TOKENS, layer))  # type: ignore[return-value]

    def pooled(self, texts: Sequence[Text], pool: Pool = "mean", layer: int | None = None) -> Pooled:
        """The mean or the maximum over the words of each; zeros for a text without any. A pair is read as one text."""
        found: list[Vector] = self._entries(texts, self._output(pool, layer))  # type: ignore[assignment]
        vectors = np.zeros((len(texts), self.files.shape.width), np.float32)
        for row, entry in enumerate(found):
            vectors[row] = entry.vector
        coverage = np.array([entry.coverage for entry in found], np.int32).reshape(len(texts), len(Coverage._fields))
        return Pooled(vectors, np.zeros(len(texts), np.int32), coverage)

    def _output(self, kind: str, layer: int | None) -> Output:
        if kind not in (TOKENS, "mean", "max"):
            raise UnsuitedEncoder(f"the encoder {self.identity} has no {kind!r} vector; choose pool=mean or pool=max")
        if layer is not None and not 0 <= layer <= self.last_layer:
            raise InputError(
                f"{self.identity} has layers 0 (words without context) to {self.last_layer}, and their mean where no "
                f"layer is given; found layer {layer}"
            )
        return Output(kind, MEAN if layer is None else layer)

    def _entries(self, texts: Sequence[Text], output: Output) -> list[Entry]:
        distinct = list(dict.fromkeys(texts))
        keyed = dict(zip(distinct, self._keys(output, distinct), strict=True))
        found = {text: entry for text, place in keyed.items() if (entry := self._memory.get(place)) is not None}
        if self._cache and len(found) < len(keyed):
            kept = self._cache.get([place for text, place in keyed.items() if text not in found])
            for text, place in keyed.items():
                if place in kept:
                    found[text] = self._unpacked(kept[place])
                    self._memory.put(place, found[text])
        for pairs in (False, True):
            missing = [text for text in distinct if text not in found and isinstance(text, tuple) is pairs]
            outputs = list(dict.fromkeys([output, *self._expected[pairs]]))
            for window, columns in self._encode(missing, outputs) if missing else ():
                for other, entries in zip(outputs, columns, strict=True):
                    self._keep(self._keys(other, window), entries)
                found.update(zip(window, columns[0], strict=True))
        return [found[text] for text in texts]

    def _unpacked(self, value: bytes) -> Entry:
        """Of no words at all, the cache does not know the width."""
        entry = unpack(value)
        if isinstance(entry, Tokens) and not len(entry.states):
            return replace(entry, states=np.zeros((0, self.files.shape.width), np.float32))
        return entry

    def _keys(self, output: Output, texts: Sequence[Text]) -> list[bytes]:
        return keys(f"elmo {LAYOUT} {self.files.digest}", output, texts)

    def _keep(self, places: Sequence[bytes], entries: Sequence[Entry]) -> None:
        """What is at hand already stays as it is: last digits depend on what a text was encoded with."""
        new = {place: entry for place, entry in zip(places, entries, strict=True) if place not in self._memory}
        if self._cache:
            self._cache.put({place: pack(entry) for place, entry in new.items()})
        for place, entry in new.items():
            self._memory.put(place, entry)

    def _encode(self, texts: list[Text], outputs: list[Output]) -> Iterator[tuple[list[Text], list[list[Entry]]]]:
        """Windows of texts, each with a list of entries for every output."""
        from dialogauge.encode.elmo.network import WINDOW

        network = self._loaded()
        with progress_bar(total=len(texts), shown=self._progress, unit="text") as bar:
            bar.set_description(self.identity)
            for start in range(0, len(texts), WINDOW):
                window = texts[start : start + WINDOW]
                listed = [read(text) for text in window]
                columns: list[list[Any]] = [[None] * len(window) for _ in outputs]
                for places in batches([len(text.words) for text in listed], network.budget, network.budget // 2):
                    self._run(network, places, listed, outputs, columns)
                    bar.update(len(places))
                self.encoded += len(window)
                yield window, columns

    def _run(
        self, network: ElmoNetwork, places: Any, listed: list[CasedWords], outputs: list[Output], columns: Any
    ) -> None:
        """A batch, in halves where memory does not suffice for the whole, which counts for all that follow."""
        from dialogauge.encode.elmo.network import too_long_alone
        from dialogauge.encode.network import out_of_memory

        try:
            layers = network([listed[place].words for place in places.tolist()])
            states = {layer: layers.mean(0) if layer == MEAN else layers[layer] for _, layer in outputs}
            arrays = {layer: tensor.cpu().numpy() for layer, tensor in states.items()}
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
            longest = max(len(listed[place].words) for place in places.tolist())
            if len(places) == 1:
                raise too_long_alone(longest) from error
            network.budget = max(1, longest * len(places) // 2)
            for half in np.array_split(places, 2):
                self._run(network, half, listed, outputs, columns)
            return
        for column, output in zip(columns, outputs, strict=True):
            for row, place in enumerate(places.tolist()):
                text = listed[place]
                column[place] = _entry(text, arrays[output.layer][row, : len(text.words)], output.kind)

    def _loaded(self) -> ElmoNetwork:
        from dialogauge.encode.elmo.network import ElmoNetwork

        if self._network is None:
            self._network = ElmoNetwork(self.files)
        return self._network


def _entry(text: CasedWords, states: Any, kind: str) -> Entry:
    coverage = Coverage(len(text.words))
    if kind == TOKENS:
        count = len(text.words)
        places = np.array(text.places, np.int32).reshape(-1, 2)
        special = np.zeros(count, np.bool_)
        return Tokens(word_ids(text.words), places, special, states.copy(), coverage=coverage)
    if not len(states):
        return Vector(np.zeros(states.shape[1], np.float32), 0, coverage)
    vector = states.max(0) if kind == "max" else states.mean(0, dtype=np.float64)
    return Vector(vector.astype(np.float32), 0, coverage)
