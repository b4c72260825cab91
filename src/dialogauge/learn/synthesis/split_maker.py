"""The pairs of one split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dialogauge.corpus.inference import InferencePair, Label
from dialogauge.learn.pairs import bare
from dialogauge.learn.synthesis.dialogues import Dialogue, slots_of
from dialogauge.learn.synthesis.limit import Chosen
from dialogauge.learn.synthesis.makers import Makers
from dialogauge.learn.synthesis.mixer import Counter, Mixer
from dialogauge.learn.synthesis.options import Options
from dialogauge.learn.synthesis.slot import Slot


@dataclass
class SplitMaker:
    """Makes the pairs of a split, in the shares that are asked for."""

    name: str
    options: Options
    mixers: Mapping[Label, Mixer]
    makers: Makers
    chosen: Chosen
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
