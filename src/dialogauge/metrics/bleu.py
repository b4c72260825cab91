"""BLEU (Papineni et al. 2002), equal to sacreBLEU's defaults (Post 2018)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.metrics.base import Floats, Metric
from dialogauge.metrics.sums import Sums, sum_rows

ORDERS = 4
Ngrams = tuple[Counter[tuple[str, ...]], ...]

ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
SYMBOL = re.compile(r"([!-&(-+/:-@\[-`{-~])")
AFTER_NON_DIGIT = re.compile(r"([^0-9])([.,])")
BEFORE_NON_DIGIT = re.compile(r"([.,])([^0-9])")
DASH_AFTER_DIGIT = re.compile(r"([0-9])(-)")


def tokenize_13a(text: str) -> list[str]:
    """The tokens of mteval-v13a, the evaluation script of the WMT shared tasks: every ASCII symbol but
    the apostrophe, hyphen, period and comma stands alone; periods and commas stay inside numbers; a
    hyphen is split off after a digit."""
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in ENTITIES:
        text = text.replace(entity, character)
    text = SYMBOL.sub(r" \1 ", f" {text} ")
    text = AFTER_NON_DIGIT.sub(r"\1 \2 ", text)
    text = BEFORE_NON_DIGIT.sub(r" \1 \2", text)
    return DASH_AFTER_DIGIT.sub(r"\1 \2 ", text).split()


def count_ngrams(tokens: Sequence[str]) -> Ngrams:
    """Counts of the n-grams of order 1 to 4."""
    return tuple(Counter(zip(*(tokens[i:] for i in range(order)), strict=False)) for order in range(1, ORDERS + 1))


@lru_cache(maxsize=8192)
def _reference_ngrams(references: tuple[str, ...], lowercase: bool) -> tuple[Ngrams, tuple[int, ...]]:
    """The largest count of each n-gram in any reference, and the references' lengths."""
    tokenized = [tokenize_13a(text.lower() if lowercase else text) for text in references]
    best, *others = (count_ngrams(tokens) for tokens in tokenized)
    for other in others:
        best = tuple(mine | theirs for mine, theirs in zip(best, other, strict=True))
    return best, tuple(len(tokens) for tokens in tokenized)


def bleu_counts(hypothesis: str, references: Sequence[str], lowercase: bool = False) -> list[int]:
    """What BLEU needs of one turn: clipped matches per order, n-grams per order, the length of the
    hypothesis and that of the reference nearest in length (the shorter of two equally near)."""
    tokens = tokenize_13a(hypothesis.lower() if lowercase else hypothesis)
    clip, lengths = _reference_ngrams(tuple(references), lowercase)
    matches = [
        sum(min(count, limit[ngram]) for ngram, count in mine.items() if ngram in limit)
        for mine, limit in zip(count_ngrams(tokens), clip, strict=True)
    ]
    totals = [max(len(tokens) - order, 0) for order in range(ORDERS)]
    nearest = min(lengths, key=lambda length: (abs(length - len(tokens)), length))
    return [*matches, *totals, len(tokens), nearest]


def bleu_from_counts(counts: Floats, effective_order: bool = False) -> Floats:
    """BLEU of counts as `bleu_counts` gives them, or of their sums; leading axes are kept.

    An order without a match gets precision 1/(2^k · n-grams), k counting such orders (smoothing "exp").
    With no n-grams of some order at all the score is 0, unless `effective_order`, which leaves such orders
    out, as sacreBLEU does for single sentences. No match of any order: 0.
    """
    matches, totals = counts[..., :ORDERS], counts[..., ORDERS : 2 * ORDERS]
    length, reference = counts[..., -2], counts[..., -1]
    present = totals > 0
    unmatched = present & (matches == 0)
    halvings = np.cumsum(unmatched, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(unmatched, 0.5**halvings, matches) / totals
        logs = np.where(present, np.log(precision), 0.0).sum(axis=-1)
        orders = present.sum(axis=-1) if effective_order else np.where(present.all(axis=-1), ORDERS, 0)
        brevity = np.where(length < reference, np.exp(1 - reference / length), 1.0)
        score = 100 * brevity * np.exp(logs / orders)
    return np.where((matches.sum(axis=-1) > 0) & (orders > 0), score, 0.0)


def sentence_bleu(hypothesis: str, references: Sequence[str], lowercase: bool = False) -> float:
    """BLEU of one response, 0 to 100."""
    counts = np.array(bleu_counts(hypothesis, references, lowercase), dtype=np.float64)
    return float(bleu_from_counts(counts, effective_order=True))


def corpus_bleu(hypotheses: Sequence[str], references: Sequence[Sequence[str]], lowercase: bool = False) -> float:
    """BLEU of many responses, 0 to 100; `references[i]` are those of response i."""
    counts = [bleu_counts(text, refs, lowercase) for text, refs in zip(hypotheses, references, strict=True)]
    return float(bleu_from_counts(np.sum(counts, axis=0, dtype=np.float64)))


@dataclass(frozen=True)
class Bleu(Metric):
    """Corpus BLEU from summed n-gram counts. An empty response adds its reference's length and no match."""

    name = "bleu"
    title = "n-gram overlap with the references, 0 to 100"
    higher_is_better = True
    bounds = (0.0, 100.0)
    needs = (frozenset({"references"}),)

    lowercase: bool = False

    def measure(self, turns: Sequence[Turn]) -> Floats:
        counts = [bleu_counts(turn.response, turn.references, self.lowercase) for turn in turns]
        return np.array(counts, dtype=np.float64).reshape(len(turns), 2 * ORDERS + 2)

    def summarise(self, measures: Floats, weights: Floats | None = None) -> Sums:
        return sum_rows(measures, weights)

    def conclude(self, summary: Sums, real: Any = None) -> dict[str, Any]:
        return {"": np.where(summary.n > 0, bleu_from_counts(summary.total), np.nan)}

    def per_turn(self, measures: Floats) -> Floats:
        return bleu_from_counts(measures, effective_order=True)

    def recipe(self) -> dict[str, str]:
        return {"tok": "13a", "smooth": "exp", "order": str(ORDERS)}
