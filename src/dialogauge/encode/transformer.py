"""Any Hugging Face encoder: each distinct text or pair goes through the model once, and what comes out is kept."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from dialogauge.encode.base import Coverage, Dtype, Encoder, Pool, Pooled, Text, Tokens, Tuning
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.cache.store import Entry, Output, Vector, keys, pack, size, unpack
from dialogauge.encode.find import ModelFiles
from dialogauge.encode.tokenizer import TokenizedText, Tokenizer
from dialogauge.errors import InputError, unknown
from dialogauge.progress import progress_bar

if TYPE_CHECKING:
    from dialogauge.encode.network import EncoderNetwork

SPREAD = 1.1
"""A batch that is large enough takes no text longer than this times its shortest."""

T = TypeVar("T")

AT_HAND = 256 * 2**20
"""So many bytes of vectors stay in memory; older ones are in the cache, or encoded again."""
TOKENS = "tokens"
DTYPES = {"float32": "f32", "bfloat16": "bf16"}


class Transformer(Encoder):
    """Loads its model only when something is neither at hand nor in the cache."""

    contextual = True

    def __init__(
        self,
        files: ModelFiles,
        dtype: Dtype = "float32",
        cache: Cache | None = None,
        progress: bool = False,
        tuning: Tuning | None = None,
    ) -> None:
        self.files = files
        self.dtype = dtype
        self.identity = files.identity
        self.encoded = 0
        """How many texts and pairs went through the model."""
        self._cache = cache
        self._progress = progress
        self._memory: Memory[Entry] = Memory(AT_HAND, size)
        self._expected: defaultdict[bool, dict[Output, None]] = defaultdict(dict)
        self._network: EncoderNetwork | None = None
        self._tuning = tuning

    def recipe(self) -> dict[str, str]:
        return {"enc": self.identity, "maxlen": str(self.files.limit), "dtype": DTYPES[self.dtype]}

    @property
    def languages(self) -> frozenset[str] | None:
        return self.files.languages

    @property
    def last_layer(self) -> int:
        return self.files.layers

    @cached_property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer(self.files)

    def spelled(self, text: str) -> str:
        """Where a tokeniser has other tokens for the first word (RoBERTa), as if it stood after a space."""
        bare = text.strip()
        return f" {bare}" if bare and self.tokenizer.marks_word_starts else bare

    def expect(self, kind: Pool | str, *, pairs: bool, layer: int | None = None) -> None:
        """Says beforehand what will be asked for, so that one pass through the model gives all of it."""
        self._expected[pairs][self._output(kind, layer)] = None

    def tokens(self, texts: Sequence[str], layer: int | None = None) -> list[Tokens]:
        return self._entries(texts, self._output(TOKENS, layer))  # type: ignore[return-value]

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        return self.tokenizer.ids(texts)

    def token_spellings(self, text: str, tokens: Tokens) -> list[str]:  # noqa: ARG002
        """As its vocabulary has them."""
        return [self.tokenizer.token(number) for number in tokens.ids.tolist()]

    def pooled(self, texts: Sequence[Text], pool: Pool = "mean", layer: int | None = None) -> Pooled:
        found: list[Vector] = self._entries(texts, self._output(pool, layer))  # type: ignore[assignment]
        vectors = np.empty((len(texts), self.files.width), dtype=np.float32)
        for row, entry in enumerate(found):
            vectors[row] = entry.vector
        dropped = np.array([entry.dropped for entry in found], dtype=np.int32)
        coverage = np.array([entry.coverage for entry in found], dtype=np.int32)
        return Pooled(vectors, dropped, coverage.reshape(len(texts), len(Coverage._fields)))

    def _output(self, kind: Pool | str, layer: int | None) -> Output:
        layers = self.files.layers
        if kind not in (TOKENS, *get_args(Pool)):
            raise unknown("pooling", kind, get_args(Pool))
        if layer is not None and not 0 <= layer <= layers:
            raise InputError(f"{self.identity} has layers 0 (its input) to {layers}; found layer {layer}")
        return Output(kind, layers if layer is None else layer)

    def _entries(self, texts: Sequence[Text], output: Output) -> list[Entry]:
        distinct = list(dict.fromkeys(texts))
        keyed = dict(zip(distinct, self._keys(output, distinct), strict=True))
        found = {text: entry for text, place in keyed.items() if (entry := self._memory.get(place)) is not None}
        if self._cache and len(found) < len(keyed):
            kept = self._cache.get([place for text, place in keyed.items() if text not in found])
            for text, place in keyed.items():
                if place in kept:
                    found[text] = unpack(kept[place])
                    self._memory.put(place, found[text])
        for pairs in (False, True):
            # Sorted, so that batches, and with them the last digits of vectors, do not depend on the order of a file.
            missing = sorted(text for text in distinct if text not in found and isinstance(text, tuple) is pairs)
            outputs = list(dict.fromkeys([output, *self._expected[pairs]]))
            for window, columns in self._encode(missing, outputs) if missing else ():
                self._keep([keyed[text] for text in window], columns[0])
                for other, entries in zip(outputs[1:], columns[1:], strict=True):
                    self._keep(self._keys(other, window), entries)
                found.update(zip(window, columns[0], strict=True))
        return [found[text] for text in texts]

    def _keys(self, output: Output, texts: Sequence[Text]) -> list[bytes]:
        tuned = f" {self._tuning.digest}" if self._tuning else ""
        return keys(f"{self.files.digest} {self.dtype} {self.files.limit}{tuned}", output, texts)

    def _keep(self, places: Sequence[bytes], entries: Sequence[Entry]) -> None:
        """What is at hand already stays as it is: last digits depend on what a text was encoded with."""
        new = {place: entry for place, entry in zip(places, entries, strict=True) if place not in self._memory}
        if self._cache:
            self._cache.put({place: pack(entry) for place, entry in new.items()})
        for place, entry in new.items():
            self._memory.put(place, entry)

    def _encode(self, texts: list[Text], outputs: list[Output]) -> Iterator[tuple[list[Text], list[list[Entry]]]]:
        """Windows of texts, each with a list of entries for every output. The next window is tokenised while the model
        works, and what is encoded is kept window by window."""

        network = self._loaded(max(output.layer for output in outputs))
        first = network.window // 8  # small, since nothing else happens while it is tokenised
        starts = [0, *range(first, len(texts), network.window)]
        windows = [texts[start:end] for start, end in pairwise([*starts, len(texts)]) if start < end]
        with (
            ThreadPoolExecutor(1) as worker,
            progress_bar(total=0, shown=self._progress, unit="token", unit_scale=True) as bar,
        ):
            bar.set_description(self.identity)
            places = any(output.kind == TOKENS for output in outputs)
            ahead = worker.submit(self.tokenizer.encode, windows[0], places)
            for number, window in enumerate(windows):
                encoded = ahead.result()
                if number + 1 < len(windows):
                    ahead = worker.submit(self.tokenizer.encode, windows[number + 1], places)
                bar.total = (bar.total or 0) + sum(map(len, encoded))
                self.encoded += len(window)
                yield window, _run(network, encoded, outputs, bar.update)

    def _loaded(self, layers: int) -> EncoderNetwork:
        from dialogauge.encode.network import EncoderNetwork

        deepest = max([layers, *(output.layer for expected in self._expected.values() for output in expected)])
        if self._network is None or self._network.layers < deepest:
            self._network = EncoderNetwork(
                self.files, self.dtype, self.files.layers if self._tuning else deepest, self._tuning
            )
        return self._network


def batches(lengths: Sequence[int], budget: int, enough: int, padding: bool = True) -> Iterator[NDArray[np.int64]]:
    """Places of texts, longest first, so that memory that does not suffice shows at once.

    A batch holds at most `budget` tokens, padding included (a longer text stands alone), and closes once it has
    `enough` and the next text would need much padding; without `padding`, when the next text is of another length.
    """
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")
    falling = [lengths[place] for place in order.tolist()]
    start = 0
    for place in range(1, len(order) + 1):
        longest = falling[start]
        tokens = longest * (place - start)
        if place < len(order):
            fits = tokens + longest <= budget
            alike = longest <= SPREAD * falling[place] or tokens < enough if padding else longest == falling[place]
            if fits and alike:
                continue
        yield order[start:place]
        start = place


class Memory(Generic[T]):
    """A dictionary that lets go of what was used longest ago once it holds more than `limit` bytes."""

    def __init__(self, limit: int, size: Callable[[T], int]) -> None:
        self._limit = limit
        self._size = size
        self._items: OrderedDict[bytes, T] = OrderedDict()
        self.bytes = 0

    def get(self, key: bytes) -> T | None:
        item = self._items.get(key)
        if item is not None:
            self._items.move_to_end(key)
        return item

    def put(self, key: bytes, item: T) -> None:
        if (old := self._items.pop(key, None)) is not None:
            self.bytes -= self._size(old)
        self._items[key] = item
        self.bytes += self._size(item)
        while self.bytes > self._limit and len(self._items) > 1:
            _, gone = self._items.popitem(last=False)
            self.bytes -= self._size(gone)

    def __contains__(self, key: bytes) -> bool:
        return key in self._items

    def __len__(self) -> int:
        return len(self._items)


def _run(network: EncoderNetwork, encoded: list[TokenizedText], outputs: list[Output], tick: Any) -> list[list[Entry]]:
    """For each output the entries in the order of the texts. A batch is fetched only after the next one is on its way,
    so that a GPU never waits."""
    columns: list[list[Any]] = [[None] * len(encoded) for _ in outputs]
    waiting: tuple[Any, list[Any]] | None = None
    lengths = [len(one.ids) for one in encoded]
    for places in batches(lengths, network.budget, network.enough, network.padding):
        for part, states in _forward(network, places, encoded, outputs):
            if waiting:
                _fetch(*waiting, encoded, columns)
            waiting = part, states
            tick(sum(lengths[place] for place in part.tolist()))
    if waiting:
        _fetch(*waiting, encoded, columns)
    return columns


def _forward(
    network: EncoderNetwork, places: Any, encoded: list[TokenizedText], outputs: list[Output]
) -> Iterator[tuple[Any, Any]]:
    """The batch, in halves where memory does not suffice for the whole, which counts for all that follow."""
    from dialogauge.encode.network import out_of_memory, too_long_alone

    tokens = len(encoded[places[0]]) * len(places)
    if tokens <= network.budget or len(places) == 1:
        try:
            states = network([encoded[place] for place in places], outputs)
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
            if len(places) == 1:
                raise too_long_alone(encoded[places[0]]) from error
            network.budget = tokens // 2
        else:
            yield places, states
            return
    for half in np.array_split(places, 2):
        yield from _forward(network, half, encoded, outputs)


def _fetch(places: Any, states: list[Any], encoded: list[TokenizedText], columns: list[list[Any]]) -> None:
    for column, tensor in zip(columns, states, strict=True):
        array = tensor.cpu().numpy()
        if not np.isfinite(array).all():
            raise InputError("the encoder gives numbers that are not finite: its weights are damaged")
        for row, place in enumerate(places.tolist()):
            one = encoded[place]
            if array.ndim == 2:
                column[place] = Vector(array[row].copy(), one.dropped, one.coverage)
            else:
                own = array[row, : len(one)].copy()
                column[place] = Tokens(one.ids, one.offsets, one.special, own, one.dropped, coverage=one.coverage)
