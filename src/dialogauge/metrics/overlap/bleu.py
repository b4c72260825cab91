"""BLEU (Papineni et al. 2002), equal to sacreBLEU's (Post 2018) with each of its tokenisers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain, groupby
from operator import or_
from typing import Any

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.metrics.base import Floats, Values
from dialogauge.metrics.overlap.tokens import MTEVAL, TokenMetric, tokenize_by
from dialogauge.metrics.prepared import SumMetric, Sums

ORDERS = 4


def ngram_counts(tokens: Sequence[str], references: Sequence[Sequence[str]]) -> list[int]:
    """What BLEU needs of one turn: clipped matches per order, n-grams per order, the length of the hypothesis and
    that of the reference nearest in length (the shorter of two equally near)."""
    length = len(tokens)
    totals = [max(length - order, 0) for order in range(ORDERS)]
    nearest = min(map(len, references), key=lambda other: (abs(other - length), other))
    return [*_clipped_matches(tokens, references), *totals, length, nearest]


def _clipped_matches(tokens: Sequence[str], references: Sequence[Sequence[str]]) -> list[int]:
    """For each order, how many n-grams of the hypothesis are matched, each at most as often as it occurs in any one
    reference. A match holds only tokens that both sides have, so only runs of those are looked at."""
    common = set(tokens).intersection(chain.from_iterable(references))
    mine, theirs = _runs(tokens, common), [_runs(reference, common) for reference in references]
    matches = [0] * ORDERS
    for order in range(1, ORDERS + 1):
        free = _most([_count(_ngrams(runs, order)) for runs in theirs])
        if not free:
            break
        for ngram in _ngrams(mine, order):
            if free.get(ngram):
                free[ngram] -= 1
                matches[order - 1] += 1
        if not matches[order - 1]:
            break  # a longer match would hold a shorter one
    return matches


def _runs(tokens: Sequence[str], common: set[str]) -> list[list[str]]:
    """The longest stretches of common tokens."""
    return [list(run) for shared, run in groupby(tokens, common.__contains__) if shared]


def _ngrams(runs: Sequence[Sequence[str]], order: int) -> list[Any]:
    """All n-grams of this order; single tokens stand for themselves."""
    if order == 1:
        return list(chain.from_iterable(runs))
    found: list[Any] = []
    for run in runs:
        if len(run) >= order:
            found.extend(zip(*[run[i:] for i in range(order)], strict=False))
    return found


def _count(ngrams: Sequence[Any]) -> dict[Any, int]:
    counts = dict.fromkeys(ngrams, 1)
    if len(counts) < len(ngrams):
        counts = Counter(ngrams)
    return counts


def _most(counts: Sequence[dict[Any, int]]) -> dict[Any, int]:
    """The largest count of each n-gram."""
    return counts[0] if len(counts) == 1 else reduce(or_, map(Counter, counts))


def bleu_counts(hypothesis: str, references: Sequence[str], lowercase: bool = False, tok: str = MTEVAL) -> list[int]:
    """`ngram_counts` of texts, whose tokens are found as `tok` says."""
    texts = (hypothesis, *references)
    response, *others = map(tokenize_by(tok), map(str.lower, texts) if lowercase else texts)
    return ngram_counts(response, others)


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
    if unmatched.any():  # else powers would be most of the work
        matched = np.where(unmatched, 0.5 ** np.cumsum(unmatched, axis=-1), matches)
    else:
        matched = matches
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = matched / totals
        logs = np.where(present, np.log(precision), 0.0).sum(axis=-1)
        orders = present.sum(axis=-1) if effective_order else np.where(present.all(axis=-1), ORDERS, 0)
        brevity = np.where(length < reference, np.exp(1 - reference / length), 1.0)
        score = 100 * brevity * np.exp(logs / orders)
    return np.where((matches.sum(axis=-1) > 0) & (orders > 0), score, 0.0)


def sentence_bleu(hypothesis: str, references: Sequence[str], lowercase: bool = False, tok: str = MTEVAL) -> float:
    """BLEU of one response, 0 to 100."""
    counts = np.array(bleu_counts(hypothesis, references, lowercase, tok), dtype=np.float64)
    return float(bleu_from_counts(counts, effective_order=True))


def corpus_bleu(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], lowercase: bool = False, tok: str = MTEVAL
) -> float:
    """BLEU of many responses, 0 to 100; `references[i]` are those of response i."""
    counts = [bleu_counts(text, refs, lowercase, tok) for text, refs in zip(hypotheses, references, strict=True)]
    return float(bleu_from_counts(np.sum(counts, axis=0, dtype=np.float64)))


@dataclass(frozen=True)
class Bleu(TokenMetric[Floats, Sums], SumMetric):
    """Corpus BLEU from summed n-gram counts. An empty response adds its reference's length and no match."""

    name = "bleu"
    title = "n-gram overlap with the references, 0 to 100"
    citations = ("papineni2002bleu", "post2018call")
    higher_is_better = True
    bounds = (0.0, 100.0)
    needs = (frozenset({"references"}),)
    main = "4"

    lowercase: bool = False

    def measure(self, turns: Sequence[Turn]) -> Floats:
        counts = [bleu_counts(turn.response, turn.references, self.lowercase, self.tok) for turn in turns]
        return np.array(counts, dtype=np.float64).reshape(len(turns), 2 * ORDERS + 2)

    def conclude(self, summary: Sums) -> Values:
        return {"": np.where(summary.n > 0, bleu_from_counts(summary.total), np.nan)}

    def per_turn(self, measures: Floats) -> Floats:
        return bleu_from_counts(measures, effective_order=True)

    def recipe(self) -> dict[str, str]:
        return {**super().recipe(), "smooth": "exp", "order": str(ORDERS)}
