"""Short statements and their opposites, by rules of our own, and pairs made of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from dialogauge.learned.ruber.pairs import bare
from dialogauge.learned.synthesis.dialogues import Slot

_REGULAR = (
    "like love enjoy want need work live play own prefer hate cook listen travel collect dance move study watch walk "
    "talk help learn start finish stay visit call ask try use wish dream relax shop stop cry carry worry smoke train "
    "volunteer exercise garden paint bake jog hike fish hunt camp clean dress miss trust believe remember plan"
).split()
_IRREGULAR = {
    "have": ("has", "had"),
    "go": ("goes", "went"),
    "eat": ("eats", "ate"),
    "drink": ("drinks", "drank"),
    "drive": ("drives", "drove"),
    "read": ("reads", "read"),
    "write": ("writes", "wrote"),
    "speak": ("speaks", "spoke"),
    "teach": ("teaches", "taught"),
    "sing": ("sings", "sang"),
    "run": ("runs", "ran"),
    "swim": ("swims", "swam"),
    "wear": ("wears", "wore"),
    "make": ("makes", "made"),
    "buy": ("buys", "bought"),
    "sell": ("sells", "sold"),
    "know": ("knows", "knew"),
    "see": ("sees", "saw"),
    "feel": ("feels", "felt"),
    "sleep": ("sleeps", "slept"),
    "grow": ("grows", "grew"),
    "get": ("gets", "got"),
    "ride": ("rides", "rode"),
    "take": ("takes", "took"),
    "come": ("comes", "came"),
    "meet": ("meets", "met"),
    "lose": ("loses", "lost"),
    "win": ("wins", "won"),
    "leave": ("leaves", "left"),
    "find": ("finds", "found"),
    "understand": ("understands", "understood"),
}
_DOUBLED = ("shop", "stop", "jog", "plan")


def _third(verb: str) -> str:
    if verb.endswith(("s", "sh", "ch", "x")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if _ends_in_y(verb) else f"{verb}s"


def _past(verb: str) -> str:
    if verb in _DOUBLED:
        return f"{verb}{verb[-1]}ed"
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if _ends_in_y(verb) else f"{verb}ed"


def _ends_in_y(verb: str) -> bool:
    return verb.endswith("y") and verb[-2] not in "aeou"


THIRD_OF = {**{verb: _third(verb) for verb in _REGULAR}, **{verb: forms[0] for verb, forms in _IRREGULAR.items()}}
PAST_OF = {**{verb: _past(verb) for verb in _REGULAR}, **{verb: forms[1] for verb, forms in _IRREGULAR.items()}}
PLAIN = frozenset(THIRD_OF)
OF_THIRD = {form: verb for verb, form in THIRD_OF.items()}
OF_PAST = {form: verb for verb, form in PAST_OF.items() if form not in PLAIN}


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
PLAIN_TEXT = re.compile(r"[A-Za-z0-9' -]+")
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


def opens(sentence: str) -> bool:
    """Whether it begins with a subject, of which something is said."""
    return _OPENING.fullmatch(" ".join(sentence.split())) is not None and not _SECOND_CLAUSE.search(sentence[2:])


def opposite(sentence: str) -> str | None:
    """The sentence with a negation put in, or with the one it has taken out; None where no rule applies cleanly."""
    words = sentence.split()
    match = _OPENING.fullmatch(" ".join(words))
    if match is None or not FEWEST <= len(words) <= MOST or not PLAIN_TEXT.fullmatch(sentence):
        return None
    subject, rest = match[1], match[2]
    if _SCOPE & set(rest.lower().split()) or _SECOND_CLAUSE.search(rest):
        return None
    changed = _after_short(rest) if "'" in subject else _changed(subject.lower(), rest)
    if changed is None or min(negations(rest), negations(changed)) > 0:
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


def negations(text: str) -> int:
    """How many words negate."""
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


Stated = tuple[tuple[str, ...], str]
"""Premise and hypothesis."""


def negated(slot: Slot) -> Stated | None:
    statements = _changed_statements(slot, lambda statement: opposite(statement) or "")
    return _drawn(slot, [each for each in statements if bare(each[1]) not in slot.taken])


def restated(slot: Slot) -> Stated | None:
    """Of the statements that have an opposite, so that it is not the kind of sentence that tells the two apart. Half of
    the time word for word."""
    return _drawn(slot, _changed_statements(slot, reworded if slot.random.random() < 0.5 else str))


def _changed_statements(slot: Slot, change: Callable[[str], str]) -> list[Stated]:
    return [(premise, change(statement) + end) for premise, statement, end in _statements(slot)]


def _drawn(slot: Slot, statements: Sequence[Stated]) -> Stated | None:
    return statements[slot.below(len(statements))] if statements else None


def _statements(slot: Slot) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Of the one who responds, taking it that two people speak in turns: in the history, and in the response, which
    then ends the premise. "I" is the same person in statement and hypothesis."""
    facts = slot.facts if slot.shows_facts else ()
    last = slot.before(slot.place + 1)
    places = range(slot.place, max(slot.place - slot.length, 0) - 1, -2)
    for place in places:
        for statement, end in sentences(slot.thread.said[place]):
            if opposite(statement):
                yield (*facts, *(last if place == slot.place else slot.history)), statement, end
