"""Who rates what: exactly k raters for every item, no one twice, balanced over systems and sides."""

from collections import Counter

import numpy as np
import pytest

from dialogauge import InputError
from dialogauge.people.rating.design import REPEAT_GAP, Planned, arrange, assign, balance_sides, number_of_people

SYSTEMS = ("s0", "s1", "s2", "s3")


def rng(seed=0):
    return np.random.default_rng(seed)


def crossed(contexts, systems=4):
    """The items of each context, and the system of each item."""
    groups = [[context * systems + place for place in range(systems)] for context in range(contexts)]
    return groups, [(SYSTEMS[item % systems],) for item in range(contexts * systems)]


def uneven(seed):
    """Contexts with one to four of the systems."""
    random, groups, systems = rng(seed), [], []
    for _ in range(30):
        chosen = random.permutation(4)[: random.integers(1, 5)]
        groups.append(list(range(len(systems), len(systems) + len(chosen))))
        systems += [(SYSTEMS[place],) for place in chosen]
    return groups, systems


def seen_by(lists):
    return [[item for block in blocks for item in block] for blocks in lists]


DESIGNS = [
    *((crossed(25), raters, people, apart) for raters, people in ((1, 7), (3, 13), (5, 20)) for apart in (False, True)),
    *((uneven(seed), 2, 9, apart) for seed in range(5) for apart in (False, True)),
]


@pytest.mark.parametrize(("items", "raters", "people", "apart"), DESIGNS)
def test_every_item_gets_exactly_its_raters_and_no_one_sees_it_twice(items, raters, people, apart):
    groups, systems = items
    seen = seen_by(assign(groups, systems, raters, people, apart, rng()))
    assert all(len(set(own)) == len(own) for own in seen)
    counts = Counter(item for own in seen for item in own)
    assert counts == dict.fromkeys(range(len(systems)), raters)


@pytest.mark.parametrize(("items", "raters", "people", "apart"), [design for design in DESIGNS if design[3]])
def test_apart_no_one_sees_a_context_twice_and_lists_are_of_one_length(items, raters, people, apart):
    groups, systems = items
    context = {item: place for place, group in enumerate(groups) for item in group}
    seen = seen_by(assign(groups, systems, raters, people, apart, rng()))
    assert all(len({context[item] for item in own}) == len(own) for own in seen)
    lengths = [len(own) for own in seen]
    assert max(lengths) - min(lengths) <= 1


@pytest.mark.parametrize("seed", range(5))
def test_apart_everyone_sees_each_system_equally_often(seed):
    groups, systems = crossed(40)
    for own in seen_by(assign(groups, systems, 2, 16, True, rng(seed))):  # 20 items each, of four systems
        counts = Counter(systems[item][0] for item in own)
        assert max(counts.values()) - min(counts[name] for name in SYSTEMS) <= 2


def test_together_a_context_is_one_block_and_everyone_sees_each_system_equally_often():
    groups, systems = crossed(30)
    lists = assign(groups, systems, 3, 9, False, rng())
    assert {tuple(block) for blocks in lists for block in blocks} == set(map(tuple, groups))
    lengths = [len(blocks) for blocks in lists]
    assert max(lengths) - min(lengths) <= 1
    for own in seen_by(lists):
        assert len(set(Counter(systems[item] for item in own).values())) == 1


def test_too_few_people_are_refused():
    groups, systems = crossed(3)
    with pytest.raises(InputError, match="at least 8"):
        assign(groups, systems, 2, 7, True, rng())
    with pytest.raises(InputError, match="at least 2"):
        assign(groups, systems, 2, 1, False, rng())


def test_there_are_as_many_people_as_lists_need():
    groups, _ = crossed(100)
    assert number_of_people(groups, 3, 50, apart=False) == 24  # 400 items * 3 / 50
    assert number_of_people(groups, 3, 10_000, apart=False) == 3
    assert number_of_people(groups, 3, 10_000, apart=True) == 12


def test_the_same_seed_gives_the_same_lists():
    groups, systems = crossed(10)
    first, second, other = (assign(groups, systems, 2, 8, True, rng(seed)) for seed in (1, 1, 2))
    assert first == second != other


def listed(seed=0, checks=3, repeats=2, blocks=8):
    groups, _ = crossed(blocks, 3)
    own = [100 + number for number in range(checks)]
    return groups, arrange(groups, own, repeats, rng(seed))


@pytest.mark.parametrize("seed", range(20))
def test_a_list_has_its_blocks_whole_and_its_checks_spread(seed):
    groups, plan = listed(seed)
    first = [planned.item for planned in plan if not planned.repeat]
    assert sorted(first) == [*range(24), 100, 101, 102]
    rated = [place for place, planned in enumerate(plan) if not planned.repeat and planned.item < 100]
    for group in groups:
        places = [place for place in rated if plan[place].item in group]
        assert max(places) - min(places) == 2
    checks = [first.index(item) for item in sorted((100, 101, 102), key=first.index)]
    assert all(3 * 3 * number + number <= place <= 3 * 3 * (number + 1) + number for number, place in enumerate(checks))


@pytest.mark.parametrize("seed", range(20))
def test_repeats_come_late_once_and_never_of_checks(seed):
    _, plan = listed(seed)
    repeats = [place for place, planned in enumerate(plan) if planned.repeat]
    assert len(repeats) == 2
    for place in repeats:
        first = next(spot for spot, planned in enumerate(plan) if planned.item == plan[place].item)
        assert plan[place].item < 100
        assert place - first > REPEAT_GAP
        assert place >= len(plan) // 2


def test_orders_differ_between_raters_and_every_place_is_as_likely():
    firsts = Counter(listed(seed, checks=0, repeats=0)[1][0].item % 3 for seed in range(300))
    assert all(70 <= firsts[place] <= 130 for place in range(3))  # 100 each, a standard deviation of 8


def test_a_short_list_has_no_room_for_repeats():
    assert arrange([[0], [1]], [], 2, rng()) in ([Planned(0), Planned(1)], [Planned(1), Planned(0)])


@pytest.mark.parametrize("raters", [1, 2, 3, 5])
def test_sides_are_balanced_for_items_and_for_people(raters):
    groups, systems = crossed(40, 3)
    lists = [
        arrange(blocks, [], 2, rng(place))
        for place, blocks in enumerate(assign(groups, systems, raters, 8, False, rng()))
    ]
    flipped = balance_sides(lists, rng())
    assert [[planned.item for planned in own] for own in flipped] == [
        [planned.item for planned in own] for own in lists
    ]
    by_item = {}
    for own in flipped:
        first = {planned.item: planned.flip for planned in own if not planned.repeat}
        assert all(planned.flip != first[planned.item] for planned in own if planned.repeat)
        assert abs(2 * sum(first.values()) - len(first)) <= 3
        for item, flip in first.items():
            by_item.setdefault(item, []).append(flip)
    assert all(abs(2 * sum(flips) - raters) <= 1 for flips in by_item.values())
    assert abs(2 * sum(map(sum, by_item.values())) - raters * len(by_item)) <= 8


def test_no_more_people_than_can_have_something_to_rate():
    groups, _ = crossed(2)
    assert number_of_people(groups, 3, 1, apart=False) == 6
    assert number_of_people(groups, 3, 1, apart=True) == 24
