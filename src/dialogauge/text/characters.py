"""What counts as a space and as part of a word in NLTK's tokenizers.

NLTK matches with the third-party engine `regex`, which follows Unicode (UTS #18, annex C) where Python's own
`re` and `str` methods do not: combining marks belong to words, fractions and superscripts do not, and the
control characters U+001C to U+001F are no spaces.
"""

from __future__ import annotations

import unicodedata

SPACE = r"[^\S\x1c-\x1f]"
NON_SPACE = r"[\S\x1c-\x1f]"

WORD_CATEGORIES = frozenset("Lu Ll Lt Lm Lo Mn Mc Me Nd Nl Pc".split())
JOINERS = "\u200c\u200d"
ALPHABETIC_SYMBOLS = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))
"""Letters in circles and squares, the only symbols that Unicode calls alphabetic."""


def in_word(character: str) -> bool:
    """Whether the character is a letter, mark, digit, connector or joiner. Code points that the Unicode
    version of this Python does not know yet are not."""
    if unicodedata.category(character) in WORD_CATEGORIES or character in JOINERS:
        return True
    return any(first <= ord(character) <= last for first, last in ALPHABETIC_SYMBOLS)


def word_at(text: str, start: int) -> str:
    """The longest run of word characters from `start` on; empty where there is none."""
    end = start
    while end < len(text) and in_word(text[end]):
        end += 1
    return text[start:end]
