"""Texts as ELMo reads them: words in their own case, and words as letters, which are bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.encode.base import Text
from dialogauge.encode.static import spans
from dialogauge.errors import InputError, quote
from dialogauge.text.words import words

BEGINS_TEXT, ENDS_TEXT, BEGINS_WORD, ENDS_WORD, PADDING = range(256, 261)
REWRITTEN = frozenset({"``", "''"})
RECIPE = {"words": "nltk-punkt-cased"}

Word = str | int
"""An int is one of the marks around a text, which are words of one letter."""
Places = list[tuple[int, int]]


class CasedWords(NamedTuple):
    words: list[str]
    places: Places
    """First character in the text, and one past the last."""


def cased_words(text: str) -> CasedWords:
    """The words of `text.words`, as the text writes them: ELMo tells capitals apart, and was trained on text with plain
    quotation marks, which NLTK rewrites."""
    found = words(text)
    places = spans(text, found)
    cased, end = [], 0
    for number, (word, place) in enumerate(zip(found, places, strict=True)):
        if word in REWRITTEN and place == (0, 0) and (start := text.find('"', end)) >= 0:
            places[number] = place = (start, start + 1)
        start, stop = place
        end = stop or end
        cased.append(text[start:stop] if stop else word)
    return CasedWords(cased, places)


def read(text: Text) -> CasedWords:
    """A pair is read as one text: ELMo knows no mark between two. Its places are of no use, and left out."""
    if isinstance(text, str):
        return cased_words(text)
    return CasedWords([word for part in text for word in cased_words(part).words], [])


def word_ids(listed: Sequence[str]) -> NDArray[np.int32]:
    """31 bits of a hash of each word: there is no vocabulary, and the same word has the same number everywhere."""
    digests = b"".join(hashlib.blake2b(_bytes(word), digest_size=4).digest() for word in listed)
    return (np.frombuffer(digests, "<u4") >> 1).astype(np.int32)


def letters(listed: Sequence[Word], longest: int) -> NDArray[np.int64]:
    """A row for each word: the mark of its beginning, its bytes, the mark of its end, and padding."""
    rows = np.full((len(listed), longest), PADDING, np.int64)
    rows[:, 0] = BEGINS_WORD
    for row, word in zip(rows, listed, strict=True):
        inside = [word] if isinstance(word, int) else list(_bytes(word)[: longest - 2])
        row[1 : len(inside) + 1] = inside
        row[len(inside) + 1] = ENDS_WORD
    return rows


def _bytes(word: str) -> bytes:
    try:
        return word.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"half of a surrogate pair in {quote(word)}: no Unicode text holds one alone") from error
