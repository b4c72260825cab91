"""The pairs of one split: how many of each label, and from which source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dialogauge.corpus.inference import InferencePair, Label
from dialogauge.learn.pairs import bare
from dialogauge.learn.synthesis.contradictions import Deck, FactContradictions
from dialogauge.learn.synthesis.dialogues import Dialogue, slots_of
from dialogauge.learn.synthesis.generic import Style, draw_generic
from dialogauge.learn.synthesis.limit import ChosenSlots
from dialogauge.learn.synthesis.mixer import Counter, Mixer
from dialogauge.learn.synthesis.options import Options
from dialogauge.learn.synthesis.pool import UtterancePool
from dialogauge.learn.synthesis.salad import word_salad
from dialogauge.learn.synthesis.slot import Slot
from dialogauge.learn.synthesis.stated import negated, restated

Made = tuple[tuple[str, ...], str] | None


@dataclass
class Makers:
    """What a source needs besides the slot. A source that has nothing for a slot makes None."""

    options: Options
    pool: UtterancePool
    generic: Sequence[str]
    deck: Deck | None
    against: FactContradictions | None
    words: list[list[str]] = field(default_factory=list)
    """Of each thread of the present dialogue."""

    style: Style = field(default_factory=lambda: Style(False, False))

    def begin(self, dialogue: Dialogue) -> None:
        self.style = Style.from_replies(dialogue.utterances())
        self.words = [[word for text in thread.said for word in text.split()] for thread in dialogue.threads]

    def make(self, source: str, slot: Slot) -> Made:
        if source == "next":
            return slot.premise, slot.response
        if source == "random":
            drawn = self.pool.draw(slot)
            return (slot.premise, drawn) if drawn else None
        if source == "generic":
            reply = draw_generic(self.generic, slot)
            return (slot.premise, self.style.dress(reply)) if reply else None
        if source == "salad":
            words = self.words[slot.branch]
            return slot.premise, word_salad(slot, self.options.salad_words, self.options.salad_length, words)
        if source == "nli":
            return self.deck.draw(slot) if self.deck else None
        if source == "facts":
            return self.against.draw(slot) if self.against else None
        return negated(slot) if source == "negation" else restated(slot)


@dataclass
class SplitMaker:
    """Makes the pairs of a split, in the shares that are asked for."""

    name: str
    options: Options
    mixers: Mapping[Label, Mixer]
    makers: Makers
    chosen: ChosenSlots
    missing: int = 0

    def __post_init__(self) -> None:
        rates: dict[Label, float] = {"entailment": 1.0, "neutral": self.options.neutral}
        rates["contradiction"] = self.options.contradiction
        self._counters = {label: Counter(rate) for label, rate in rates.items()}

    def pairs(self, dialogue: Dialogue) -> Iterator[InferencePair]:
        self.makers.begin(dialogue)
        for branch, place, facts, length in slots_of(dialogue, self.options.history):
            if self.chosen.has(dialogue, branch, place, length):
                slot = Slot(dialogue, branch, place, facts, length, self.options.with_facts)
                for label, counter in self._counters.items():
                    for _ in range(counter.next()):
                        if pair := self._pair(slot, label):
                            yield pair
                        else:
                            self.missing += 1

    def _pair(self, slot: Slot, label: Label) -> InferencePair | None:
        for source in self.mixers[label].order():
            made = self.makers.make(source, slot)
            if made:
                self.mixers[label].took(source)
                slot.taken.add(bare(made[1]))
                dialogue = None if source == "nli" else slot.dialogue.name
                return InferencePair(made[0], made[1], label, source, self.name, dialogue)
        return None
