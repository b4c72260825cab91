"""Synonyms from WordNet 3.0 as NLTK 3.5 finds them: its rules for base forms are applied again and again."""

from __future__ import annotations

from collections.abc import Set
from functools import lru_cache

from dialogauge.metrics.synonyms import SUFFIXES, Entries, Rules, base_forms, table

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
