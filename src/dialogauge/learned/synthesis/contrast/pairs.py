"""Premises and hypotheses of each kind: one that follows, one that contradicts and one that does neither, alike but for
what they say.

What is changed is changed on either side, equally often: a hypothesis tells nothing of its label."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dialogauge.corpus.inference import Label
from dialogauge.learned.synthesis.contrast.frames import Frame, answer, filled, frames
from dialogauge.learned.synthesis.contrast.kinds import in_other_words
from dialogauge.learned.synthesis.contrast.spoken import Spoken, contrasted, spoken
from dialogauge.learned.synthesis.dialogues import Slot
from dialogauge.learned.synthesis.statements import reworded

ContrastPair = tuple[tuple[str, ...], str]
"""What is said, which has its place in the premise, and the hypothesis."""
FEWEST_SPOKEN = 50
SPOKEN_SHARE = 0.4
"""Of pairs whose statement is one of the conversations, where there are enough; the others are of our frames."""
BESIDE = 0.25
"""How often another fact stands beside the one that counts, or beside one that does not."""
CANDIDATES = 20
OTHER_FORM = 0.25
ALIKE = 0.6
"""Statements with a larger share of words in common could say the same."""


class Contrasts:
    """Of a split: its utterances, and its frames, those that are learned from or those that are held back."""

    def __init__(self, utterances: Iterable[str], held: bool = False) -> None:
        self._frames = {kind: [frame for frame in found if frame.held == held] for kind, found in frames().items()}
        self._spoken = {kind: found for kind, found in spoken(utterances).items() if len(found) >= FEWEST_SPOKEN}

    def draw(self, kind: str, label: Label, slot: Slot) -> ContrastPair:
        """Premise and hypothesis."""
        make = self._of_frame
        if kind in self._spoken and slot.random.random() < SPOKEN_SHARE:
            make = self._of_speech
        said, hypothesis = make(kind, label, slot)
        said = tuple(_dressed(text, slot) for text in said)
        return _planted(said, slot), _dressed(hypothesis, slot)

    def _of_frame(self, kind: str, label: Label, slot: Slot) -> ContrastPair:
        one = _one(slot)
        frame = self._frames[kind][slot.below(len(self._frames[kind]))]
        values = frame.draw(slot.below)
        sides = [frame.yes, frame.no] if frame.no else [frame.yes]
        side = slot.below(len(sides))
        hypothesis = filled(one(sides[side]), values)
        differs = label == "contradiction"
        held = side ^ (differs and len(sides) > 1)
        if kind == "yes_no":
            question = filled(one(frame.question), values)
            reply = answer(question, held == 0, slot.below)
            return (question, self._other(frame, values, slot) if label == "neutral" else reply), hypothesis
        if label == "neutral":
            said = self._other(frame, values, slot)
        else:
            changes = differs and len(sides) == 1
            said = filled(one(sides[held]), frame.contrasted(values, slot.below) if changes else values)
        if slot.random.random() < BESIDE:
            both = (said, self._other(frame, values, slot))
            said = " ".join(both if slot.below(2) else both[::-1])
        return (said,), hypothesis

    def _other(self, frame: Frame, values: dict[str, str], slot: Slot) -> str:
        """Another fact with the same words, or with others in their place."""
        others = frame.contrasted(values, slot.below) if slot.below(3) == 0 else values
        return filled(_one(slot)(frame.other), others)

    def _of_speech(self, kind: str, label: Label, slot: Slot) -> ContrastPair:
        pool = self._spoken[kind]
        statement = pool[slot.below(len(pool))]
        both = (statement.text, contrasted(kind, statement, slot.below))
        held = slot.below(2)
        if label == "neutral":
            other = self._about_the_same(kind, statement, slot)
            hypothesis = (other.text, contrasted(kind, other, slot.below))[slot.below(2)] + other.end
        else:
            hypothesis = both[held ^ (label == "contradiction")] + statement.end
        if slot.below(2):
            hypothesis = reworded(hypothesis)
        return (both[held] + statement.end,), hypothesis

    def _about_the_same(self, kind: str, statement: Spoken, slot: Slot) -> Spoken:
        """Of some drawn at random, the one that has most in common with it and yet is another."""
        pool, content = self._spoken[kind], statement.content()
        best, most = pool[slot.below(len(pool))], -1.0
        for _ in range(CANDIDATES):
            other = pool[slot.below(len(pool))]
            its = other.content()
            shared = len(content & its) / max(len(content | its), 1)
            if most < shared <= ALIKE and other.text != statement.text:
                best, most = other, shared
        return best


def _one(slot: Slot) -> Callable[[list[str]], str]:
    return lambda lines: lines[slot.below(len(lines))]


def _dressed(text: str, slot: Slot) -> str:
    """Some words in another form, and now and then no full stop."""
    text = in_other_words(text, OTHER_FORM, slot.random.random())
    return text[:-1] if text.endswith(".") and slot.below(3) == 0 else text


def _planted(said: tuple[str, ...], slot: Slot) -> tuple[str, ...]:
    """Alone, after the history, or before its last utterance, which is the other person's."""
    way = slot.below(3)
    if way == 0:
        return said
    if way == 1:
        return (*slot.premise, *said)
    return (*slot.premise[:-1], *said, slot.premise[-1])
