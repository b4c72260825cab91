"""Turns put together again as dialogues, each in one split, and which of them pairs are made for."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from random import Random

from dialogauge.corpus.turn import Turn, unit_key
from dialogauge.errors import Caveat, InputError
from dialogauge.learned.ruber.pairs import bare, response_caveats
from dialogauge.learned.synthesis.options import Options
from dialogauge.tables import counted

FEWEST = 2
"""Dialogues of a split: random utterances come from another one."""
TRIES = 30
"""Draws for one hypothesis, before it is looked for in another way."""


@dataclass(slots=True)
class Thread:
    """Utterances in a row. `turns` are the places of those that answer, with the facts of the one who speaks there."""

    said: list[str] = field(default_factory=list)
    turns: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)

    def goes_on(self, turn: Turn) -> bool:
        return list(turn.context[: len(self.said)]) == self.said

    def add(self, turn: Turn) -> None:
        self.said += turn.context[len(self.said) :]
        self.turns.append((len(self.said), turn.facts))
        self.said.append(turn.response)


@dataclass(slots=True)
class Dialogue:
    """One thread where people spoke; several where systems answered the same."""

    name: str | None
    threads: list[Thread]
    key: int = 0
    """Of the seed and the text: dialogues of the same text have the same, whatever they are called."""
    split: str = ""
    number: int = 0

    def add(self, turn: Turn) -> None:
        if not self.threads or not self.threads[-1].goes_on(turn):
            self.threads.append(Thread())
        self.threads[-1].add(turn)

    def utterances(self) -> Iterator[str]:
        """Those that are not blank; what several threads have in common comes once."""
        before: list[str] = []
        for thread in self.threads:
            same = next(
                (i for i, pair in enumerate(zip(thread.said, before, strict=False)) if pair[0] != pair[1]), None
            )
            shared = min(len(before), len(thread.said)) if same is None else same
            yield from (text for text in thread.said[shared:] if text.strip())
            before = thread.said


def slots_of(dialogue: Dialogue, lengths: Iterable[int]) -> Iterator[tuple[int, int, tuple[str, ...], int]]:
    """Number of the thread, place of the response, its facts, and the length of history, for each set of pairs to be
    made. Where fewer utterances come before, two lengths that would give the same premise count once."""
    for branch, thread in enumerate(dialogue.threads):
        for place, facts in thread.turns:
            if not thread.said[place].strip():
                continue
            for length in dict.fromkeys(min(length, place) for length in lengths):
                if any(text.strip() for text in thread.said[place - length : place]):
                    yield branch, place, facts, length


def hashed(*parts: object) -> int:
    """64 bits that are the same in every process."""
    text = "\0".join(map(str, parts))
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def split_of(seed: int, text: str, shares: Mapping[str, float]) -> str:
    """The split of a text: always the same for the same seed and shares."""
    place = hashed("split", seed, text) / 2**64
    for split, share in shares.items():
        if place < share:
            return split
        place -= share
    return split  # what is left of the numbers' rounding


@dataclass(frozen=True)
class Dialogues:
    """In the order of the files, each text once."""

    listed: list[Dialogue]
    caveats: list[Caveat]

    def in_split(self, split: str) -> list[Dialogue]:
        return [dialogue for dialogue in self.listed if dialogue.split == split]


def gather(turns: Iterable[Turn], seed: int, shares: Mapping[str, float]) -> Dialogues:
    """Texts are compared by letters and digits alone (`bare`). A turn that names no dialogue is of the one that its
    context ends, where that came before it."""
    units: dict[int, Dialogue] = {}
    gathered: list[Dialogue] = []
    judged = number = 0
    for turn in turns:
        number += 1
        judged += bool(turn.ratings or turn.references)
        unit = unit_key(turn)
        if unit not in units:
            units[unit] = Dialogue(turn.dialogue, [])
            gathered.append(units[unit])
        units[unit].add(turn)
        if turn.dialogue is None:
            following = replace(turn, context=(*turn.context, turn.response))
            units.setdefault(unit_key(following), units[unit])
    if not number:
        raise InputError("expected conversations, found none")
    found: dict[str, Dialogue] = {}
    for dialogue in gathered:
        text = "\0".join(map(bare, dialogue.utterances()))
        if text in found or not text:
            continue
        dialogue.key = hashed("dialogue", seed, text)
        dialogue.split = split_of(seed, text, shares)
        dialogue.number = len(found)
        found[text] = dialogue
    listed = list(found.values())
    moved = _fill(listed, list(shares))
    return Dialogues(listed, _caveats(len(gathered) - len(found), moved, judged, number))


def _fill(dialogues: list[Dialogue], splits: list[str]) -> int:
    """Where the hashes of a small corpus leave a split with fewer than `FEWEST` dialogues, it gets some of the largest.
    How many were moved."""
    moved = 0
    if len(dialogues) < FEWEST * len(splits):
        return moved
    while True:
        held = {split: [dialogue for dialogue in dialogues if dialogue.split == split] for split in splits}
        least, most = (choose(splits, key=lambda split: len(held[split])) for choose in (min, max))
        if len(held[least]) >= FEWEST:
            return moved
        min(held[most], key=lambda dialogue: dialogue.key).split = least
        moved += 1


def _caveats(again: int, moved: int, judged: int, turns: int) -> list[Caveat]:
    caveats = []
    if moved:
        message = f"{counted(moved, 'dialogue')} moved to other splits, so that each has at least {FEWEST}"
        caveats.append(Caveat("small_splits", message))
    if again:
        message = f"{counted(again, 'dialogue')} with the text of another, or without any, left out"
        caveats.append(Caveat("repeated_dialogues", message))
    return [*caveats, *response_caveats(judged, turns)]


@dataclass(slots=True)
class Slot:
    """A turn with a length of history. Its random numbers depend on seed, dialogue, place and length alone. They are
    Python's own, whose `random()` and `getrandbits()` give the same numbers in every version."""

    dialogue: Dialogue
    branch: int
    place: int
    facts: tuple[str, ...]
    length: int
    with_facts: float
    thread: Thread = field(init=False)
    random: Random = field(init=False)
    response: str = field(init=False)
    history: tuple[str, ...] = field(init=False)
    shows_facts: bool = field(init=False)
    taken: set[str] = field(init=False)
    """Hypotheses that no further pair can have: the response, and those of pairs made already, all `bare`."""

    def __post_init__(self) -> None:
        self.thread = self.dialogue.threads[self.branch]
        self.random = Random(((self.dialogue.key << 32 | self.branch) << 32 | self.place) << 32 | self.length)
        self.response = self.thread.said[self.place].strip()
        self.history = self.before(self.place)
        self.shows_facts = self.random.random() < self.with_facts and bool(self.facts)
        self.taken = {bare(self.response)}

    def before(self, place: int) -> tuple[str, ...]:
        """The history that ends before a place."""
        said = self.thread.said[max(place - self.length, 0) : place]
        return tuple(text for utterance in said if (text := utterance.strip()))

    @property
    def premise(self) -> tuple[str, ...]:
        return (*self.facts, *self.history) if self.shows_facts else self.history

    def below(self, number: int) -> int:
        return int(self.random.random() * number)


@dataclass(frozen=True)
class ChosenSlots:
    """`slots` counts the turns by split, each as often as it has lengths of history."""

    slots: Mapping[str, int]
    limits: Mapping[str, int] = field(default_factory=dict)
    """The largest rank that is chosen, for splits of which not all are."""

    def has(self, dialogue: Dialogue, branch: int, place: int, length: int) -> bool:
        limit = self.limits.get(dialogue.split)
        return limit is None or _rank(dialogue, branch, place, length) <= limit


def choose(dialogues: Iterable[Dialogue], options: Options) -> ChosenSlots:
    """As many turns as give the pairs that are wanted, the same share of every split. A turn's rank is a random number
    of its own, so that what is chosen for fewer pairs is chosen for more pairs too."""
    ranks = {split: array("Q") for split in options.split_shares}
    for dialogue in dialogues:
        for branch, place, _, length in slots_of(dialogue, options.history):
            ranks[dialogue.split].append(_rank(dialogue, branch, place, length) if options.pairs else 0)
    there = {split: len(found) for split, found in ranks.items()}
    # Counts are rounded for each label and split, by at most a half: one turn more makes up for that.
    wanted = math.ceil((options.pairs or 0) / options.per_entailment) + 1
    total = sum(there.values())
    if not options.pairs or wanted >= total:
        return ChosenSlots(there)
    taken = _apportioned(wanted, there)
    if empty := [split for split in taken if not taken[split]]:
        raise InputError(
            f"pairs: {options.pairs} are too few to have some in the split {empty[0]}: ask for more, or for other "
            "shares, as --splits 1,0,0"
        )
    limits = {split: sorted(ranks[split])[taken[split] - 1] for split in ranks}
    return ChosenSlots(taken, limits)


def _apportioned(wanted: int, there: Mapping[str, int]) -> dict[str, int]:
    """Whole numbers in the proportions of those that are there, by largest remainders."""
    total = sum(there.values())
    taken = {split: wanted * number // total for split, number in there.items()}
    by_remainder = sorted(there, key=lambda split: -(wanted * there[split] % total))
    for split in by_remainder[: wanted - sum(taken.values())]:
        taken[split] += 1
    return taken


def _rank(dialogue: Dialogue, branch: int, place: int, length: int) -> int:
    return hashed("rank", dialogue.key, branch, place, length)
