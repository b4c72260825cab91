"""Encoders that give a word the same vector wherever it stands: files of word vectors (`static:PATH`) and a
transformer's input embeddings (`static:minilm`)."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dialogauge.encode.base import Coverage, Encoder, Pool, Pooled, Split, Text, Tokens, Vectors, fully_covered
from dialogauge.encode.find import INDEX, WEIGHTS
from dialogauge.encode.tokenizer import FAILS, load_tokenizer, tokenizer_errors, unknown_token
from dialogauge.encode.word_vectors.store import WordVectorStore, cached_store
from dialogauge.errors import InputError, UnsuitedEncoder, quote_all
from dialogauge.files import cache_folder, expanded
from dialogauge.text.words import RECIPE
from dialogauge.text.words import words as nltk_words

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_REWRITTEN = frozenset({"``", "''"})

_SUFFIXES = (".gz", ".txt", ".bin")

_TABLE = re.compile(r"(?:.*\.)?word_embeddings?\.weight")
_LOOKED_FOR = "the table of input embeddings, …word_embeddings.weight or …word_embedding.weight"

TOKENIZER = "tokenizer.json"
_BATCH = 1024


class StaticEncoder(Encoder):
    """Looks words up in a table as they stand. One that is not in it has no vector: it is left out of the tokens and
    counted in `Tokens.unknown`."""

    def __init__(self, identity: str, table: Vectors) -> None:
        self.identity = identity
        self._table = table

    @property
    def dim(self) -> int:
        return int(self._table.shape[1])

    def __contains__(self, word: str) -> bool:
        return self._rows([word])[word] >= 0

    def vector(self, word: str) -> Vectors | None:
        """The vector of a word by the same rule as in a text, or None."""
        row = self._rows([word])[word]
        return np.array(self._table[row]) if row >= 0 else None

    def tokens(self, texts: Sequence[str], layer: int | None = None, split: Split | None = None) -> list[Tokens]:
        """The known words of each text in order, with their rows of the table as ids. `split` replaces the
        encoder's own way from a text to words. There is no layer but the table, which is also layer 0."""
        self._refuse_layer(layer)
        return list(self._each(texts, split))

    def pooled(self, texts: Sequence[Text], pool: Pool = "mean", layer: int | None = None) -> Pooled:
        """The mean or the maximum over the known words of each text; zeros for a text that has none."""
        self.expect(pool, pairs=False, layer=layer)
        single = [text for text in texts if isinstance(text, str)]
        if len(single) < len(texts):
            raise InputError(f"the encoder {self.identity} takes single texts, found a (context, response) pair")
        vectors = np.zeros((len(single), self.dim), np.float32)
        coverage = fully_covered(len(single))
        for vector, covered, tokens in zip(vectors, coverage, self._each(single, None), strict=True):
            covered[:] = tokens.coverage
            if len(tokens.states):
                vector[:] = tokens.states.max(0) if pool == "max" else tokens.states.mean(0, dtype=np.float64)
        return Pooled(vectors, np.zeros(len(single), np.int32), coverage)

    @abstractmethod
    def _each(self, texts: Sequence[str], split: Split | None) -> Iterator[Tokens]:
        """The tokens of each text, one text after the other."""

    @abstractmethod
    def _rows(self, words: Iterable[str]) -> dict[str, int]:
        """The row of each distinct word, -1 where it has none."""

    def _each_by_words(self, texts: Sequence[str], split: Split) -> Iterator[Tokens]:
        listed = [split(text) for text in texts]
        rows = self._rows(chain.from_iterable(listed))
        for text, words in zip(texts, listed, strict=True):
            yield self._tokens([rows[word] for word in words], spans(text, words))

    def _tokens(self, rows: ArrayLike, offsets: ArrayLike) -> Tokens:
        """Of rows where -1 stands for a word without a vector."""
        every: NDArray[np.int32] = np.asarray(rows, np.int32)
        known = every >= 0
        ids = every[known]
        places = np.asarray(offsets, np.int32).reshape(-1, 2)[known]
        special = np.zeros(len(ids), np.bool_)
        unknown = len(every) - len(ids)
        coverage = Coverage(len(every), unknown, illegible=bool(unknown) and not len(ids))
        return Tokens(ids, places, special, self._table[ids], unknown=unknown, coverage=coverage)

    def expect(self, kind: str, *, pairs: bool, layer: int | None = None) -> None:  # noqa: ARG002
        """Refuses what a table of words has not; whether there are pairs shows in the texts."""
        self._refuse_layer(layer)
        if kind not in ("tokens", "mean", "max"):
            raise UnsuitedEncoder(f"the encoder {self.identity} has no {kind!r} vector; choose pool=mean or pool=max")

    def _refuse_layer(self, layer: int | None) -> None:
        if layer not in (None, 0):
            raise InputError(f"the encoder {self.identity} has no layers, found layer={layer}; leave it out")


class StaticVectors(StaticEncoder):
    """The vectors of a file, for words as `dialogauge.text.words` finds them (lower-cased) unless `tokens` is
    given a `split`. Ids are rows in the order of the file."""

    def __init__(self, store: WordVectorStore, identity: str) -> None:
        super().__init__(identity, store.vectors)
        self._store = store

    def __len__(self) -> int:
        """How many words have a vector."""
        return len(self._store.words)

    def recipe(self) -> dict[str, str]:
        return {"enc": f"static:{self.identity}", **RECIPE, "unknown": "left-out"}

    def _each(self, texts: Sequence[str], split: Split | None) -> Iterator[Tokens]:
        return self._each_by_words(texts, split or nltk_words)

    def _rows(self, words: Iterable[str]) -> dict[str, int]:
        distinct = list(dict.fromkeys(words))
        return dict(zip(distinct, self._store.find(distinct).tolist(), strict=True))


class InputTable(StaticEncoder):
    """The vectors that a Hugging Face encoder gives its tokens before its first layer. A text's tokens are the
    model's own, without the special ones and without a limit; its unknown token has no vector here.

    With a `split`, each word must be in the vocabulary whole, as it stands or lower-cased. Vocabularies that mark
    the start of a word (Ġ in byte-level BPE, ▁ in SentencePiece) hold most words twice: with the mark, which is the
    word, and without, which is also an end of longer words. The one with the mark is taken first.
    """

    def __init__(self, directory: Path, identity: str, languages: frozenset[str] | None = None) -> None:
        if not directory.is_dir():
            raise InputError("expected the directory of a model; there is none", directory)
        self._directory = directory
        tokenizer = _tokenizer(directory)
        super().__init__(identity, read_table(directory))
        self._languages = languages
        with tokenizer_errors(directory / TOKENIZER, FAILS):
            shape = json.loads(tokenizer.to_str())
            self._vocabulary: dict[str, int] = tokenizer.get_vocab()
            self._unknown = unknown_token(tokenizer)
        self._tokenizer = tokenizer
        parts = json.dumps([shape.get(part) for part in ("normalizer", "pre_tokenizer", "decoder")], ensure_ascii=False)
        self._bytes = _byte_letters() if '"ByteLevel"' in parts else None
        self._mark = "Ġ" if self._bytes else "▁" if "▁" in parts else ""

    def __len__(self) -> int:
        """How many rows the table has."""
        return len(self._table)

    @property
    def languages(self) -> frozenset[str] | None:
        return self._languages

    def recipe(self) -> dict[str, str]:
        return {"enc": f"static:{self.identity}", "words": "its-tokenizer", "unknown": "left-out"}

    def _each(self, texts: Sequence[str], split: Split | None) -> Iterator[Tokens]:
        if split is not None:
            yield from self._each_by_words(texts, split)
            return
        for start in range(0, len(texts), _BATCH):
            batch = list(texts[start : start + _BATCH])
            with tokenizer_errors(self._directory / TOKENIZER, FAILS):
                encodings = self._tokenizer.encode_batch(batch, add_special_tokens=False)
            for encoding in encodings:
                ids = np.array(encoding.ids, np.int64)
                yield self._tokens(np.where(self._has_vector(ids), ids, -1), encoding.offsets)

    def _has_vector(self, ids: Any) -> Any:
        """A tokenizer can have more tokens than the model: those added later."""
        return (ids != self._unknown) & (ids < len(self._table))

    def _rows(self, words: Iterable[str]) -> dict[str, int]:
        return {word: self._row(word) for word in dict.fromkeys(words)}

    def _row(self, word: str) -> int:
        for form in (word, word.lower()):
            letters = self._spelled(form)
            for spelling in dict.fromkeys((self._mark + letters, letters)):
                row = self._vocabulary.get(spelling, self._unknown)
                if self._has_vector(row):
                    return row
        return -1

    def _spelled(self, word: str) -> str:
        """A word as the vocabulary writes it: byte-level ones have a letter for each byte."""
        if self._bytes is None:
            return word
        return "".join(self._bytes[byte] for byte in word.encode("utf-8", "surrogatepass"))


def open_static(path: Path | str, folder: Path | None = None, progress: bool = False) -> StaticVectors:
    """The vectors of a GloVe text, word2vec text or word2vec binary file, plain or gzip. The first time it is
    converted into `folder` (by default in the cache); afterwards it opens without being read."""
    source = expanded(path)
    store = cached_store(source, folder or cache_folder() / "vectors", progress)
    return StaticVectors(store, f"{_bare_name(source)}@{store.about['sha256'][:8]}")


def spans(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Where each word stands in the text, whatever its case, searched for from the end of the last one that was
    found; (0, 0) where it does not stand there. NLTK writes other quotes than the text has: its `` and '' count
    as found only where they stand next, or else a later pair could draw all that follows behind it."""
    lowered = text.lower()
    places, end = [], 0
    for word in words:
        sought = word.lower()
        start = _next(lowered, sought, end) if sought in _REWRITTEN else lowered.find(sought, end)
        found = start >= 0 and bool(sought)
        if found:
            end = start + len(sought)
        places.append((start, end) if found else (0, 0))
    if len(lowered) == len(text):
        return places
    # Some letters are two when lower-cased: İ.
    origins = [place for place, letter in enumerate(text) for _ in letter.lower()]
    return [(origins[start], origins[end - 1] + 1) if end else (0, 0) for start, end in places]


def read_table(directory: Path) -> Vectors:
    """The table as 32-bit numbers, whatever it is stored as."""
    from safetensors import SafetensorError, safe_open

    file, name = _place(directory)
    try:
        with safe_open(file, framework="numpy") as tensors:
            found = [key for key in tensors.keys() if _TABLE.fullmatch(key)]  # noqa: SIM118, it is no dict
            name = name or _only(found, file)
            kind, shape = tensors.get_slice(name).get_dtype(), tensors.get_slice(name).get_shape()
            table = _bfloat16(file, name) if kind == "BF16" else tensors.get_tensor(name)
    except (SafetensorError, OSError) as error:
        raise InputError(f"cannot be read as safetensors: {error}", file) from None
    if len(shape) != 2 or kind not in ("F64", "F32", "F16", "BF16"):
        raise InputError(f"expected {_LOOKED_FOR} with two axes of floating-point numbers, found {kind} {shape}", file)
    return np.ascontiguousarray(table.reshape(shape), np.float32)


def _next(text: str, sought: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start if text.startswith(sought, start) else -1


def _bare_name(path: Path) -> str:
    name = path.name
    while (shorter := _without_suffix(name)) != name:
        name = shorter
    return name


def _without_suffix(name: str) -> str:
    for suffix in _SUFFIXES:
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name


def _place(directory: Path) -> tuple[Path, str | None]:
    """The file that holds the table and, where an index says so, the table's name."""
    if (whole := directory / WEIGHTS).is_file():
        return whole, None
    index = directory / INDEX
    if not index.is_file():
        raise InputError(f"expected the weights of a model, {WEIGHTS} or {INDEX}; found neither", directory)
    try:
        files = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        tables = {key: Path(file).name for key, file in files.items() if _TABLE.fullmatch(key)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"cannot be read as an index of weights: {error!r}", index) from None
    name = _only(list(tables), index)
    file = directory / tables[name]
    if not file.is_file():
        raise InputError(f"{INDEX} says that it holds {name}; there is no such file", file)
    return file, name


def _only(names: list[str], file: Path) -> str:
    if len(names) != 1:
        raise InputError(f"expected {_LOOKED_FOR}, found {quote_all(sorted(names)) or 'no such name'}", file)
    return names[0]


def _bfloat16(file: Path, name: str) -> Vectors:
    """NumPy has no bfloat16: it is the upper half of a 32-bit float. A safetensors file starts with the length of
    its JSON header in 8 bytes; the places given there count from the header's end."""
    with file.open("rb") as raw:
        length = int.from_bytes(raw.read(8), "little")
        start, end = json.loads(raw.read(length))[name]["data_offsets"]
        raw.seek(8 + length + start)
        halves = np.frombuffer(raw.read(end - start), "<u2")
    return (halves.astype(np.uint32) << 16).view(np.float32)


def _tokenizer(directory: Path) -> Tokenizer:
    file = directory / TOKENIZER
    if not file.is_file():
        raise InputError(f"expected the model's {TOKENIZER}; there is none", directory)
    tokenizer: Tokenizer = load_tokenizer(file)
    return tokenizer


def _byte_letters() -> list[str]:
    """The letter that stands for each byte in byte-level BPE (GPT-2): printable ones for themselves, the others
    for the letters from U+0100 on in order."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = (chr(0x100 + place) for place in range(256))
    return [chr(byte) if byte in printable else next(others) for byte in range(256)]
