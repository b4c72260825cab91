"""Dialogues in, premises and hypotheses out: how many of each label, and from which source."""

from __future__ import annotations

import math
from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from dialogauge.corpus.inference import InferencePair, Label
from dialogauge.errors import Caveat, InputError
from dialogauge.learned.ruber.pairs import bare
from dialogauge.learned.synthesis.contrast.kinds import KINDS
from dialogauge.learned.synthesis.contrast.pairs import Contrasts
from dialogauge.learned.synthesis.dialogues import TRIES, ChosenSlots, Dialogue, Dialogues, Slot, choose, slots_of
from dialogauge.learned.synthesis.options import Options
from dialogauge.learned.synthesis.sources import (
    Deck,
    FactContradictions,
    Style,
    UtterancePool,
    draw_generic,
    read_generic,
    word_salad,
)
from dialogauge.learned.synthesis.statements import negated, restated
from dialogauge.tables import counted

Made = tuple[tuple[str, ...], str] | None
REST: dict[Label, str] = {"entailment": "next", "neutral": "random", "contradiction": "salad"}
"""The source of each label that takes what no other does."""


class Counter:
    """Whole numbers whose mean is a rate: what is rounded off is carried on, so that the sum is never wrong by more
    than a half."""

    def __init__(self, rate: float) -> None:
        self._rate, self._made, self._slots = rate, 0, 0

    def next(self) -> int:
        self._slots += 1
        number = math.floor(self._slots * self._rate + 0.5) - self._made
        self._made += number
        return number


class Mixer:
    """Sources by their shares, of which the last takes what is left. A source that cannot give a pair where it is
    asked is asked again, until its share is made up for."""

    def __init__(self, shares: Mapping[str, float], rest: str) -> None:
        self._shares = {source: share for source, share in shares.items() if share > 0}
        left = 1 - math.fsum(self._shares.values())  # `sum` rounds otherwise from Python 3.12 on
        self._rest = rest
        self._shares[rest] = max(left, 0.0)
        self._owed = dict.fromkeys(self._shares, 0.0)

    def order(self) -> list[str]:
        """The sources for one pair, the one that is owed most first; what fills in for all others is among them."""
        for source, share in self._shares.items():
            self._owed[source] += share
        return sorted(self._owed, key=lambda source: -self._owed[source])

    def took(self, source: str) -> None:
        self._owed[source] -= 1


@dataclass
class Makers:
    """What a source needs besides the slot. A source that has nothing for a slot makes None."""

    options: Options
    pool: UtterancePool
    generic: Sequence[str]
    deck: Deck | None
    against: FactContradictions | None
    contrasts: Contrasts | None
    words: list[list[str]] = field(default_factory=list)
    """Of each thread of the present dialogue."""

    style: Style = field(default_factory=lambda: Style(False, False))

    def begin(self, dialogue: Dialogue) -> None:
        self.style = Style.from_replies(dialogue.utterances())
        self.words = [[word for text in thread.said for word in text.split()] for thread in dialogue.threads]

    def make(self, source: str, label: Label, slot: Slot) -> Made:
        if source in KINDS:
            return self._contrast(source, label, slot)
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

    def _contrast(self, kind: str, label: Label, slot: Slot) -> Made:
        for _ in range(TRIES):
            made = self.contrasts.draw(kind, label, slot) if self.contrasts else None
            if made and bare(made[1]) not in slot.taken:
                return made
        return None


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
            made = self.makers.make(source, label, slot)
            if made:
                self.mixers[label].took(source)
                slot.taken.add(bare(made[1]))
                dialogue = None if source == "nli" else slot.dialogue.name
                return InferencePair(made[0], made[1], label, source, self.name, dialogue)
        return None


@dataclass
class Synthesis:
    """Iterated over, it makes the pairs, one at a time and once; `counts` and `caveats` are complete when it ends."""

    dialogues: Dialogues
    options: Options
    generic: Sequence[str] = field(default_factory=read_generic)
    nli: Iterable[InferencePair] | None = None
    """Contradictions."""
    dialogue_nli: Iterable[InferencePair] | None = None
    counts: Tally[tuple[str, Label, str]] = field(default_factory=Tally)
    """Pairs by split, label and source."""
    caveats: list[Caveat] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._check_splits()
        seed, shares = self.options.seed, self.options.split_shares
        self._chosen = choose(self.dialogues.listed, self.options)
        self._deck = None if self.nli is None else Deck(self.nli, seed, shares)
        self._against = None if self.dialogue_nli is None else FactContradictions(self.dialogue_nli, seed, shares)

    @property
    def expected(self) -> int:
        """About how many pairs there will be."""
        total = round(sum(self._chosen.slots.values()) * self.options.per_entailment)
        return min(total, self.options.pairs or total)

    def __iter__(self) -> Iterator[InferencePair]:
        splits = {split: self._split(split) for split in self.options.split_shares}
        every = (pair for each in self.dialogues.listed for pair in splits[each.split].pairs(each))
        for pair in islice(every, self.options.pairs):
            self.counts[pair.split or "", pair.label, pair.source] += 1
            yield pair
        self._conclude(sum(split.missing for split in splits.values()))

    def _conclude(self, missing: int) -> None:
        made, wanted = self.counts.total(), self.options.pairs
        if missing:
            message = (
                f"{counted(missing, 'pair')} not made: all there was to draw was the true response or there already"
            )
            self.caveats.append(Caveat("missing_pairs", message))
        if wanted and made < wanted:
            message = f"{made} pairs made, {wanted} asked for: give more conversations, or more lengths of history"
            self.caveats.append(Caveat("few_pairs", message))
        for split in self.options.split_shares:
            if not any(found == split for found, _, _ in self.counts):
                self.caveats.append(Caveat("empty_split", f"the split {split} has no pairs"))
        for label, shares in self._shares().items():
            self._compare(label, shares)

    def _compare(self, label: Label, shares: Mapping[str, float]) -> None:
        """Says which sources could not give the share that was asked for."""
        total = sum(number for (_, found, _), number in self.counts.items() if found == label)
        for source, share in shares.items():
            made = sum(number for (_, *found), number in self.counts.items() if found == [label, source])
            if share * total - made > max(3, 0.005 * total):
                message = (
                    f"{source}: {made} of {total} pairs of {label}; {share:.0%} were asked for and could not be made, "
                    f"{REST[label]} takes their place"
                )
                self.caveats.append(Caveat("few_of_source", message))

    def _split(self, name: str) -> SplitMaker:
        shares = self._shares()
        if self._deck:
            # Each is given once, over the whole of the split.
            wanted = self._chosen.slots[name] * self.options.contradiction
            there = self._deck.left(name)
            shares["contradiction"]["nli"] = min(self.options.nli, there / wanted if wanted else 1)
        mixers = {label: Mixer(shares[label], rest) for label, rest in REST.items()}
        dialogues = self.dialogues.in_split(name)
        said = (text for dialogue in dialogues for text in dialogue.utterances())
        contrasts = Contrasts(said, held=name != "train") if any(self.options.contrast.values()) else None
        makers = Makers(self.options, UtterancePool(dialogues), self.generic, self._deck, self._against, contrasts)
        return SplitMaker(name, self.options, mixers, makers, self._chosen)

    def _shares(self) -> dict[Label, dict[str, float]]:
        """Of the sources of each label, but for the one that takes the rest."""
        return {
            "entailment": {"restated": self.options.restated, **self.options.contrast_shares("entailment")},
            "neutral": {"generic": self.options.generic, **self.options.contrast_shares("neutral")},
            "contradiction": self.options.contradiction_shares(self._deck is not None, self._against is not None),
        }

    def _check_splits(self) -> None:
        """Random utterances come from other dialogues of a split: it needs two."""
        fewest = 2 if self.options.generic < 1 and self.options.neutral else 1
        for split in self.options.split_shares:
            usable = sum(any(slots_of(each, self.options.history)) for each in self.dialogues.in_split(split))
            if usable < fewest:
                held = counted(len(self.dialogues.listed), "dialogue")
                several = "other shares, as --splits 1,0,0, or another --seed"
                alone = "generic replies in place of random utterances (--generic-share 1)"
                raise InputError(
                    f"the split {split} would have {usable} of {held} to make pairs from, expected at least {fewest}: "
                    f"give more conversations, or {several if len(self.options.split_shares) > 1 else alone}"
                )
