"""Short statements, and their opposites by rules of our own: a negation put in or taken out.

A rule applies to a whole sentence that begins with its subject and verb, or not at all. What could change the scope of
a negation (but, only, any, too ...) keeps a sentence out.
"""

from __future__ import annotations

import re

from dialogauge.learn.synthesis.verbs import OF_PAST, OF_THIRD, PAST_OF, PLAIN, THIRD_OF

FEWEST, MOST = 3, 12
"""Words of a statement."""
_SENTENCE = re.compile(r"([^.!?]+)([.!?]*)")
_SCOPE = frozenset(
    "any anything anyone anymore anyway also although as because before better but either else ever except guess "
    "hardly if just least let maybe mean much neither no nobody none nor nothing once only or perhaps probably since "
    "so some someone something sometimes still supposed than that though till too unless until used well when where "
    "whether which while who why without yet".split()
)
_OWNED = r"(?:my|your|his|her|our|their)(?: (?:best|favorite|older|younger|big|little|new|old))? [a-z]+"
_SHORT = r"i'm|we're|they're|it's|he's|she's|that's|this's"
_OPENING = re.compile(rf"({_SHORT}|i|we|they|he|she|it|this|that|{_OWNED}) (.+)", re.IGNORECASE)
_SECOND_CLAUSE = re.compile(
    r"\b(?:(?:i|we|they|he|she)\b|and (?:you|it|my|your)\b|(?:do|are|can) you\b|you (?:are|do|can)\b)", re.IGNORECASE
)
_PLAIN_TEXT = re.compile(r"[A-Za-z0-9' -]+")
_AUXILIARY = {
    "am": "am not",
    "is": "isn't",
    "are": "aren't",
    "was": "wasn't",
    "were": "weren't",
    "can": "can't",
    "could": "couldn't",
    "will": "won't",
    "would": "wouldn't",
    "should": "shouldn't",
}
_POSITIVE = {
    **{negative: positive for positive, negative in _AUXILIARY.items()},
    **{f"{positive} not": positive for positive in _AUXILIARY},
    "cannot": "can",
}
_DO = {"don't": "do", "do not": "do", "doesn't": "does", "does not": "does", "didn't": "did", "did not": "did"}
_NEGATIVE = frozenset("not never cannot dont doesnt didnt isnt wasnt arent cant couldnt wont wouldnt".split())
_COUNTED = frozenset(
    "a an the my your his her our their one two three four five six seven eight nine ten many several lots".split()
)
_SHORTER = {"i am": "i'm", "we are": "we're", "they are": "they're", "it is": "it's", "that is": "that's"}
_PERFECT = ("been", "got", "gone", "done", "had", "become")


def sentences(utterance: str) -> list[tuple[str, str]]:
    """The sentences of an utterance that are no questions: the words, and the end as it was typed."""
    text = utterance.replace("’", "'")
    found = []
    for match in _SENTENCE.finditer(text):
        body = match[1].rstrip()
        if "?" not in match[2] and body.strip():
            found.append((body.strip(), match[1][len(body) :] + match[2] if match[2] else ""))
    return found


def opposite(sentence: str) -> str | None:
    """The sentence with a negation put in, or with the one it has taken out; None where no rule applies cleanly."""
    words = sentence.split()
    match = _OPENING.fullmatch(" ".join(words))
    if match is None or not FEWEST <= len(words) <= MOST or not _PLAIN_TEXT.fullmatch(sentence):
        return None
    subject, rest = match[1], match[2]
    if _SCOPE & set(rest.lower().split()) or _SECOND_CLAUSE.search(rest):
        return None
    changed = _after_short(rest) if "'" in subject else _changed(subject.lower(), rest)
    if changed is None or min(_negations(rest), _negations(changed)) > 0:
        return None
    return f"{subject} {changed}".rstrip()


def reworded(sentence: str) -> str:
    """The same with short forms written out, or else with one put in; the sentence itself where it has neither."""
    longer = re.sub(r"(?i)\bwon't\b", "will not", re.sub(r"(?i)\bcan't\b", "cannot", sentence))
    longer = re.sub(r"(?i)n't\b", " not", longer)
    longer = re.sub(r"(?i)'m\b", " am", re.sub(r"(?i)'re\b", " are", longer))
    if longer != sentence:
        return longer
    for long, short in _SHORTER.items():
        if sentence.lower().startswith(f"{long} "):
            return sentence[0] + short[1:] + sentence[len(long) :]
    return sentence


def _negations(text: str) -> int:
    return sum(word.endswith("n't") or word in _NEGATIVE for word in text.lower().split())


def _after_short(rest: str) -> str | None:
    """After i'm, we're, it's; "it's been" is another verb."""
    if rest.lower().startswith("not "):
        return rest[4:]
    return None if rest.lower().split()[0] in _PERFECT else f"not {rest}"


def _changed(subject: str, rest: str) -> str | None:
    first, _, more = rest.partition(" ")
    verb, two = first.lower(), " ".join(rest.lower().split()[:2])
    after_two = rest[len(two) + 1 :]
    if verb == "never":
        return more
    if two in _POSITIVE or verb in _POSITIVE:
        return f"{_POSITIVE[two]} {after_two}" if two in _POSITIVE else f"{_POSITIVE[verb]} {more}"
    if two in _DO or verb in _DO:
        return _without_do(subject, _DO[two], after_two) if two in _DO else _without_do(subject, _DO[verb], more)
    if verb in _AUXILIARY:
        return f"{verb} {more[6:]}" if more.lower().startswith("never ") else f"{_AUXILIARY[verb]} {more}"
    return _with_do(subject, verb, more)


def _with_do(subject: str, verb: str, more: str) -> str | None:
    """i like it: i don't like it. she had a dog: she didn't have a dog; but not: she had seen it."""
    following = more.partition(" ")[0].lower()
    if verb in ("have", "has", "had") and following not in _COUNTED and not following.isdigit():
        return None
    if verb in PLAIN and not _is_third(subject):
        return f"don't {verb} {more}"
    if verb in OF_THIRD and _is_third(subject):
        return f"doesn't {OF_THIRD[verb]} {more}"
    return f"didn't {OF_PAST[verb]} {more}" if verb in OF_PAST else None


def _without_do(subject: str, form: str, rest: str) -> str | None:
    """i don't like it: i like it."""
    verb, _, more = rest.partition(" ")
    base = verb.lower()
    if base not in PLAIN or (form != "did" and (form == "does") != _is_third(subject)):
        return None
    spelled = {"do": base, "does": THIRD_OF[base], "did": PAST_OF[base]}[form]
    return f"{spelled} {more}"


def _is_third(subject: str) -> bool:
    """he, it, my dad; not i, they, my parents."""
    return subject in ("he", "she", "it", "this", "that") or (" " in subject and not subject.endswith("s"))
