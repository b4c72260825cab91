"""BLEU as NLTK's `corpus_bleu` gives it without smoothing, on lower-cased words."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.metrics.base import Floats, Values
from dialogauge.metrics.bleu import ORDERS, ngram_counts
from dialogauge.metrics.fbd_paper import COMPAT
from dialogauge.metrics.sums import SumMetric, Sums
from dialogauge.text.words import RECIPE, words

FLOOR = sys.float_info.min
"""The precision of an order without a match: the smallest normal number of double precision, about 2e-308.
One such order of four gives a BLEU near 1e-77, two give one near 1e-154, three near 1e-231."""


def bleu_counts(hypothesis: Sequence[str], references: Sequence[Sequence[str]]) -> list[int]:
    """`ngram_counts`, but NLTK counts at least one n-gram of every order, also in a text that is too short to have
    any."""
    counts = ngram_counts(hypothesis, references)
    return [*counts[:ORDERS], *(max(total, 1) for total in counts[ORDERS : 2 * ORDERS]), *counts[2 * ORDERS :]]


def bleu_from_counts(counts: Floats) -> Floats:
    """BLEU of counts as `bleu_counts` gives them, or of their sums; leading axes are kept.

    0 where not even a word matches; else an order without a match counts as `FLOOR`.
    """
    matches, totals = counts[..., :ORDERS], counts[..., ORDERS : 2 * ORDERS]
    length, reference = counts[..., -2], counts[..., -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(matches > 0, matches / totals, FLOOR)
        brevity = np.where(length > reference, 1.0, np.exp(1 - reference / length))
        score = brevity * np.exp(np.log(precision).mean(axis=-1))
    return np.where(matches[..., 0] > 0, score, 0.0)


@dataclass(frozen=True)
class PaperBleu(SumMetric):
    """Corpus BLEU from summed n-gram counts, 0 to 1. An empty response adds its reference's length, one n-gram
    of each order and no match."""

    name = "bleu"
    title = "n-gram overlap with the references, 0 to 1"
    higher_is_better = True
    bounds = (0.0, 1.0)
    needs = (frozenset({"references"}),)

    def measure(self, turns: Sequence[Turn]) -> Floats:
        tokens = cache(words)
        counts = [bleu_counts(tokens(turn.response), [tokens(text) for text in turn.references]) for turn in turns]
        return np.array(counts, dtype=np.float64).reshape(len(turns), 2 * ORDERS + 2)

    def conclude(self, summary: Sums) -> Values:
        return {"": np.where(summary.n > 0, bleu_from_counts(summary.total), np.nan)}

    def per_turn(self, measures: Floats) -> Floats:
        return bleu_from_counts(measures)

    def recipe(self) -> dict[str, str]:
        return {**COMPAT, **RECIPE, "case": "lower", "smooth": "nltk-floor", "order": str(ORDERS)}
