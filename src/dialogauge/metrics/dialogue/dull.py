"""How much of a response is dull: content words, and those left once phrases that fit any context are taken out."""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path

from dialogauge.corpus.reading.source import decode, raw_lines, sha256_since, state_of
from dialogauge.errors import InputError, quote

PHRASES, FUNCTION_WORDS = "dull-phrases.txt", "function-words.txt"
COMMENT = "#"
BREAK, TAKEN_OUT = ".", ""
"""In place of words: the end of a sentence or clause, which no phrase goes across, and what a phrase left behind."""

PIECE = re.compile(r"[^\W_ʼ]+|[.!?;:…。！？]")
"""A word, or a mark that ends a sentence or a clause. ʼ (U+02BC) is a letter to Unicode, and an apostrophe in texts."""
NEGATED = r"do|does|did|is|are|was|were|have|has|had|would|could|should|must|need|ai"
CONTRACTED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b(?:can ?t|ca ?n ?t|cannot)\b"), "can not"),
    (re.compile(r"\bwo ?n ?t\b"), "will not"),
    (re.compile(rf"\b({NEGATED}) ?n ?t\b"), r"\1 not"),
    (re.compile(r"\bdunno\b"), "do not know"),
    (re.compile(r"\bi(?=(?:m|ve)\b)"), "i "),
    (re.compile(r"\b(that|what)(?=s\b)"), r"\1 "),
    (re.compile(r"\b(you|they)(?=re\b)"), r"\1 "),
    (re.compile(r"\bm\b"), "am"),
    (re.compile(r"\bs\b"), "is"),
    (re.compile(r"\bre\b"), "are"),
    (re.compile(r"\bve\b"), "have"),
    (re.compile(r"\bll\b"), "will"),
)
"""For a text whose apostrophes are spaces. Its 's is always "is", never "has" or whose something is."""
NO_PHRASE = re.compile(r"[\\^$*+|()\[\]{}<>]")


def dull_factor(words: int, left: int) -> float:
    """1 + log10((2 + left) / (2 + words)): 1 where nothing dull was taken out of so many content words, less the more
    was; below 0 where less than a tenth is left (18 dull words and no other)."""
    return 1 + math.log10((2 + left) / (2 + words))


def plain_words(text: str) -> list[str]:
    """The lower-case words with contractions spelt out, however they are written ("don't", "do n't", "don t", "dont"
    are "do" and "not"), and a break for every mark that ends a sentence or a clause. Other marks are left out: "me,
    too" is "me too". Emoji are no words."""
    pieces = PIECE.findall(unicodedata.normalize("NFC", text.lower()))
    spaced = " ".join(piece if piece.isalnum() else BREAK for piece in pieces)
    for pattern, spelt_out in CONTRACTED:
        spaced = pattern.sub(spelt_out, spaced)
    return spaced.split()


def content_words(words: Iterable[str]) -> int:
    """How many of plain words are neither function words nor breaks."""
    no_content = function_words()
    return sum(word not in no_content for word in words)


@dataclass(frozen=True)
class DullPhrases:
    """Phrases as plain words, and the first digits of the hash of the file they come from."""

    phrases: frozenset[tuple[str, ...]]
    digest: str

    @cached_property
    def lengths(self) -> list[int]:
        return sorted({len(phrase) for phrase in self.phrases}, reverse=True)

    def take_out(self, words: Sequence[str]) -> list[str]:
        """The words without the phrases: the longest first, of those as long the first in the text. What stood around a
        phrase does not become a new one."""
        left = list(words)
        for length in self.lengths:
            for start in range(len(left) - length + 1):
                if tuple(left[start : start + length]) in self.phrases:
                    left[start : start + length] = [TAKEN_OUT] * length
        return left

    def count(self, text: str) -> tuple[int, int]:
        """Content words of the text, and those left without the phrases."""
        words = plain_words(text)
        return content_words(words), content_words(self.take_out(words))


def read_phrases(path: Path) -> DullPhrases:
    """A file of one phrase a line. Empty lines and lines that begin with # do not count."""
    state = state_of(path)
    phrases = _phrases(((number, decode(raw, path, number)) for number, raw in raw_lines(path)), path)
    return DullPhrases(phrases, sha256_since(path, state)[:8])


@cache
def own_phrases() -> DullPhrases:
    """Those that come with dialogauge."""
    text = _data(PHRASES)
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()[:8]
    return DullPhrases(_phrases(enumerate(text.splitlines(), 1), Path(PHRASES)), digest)


@cache
def function_words() -> frozenset[str]:
    """English function words, and what stands in place of words."""
    lines = [line for line in _data(FUNCTION_WORDS).splitlines() if not line.startswith(COMMENT)]
    return frozenset({BREAK, TAKEN_OUT, *(word for line in lines for word in line.split())})


def _phrases(lines: Iterable[tuple[int, str]], path: Path) -> frozenset[tuple[str, ...]]:
    found = set()
    for number, line in lines:
        line = line.strip()
        if not line or line.startswith(COMMENT):
            continue
        if sign := NO_PHRASE.search(line):
            message = f"expected a phrase of plain words, found {sign[0]!r} in {quote(line)}: patterns are no regular"
            raise InputError(f"{message} expressions", path, number)
        words = " ".join(plain_words(line)).strip(f" {BREAK}").split()
        if not words:
            raise InputError(f"expected a phrase of plain words, found none in {quote(line)}", path, number)
        found.add(tuple(words))
    if not found:
        raise InputError("has no phrases: expected one a line", path)
    return frozenset(found)


def _data(name: str) -> str:
    return files("dialogauge.metrics").joinpath("data", name).read_text(encoding="utf-8")
