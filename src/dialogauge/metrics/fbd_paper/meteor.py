"""METEOR as NLTK 3.5's `meteor_score` gives it for raw strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.metrics.base import Floats
from dialogauge.metrics.fbd_paper import COMPAT
from dialogauge.metrics.fbd_paper.synonyms import synonyms
from dialogauge.metrics.meteor import Meteor, TokenPairs, TokenPlaces, pair_equal, pair_synonyms, score_pairs
from dialogauge.metrics.porter import stem
from dialogauge.metrics.synonyms import TABLE


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
