"""ROUGE-L as py-rouge 1.1 gives it: `Rouge(metrics=["rouge-l"], apply_best=True)`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat
from dialogauge.metrics.base import Floats
from dialogauge.metrics.fbd_paper import COMPAT
from dialogauge.metrics.overlap.meteor import TABLE, table
from dialogauge.metrics.overlap.porter import stem
from dialogauge.metrics.overlap.rouge_l import RougeLMean, RougeLScore, rouge_words
from dialogauge.metrics.prepared import Sums
from dialogauge.text.words import words

NEWER = frozenset("cognosenti halfpence lisente morses staretsy".split())
"""Exceptional inflections of WordNet 3.0 that the older WordNet of py-rouge does not list."""

SPECIAL = {
    "accid": "accidentally",
    "agreem": "agreement agreements",
    "anthropolog": "anthropology",
    "apolog": "apologies apology",
    "argum": "argument arguments",
    "assembl": "assembly",
    "bubbl": "bubbly",
    "cardiolog": "cardiology",
    "coincid": "coincidentally",
    "commiss": "commissioner commissioners",
    "compass": "compassionate",
    "compon": "componentized",
    "congress": "congressional",
    "contin": "continental",
    "detrim": "detrimental",
    "dimens": "dimensional",
    "disproport": "disproportionate",
    "divis": "divisional",
    "docum": "document documentation documented documenting documents",
    "elem": "element elements",
    "environ": "environmental",
    "experi": "experimentation",
    "fundam": "fundamental fundamentalism",
    "govern": "governmental",
    "ideolog": "ideologies ideology",
    "immim": "immiment",
    "implem": "implement implementation implemented implementers implementing",
    "imposs": "impossibly",
    "impress": "impressionable",
    "incred": "incredibly",
    "instrum": "instrument instrumental instruments",
    "intent": "intentionally",
    "intergovern": "intergovernmental",
    "internat": "internationalize internationally",
    "judgem": "judgement",
    "monum": "monument monumental",
    "movem": "movement movements",
    "mytholog": "mythology",
    "neurobiolog": "neurobiology",
    "occas": "occasional occasionally",
    "ostens": "ostensibly",
    "parliam": "parliament",
    "pharmacolog": "pharmacology",
    "physiolog": "physiology",
    "placem": "placement",
    "possibl": "possibly",
    "profess": "professional professionals",
    "psycholog": "psychology",
    "repres": "representation",
    "respons": "responsibly",
    "revolut": "revolutionize revolutionized",
    "revolutionari": "revolutionarize revolutionarized",
    "sentim": "sentiment sentimental sentiments",
    "settlem": "settlement settlements",
    "statem": "statement statements",
    "supplem": "supplement supplements",
    "technolog": "technologies technology",
    "terribl": "terribly",
    "testam": "testament",
    "tournam": "tournament",
    "toxicolog": "toxicology",
    "tradit": "traditionally",
    "transnat": "transnationalism",
    "unconstitut": "unconstitutionally",
    "unintent": "unintentionally",
    "unrep": "unrepentant",
    "vacat": "vacationers",
    "visibl": "visibly",
}
"""Stems and the words that ROUGE 1.5.5 gives them where Porter's algorithm would give others, as py-rouge lists
them. Those of its list that Porter's algorithm stems the same way are left out."""


def rouge_stem(word: str) -> str:
    """The stem of a lower-case word: the word itself up to three letters; the base form where WordNet lists an
    exceptional inflection ("went" is "go", "better" is "well"); else Porter's original algorithm."""
    if len(word) <= 3:
        return word
    return _listed().get(word) or stem(word, original=True)


@cache
def _listed() -> dict[str, str]:
    """Words whose stem is listed. Of several base forms the first stands, of several parts of speech the last
    in the order noun, verb, adjective, adverb."""
    exceptions = {form: bases.split(" ")[0] for _, entries in table() for form, bases in entries.items()}
    for form in NEWER:
        del exceptions[form]
    return exceptions | {word: listed for listed, words in SPECIAL.items() for word in words.split()}


LIMIT = 665
"""Characters of a text that are read; py-rouge has the number from the DUC 2004 summaries."""

TokenLines = tuple[tuple[str, ...], ...]


@lru_cache(maxsize=8192)
def stemmed_lines(text: str) -> TokenLines:
    """The stemmed words of each line of the text's beginning. Only ASCII letters and digits make words."""
    return tuple(tuple(_stemmed_words(line)) for line in _first_lines(text))


def _first_lines(text: str) -> Iterator[str]:
    room = LIMIT
    for line in map(str.strip, text.split("\n")):
        yield line[:room]
        room -= len(line)
        if room <= 0:
            return


def _stemmed_words(line: str) -> Iterator[str]:
    """Words as NLTK splits them ("gonna" is two), but "cannot" is one: underscores guard it."""
    guarded = " ".join(rouge_words(line)).replace("cannot", "_cannot_")
    return (rouge_stem(word).replace("_cannot_", "cannot") for word in words(guarded))


def lcs_places(reference: Sequence[str], hypothesis: Sequence[str]) -> set[int]:
    """Positions in the reference of one longest common subsequence: of several, the one found by walking
    back from the end, leaving out a word of the reference rather than one of the hypothesis.

    `rows[j]` is the bit vector of Hyyrö (2004) after j words of the hypothesis: a zero bit at i says that
    the subsequence grows at reference[i].
    """
    bits: defaultdict[str, int] = defaultdict(int)
    for i, word in enumerate(reference):
        bits[word] |= 1 << i
    full = (1 << len(reference)) - 1
    rows = [full]
    for word in hypothesis:
        matched = rows[-1] & bits.get(word, 0)
        rows.append(((rows[-1] + matched) | (rows[-1] - matched)) & full)
    found = set()
    i, j = len(reference), len(hypothesis)
    while i and j:
        if reference[i - 1] == hypothesis[j - 1]:
            i, j = i - 1, j - 1
            found.add(i)
        elif rows[j] >> (i - 1) & 1:
            i -= 1
        else:
            j -= 1
    return found


def _common(hypothesis: TokenLines, reference: TokenLines) -> int:
    """Words of the reference's lines that lie on a longest common subsequence with any of the hypothesis's
    lines, each at most as often as the hypothesis has it."""
    hits = Counter(
        line[place] for line in reference for place in set().union(*(lcs_places(line, other) for other in hypothesis))
    )
    return (hits & Counter(word for line in hypothesis for word in line)).total()


def rouge_l(hypothesis: str, references: Sequence[str]) -> RougeLScore:
    """ROUGE-L against all references at once: common words and lengths are summed over them.

    That is what py-rouge does, `apply_best` or not, unless `apply_avg=False` is said too. 0 where either
    side has no words.
    """
    mine, others = stemmed_lines(hypothesis), [stemmed_lines(text) for text in references]
    common = sum(_common(mine, other) for other in others)
    if common == 0:
        return RougeLScore(0.0, 0.0, 0.0)
    precision = common / (len(others) * _count_words(mine))
    recall = common / sum(map(_count_words, others))
    return RougeLScore(2 * precision * recall / (precision + recall), precision, recall)


def _count_words(lines: TokenLines) -> int:
    return sum(map(len, lines))


@dataclass(frozen=True)
class PaperRougeL(RougeLMean):
    """Mean ROUGE-L F-measure of stemmed words. An empty response scores 0."""

    def measure(self, turns: Sequence[Turn]) -> Floats:
        rows = [(*rouge_l(turn.response, turn.references), _wordless(turn.response), _is_cut(turn)) for turn in turns]
        return np.array(rows, dtype=np.float64).reshape(len(turns), 5)

    def caveats(self, summary: Sums) -> list[Caveat]:
        wordless, cut = (int(count) for count in summary.total[-2:])
        caveats = []
        if wordless:
            message = f"rouge_l knows only ASCII letters and digits: {wordless} responses in other scripts score 0"
            caveats.append(Caveat("no_words", message))
        if cut:
            message = f"rouge_l of fbd-paper reads {LIMIT} characters of a text: {cut} turns have longer ones"
            caveats.append(Caveat("cut_text", message))
        return caveats

    def recipe(self) -> dict[str, str]:
        return {
            **COMPAT,
            "tok": "py-rouge",
            "stem": f"py-rouge({TABLE})",
            "refs": "pooled",
            "maxchars": str(LIMIT),
        }


def _wordless(text: str) -> bool:
    return any(character.isalnum() for character in text) and not rouge_words(text)


def _is_cut(turn: Turn) -> bool:
    return any(
        sum(len(line.strip()) for line in text.split("\n")) > LIMIT for text in (turn.response, *turn.references)
    )
