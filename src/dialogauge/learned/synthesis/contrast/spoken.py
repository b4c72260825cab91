"""Statements of the conversations themselves, and the same with another word in one place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dialogauge.learned.synthesis.contrast.frames import Below, drawn
from dialogauge.learned.synthesis.contrast.kinds import CLASSES, antonyms, capital, class_of, words
from dialogauge.learned.synthesis.statements import PLAIN_TEXT, negations, opens, opposite, sentences

FEWEST, MOST = 3, 12
"""Words of a statement."""
_WORD = re.compile(r"[A-Za-z0-9]+")
_HEDGES = frozenset(
    "if or maybe probably might guess think about almost around over under least would could should but because than "
    "every any no all only also too so as when while until unless once".split()
)
"""A statement with one of these can be true of both words."""
_FUNCTION = frozenset(
    "a an the i you he she it we they my your his her its our their me him them us this that is am are was were be "
    "been do does did have has had in on at to of for from with and not so very really just yeah well oh".split()
)


@dataclass(frozen=True)
class Spoken:
    """A statement, and where the word stands that can be another; nowhere for one that can be negated."""

    text: str
    end: str
    start: int = 0
    stop: int = 0

    @property
    def word(self) -> str:
        return self.text[self.start : self.stop]

    def content(self) -> frozenset[str]:
        """Its words, but for those that every sentence has and the one that can be another."""
        rest = self.text[: self.start] + " " + self.text[self.stop :]
        return frozenset(word.lower() for word in _WORD.findall(rest)) - _FUNCTION


def spoken(utterances: Iterable[str]) -> dict[str, list[Spoken]]:
    """The statements by kind, each once."""
    found: dict[str, dict[Spoken, None]] = {kind: {} for kind in (*CLASSES, "antonyms", "auxiliary")}
    for utterance in utterances:
        for text, end in sentences(utterance):
            if opposite(text):
                found["auxiliary"][Spoken(text, end)] = None
            if _is_plain(text):
                for kind, match in _matches(text):
                    found[kind][Spoken(text, end, match.start(), match.end())] = None
    return {kind: list(statements) for kind, statements in found.items()}


def _is_plain(text: str) -> bool:
    return (
        FEWEST <= len(text.split()) <= MOST
        and PLAIN_TEXT.fullmatch(text) is not None
        and opens(text)
        and not negations(text)
        and not _HEDGES & set(text.lower().split())
    )


def _matches(text: str) -> Iterable[tuple[str, re.Match[str]]]:
    for match in _WORD.finditer(text):
        word = match[0].lower()
        for kind in CLASSES:
            if word in class_of(kind):
                yield kind, match
        if word in antonyms():
            yield "antonyms", match


def contrasted(kind: str, statement: Spoken, below: Below) -> str:
    """The same with what makes it another statement."""
    if kind == "auxiliary":
        return opposite(statement.text) or statement.text
    word = statement.word
    if kind == "antonyms":
        others: Sequence[str] = antonyms()[word.lower()]
        other = others[below(len(others))]
    else:
        other = drawn(words()[class_of(kind)[word.lower()]], [word], below)
    before = statement.text[: statement.start]
    before = re.sub(r"\b([Aa])n? $", r"\1n " if other[0].lower() in "aeio" else r"\1 ", before)
    return before + (capital(other) if word[0].isupper() else other) + statement.text[statement.stop :]
