"""Sentence boundaries in lower-cased English, as NLTK's Punkt model draws them (Kiss & Strunk 2006).

Most of a Punkt model speaks about capital letters. In lower-cased text three things are left of it: an
abbreviation never ends a sentence; an initial or a number ends one only before what does not look like a
lower-case word; any other word with a period ends one. The model's collocations and its list of sentence
starters then change nothing, and of its 20,000 orthographic contexts four words matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, pairwise

from dialogauge.text.characters import NON_SPACE, SPACE, in_word

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
