"""The Porter stemmer (Porter 1980, "An algorithm for suffix stripping"), equal to NLTK's `PorterStemmer`."""

from __future__ import annotations

from functools import lru_cache

VOWELS = frozenset("aeiou")

IRREGULAR = {
    "sky": "sky",
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    "innings": "inning",
    "inning": "inning",
    "outings": "outing",
    "outing": "outing",
    "cannings": "canning",
    "canning": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}
"""Words that NLTK keeps out of the algorithm."""

STEP_2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
}
STEP_2_ORIGINAL = STEP_2 | {"abli": "able"}
STEP_2_NLTK = STEP_2 | {"bli": "ble", "fulli": "ful"}
STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
STEP_4 = dict.fromkeys("al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize".split(), "")


@lru_cache(maxsize=1 << 17)
def stem(word: str, original: bool = False) -> str:
    """The word's stem in lower case: NLTK's variant of the algorithm, or with `original` the published one.

    NLTK's variant leaves words of up to two characters as they are, treats a few irregular words apart, and
    conflates "dies" with "die", "flies" with "fly" and "carefully" with "careful". Anything but a-z counts
    as a consonant, so every string has a stem.
    """
    lowered = word.lower()
    if not original:
        if lowered in IRREGULAR:
            return IRREGULAR[lowered]
        if len(word) <= 2:
            return lowered
    lowered = _plural(lowered, original)
    lowered = _past(lowered, original)
    lowered = _final_y(lowered, original)
    lowered = _step_2(lowered, original)
    lowered = _replace(lowered, STEP_3, 1)
    lowered = _step_4(lowered)
    return _tidy(lowered, original)


def _shape(word: str) -> str:
    """One letter per character: v for a vowel, c for a consonant; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in VOWELS or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """Porter's m in [C](VC)^m[V]."""
    return _shape(word).count("vc")


def _is_short(word: str, original: bool) -> bool:
    """Porter's *o: ends consonant, vowel, consonant, the last not w, x or y. NLTK adds words like "at"."""
    shape = _shape(word)
    return (shape.endswith("cvc") and word[-1] not in "wxy") or (shape == "vc" and not original)


def _replace(word: str, endings: dict[str, str], least_measure: int) -> str:
    """Replaces the longest known ending if what stands before it has the measure; tries no shorter one."""
    for length in range(7, 1, -1):
        ending = word[-length:]
        if len(ending) == length and ending in endings:
            start = word[:-length]
            return start + endings[ending] if _measure(start) >= least_measure else word
    return word


def _plural(word: str, original: bool) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 and not original else word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past(word: str, original: bool) -> str:
    if word.endswith("ied") and not original:
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        start = word.removesuffix(ending)
        if start != word and "v" in _shape(start):
            return _mend(start, original)
    return word


def _mend(word: str, original: bool) -> str:
    """Repairs what is left when "ed" or "ing" is gone: conflat(ed) to conflate, hopp(ing) to hop."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and _shape(word).endswith("c"):
        return word if word[-1] in "lsz" else word[:-1]
    return word + "e" if _measure(word) == 1 and _is_short(word, original) else word


def _final_y(word: str, original: bool) -> str:
    if not word.endswith("y"):
        return word
    shape = _shape(word[:-1])
    turns = "v" in shape if original else len(shape) > 1 and shape.endswith("c")
    return word[:-1] + "i" if turns else word


def _step_2(word: str, original: bool) -> str:
    if original:
        return _replace(word, STEP_2_ORIGINAL, 1)
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _step_2(word[:-2], original)
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replace(word, STEP_2_NLTK, 1)


def _step_4(word: str) -> str:
    if word.endswith("ion") and not word.endswith(("sion", "tion")):
        return word
    return _replace(word, STEP_4, 2)


def _tidy(word: str, original: bool) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _is_short(word[:-1], original)):
            word = word[:-1]
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word
