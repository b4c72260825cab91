"""chrF and chrF++ (Popović 2015, 2017), equal to sacreBLEU's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import punctuation
from typing import Literal

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.metrics.base import Floats, Values
from dialogauge.metrics.prepared import SumMetric, Sums

CHARACTERS = 6
"""The longest n-grams of characters."""
BETA = 2
"""How many times as much recall counts as precision."""
MARKS = frozenset(punctuation)


def chrf_words(text: str) -> list[str]:
    """Runs without white space, of which one mark at the end, or else one at the start, is a word of its own."""
    words: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in MARKS:
            words += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in MARKS:
            words += [word[0], word[1:]]
        else:
            words.append(word)
    return words


@lru_cache(maxsize=1 << 12)
def _ngrams(text: str, words: int) -> tuple[Counter[str], ...]:
    """Those of characters without white space, order by order, then those of words."""
    characters, tokens = "".join(text.split()), chrf_words(text) if words else []
    return (
        *(Counter(characters[i : i + n] for i in range(len(characters) - n + 1)) for n in range(1, CHARACTERS + 1)),
        *(Counter(" ".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1)) for n in range(1, words + 1)),
    )


def chrf_counts(hypothesis: str, references: Sequence[str], words: int = 0) -> list[int]:
    """For each order how many n-grams the hypothesis has (none where the reference has none), the reference has, and
    both have: against the reference that gives the best score, the first of equals."""
    mine = _ngrams(hypothesis, words)
    counts = [_counts(mine, _ngrams(reference, words)) for reference in references]
    if len(counts) == 1:
        return counts[0]
    return max(counts, key=lambda each: float(chrf_from_counts(np.array(each, dtype=np.float64))))


def _counts(mine: Sequence[Counter[str]], theirs: Sequence[Counter[str]]) -> list[int]:
    found = []
    for own, other in zip(mine, theirs, strict=True):
        matches = sum(min(count, other[ngram]) for ngram, count in own.items() if ngram in other)
        found += [own.total() if other else 0, other.total(), matches]
    return found


def chrf_from_counts(counts: Floats) -> Floats:
    """chrF of counts as `chrf_counts` gives them, or of their sums; leading axes are kept. Orders that either side has
    no n-grams of are left out; 0 where nothing matches."""
    mine, theirs, matches = counts[..., ::3], counts[..., 1::3], counts[..., 2::3]
    both = (mine > 0) & (theirs > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        orders = both.sum(axis=-1)
        precision = np.where(both, matches / mine, 0.0).sum(axis=-1) / orders
        recall = np.where(both, matches / theirs, 0.0).sum(axis=-1) / orders
        score = 100 * (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall)
    return np.where(matches.sum(axis=-1) > 0, score, 0.0)


def sentence_chrf(hypothesis: str, references: Sequence[str], words: int = 0) -> float:
    """chrF of one response, 0 to 100; with `words` = 2 it is chrF++."""
    return float(chrf_from_counts(np.array(chrf_counts(hypothesis, references, words), dtype=np.float64)))


def corpus_chrf(hypotheses: Sequence[str], references: Sequence[Sequence[str]], words: int = 0) -> float:
    """chrF of many responses, 0 to 100; `references[i]` are those of response i."""
    counts = [chrf_counts(text, refs, words) for text, refs in zip(hypotheses, references, strict=True)]
    return float(chrf_from_counts(np.sum(counts, axis=0, dtype=np.float64)))


@dataclass(frozen=True)
class Chrf(SumMetric):
    """Corpus chrF from summed counts. It needs no words, and so is the same in every script. An empty response adds its
    reference's n-grams and no match."""

    name = "chrf"
    title = "overlap of characters with the references, 0 to 100"
    citations = ("popovic2015chrf", "popovic2017chrf", "post2018call")
    higher_is_better = True
    bounds = (0.0, 100.0)
    needs = (frozenset({"references"}),)
    main = "2"

    words: Literal[0, 2] = 0
    """The longest n-grams of words that count beside those of characters; 2 makes it chrF++."""
    lowercase: bool = False

    def measure(self, turns: Sequence[Turn]) -> Floats:
        rows = [self._row(turn.response, turn.references) for turn in turns]
        return np.array(rows, dtype=np.float64).reshape(len(turns), 3 * (CHARACTERS + self.words))

    def _row(self, response: str, references: Sequence[str]) -> list[int]:
        if self.lowercase:
            response, references = response.lower(), [text.lower() for text in references]
        return chrf_counts(response, references, self.words)

    def conclude(self, summary: Sums) -> Values:
        return {"": np.where(summary.n > 0, chrf_from_counts(summary.total), np.nan)}

    def per_turn(self, measures: Floats) -> Floats:
        return chrf_from_counts(measures)

    def recipe(self) -> dict[str, str]:
        return {"characters": str(CHARACTERS), "beta": str(BETA)}
