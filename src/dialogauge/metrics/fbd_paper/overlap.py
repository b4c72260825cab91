"""BLEU and METEOR as NLTK's `corpus_bleu` and NLTK 3.5's `meteor_score` give them."""

from __future__ import annotations

import sys
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import itemgetter

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.metrics.base import Floats, Values
from dialogauge.metrics.fbd_paper import COMPAT
from dialogauge.metrics.overlap.bleu import ORDERS, ngram_counts
from dialogauge.metrics.overlap.meteor import (
    SUFFIXES,
    TABLE,
    Entries,
    Meteor,
    Rules,
    TokenPairs,
    TokenPlaces,
    base_forms,
    pair_equal,
    pair_synonyms,
    score_pairs,
    table,
)
from dialogauge.metrics.overlap.porter import stem
from dialogauge.metrics.prepared import SumMetric, Sums
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


LONGEST = 1000
"""Longer words have no synonyms, so that a text of a million s's, taken off one by one, cannot stop a run."""

CAPITALS = frozenset(
    "aas acts adams aides aids alps als anas ares ascomycetes bandy_legs banks basidiomycetes billings bow_legs "
    "bridges brits brooks bs bse burns callas canaries canticles cascades ceres chambers chinese cis cocos "
    "computer_graphics cornus debs dippers discomycetes dos dunkers ebs erse fas fes fields fine_arts frs "
    "gasteromycetes gastromycetes gates gcse graves groves gyps hanks hays hess hesse highlands iis ins ironsides "
    "irs jaspers johns judges ks lamentations laws logos loos lowlands manes marches marines marks mars marseilles "
    "marshals masters mays medlars mills mls moses mus myxomycetes oscines parks parsons pbs pms primates prophets "
    "proverbs psalms quakers queens raffles ramses ras res romans rus scopes sellers sessions shakers sills skivvies "
    "smuts sos sousse soviets ss sss stations tabernacles thebes tigers tours troglodytes tss tums us usss wales "
    "watts wbs wells windows wise_men writings zairese".split()
)
"""Nouns of WordNet that the table lacks, since none of their names is one lower-case word, but at which the
search must end: else "moses" would lead to "mos", and that to "mo" and its synonym "moment"."""
STOPS: tuple[Set[str], ...] = (CAPITALS, frozenset(), frozenset(), frozenset())
"""For each part of speech; verbs, adjectives and adverbs have no such word."""


@lru_cache(maxsize=1 << 17)
def synonyms(word: str) -> frozenset[str]:
    """The one-word lower-case names of every synset of every base form of a lower-case word.

    Where neither the word nor what the suffix rules give is in WordNet, the rules are applied to what they
    gave, until something is found: "princesses" has its base form at once, "princessess" one round later.
    """
    if len(word) > LONGEST:
        return frozenset()
    return frozenset(
        name
        for (lemmas, exceptions), suffixes, stops in zip(table(), SUFFIXES, STOPS, strict=True)
        for form in _known_forms(word, lemmas, exceptions, suffixes, stops)
        for name in lemmas[form].split(" ")
    )


def _known_forms(word: str, lemmas: Entries, exceptions: Entries, suffixes: Rules, stops: Set[str]) -> list[str]:
    forms = [word, *base_forms(word, exceptions, suffixes)]
    if word not in exceptions:
        while forms and not any(form in lemmas or form in stops for form in forms):
            forms = [base for form in forms for base in base_forms(form, {}, suffixes)]
    return [form for form in forms if form in lemmas]


def align(hypothesis: Sequence[str], reference: Sequence[str]) -> TokenPairs:
    """Pairs (position in the hypothesis, position in the reference) of words that match, by the former.

    Equal words are paired first and used up. What is left is paired by stem, and then all of it once more
    by synonym, words that have a pair by stem included: NLTK 3.5 forgets to take those out. So "cats"
    against "cat" is two matches. Synonyms are those of the words, not of their stems.
    """
    mine, theirs = dict(enumerate(hypothesis)), dict(enumerate(reference))
    pairs = pair_equal(mine, theirs)
    pairs += pair_equal(_stems(mine), _stems(theirs))
    pairs += pair_synonyms(mine, theirs, synonyms)
    return sorted(pairs, key=itemgetter(0))


def _stems(places: TokenPlaces) -> TokenPlaces:
    return {place: stem(word) for place, word in places.items()}


def meteor(
    hypothesis: str, references: Sequence[str], alpha: float = 0.9, beta: float = 3.0, gamma: float = 0.5
) -> float:
    """METEOR against the reference that gives the best score, from 0 to below 2: matches counted twice make
    precision and recall up to 2. Words are what stands between spaces, lower-cased, with their punctuation."""
    words = hypothesis.lower().split()
    tokenized = [text.lower().split() for text in references]
    return max(score_pairs(align(words, other), len(words), len(other), alpha, beta, gamma) for other in tokenized)


@dataclass(frozen=True)
class PaperMeteor(Meteor):
    """Mean METEOR. An empty response scores 0, and so does any response to an empty reference."""

    bounds = (0.0, 2.0)

    def measure(self, turns: Sequence[Turn]) -> Floats:
        options = (self.alpha, self.beta, self.gamma)
        scores = [meteor(turn.response, turn.references, *options) for turn in turns]
        return np.array(scores, dtype=np.float64).reshape(len(turns), 1)

    def recipe(self) -> dict[str, str]:
        return {**COMPAT, "words": "spaces", "align": "nltk-3.5", "stem": "porter-nltk", "syn": TABLE}
