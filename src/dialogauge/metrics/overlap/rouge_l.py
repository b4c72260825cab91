"""ROUGE-L (Lin 2004), equal to the rouge-score package without its stemmer; of texts in other letters than Latin
ones, by words as their language has them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat
from dialogauge.metrics.base import Floats
from dialogauge.metrics.fitted import WordMetric
from dialogauge.metrics.prepared import MeanMetric, Sums
from dialogauge.text.fitting import LanguageFit, fit_of
from dialogauge.text.languages import ENGLISH
from dialogauge.text.splitters import AUTO, UAX29, split_by, words_recipe

WORD = re.compile("[a-z0-9]+")
BLOCK = 1 << 14
"""Bits of one number: a token costs as much as it is long, and each distinct one has its own."""
ACCENTED = LanguageFit((), (UAX29,))
"""For a language in Latin letters that someone names, and that has more of them than English."""


class RougeLScore(NamedTuple):
    """F-measure, precision and recall of the longest common subsequence."""

    f: float
    precision: float
    recall: float


def rouge_words(text: str) -> list[str]:
    """Runs of ASCII letters and digits, lower-cased. Other scripts have no words under this rule."""
    return WORD.findall(text.lower())


def lcs_length(a: Sequence[str], b: Sequence[str]) -> int:
    """Length of the longest common subsequence, by the bit-vector recurrence of Hyyrö (2004): a zero bit at position i
    of `row` says that the LCS grows at a[i]. The shorter side has the bits, `BLOCK` at a time, so that a long text
    costs no more than the other one is long, and the sums' carries lead from block to block."""
    if len(a) > len(b):
        a, b = b, a
    if len(a) <= BLOCK:
        return _lcs_of_block(a, b)
    grown, carries = 0, bytes(len(b))
    for start in range(0, len(a), BLOCK):
        more, carries = _lcs_of_next_block(a[start : start + BLOCK], b, carries)
        grown += more
    return grown


def _lcs_of_block(a: Sequence[str], b: Sequence[str]) -> int:
    places = _places(a)
    row = full = (1 << len(a)) - 1
    for token in b:
        if matched := row & places.get(token, 0):
            row = (row + matched) | (row - matched)
    return len(a) - (row & full).bit_count()


def _lcs_of_next_block(a: Sequence[str], b: Sequence[str], carries: bytes) -> tuple[int, bytes]:
    """What the LCS grows by within the block `a`, and the carries out of it, one for each token of `b`."""
    places, width = _places(a), len(a)
    row = full = (1 << width) - 1
    out = bytearray(len(b))
    for place, (token, carry) in enumerate(zip(b, carries, strict=True)):
        matched = row & places.get(token, 0)
        if matched or carry:
            total = row + matched + carry
            out[place] = total >> width
            row = (total & full) | (row - matched)
    return width - row.bit_count(), bytes(out)


def _places(a: Sequence[str]) -> dict[str, int]:
    """For each token the bits of the positions it stands at."""
    places: dict[str, int] = {}
    bit = 1
    for token in a:
        places[token] = places.get(token, 0) | bit
        bit <<= 1
    return places


def _score(hypothesis: Sequence[str], reference: Sequence[str]) -> RougeLScore:
    common = lcs_length(hypothesis, reference)
    if common == 0:
        return RougeLScore(0.0, 0.0, 0.0)
    precision, recall = common / len(hypothesis), common / len(reference)
    return RougeLScore(2 * precision * recall / (precision + recall), precision, recall)


_reference_words = lru_cache(maxsize=1 << 12)(rouge_words)


@cache
def words_by(way: str) -> Callable[[str], list[str]]:
    """rouge-score's words, or those of a splitter without marks: what has a letter, a digit or a symbol (an emoji)."""
    if way == AUTO:
        return _reference_words
    split = split_by(way)

    @lru_cache(maxsize=1 << 12)
    def without_marks(text: str) -> list[str]:
        return [word for word in split(text) if any(unicodedata.category(letter)[0] in "LNS" for letter in word)]

    return without_marks


def rouge_l(hypothesis: str, references: Sequence[str], words: str = AUTO) -> RougeLScore:
    """ROUGE-L against the reference that gives the best F-measure (the first of equals). 0 where either
    side has no words. `words` names a splitter; by default words are rouge-score's."""
    of_reference = _reference_words if words == AUTO else words_by(words)
    mine = rouge_words(hypothesis) if words == AUTO else of_reference(hypothesis)
    scores = [_score(mine, of_reference(text)) for text in references]
    return scores[0] if len(scores) == 1 else max(scores, key=lambda score: score.f)


@lru_cache(maxsize=1 << 12)
def _row(response: str, references: tuple[str, ...], words: str) -> tuple[float, ...]:
    """The score, and whether the response is in a script that has no words here."""
    score = rouge_l(response, references, words)
    wordless = not score.f and not words_by(words)(response) and any(character.isalnum() for character in response)
    return *score, float(wordless)


class RougeLMean(MeanMetric):
    """What ROUGE-L is, by whatever recipe."""

    name = "rouge_l"
    title = "longest common subsequence with a reference"
    citations = ("lin2004rouge",)
    higher_is_better = True
    bounds = (0.0, 1.0)
    needs = (frozenset({"references"}),)
    parts = ("precision", "recall")
    main = "f1"


@dataclass(frozen=True)
class RougeL(WordMetric[Floats, Sums], RougeLMean):
    """Mean ROUGE-L F-measure. An empty response scores 0."""

    def fit(self, language: str) -> LanguageFit | None:
        given = self.language is not None and language != ENGLISH
        return fit_of(language) or (ACCENTED if given else None)

    def measure(self, turns: Sequence[Turn]) -> Floats:
        rows = [_row(turn.response, turn.references, self.words) for turn in turns]
        return np.array(rows, dtype=np.float64).reshape(len(turns), 4)

    def caveats(self, summary: Sums) -> list[Caveat]:
        wordless = int(summary.total[-1])
        if not wordless:
            return []
        message = f"rouge_l knows only ASCII letters and digits: {wordless} responses in other scripts score 0"
        return [Caveat("no_words", message)]

    def recipe(self) -> dict[str, str]:
        return {**({"tok": "rouge-score"} if self.is_open else words_recipe(self.words)), "stem": "no"}
