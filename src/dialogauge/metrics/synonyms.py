"""Synonyms from WordNet 3.0 (Fellbaum 1998), as NLTK finds them for METEOR."""

from __future__ import annotations

import gzip
from functools import cache, lru_cache
from importlib.resources import files

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
