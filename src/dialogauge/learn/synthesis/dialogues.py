"""Turns put together again as dialogues, each in one split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from dialogauge.corpus.turn import Turn
from dialogauge.corpus.unit import unit_key
from dialogauge.errors import Caveat, InputError
from dialogauge.learn.pairs import bare
from dialogauge.tables import counted

FEWEST = 2
"""Dialogues of a split: random utterances come from another one."""


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
    told: list[Dialogue] = []
    judged = number = 0
    for turn in turns:
        number += 1
        judged += bool(turn.ratings or turn.references)
        unit = unit_key(turn)
        if unit not in units:
            units[unit] = Dialogue(turn.dialogue, [])
            told.append(units[unit])
        units[unit].add(turn)
        if turn.dialogue is None:
            following = replace(turn, context=(*turn.context, turn.response))
            units.setdefault(unit_key(following), units[unit])
    if not number:
        raise InputError("expected conversations, found none")
    found: dict[str, Dialogue] = {}
    for dialogue in told:
        text = "\0".join(map(bare, dialogue.utterances()))
        if text in found or not text:
            continue
        dialogue.key = hashed("dialogue", seed, text)
        dialogue.split = split_of(seed, text, shares)
        dialogue.number = len(found)
        found[text] = dialogue
    listed = list(found.values())
    moved = _fill(listed, list(shares))
    return Dialogues(listed, _caveats(len(told) - len(found), moved, judged, number))


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
    if judged:
        message = f"{judged} of {turns} turns have ratings or references: are these conversations between people?"
        caveats.append(Caveat("system_responses", message))
    return caveats
