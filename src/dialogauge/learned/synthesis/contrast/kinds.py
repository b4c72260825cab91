"""The kinds of contrast, and the words of each: classes of our own, and antonyms of WordNet."""

from __future__ import annotations

import gzip
import re
from functools import cache
from pathlib import Path

CLASSES: dict[str, tuple[str, ...]] = {
    "numbers": ("number", "few", "age", "year", "hour", "price"),
    "places": ("place", "spot", "where"),
    "people": ("person",),
    "colours": ("colour",),
    "calendar": ("day", "month", "season", "daytime"),
    "family": ("family", "families", "elders"),
}
"""Of kinds that put one word of a class in the place of another."""
KINDS = (*CLASSES, "antonyms", "auxiliary", "yes_no", "swapped")
_WORDS, _ANTONYMS = (Path(__file__).with_name(name) for name in ("words.txt", "antonyms.txt.gz"))
_DIGITS = dict(
    zip(
        "two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty".split(),
        map(str, (*range(2, 13), 15, 20, 30, 40, 50, 60)),
        strict=True,
    )
)
_SAME = {
    "mother": "mom",
    "father": "dad",
    "grandmother": "grandma",
    "grandfather": "grandpa",
    "kids": "children",
    "movie": "film",
    "big": "large",
    "little": "small",
    "great": "wonderful",
    "awful": "terrible",
}
"""Words that say the same here."""
_OTHER_WORD = {**_DIGITS, **_SAME, **{other: word for word, other in (*_DIGITS.items(), *_SAME.items())}}
_WORD = re.compile(r"[A-Za-z0-9]+")


@cache
def words() -> dict[str, tuple[str, ...]]:
    """The classes by name."""
    found = {}
    for line in _WORDS.read_text(encoding="utf-8").splitlines():
        name, _, listed = line.partition(": ")
        found[name] = tuple(listed.split("|") if "|" in listed else listed.split())
    return found


@cache
def antonyms() -> dict[str, tuple[str, ...]]:
    """Of common words, by `scripts/build_antonyms.py`."""
    lines = gzip.decompress(_ANTONYMS.read_bytes()).decode().splitlines()[1:]
    return {word: tuple(others.split()) for word, _, others in (line.partition("\t") for line in lines)}


def meaning(word: str) -> str:
    """The same for words that say the same."""
    lowered = word.lower()
    return min(lowered, _OTHER_WORD.get(lowered, lowered))


@cache
def class_of(kind: str) -> dict[str, str]:
    """For each word of the kind's classes, in lower case, its class; those of several words, and those that are other
    words too, are left out."""
    ambiguous = ("orange", "hour", "spring", "noon", "turkey", "chile", "sam", "jack", "frank", "matt")
    several = ("hour", "price", "few", "age")
    names = [name for name in CLASSES[kind] if name not in several]
    return {
        word.lower(): name
        for name in names
        for word in words()[name]
        if " " not in word and word.lower() not in ambiguous
    }


def in_other_words(text: str, chance: float, random: float) -> str:
    """With one word that has another form for the same (three, 3; mother, mom) in that form, with this chance. `random`
    is a number from 0 to 1."""
    if random >= chance:
        return text
    places = [match for match in _WORD.finditer(text) if match[0].lower() in _OTHER_WORD]
    if not places:
        return text
    match = places[int(random / chance * len(places))]
    other = _OTHER_WORD[match[0].lower()]
    return text[: match.start()] + (capital(other) if match[0][0].isupper() else other) + text[match.end() :]


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
