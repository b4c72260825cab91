"""Stems as py-rouge 1.1 forms them (Antognini; https://github.com/Diego999/py-rouge, Apache-2.0)."""

from __future__ import annotations

from functools import cache

from dialogauge.metrics.porter import stem
from dialogauge.metrics.synonyms import table

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
