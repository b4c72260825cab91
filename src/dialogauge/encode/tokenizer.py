"""A model's own tokeniser, without the model: texts and pairs in, token ids out."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.encode.base import Coverage, Text
from dialogauge.encode.find import ModelFiles
from dialogauge.encode.model_files import LARGEST_FILE
from dialogauge.errors import InputError, quote

Ids = NDArray[np.int32]
FAILS = "its tokeniser fails"
PANIC = "PanicException"
"""What a library written in Rust raises where it meets what it did not expect; the class cannot be imported."""


@dataclass(slots=True)
class TokenizedText:
    """One text or pair as the model reads it."""

    ids: Ids
    segments: Ids | None
    """Which of a pair's texts each token is of, where the model asks for it."""
    offsets: Ids | None
    special: NDArray[np.bool_] | None
    dropped: int = 0
    coverage: Coverage = field(default_factory=Coverage)

    def __len__(self) -> int:
        return len(self.ids)


class Tokenizer:
    """Cuts what is too long: of a pair the beginning of the context, and the end of the response only where it does not
    fit alone; of a single text the end."""

    def __init__(self, files: ModelFiles) -> None:
        self._limit = files.limit
        self._segments = files.segments
        self._directory = files.directory
        self._tokenizer = _load(files)
        files.refuse_changed()
        with tokenizer_errors(files.directory, FAILS):
            self._added = {pair: self._tokenizer.num_special_tokens_to_add(pair) for pair in (False, True)}
            self._unknown = unknown_token(self._tokenizer)
        if not self._added[False]:
            raise InputError("its tokeniser adds no special tokens, as every encoder's does", files.directory)
        if self._limit <= max(self._added.values()):
            message = f"its limit of {self._limit} tokens leaves no room beside the special tokens"
            raise InputError(message, files.directory)
        self._blank = cache(lambda number: _is_punctuation(self.token(number)))

    @cached_property
    def marks_word_starts(self) -> bool:
        """Whether a word at the start of a text is another token than the same word inside, as in RoBERTa."""
        with tokenizer_errors(self._directory, FAILS):
            first, inside = (self._tokenizer.encode(text, add_special_tokens=False).ids for text in ("a", " a"))
        return bool(first != inside)

    def encode(self, texts: Sequence[Text], places: bool = True) -> list[TokenizedText]:
        """Without `places`, offsets and marks of special tokens are left out, which is twice as fast."""
        encode = self._tokenizer.encode_batch if places else self._tokenizer.encode_batch_fast
        with tokenizer_errors(self._directory, FAILS):
            try:
                encodings = encode(list(texts))
            except TypeError:
                refuse_surrogates(texts)
                raise
            return [self._read(text, one, places) for text, one in zip(texts, encodings, strict=True)]

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Only the ids, special tokens included."""
        return [one.ids.tolist() for one in self.encode(texts, places=False)]

    def token(self, number: int) -> str:
        """The token behind an id, as the vocabulary spells it."""
        return str(self._tokenizer.id_to_token(number))

    def _read(self, text: Text, encoding: Any, places: bool) -> TokenizedText:
        dropped = max(0, len(encoding) - self._limit)
        offsets = encoding.offsets if places else []
        if dropped:
            encoding, offsets = self._cut(text)
        ids = encoding.ids
        return TokenizedText(
            ids=np.array(ids, dtype=np.int32),
            segments=np.array(encoding.type_ids, dtype=np.int32) if self._segments else None,
            offsets=np.array(offsets, dtype=np.int32).reshape(-1, 2) if places else None,
            special=np.array(encoding.special_tokens_mask, dtype=np.bool_) if places else None,
            dropped=dropped,
            coverage=self._coverage(ids, encoding, isinstance(text, tuple)),
        )

    def _coverage(self, ids: list[int], encoding: Any, pair: bool) -> Coverage:
        tokens, unknown = len(ids) - self._added[pair], ids.count(self._unknown)
        if not unknown:
            return Coverage(tokens)
        said = [number for number, part in zip(ids, encoding.sequence_ids, strict=True) if part == int(pair)]
        lost = self._unknown in said and all(number == self._unknown or self._blank(number) for number in said)
        return Coverage(tokens, unknown, lost)

    def _cut(self, text: Text) -> tuple[Any, list[tuple[int, int]]]:
        """What fits, and where its tokens stand: a second pass would trim the spaces of byte-level tokens twice."""
        first, second = (text, None) if isinstance(text, str) else text
        room = self._limit - self._tokenizer.num_special_tokens_to_add(second is not None)
        parts = [self._tokenizer.encode(first, add_special_tokens=False)]
        if second is None:
            parts[0].truncate(room)
        else:
            parts.append(self._tokenizer.encode(second, add_special_tokens=False))
            parts[1].truncate(room)
            parts[0].truncate(room - len(parts[1]), direction="left")
        stands = iter([place for part in parts for place in part.offsets])
        whole = self._tokenizer.post_process(*parts)
        return whole, [(0, 0) if special else next(stands) for special in whole.special_tokens_mask]


def load_tokenizer(file: Path) -> Any:
    """A tokenizer.json, without the truncation and the padding that it asks for."""
    import tokenizers

    if file.stat().st_size > LARGEST_FILE:
        raise InputError(f"is larger than {LARGEST_FILE} bytes; no tokeniser is", file)
    with tokenizer_errors(file, "cannot be read as a tokeniser"):
        tokenizer = tokenizers.Tokenizer.from_file(str(file))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer


def unknown_token(tokenizer: Any) -> int:
    """The id of the token for whatever the vocabulary does not know; -1 where there is none, as with byte-level BPE."""
    name = getattr(tokenizer.model, "unk_token", None)
    number = tokenizer.token_to_id(name) if name else None
    if number is None and not hasattr(tokenizer.model, "unk_token"):  # Unigram has it in its file alone
        number = json.loads(tokenizer.to_str())["model"].get("unk_id")
    return -1 if number is None else int(number)


@contextmanager
def tokenizer_errors(path: Path, message: str) -> Iterator[None]:
    """The library answers odd files with exceptions of any kind, among them panics, which are no `Exception`."""
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != PANIC:
            raise
        raise InputError(f"{message}: {' '.join(str(error).split()) or type(error).__name__}", path) from error


def _is_punctuation(token: str) -> bool:
    """Also of the marks that vocabularies have for where a word starts or goes on: ▁, Ġ and ##."""
    return all(unicodedata.category(letter)[0] in "PZ" for letter in token.strip("▁Ġ").removeprefix("##"))


def refuse_surrogates(texts: Sequence[Text]) -> None:
    for text in texts:
        for part in (text,) if isinstance(text, str) else text:
            try:
                part.encode("utf-8")
            except UnicodeEncodeError as error:
                message = f"half of a surrogate pair in {quote(part)}: no Unicode text holds one alone"
                raise InputError(message) from error


def _load(files: ModelFiles) -> Any:
    file = files.directory / "tokenizer.json"
    if file.is_file():
        return load_tokenizer(file)
    from transformers import AutoTokenizer

    with tokenizer_errors(files.directory, "has no tokenizer.json, nor a tokeniser that can be converted"):
        if not any(True for pattern in ("vocab.*", "*.model") for _ in files.directory.glob(pattern)):
            raise OSError("no vocabulary")
        loaded = AutoTokenizer.from_pretrained(files.directory, local_files_only=True, trust_remote_code=False)
        tokenizer = loaded.backend_tokenizer
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer
