"""Likelihoods of texts after contexts: each distinct pair goes through the model once, and what comes out is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dialogauge.encode.base import Dtype
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.cache.store import Entry, Output, Vector, keys, pack, size, unpack
from dialogauge.encode.causal.find import LanguageModelFiles
from dialogauge.encode.transformer import AT_HAND, DTYPES, Memory
from dialogauge.progress import progress_bar

if TYPE_CHECKING:
    from dialogauge.encode.causal.network import CausalNetwork

FORMAT = "lines"
"""How context and text become tokens (`prompt.py`)."""
LOG_P, TOKENS, CUT_CONTEXT, CUT_TEXT = range(4)
"""Columns: the sum of log p over the text's tokens, the newline at its end among them; how many those are; how many
tokens of the context and of the text did not fit."""


class LanguageModel:
    """Loads its model only when something is neither at hand nor in the cache."""

    def __init__(
        self, files: LanguageModelFiles, dtype: Dtype = "float32", cache: Cache | None = None, progress: bool = False
    ) -> None:
        self.files = files
        self.dtype = dtype
        self.identity = files.identity
        self.scored = 0
        """How many texts went through the model."""
        self._cache = cache
        self._progress = progress
        self._memory: Memory[Entry] = Memory(AT_HAND, size)
        self._network: CausalNetwork | None = None

    def recipe(self) -> dict[str, str]:
        return {
            "lm": self.identity,
            "maxlen": str(self.files.limit),
            "dtype": DTYPES[self.dtype],
            "format": FORMAT,
        }

    def likelihoods(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """A row for each (context, text), both one utterance a line (`as_lines`); an empty context is none."""
        distinct = list(dict.fromkeys(pairs))
        about = f"{self.files.digest} {self.dtype} {self.files.limit} {FORMAT}"
        places = dict(zip(distinct, keys(about, Output("likelihood", 0), distinct), strict=True))
        found = {pair: entry for pair, place in places.items() if (entry := self._memory.get(place)) is not None}
        if self._cache and len(found) < len(distinct):
            kept = self._cache.get([place for pair, place in places.items() if pair not in found])
            for pair, place in places.items():
                if place in kept:
                    found[pair] = unpack(kept[place])
                    self._memory.put(place, found[pair])
        missing = [pair for pair in distinct if pair not in found]
        if missing:
            self._score(missing, places, found)
        rows = np.empty((len(pairs), CUT_TEXT + 1))
        for row, pair in enumerate(pairs):
            entry = found[pair]
            assert isinstance(entry, Vector)  # nothing else is kept under these keys
            rows[row] = entry.vector
        return rows

    def _score(
        self, pairs: list[tuple[str, str]], places: dict[tuple[str, str], bytes], found: dict[tuple[str, str], Entry]
    ) -> None:
        """Kept window by window: what was scored before a run is killed need not be scored again."""
        network = self._loaded()
        with progress_bar(total=len(pairs), shown=self._progress, unit="text") as bar:
            bar.set_description(self.identity)
            for start in range(0, len(pairs), network.window):
                window = pairs[start : start + network.window]
                prompts = network.prompter.prompts(window)
                sums = network(prompts, bar.update)
                self.scored += len(window)
                entries: dict[bytes, Entry] = {}
                for pair, prompt, total in zip(window, prompts, sums, strict=True):
                    row = [total, len(prompt.text), prompt.cut_before, prompt.cut_text]
                    found[pair] = entries[places[pair]] = Vector(np.array(row, dtype=np.float32), prompt.cut_before)
                for place, entry in entries.items():
                    self._memory.put(place, entry)
                if self._cache:
                    self._cache.put({place: pack(entry) for place, entry in entries.items()})

    def _loaded(self) -> CausalNetwork:
        from dialogauge.encode.causal.network import CausalNetwork

        if self._network is None:
            self._network = CausalNetwork(self.files, self.dtype)
        return self._network
