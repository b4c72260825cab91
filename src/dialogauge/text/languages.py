"""In which language texts are, as far as letters and function words tell: enough to warn, not to identify.

Scripts are read off the letters' Unicode names. Languages in Latin letters are told by their most frequent words, of
which only those count that no other language here shares. A longer text without any common word of English is in some
other language; a short one is not told at all.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cache

ENGLISH = "English"
FUNCTION_WORDS = {
    ENGLISH: "the and you that it what your this with they there would about how know it's i'm don't",
    "German": "ich nicht und ist sie wir ein eine auch aber mir dich dir kein noch sich für wenn haben sind habe auf",
    "French": "je pas vous les une dans pour avec c'est très nous elle suis j'ai moi oui votre ça cette aussi toi leur",
    "Spanish": "el los las pero muy estoy eso usted también cómo sí hay tengo cuando qué más ella nosotros yo",
    "Portuguese": "não você uma é eu com muito isso meu minha ele ela bem sim até seu pra tem são dos",
    "Italian": "che è sono il gli anche questo della hai perché cosa molto più nel sto bene io ti mio siamo",
    "Dutch": "het een niet ik zijn heb voor maar ook naar deze mijn goed geen jij wij hebben dit nog",
    "Polish": "nie się jest jak tak dla czy mnie tylko jestem bardzo mam był może już że też gdzie są",
    "Turkish": "bir ve bu için çok değil evet hayır ama daha gibi nasıl benim kadar şey iyi olarak ile",
    "Scandinavian": "och att det jag är inte som på för jeg ikke og hvad vad hvor från mycket också meget til",
    "Indonesian": "yang tidak saya ini itu untuk dengan anda aku kamu ada bisa juga dari akan sudah apa",
    "Vietnamese": "không là và của tôi bạn có được người này một những cho rất",
}
"""Of each language some of the most frequent."""
COMMON_ENGLISH = frozenset(
    "is are was were been be am m have has had does did of to for but my we our your his her their them him us "
    "who which she she's he's when where why not can can't will could should just like think really very from if "
    "then than because want need one some any more time get got good well all too here there's that's let's i'll "
    "i've you're didn't wouldn't up out off over much many make right said see go going yes love live".split()
)
"""More words of English, some of which other languages have too."""
OTHER_LATIN, ENOUGH_WORDS = "another in Latin letters", 8
"""What a text is in that has so many words and none of English."""
OWN_WORDS = 2
"""So many different words of another language, and more than of English, make a text one of that language."""

SCRIPTS = {
    **{name.upper(): name for name in ("Thai", "Greek", "Hebrew", "Georgian", "Armenian", "Khmer", "Lao", "Tibetan")},
    **{name.upper(): name for name in ("Tamil", "Telugu", "Kannada", "Malayalam", "Gujarati", "Sinhala", "Oriya")},
    **{name.upper(): f"{name} script" for name in ("Cyrillic", "Arabic", "Devanagari", "Ethiopic", "Bengali")},
    **{"MYANMAR": "Burmese", "GURMUKHI": "Punjabi", "MONGOLIAN": "Mongolian", "HANGUL": "Korean", "CJK": "Chinese"},
    **{"HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HALFWIDTH": "Japanese", "LATIN": "Latin"},
    **{"FULLWIDTH": "Latin", "IDEOGRAPHIC": "Chinese", "BOPOMOFO": "Chinese"},
}
"""The first word of a letter's Unicode name, and what a text of such letters is called."""
LATIN, HAN, KANA, OTHER_SCRIPT = "Latin", "Chinese", "Japanese", "another script"
NO_SCRIPT = frozenset({"MODIFIER", "MICRO", "FEMININE", "MASCULINE", ""})
"""Letters by whose names no script is told."""
LATIN_LANGUAGES = frozenset({*FUNCTION_WORDS, OTHER_LATIN})
KANA_SHARE = 0.1
"""From this share on, letters of Kana make Chinese characters Japanese."""

_LANGUAGE = {word: language for language, words in FUNCTION_WORDS.items() for word in words.split()}
_WORDS = frozenset(_LANGUAGE)
_SPACED = str.maketrans({"’": "'", **dict.fromkeys('.,!?;:"()¿¡«»„“”…', " ")})


def language_of(text: str) -> str | None:
    """The language, or the script where several languages share it; None where too little tells."""
    script = LATIN if text.isascii() else script_of(text)
    return _latin_language(text) if script == LATIN else script


@dataclass
class Languages:
    """How many texts are in which language, with an example of each."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    texts: int = 0
    """How many there are, whether they tell their language or not."""

    def __add__(self, other: Languages) -> Languages:
        counts, examples = self.counts + other.counts, other.examples | self.examples
        return Languages(counts, examples, self.texts + other.texts)

    def note(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.texts += 1
            language = language_of(text)
            if language is not None:
                self.counts[language] += 1
                self.examples.setdefault(language, text)

    def all_in(self, language: str) -> Languages:
        """Of the same texts, where someone has said in which language all are."""
        return Languages(Counter({language: self.texts}), {}, self.texts)

    @property
    def identified(self) -> int:
        """How many texts are in a language that is known."""
        return self.counts.total()

    def outside(self, languages: Collection[str]) -> dict[str, int]:
        """How many texts are in which other language, the most frequent first."""
        return {language: count for language, count in self.counts.most_common() if language not in languages}

    def among(self, share: float) -> list[str]:
        """Those that at least this share of the texts is in."""
        return sorted(language for language, count in self.counts.items() if count >= share * self.identified)


@dataclass(frozen=True)
class MadeFor:
    """The languages that an encoder, a model or a word list was made for."""

    what: str
    languages: frozenset[str]


def _latin_language(text: str) -> str | None:
    words = text.lower().translate(_SPACED).split()
    known = _WORDS.intersection(words)
    if not known:
        spelled = sum(word.isalpha() for word in words)
        return OTHER_LATIN if spelled >= ENOUGH_WORDS and COMMON_ENGLISH.isdisjoint(words) else None
    found = Counter(_LANGUAGE[word] for word in known)
    language, count = max(found.items(), key=lambda item: (item[1], item[0] == ENGLISH, item[0]))
    return language if language == ENGLISH or count >= OWN_WORDS else None


def script_of(text: str) -> str | None:
    """What most letters of the text are of, by the names of `SCRIPTS`; Kana among Chinese characters make them
    Japanese. None without letters."""
    letters = Counter(filter(None, map(_script, text)))
    if not letters:
        return None
    east_asian = letters[HAN] + letters[KANA]
    if letters[KANA] > KANA_SHARE * east_asian:
        letters[KANA], letters[HAN] = east_asian, 0
    return max(letters.items(), key=lambda item: (item[1], item[0]))[0]


@cache
def _script(letter: str) -> str | None:
    if not letter.isalpha():
        return None
    first = unicodedata.name(letter, "").partition(" ")[0]
    return None if first in NO_SCRIPT else SCRIPTS.get(first, OTHER_SCRIPT)
