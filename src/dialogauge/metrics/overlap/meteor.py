"""METEOR (Banerjee & Lavie 2005; Lavie & Agarwal 2007), equal to NLTK 3.10's `meteor_score`, with synonyms from WordNet
3.0 (Fellbaum 1998)."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError
from dialogauge.metrics.base import Floats
from dialogauge.metrics.overlap.porter import stem
from dialogauge.metrics.prepared import MeanMetric
from dialogauge.text.languages import ENGLISH, MadeFor
from dialogauge.text.words import RECIPE, words

FILE = "wordnet-3.0-synonyms.txt.gz"
TABLE = "wordnet-3.0@55b8b95c"
"""The table's name in signatures: WordNet's release and the first digits of the file's SHA-256."""

Entries = dict[str, str]
Rules = tuple[tuple[str, str], ...]

SUFFIXES: tuple[Rules, ...] = (
    (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    (),
)
"""Endings and what replaces them in the base form of nouns, verbs, adjectives and adverbs (morphy(7WN), with
NLTK's "ves")."""


@lru_cache(maxsize=1 << 17)
def synonyms(word: str) -> frozenset[str]:
    """The one-word lower-case names of every synset of every base form of a lower-case word.

    Base forms are, for each part of speech, the word itself and either its listed exceptions or what the
    suffix rules give. Names with spaces or capitals are left out: they never equal a lower-cased word. A
    word that WordNet has is usually among its own synonyms; one that it has not has none.
    """
    return frozenset(
        name
        for (lemmas, exceptions), suffixes in zip(table(), SUFFIXES, strict=True)
        for form in (word, *base_forms(word, exceptions, suffixes))
        if form in lemmas
        for name in lemmas[form].split(" ")
    )


def base_forms(word: str, exceptions: Entries, suffixes: Rules) -> list[str]:
    """What the list of exceptions says of the word, else what each suffix rule that fits makes of it."""
    if word in exceptions:
        return exceptions[word].split(" ")
    return [word.removesuffix(old) + new for old, new in suffixes if word.endswith(old)]


@cache
def table() -> list[tuple[Entries, Entries]]:
    """For each part of speech the lemmas with their names, and the exceptions with their base forms. The
    layout is told in scripts/build_synonyms.py."""
    packed = files("dialogauge.metrics").joinpath("data", FILE).read_bytes()
    _, *blocks = gzip.decompress(packed).decode("ascii").split("\n\n")
    entries = [dict(line.split("\t") for line in block.split("\n")) for block in blocks]
    return list(zip(entries[::2], entries[1::2], strict=True))


TokenPairs = list[tuple[int, int]]
TokenPlaces = dict[int, str]


def align(hypothesis: Sequence[str], reference: Sequence[str]) -> TokenPairs:
    """Pairs (position in the hypothesis, position in the reference) of words that match, case aside, sorted.

    Each word is used once. Equal words are paired first, then words of equal stem, then stems of which the
    reference's is a synonym of the hypothesis's. Looking synonyms up by stem is NLTK's way: "happi" is not
    in WordNet, so "happy" has none. In each stage the hypothesis is read from its end, and takes the last
    free match of the reference. NLTK does not search for the alignment with the fewest crossings.
    """
    mine = dict(enumerate(map(str.lower, hypothesis)))
    theirs = dict(enumerate(map(str.lower, reference)))
    pairs = pair_equal(mine, theirs)
    if mine and theirs:
        mine = dict(zip(mine, map(stem, mine.values()), strict=True))
        theirs = dict(zip(theirs, map(stem, theirs.values()), strict=True))
        pairs += pair_equal(mine, theirs)
        pairs += pair_synonyms(mine, theirs, synonyms)
    return sorted(pairs)


def _by_word(places: TokenPlaces) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, word in places.items():
        found.setdefault(word, []).append(place)
    return found


def pair_equal(mine: TokenPlaces, theirs: TokenPlaces) -> TokenPairs:
    """Takes the words it pairs out of both."""
    free = _by_word(theirs)
    pairs = []
    for i, word in reversed(mine.items()):
        if free.get(word):
            pairs.append((i, free[word].pop()))
    for i, j in pairs:
        del mine[i], theirs[j]
    return pairs


def pair_synonyms(mine: TokenPlaces, theirs: TokenPlaces, synonyms_of: Callable[[str], frozenset[str]]) -> TokenPairs:
    """Leaves both as they are."""
    free = _by_word(theirs)
    names = set(free)
    pairs = []
    for i, word in reversed(mine.items()):
        candidates = synonyms_of(word) & names
        if candidates:
            name = max(candidates, key=lambda candidate: free[candidate][-1])
            pairs.append((i, free[name].pop()))
            if not free[name]:
                names.remove(name)
    return pairs


def _count_chunks(pairs: TokenPairs) -> int:
    """Runs of pairs that are adjacent on both sides."""
    return 1 + sum(following != (i + 1, j + 1) for (i, j), following in pairwise(pairs))


def score_pairs(
    pairs: TokenPairs, hypothesis_length: int, reference_length: int, alpha: float, beta: float, gamma: float
) -> float:
    """The formula of `meteor_tokens` for matches in the order of the hypothesis. 0 without any."""
    if not pairs:
        return 0.0
    precision = len(pairs) / hypothesis_length
    recall = len(pairs) / reference_length
    mean = precision * recall / (alpha * precision + (1 - alpha) * recall)
    penalty: float = gamma * (_count_chunks(pairs) / len(pairs)) ** beta
    return (1 - penalty) * mean


def meteor_tokens(
    hypothesis: Sequence[str],
    references: Sequence[Sequence[str]],
    alpha: float = 0.9,
    beta: float = 3.0,
    gamma: float = 0.5,
) -> float:
    """METEOR of words against the reference that gives the best score.

    With m matches in c chunks, P = m/|hypothesis|, R = m/|reference|:

        (1 - gamma (c/m)^beta) · P R / (alpha P + (1 - alpha) R)

    From 0 (no match, or nothing to match) to below 1: a text against itself gets 1 - gamma/m^beta.
    """
    return max(
        score_pairs(align(hypothesis, reference), len(hypothesis), len(reference), alpha, beta, gamma)
        for reference in references
    )


def meteor(
    hypothesis: str,
    references: Sequence[str],
    alpha: float = 0.9,
    beta: float = 3.0,
    gamma: float = 0.5,
) -> float:
    """METEOR of a text, its words and those of the references found by `words`."""
    return meteor_tokens(words(hypothesis), [words(text) for text in references], alpha, beta, gamma)


@dataclass(frozen=True)
class Meteor(MeanMetric):
    """Mean METEOR. An empty response scores 0, and so does any response to an empty reference."""

    name = "meteor"
    title = "words matched exactly, by stem or by synonym"
    citations = ("banerjee2005meteor",)
    higher_is_better = True
    bounds = (0.0, 1.0)
    needs = (frozenset({"references"}),)

    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5

    def __post_init__(self) -> None:
        if not (0 <= self.alpha <= 1 and 0 <= self.beta < np.inf and 0 <= self.gamma <= 1):
            found = f"alpha={self.alpha}, beta={self.beta}, gamma={self.gamma}"
            raise InputError(f"meteor: expected alpha and gamma from 0 to 1 and beta from 0 on, found {found}")

    @property
    def made_for(self) -> tuple[MadeFor, ...]:
        return (MadeFor("its stems and synonyms", frozenset({ENGLISH})),)

    def measure(self, turns: Sequence[Turn]) -> Floats:
        tokens = cache(words)
        options = (self.alpha, self.beta, self.gamma)
        scores = [
            meteor_tokens(tokens(turn.response), [tokens(text) for text in turn.references], *options) for turn in turns
        ]
        return np.array(scores, dtype=np.float64).reshape(len(turns), 1)

    def recipe(self) -> dict[str, str]:
        return {**RECIPE, "stem": "porter-nltk", "syn": TABLE}
