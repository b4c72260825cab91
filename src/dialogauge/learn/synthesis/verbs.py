"""Verbs that people say about themselves, in the forms that a negation with "do" changes."""

from __future__ import annotations

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
