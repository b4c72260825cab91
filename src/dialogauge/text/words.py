"""The words and sentences of a text, as NLTK's `word_tokenize` and Punkt model find them (Kiss & Strunk 2006)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain, pairwise

SPACED_WORD = re.compile(r"\S+")
"""A word as whitespace separates it."""
SPACE = r"[^\S\x1c-\x1f]"
NON_SPACE = r"[\S\x1c-\x1f]"

WORD_CATEGORIES = frozenset("Lu Ll Lt Lm Lo Mn Mc Me Nd Nl Pc".split())
JOINERS = "\u200c\u200d"
ALPHABETIC_SYMBOLS = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))
"""Letters in circles and squares, the only symbols that Unicode calls alphabetic."""

ABBREVIATIONS = frozenset(
    """
    a.a a.c a.d a.g a.h a.m a.m.e a.s a.t adm ala ariz aug ave b.f b.v bros c c.i.t c.o.m.b c.v calif chg cie
    co col colo conn corp cos ct d d.c d.h d.w dec dr e e.f e.h e.l e.m f f.g f.j feb fla fri ft g g.d g.f g.k
    ga gen h h.c h.f h.m i.m.s ill inc j.b j.c j.j j.k j.p j.r jan jr k kan ky l l.a l.f l.p lt ltd m m.b.a
    m.d.c m.j maj messrs mg mich minn mr mrs ms n n.c n.d n.h n.j n.m n.v n.y nev nov oct ok okla ore p p.a.m
    p.m pa ph.d prof r r.a r.h r.i r.j r.k r.t rep reps s s.a s.a.y s.c s.g s.p.a s.s sen sep sept sr st sw t
    t.j tenn tues u.k u.n u.s u.s.a u.s.s.r v va vs vt w w.c w.r w.va w.w wash wed wis yr
    """.split()
) | {". . "}
"""Abbreviations without their final period, from NLTK's English model; `. .` stands for a spaced ellipsis."""

LOWER_CASE_STARTERS = frozenset({"administrators", "b-week", "r-revised", "z-holiday"})
"""Words that the model saw in lower case at the start of a sentence, and never with a capital."""

END = re.compile("[.?!]")
PUNCTUATION = frozenset(";:,.!?")
BOUNDING = r"""[)(\]\[}{";:@*'‘’“”«»?!]"""
"""What no word goes on past."""

REPEATED = rf"(?:-{{2,}}|\.{{2,}}|(?:\.{SPACE}){{2,}}\.)"
WORD_END = rf"(?={SPACE}|$|{BOUNDING}|{REPEATED}|,(?:{SPACE}|$|{BOUNDING}|{REPEATED}))"

TOKEN = re.compile(rf"""{REPEATED}|(?![)(\]\[}}{{"`:;&#*@,-]){NON_SPACE}+?{WORD_END}|{NON_SPACE}""")
NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*")
MARK = rf"[.?!](?=(?P<next>{BOUNDING}|{SPACE}+(?P<word>{NON_SPACE}+)))"
FIRST_MARK = re.compile(MARK)
LAST_MARK = re.compile(rf"[^ \t\n\r\f\v]*{MARK}|[^ \t\n\r\f\v]+")
"""From the start of a stretch without ASCII spaces to the last mark in it that may end a sentence, with what
follows; or, with `next` unset, a stretch that has no such mark."""

CLOSING = re.compile(rf"""["')\]}}‘’“”«»]+?(?:{SPACE}+|(?=--)|$)""", re.MULTILINE)

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
PUNCTUATION_RULES: tuple[Rule, ...] = (
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
WITHOUT_QUOTES = (*PUNCTUATION_RULES[:3], PUNCTUATION_RULES[4], ENDINGS[2])
"""All that can apply to a text that has none of those marks."""


def in_word(character: str) -> bool:
    """Whether the character is a letter, mark, digit, connector or joiner. Code points that the Unicode
    version of this Python does not know yet are not."""
    if unicodedata.category(character) in WORD_CATEGORIES or character in JOINERS:
        return True
    return any(first <= ord(character) <= last for first, last in ALPHABETIC_SYMBOLS)


def visible(text: str) -> bool:
    """Whether anything of it can be seen: control characters, zero-width spaces and blanks cannot."""
    return any(letter.isprintable() and not letter.isspace() for letter in text)


def word_at(text: str, start: int) -> str:
    """The longest run of word characters from `start` on; empty where there is none."""
    end = start
    while end < len(text) and in_word(text[end]):
        end += 1
    return text[start:end]


def sentences(text: str) -> list[str]:
    """Splits lower-cased text without spaces at its ends. Quotes and brackets that close a sentence stay
    with it; the spaces between sentences are dropped."""
    if not END.search(text):
        return [text] if text else []
    found = []
    start = 0
    for (_, end), (next_start, next_end) in pairwise(_spans(text)):
        closing = CLOSING.match(text, next_start, next_end)
        if closing:
            found.append(text[start : next_start + len(closing[0].rstrip())])
            start = closing.end()
        else:
            found.append(text[start:end])
            start = next_start
    found.append(text[start:])
    return [sentence for sentence in found if sentence]


def words(text: str) -> list[str]:
    """The lower-cased words and punctuation marks, equal to NLTK 3.10's `word_tokenize(text.strip().lower())`.

    Sentences first, then in each the rules of the Penn Treebank tokenizer (MacIntyre 1995) with NLTK's
    additions: quotes become `` and '', "don't" becomes "do" and "n't", a period is split off only at the end
    of a sentence, and commas and colons stay inside numbers. Empty for empty text. Scripts written
    without spaces come out as one word per stretch.
    """
    return [word for sentence in sentences(text.strip().lower()) for word in _sentence_words(sentence)]


def _spans(text: str) -> list[tuple[int, int]]:
    spans = []
    start = 0
    for mark in _marks(text):
        if _has_break(mark[0] + mark["next"]):
            spans.append((start, mark.end()))
            start = mark.start("word") if mark["word"] else mark.end()
    return [*spans, (start, len(text))]


def _marks(text: str) -> Iterator[re.Match[str]]:
    """The marks that may end a sentence: of each stretch without spaces the last one and, as in NLTK, also
    one that opens the stretch."""
    for last in LAST_MARK.finditer(text):
        if last["next"]:
            first = FIRST_MARK.match(text, last.start())
            if first and first.end() < last.end():
                yield first
            yield last


def _has_break(context: str) -> bool:
    """Whether a sentence ends before the last token of this stretch of text."""
    tokens = chain.from_iterable(TOKEN.findall(line) for line in context.split("\n") if line.strip())
    return any(_breaks(token, following) for token, following in pairwise(tokens))


def _breaks(token: str, following: str) -> bool:
    """Whether a sentence ends with `token` when `following` comes next."""
    if token in (".", "?", "!"):
        return True
    if not token.endswith(".") or token.endswith(".."):
        return False
    word = token[:-1]
    if word in ABBREVIATIONS or word.split("-")[-1] in ABBREVIATIONS:
        return False
    initial = len(word) == 1 and in_word(word) and not word.isdecimal()
    if not initial and not NUMBER.fullmatch(token):
        return True
    if following in PUNCTUATION or (initial and following[0].isupper()):
        return False
    return not following[0].islower() or following.removesuffix(".") in LOWER_CASE_STARTERS


def _sentence_words(text: str) -> list[str]:
    if not QUOTE.search(text):
        return _apply(WITHOUT_QUOTES, text).split()
    text = _apply(OPENING_QUOTES, text)
    text = APOSTROPHE.sub(_split_quote, text)
    text = _apply(PUNCTUATION_RULES, text)
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
