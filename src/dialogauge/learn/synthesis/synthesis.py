"""Dialogues in, premises and hypotheses out."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from dialogauge.corpus.inference import InferencePair, Label
from dialogauge.errors import Caveat, InputError
from dialogauge.learn.synthesis.contradictions import Deck, FactContradictions
from dialogauge.learn.synthesis.dialogues import Dialogues, slots_of
from dialogauge.learn.synthesis.generic import read_generic
from dialogauge.learn.synthesis.limit import choose
from dialogauge.learn.synthesis.mixer import Mixer
from dialogauge.learn.synthesis.options import Options
from dialogauge.learn.synthesis.pool import UtterancePool
from dialogauge.learn.synthesis.split_maker import Makers, SplitMaker
from dialogauge.tables import counted

REST: dict[Label, str] = {"entailment": "next", "neutral": "random", "contradiction": "salad"}
"""The source of each label that takes what no other does."""


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
            made = sum(number for (_, _, found), number in self.counts.items() if found == source)
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
        makers = Makers(
            self.options, UtterancePool(self.dialogues.in_split(name)), self.generic, self._deck, self._against
        )
        return SplitMaker(name, self.options, mixers, makers, self._chosen)

    def _shares(self) -> dict[Label, dict[str, float]]:
        """Of the sources of each label, but for the one that takes the rest."""
        return {
            "entailment": {"restated": self.options.restated},
            "neutral": {"generic": self.options.generic},
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
