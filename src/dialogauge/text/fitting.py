"""Which words and tokens fit the language of a corpus: the language as a user names it, or as its letters tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from dialogauge.errors import unknown
from dialogauge.text.languages import ENGLISH, FUNCTION_WORDS, HAN, KANA, LATIN, OTHER_LATIN, SCRIPTS, script_of
from dialogauge.text.splitters import JIEBA, MECAB, MECAB_KO, PYTHAINLP, UAX29

ENOUGH = 0.1
"""From this share of the texts on, a script other than Latin decides: fewer are quotations."""
KOREAN, EMOJI, SEVERAL = "Korean", "emoji", "several scripts"
CODES = {
    **{"en": ENGLISH, "de": "German", "fr": "French", "es": "Spanish", "pt": "Portuguese", "it": "Italian"},
    **{"nl": "Dutch", "pl": "Polish", "tr": "Turkish", "id": "Indonesian", "ms": "Indonesian", "vi": "Vietnamese"},
    **dict.fromkeys(("sv", "da", "no", "nb", "nn"), "Scandinavian"),
    **dict.fromkeys(
        "cs sk hu ro fi et lv lt hr sl sq is ga cy eu ca gl af sw so ha yo zu tl az uz".split(), OTHER_LATIN
    ),
    **{"zh": HAN, "yue": HAN, "ja": KANA, "ko": KOREAN, "th": "Thai", "lo": "Lao", "km": "Khmer", "my": "Burmese"},
    **dict.fromkeys("ru uk be bg mk sr kk ky tg".split(), "Cyrillic script"),
    **dict.fromkeys("ar fa ur ps ckb ug".split(), "Arabic script"),
    **dict.fromkeys(("hi", "mr", "ne", "sa"), "Devanagari script"),
    **{"am": "Ethiopic script", "ti": "Ethiopic script", "bn": "Bengali script", "as": "Bengali script"},
    **{"el": "Greek", "he": "Hebrew", "yi": "Hebrew", "ka": "Georgian", "hy": "Armenian", "bo": "Tibetan"},
    **{"ta": "Tamil", "te": "Telugu", "kn": "Kannada", "ml": "Malayalam", "gu": "Gujarati", "si": "Sinhala"},
    **{"or": "Oriya", "pa": "Punjabi", "mn": "Mongolian"},
}
"""ISO 639 codes, by the names of `text.languages`."""
OTHER_NAMES = {
    **{"Mandarin": "zh", "Cantonese": "yue", "Arabic": "ar", "Persian": "fa", "Farsi": "fa", "Urdu": "ur"},
    **{"Russian": "ru", "Ukrainian": "uk", "Belarusian": "be", "Bulgarian": "bg", "Macedonian": "mk", "Serbian": "sr"},
    **{"Kazakh": "kk", "Kyrgyz": "ky", "Tajik": "tg", "Kurdish": "ckb", "Uyghur": "ug", "Yiddish": "yi"},
    **{"Hindi": "hi", "Marathi": "mr", "Nepali": "ne", "Sanskrit": "sa", "Bengali": "bn", "Assamese": "as"},
    **{"Pashto": "ps", "Amharic": "am", "Tigrinya": "ti", "Sinhalese": "si", "Odia": "or", "Malay": "ms"},
    **{"Swedish": "sv", "Danish": "da", "Norwegian": "no", "Czech": "cs", "Slovak": "sk", "Hungarian": "hu"},
    **{"Romanian": "ro", "Finnish": "fi", "Estonian": "et", "Latvian": "lv", "Lithuanian": "lt", "Croatian": "hr"},
    **{"Slovenian": "sl", "Albanian": "sq", "Icelandic": "is", "Irish": "ga", "Welsh": "cy", "Basque": "eu"},
    **{"Catalan": "ca", "Galician": "gl", "Afrikaans": "af", "Swahili": "sw", "Somali": "so", "Hausa": "ha"},
    **{"Yoruba": "yo", "Zulu": "zu", "Tagalog": "tl", "Filipino": "tl", "Azerbaijani": "az", "Uzbek": "uz"},
}
"""Languages by name, with the code that says how they are split, where another name is used for it here."""
NAMES = frozenset({*FUNCTION_WORDS, OTHER_LATIN, *SCRIPTS.values()} - {LATIN})


@dataclass(frozen=True)
class LanguageFit:
    """What suits texts of a language, the best first, of which the last needs no package beyond our own."""

    tokens: tuple[str, ...]
    """For BLEU, by sacreBLEU's names."""
    words: tuple[str, ...]
    """By the names of `text.splitters`."""


UNSPACED = LanguageFit(("char",), (UAX29,))
SPACED = LanguageFit(("intl", "13a"), (UAX29,))
FITS = {
    HAN: LanguageFit(("zh", "char"), (JIEBA, UAX29)),
    KANA: LanguageFit(("ja-mecab", "char"), (MECAB, UAX29)),
    KOREAN: LanguageFit(("ko-mecab", "char"), (MECAB_KO, UAX29)),
    "Thai": LanguageFit(("char",), (PYTHAINLP, UAX29)),
    **dict.fromkeys(("Lao", "Khmer", "Burmese", "Tibetan"), UNSPACED),
    **dict.fromkeys(("Cyrillic script", "Greek"), LanguageFit(("13a",), (UAX29,))),
    **dict.fromkeys((EMOJI, SEVERAL), UNSPACED),
}
"""All other scripts but Latin are `SPACED`."""


def named_language(text: str) -> str:
    """The language that a user gives as a code, with or without a region ("zh", "pt-BR"), or by its name."""
    plain = text.strip().casefold()
    by_name = {name.casefold(): CODES[code] for name, code in OTHER_NAMES.items()}
    by_name |= {name.casefold(): name for name in NAMES}
    found = by_name.get(plain) or CODES.get(plain.replace("_", "-").partition("-")[0])
    if found is None:
        raise unknown("language", text, [*CODES, *NAMES, *OTHER_NAMES])
    return found


def fit_of(language: str) -> LanguageFit | None:
    """None for languages in Latin letters, which keep what metrics do by default."""
    if language in FUNCTION_WORDS or language in (OTHER_LATIN, LATIN):
        return None
    return FITS.get(language, SPACED)


@dataclass(frozen=True)
class TextScripts:
    """How many texts are in which script, and how many have no letters but emoji. Those of parts add."""

    counts: Counter[str] = field(default_factory=Counter)
    wordless: int = 0

    @classmethod
    def survey(cls, texts: Iterable[str]) -> Self:
        counts: Counter[str] = Counter()
        latin = wordless = 0
        for text in texts:
            if text.isascii():
                latin += any(map(str.isalpha, text))
            elif script := script_of(text):
                counts[script] += 1
            else:
                wordless += any(not letter.isascii() and letter.isprintable() for letter in text)
        counts[LATIN] += latin
        return cls(counts, wordless)

    def __add__(self, other: TextScripts) -> TextScripts:
        return TextScripts(self.counts + other.counts, self.wordless + other.wordless)

    def language(self) -> str | None:
        """The most frequent script beside Latin, where enough texts are in such; `SEVERAL` where enough are in each of
        more than one; emoji where no text has letters. None for texts in Latin letters."""
        counts = self.counts.copy()
        if counts[KANA] >= counts[HAN]:  # Japanese texts may have no Kana
            counts[KANA] += counts.pop(HAN, 0)
        others = {script: count for script, count in counts.items() if script != LATIN and count}
        if not others:
            return EMOJI if self.wordless and not counts[LATIN] else None
        if sum(others.values()) < ENOUGH * counts.total():
            return None
        if sum(count >= ENOUGH * counts.total() for count in others.values()) > 1:
            return SEVERAL
        return max(others, key=lambda script: (others[script], script))
