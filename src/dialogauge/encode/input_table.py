"""A transformer's input embeddings as static word vectors: `static:minilm`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dialogauge.encode.base import Split, Tokens
from dialogauge.encode.safetensors_table import read_table
from dialogauge.encode.static_base import StaticEncoder
from dialogauge.encode.tokenizer import FAILS, load_tokenizer, tokenizer_errors, unknown_token
from dialogauge.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENIZER = "tokenizer.json"
_BATCH = 1024


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
