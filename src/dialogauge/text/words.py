"""The words of a text, as NLTK's `word_tokenize` finds them."""

from __future__ import annotations

import re

from dialogauge.text.characters import SPACE, in_word, word_at
from dialogauge.text.sentences import sentences

RECIPE = {"words": "nltk-punkt"}
"""What the signatures of metrics that count words say about it."""

CLITICS = frozenset({"re", "ve", "ll", "m", "t", "s", "d", "n"})
APOSTROPHE = re.compile(r"(?<![a-z0-9_])'(?=[a-z0-9_]|[^\x00-\x7f])")

Rule = tuple[re.Pattern[str], str]

OPENING_QUOTES: tuple[Rule, ...] = (
    (re.compile('^"'), " `` "),
    (re.compile("``|[`«“‘„]"), r" \g<0> "),
    (re.compile(r"""(?<=[ (\[{<])(?:"|'')"""), " `` "),
)
PUNCTUATION: tuple[Rule, ...] = (
    (re.compile(rf"""(?<=[^.])\.(?=[\])}}>"'»”’ ]*+{SPACE}*$)"""), " . "),
    (re.compile(r"([:,])(\D|$)"), r" \1 \2"),
    (re.compile(r"\.{2,}|[;@#$%&?!\u2012-\u2015]"), r" \g<0> "),
    (re.compile(r"(?<=[^'])(?=' )"), " "),
    (re.compile(r"[*()\[\]{}<>»”’]|--"), r" \g<0> "),
    (re.compile("''|\""), " '' "),
)
ENDINGS: tuple[Rule, ...] = (
    (re.compile(rf"(?<=[^' ])(?='[smd]?(?:{SPACE}|$))"), " "),
    (re.compile(rf"(?<=[^' ])(?=(?:'ll|'re|'ve|n't)(?:{SPACE}|$))"), " "),
    (
        re.compile(
            r"(?i)\b(can(?=not)|d(?='ye)|gim(?=me)|gon(?=na)|got(?=ta)|lem(?=me)|more(?='n)|wan(?=na(?:\s|$)))"
            r"(not|'ye|me|na|ta|'n)\b"
        ),
        r" \1 \2 ",
    ),
    (re.compile(rf"(?i)(?<={SPACE})('t)(is|was)\b"), r" \1 \2 "),
)
"""Possessives and contractions. The last rule meets only what the one before it split off (cannot'tis): any
other 'tis has lost its apostrophe to the opening quotes."""

QUOTE = re.compile("[\"'`«“‘„]")
WITHOUT_QUOTES = (*PUNCTUATION[:3], PUNCTUATION[4], ENDINGS[2])
"""All that can apply to a text that has none of those marks."""


def words(text: str) -> list[str]:
    """The lower-cased words and punctuation marks, equal to NLTK 3.10's `word_tokenize(text.strip().lower())`.

    Sentences first, then in each the rules of the Penn Treebank tokenizer (MacIntyre 1995) with NLTK's
    additions: quotes become `` and '', "don't" becomes "do" and "n't", a period is split off only at the end
    of a sentence, and commas and colons stay inside numbers. Empty for empty text. Scripts written
    without spaces come out as one word per stretch.
    """
    return [word for sentence in sentences(text.strip().lower()) for word in _sentence_words(sentence)]


def _sentence_words(text: str) -> list[str]:
    if not QUOTE.search(text):
        return _apply(WITHOUT_QUOTES, text).split()
    text = _apply(OPENING_QUOTES, text)
    text = APOSTROPHE.sub(_split_quote, text)
    text = _apply(PUNCTUATION, text)
    return _apply(ENDINGS, text).split()


def _apply(rules: tuple[Rule, ...], text: str) -> str:
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
    return text


def _split_quote(match: re.Match[str]) -> str:
    """Splits off an apostrophe that opens a quotation: a word follows that is no clitic, and none precedes."""
    text, place = match.string, match.start()
    word = word_at(text, match.end())
    opens = word and word.casefold() not in CLITICS and not (place and in_word(text[place - 1]))
    return "' " if opens else "'"
