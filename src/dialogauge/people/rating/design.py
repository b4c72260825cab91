"""Who rates what, in which order: all lists are planned when the study is made, so that every item gets exactly its
raters and no list runs short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dialogauge.errors import InputError

REPEAT_GAP = 4
"""Other items between the first time and the second, at least."""


@dataclass(frozen=True, slots=True)
class Planned:
    """An item at its place in a rater's list."""

    item: int
    flip: bool = False
    """Whether the second of two replies stands first."""
    repeat: bool = False


def number_of_people(groups: Sequence[Sequence[int]], raters: int, per_rater: int, apart: bool) -> int:
    """How many lists of about `per_rater` items give every item its raters; none of them empty."""
    items = sum(map(len, groups))
    most = raters * (items if apart else len(groups))
    return max(_fewest_people(groups, raters, apart), min(most, -(-items * raters // per_rater)))


def assign(
    groups: Sequence[Sequence[int]],
    systems: Sequence[tuple[str, ...]],
    raters: int,
    people: int,
    apart: bool,
    rng: np.random.Generator,
) -> list[list[list[int]]]:
    """For each person the blocks of items to rate; a block stays together.

    `groups` are the items of each context, `systems` those whose replies an item shows. Every item goes to exactly
    `raters` people. Together, a context's items are one block; loads differ by at most one block, of one size. Apart,
    they go to different people, and loads differ by at most one item: those with the fewest items so far are taken
    for a context, and its items are dealt among them so that everyone sees each system equally often, as nearly as an
    optimal assignment for one context after the other gets (chance decides ties).
    """
    fewest = _fewest_people(groups, raters, apart)
    if people < fewest:
        why = (
            f"{raters} of them for each of up to {fewest // raters} replies to a context" if apart else "for every item"
        )
        raise InputError(f"--people: expected at least {fewest} ({why}), found {people}")
    load = np.zeros(people)
    seen: list[Counter[str]] = [Counter() for _ in range(people)]
    lists: list[list[list[int]]] = [[] for _ in range(people)]
    for place in rng.permutation(len(groups)):
        group = list(groups[place])
        if apart:
            chosen = _least(load, len(group) * raters, rng)
            for person, item in zip(chosen, _dealt(group, systems, raters, chosen, seen, rng), strict=True):
                lists[person].append([item])
                load[person] += 1
                seen[person].update(systems[item])
        else:
            for person in _least(load, raters, rng):
                lists[person].append(group)
                load[person] += len(group)
    return lists


def arrange(
    blocks: Sequence[Sequence[int]], checks: Sequence[int], repeats: int, rng: np.random.Generator
) -> list[Planned]:
    """One rater's list: blocks in random order, each shuffled; checks spread over it, one in each equal run; repeats of
    items from its first half near its end. Where too little stands between, there is no repeat."""
    sequence = [
        [Planned(int(item)) for item in rng.permutation(blocks[place])] for place in rng.permutation(len(blocks))
    ]
    runs = np.array_split(np.arange(len(sequence)), len(checks)) if checks else []
    before: dict[int, list[list[Planned]]] = {}
    for check, run in zip(rng.permutation(np.asarray(checks, dtype=int)).tolist(), runs, strict=True):
        boundary = int(rng.integers(run[0], run[-1], endpoint=True)) if len(run) else len(sequence)
        before.setdefault(boundary, []).append([Planned(check)])
    spread = [each for place, block in enumerate([*sequence, []]) for each in (*before.get(place, ()), block)]
    return [planned for block in _with_repeats(spread, set(checks), repeats, rng) for planned in block]


def balance_sides(lists: Sequence[Sequence[Planned]], rng: np.random.Generator) -> list[list[Planned]]:
    """The lists with the replies of pairs on sides that are balanced: of an item's raters half see the second reply
    first (one more or less of an odd number), and those are taken who saw that least. A repeat has the sides the other
    way round."""
    places: dict[int, list[tuple[int, int]]] = {}
    for person, listed in enumerate(lists):
        for place, planned in enumerate(listed):
            if not planned.repeat:
                places.setdefault(planned.item, []).append((person, place))
    flipped = [list(listed) for listed in lists]
    surplus = np.zeros(len(lists))  # how much more often a person saw the second reply first
    for item in rng.permutation(list(places)):
        shown = places[int(item)]
        half, odd = divmod(len(shown), 2)
        theirs = np.asarray([surplus[person] for person, _ in shown])
        extra = odd if theirs.sum() < 0 or (theirs.sum() == 0 and rng.random() < 0.5) else 0
        order = _least(theirs, len(shown), rng)
        for rank, index in enumerate(order):
            person, place = shown[index]
            flip = rank < half + extra
            flipped[person][place] = replace(flipped[person][place], flip=flip)
            surplus[person] += 1 if flip else -1
    for listed in flipped:
        first = {planned.item: planned.flip for planned in listed if not planned.repeat}
        for place, planned in enumerate(listed):
            if planned.repeat:
                listed[place] = replace(planned, flip=not first[planned.item])
    return flipped


def _fewest_people(groups: Sequence[Sequence[int]], raters: int, apart: bool) -> int:
    return raters * (max(map(len, groups), default=1) if apart else 1)


def _least(load: np.ndarray, count: int, rng: np.random.Generator) -> list[int]:
    """Those with the least load; chance decides among equals."""
    shuffled = rng.permutation(len(load))
    return [int(place) for place in shuffled[np.argsort(load[shuffled], kind="stable")][:count]]


def _dealt(
    group: Sequence[int],
    systems: Sequence[tuple[str, ...]],
    raters: int,
    chosen: Sequence[int],
    seen: Sequence[Counter[str]],
    rng: np.random.Generator,
) -> list[int]:
    """For each of the chosen people one of the group's items, so that no one sees a system much more often."""
    from scipy.optimize import linear_sum_assignment

    slots = [item for item in group for _ in range(raters)]
    cost = np.array([[sum(seen[person][name] for name in systems[item]) for item in slots] for person in chosen], float)
    _, columns = linear_sum_assignment(cost + rng.random(cost.shape) * 1e-3)
    return [slots[column] for column in columns]


def _with_repeats(
    sequence: list[list[Planned]], checks: set[int], repeats: int, rng: np.random.Generator
) -> list[list[Planned]]:
    """Repeats stand between blocks, as blocks of their own."""
    listed = [planned for block in sequence for planned in block]
    half = len(listed) // 2
    candidates = [place for place in range(half) if listed[place].item not in checks]
    for first in rng.permutation(candidates)[:repeats].tolist():
        ends = np.cumsum([len(block) for block in sequence])
        boundaries = np.flatnonzero(ends >= max(first + 1 + REPEAT_GAP, half + 1)) + 1
        if len(boundaries):
            sequence.insert(int(rng.choice(boundaries)), [replace(listed[first], repeat=True)])
    return sequence
