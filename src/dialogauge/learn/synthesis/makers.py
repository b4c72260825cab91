"""The sources of pairs by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dialogauge.corpus.perturbations import WORD
from dialogauge.learn.synthesis.contradictions import Deck, FactContradictions
from dialogauge.learn.synthesis.dialogues import Dialogue
from dialogauge.learn.synthesis.options import Options
from dialogauge.learn.synthesis.salad import salad
from dialogauge.learn.synthesis.slot import Slot
from dialogauge.learn.synthesis.stated import negated, restated
from dialogauge.learn.synthesis.texts import Pool, Style, draw_generic

Made = tuple[tuple[str, ...], str] | None


@dataclass
class Makers:
    """What a source needs besides the slot. A source that has nothing for a slot makes None."""

    options: Options
    pool: Pool
    generic: Sequence[str]
    deck: Deck | None
    against: FactContradictions | None
    words: list[list[str]] = field(default_factory=list)
    """Of each thread of the present dialogue."""

    style: Style = field(default_factory=lambda: Style(False, False))

    def begin(self, dialogue: Dialogue) -> None:
        self.style = Style.of(dialogue.utterances())
        self.words = [[word for text in thread.said for word in WORD.findall(text)] for thread in dialogue.threads]

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
            return slot.premise, salad(slot, self.options.salad_words, self.options.salad_length, words)
        if source == "nli":
            return self.deck.draw(slot) if self.deck else None
        if source == "facts":
            return self.against.draw(slot) if self.against else None
        return negated(slot) if source == "negation" else restated(slot)
