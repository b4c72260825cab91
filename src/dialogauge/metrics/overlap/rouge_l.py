"""ROUGE-L (Lin 2004), equal to the rouge-score package without its stemmer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat
from dialogauge.metrics.base import Floats
from dialogauge.metrics.prepared import MeanMetric, Sums

WORD = re.compile("[a-z0-9]+")


class RougeLScore(NamedTuple):
    """F-measure, precision and recall of the longest common subsequence."""

    f: float
    precision: float
    recall: float


def rouge_words(text: str) -> list[str]:
    """Runs of ASCII letters and digits, lower-cased. Other scripts have no words under this rule."""
    return WORD.findall(text.lower())


def lcs_length(a: Sequence[str], b: Sequence[str]) -> int:
    """Length of the longest common subsequence, by the bit-vector recurrence of Hyyrö (2004):
    a zero bit at position i of `row` says that the LCS grows at a[i]."""
    places: dict[str, int] = {}
    bit = 1
    for token in a:
        places[token] = places.get(token, 0) | bit
        bit <<= 1
    row = full = bit - 1
    for token in b:
        if matched := row & places.get(token, 0):
            row = (row + matched) | (row - matched)
    return len(a) - (row & full).bit_count()


def _score(hypothesis: Sequence[str], reference: Sequence[str]) -> RougeLScore:
    common = lcs_length(hypothesis, reference)
    if common == 0:
        return RougeLScore(0.0, 0.0, 0.0)
    precision, recall = common / len(hypothesis), common / len(reference)
    return RougeLScore(2 * precision * recall / (precision + recall), precision, recall)


_reference_words = lru_cache(maxsize=1 << 12)(rouge_words)


def rouge_l(hypothesis: str, references: Sequence[str]) -> RougeLScore:
    """ROUGE-L against the reference that gives the best F-measure (the first of equals). 0 where either
    side has no words."""
    words = rouge_words(hypothesis)
    scores = [_score(words, _reference_words(text)) for text in references]
    return scores[0] if len(scores) == 1 else max(scores, key=lambda score: score.f)


@lru_cache(maxsize=1 << 12)
def _row(response: str, references: tuple[str, ...]) -> tuple[float, ...]:
    """The score, and whether the response is in a script that has no words here."""
    score = rouge_l(response, references)
    wordless = not score.f and not rouge_words(response) and any(character.isalnum() for character in response)
    return *score, float(wordless)


@dataclass(frozen=True)
class RougeL(MeanMetric):
    """Mean ROUGE-L F-measure. An empty response scores 0."""

    name = "rouge_l"
    title = "longest common subsequence with a reference"
    citations = ("lin2004rouge",)
    higher_is_better = True
    bounds = (0.0, 1.0)
    needs = (frozenset({"references"}),)
    parts = ("precision", "recall")
    main = "f1"

    def measure(self, turns: Sequence[Turn]) -> Floats:
        rows = [_row(turn.response, turn.references) for turn in turns]
        return np.array(rows, dtype=np.float64).reshape(len(turns), 4)

    def caveats(self, summary: Sums) -> list[Caveat]:
        wordless = int(summary.total[-1])
        if not wordless:
            return []
        message = f"rouge_l knows only ASCII letters and digits: {wordless} responses in other scripts score 0"
        return [Caveat("no_words", message)]

    def recipe(self) -> dict[str, str]:
        return {"tok": "rouge-score", "stem": "no"}
