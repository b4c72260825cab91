"""Facts of our own, each in several wordings, with places for words that are drawn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from dialogauge.learned.synthesis.contrast.kinds import CLASSES, capital, meaning, words

Below = Callable[[int], int]
"""A whole number from 0 to below the one given, at random."""
_FRAMES = Path(__file__).with_name("frames.txt")
_SLOT = re.compile(r"\{([a-z_]+?)(2?)\}")
_SIDES = {"=": "yes", "-": "no", "~": "other", "?": "question"}
_ANSWERS = {
    "do": ("Yes, I do.", "No, I don't."),
    "are": ("Yes, I am.", "No, I'm not."),
    "can": ("Yes, I can.", "No, I can't."),
    "have": ("Yes, I have.", "No, I haven't."),
    "did": ("Yes, I did.", "No, I didn't."),
}
HELD = 6
"""Every so manieth frame of a kind is kept for validation and test."""
_SHORT = (("Yes.", "Yeah.", "Yep!", "Yes, of course.", "Sure."), ("No.", "Nope.", "Nah.", "No, not at all.", "Not me."))


@dataclass
class Frame:
    """A fact (`yes`), what contradicts it (`no`), other facts about the same (`other`), and a question about it."""

    kind: str
    pairs: list[tuple[str, str]]
    """Words and their antonyms, for the places a and b."""
    yes: list[str] = field(default_factory=list)
    no: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    question: list[str] = field(default_factory=list)
    held: bool = False
    """Whether nothing is learned from it: it is there to validate with and to test on."""

    def draw(self, below: Below) -> dict[str, str]:
        """A word for each place."""
        found: dict[str, str] = {}
        slots = {match[0][1:-1]: match[1] for line in (*self.yes, *self.other) for match in _SLOT.finditer(line)}
        for slot, name in sorted(slots.items()):
            if name not in ("a", "b"):
                taken = [found[other] for other in found if slots[other] == name]
                found[slot] = drawn(words()[name], taken, below)
        if self.pairs:
            pair = self.pairs[below(len(self.pairs))]
            found["a"], found["b"] = pair[::-1] if below(2) and self.kind != "swapped" else pair
        return found

    def contrasted(self, values: Mapping[str, str], below: Below) -> dict[str, str]:
        """The same with what makes it another fact."""
        if self.kind == "antonyms":
            return {**values, "a": values["b"], "b": values["a"]}
        if self.kind == "swapped":
            twice = next(slot for slot in values if f"{slot}2" in values)
            return {**values, twice: values[f"{twice}2"], f"{twice}2": values[twice]}
        slots = [slot for slot in sorted(values) if slot in CLASSES.get(self.kind, ()) and self._named(slot)]
        if not slots:
            return dict(values)
        slot = slots[below(len(slots))]
        return {**values, slot: drawn(words()[slot], [values[slot]], below)}

    def _named(self, slot: str) -> bool:
        return any(f"{{{slot}}}" in wording for wording in self.yes)


def drawn(listed: Sequence[str], taken: Sequence[str], below: Below) -> str:
    """One that says nothing that is taken."""
    left = [word for word in listed if meaning(word) not in map(meaning, taken)]
    return left[below(len(left))]


def filled(wording: str, values: Mapping[str, str]) -> str:
    text = _SLOT.sub(lambda match: values[match[0][1:-1]].replace("_", " "), wording)
    text = re.sub(r"\b([Aa]) (?=[aeio])", r"\1n ", text)
    return capital(text)


def answer(question: str, yes: bool, below: Below) -> str:
    """In short, or with the verb of the question."""
    verb = question.split()[0].lower()
    options = (*_SHORT[not yes], *([_ANSWERS[verb][not yes]] * 5 if verb in _ANSWERS and " you " in question else []))
    return options[below(len(options))]


@cache
def frames() -> dict[str, list[Frame]]:
    """By kind; those with a question are of the kind yes_no too."""
    found: dict[str, list[Frame]] = {}
    seen: Counter[str] = Counter()
    for block in _FRAMES.read_text(encoding="utf-8").strip().split("\n\n"):
        head, *lines = block.splitlines()
        kind, _, listed = head[2:].partition(": ")
        pairs = [tuple(pair.replace("_", " ").split("/")) for pair in listed.split()]
        seen[kind] += 1
        frame = Frame(kind, pairs, held=seen[kind] % HELD == 0)  # type: ignore[arg-type]
        for line in lines:
            getattr(frame, _SIDES[line[0]]).append(line[2:])
        for each in (kind, *(["yes_no"] if frame.question else [])):
            found.setdefault(each, []).append(frame)
    return found
