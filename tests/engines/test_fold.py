"""Whatever the engine and the number of its workers: the same bits, the same error."""

import random

import pytest

from dialogauge.engines import make_engine
from dialogauge.engines.fold import OrderedSum, sibling
from dialogauge.engines.here import Here
from dialogauge.engines.processes import Processes
from dialogauge.errors import InputError, WorkFailed
from tests.engines import work

COUNTS = [0, 1, 2, 7, 33]


@pytest.fixture(scope="module", params=["here", 1, 2, 3])
def engine(request):
    with Here() if request.param == "here" else Processes(request.param) as engine:
        yield engine


def summed(count: int) -> str:
    """By hand: halves at the largest power of two below the count; those left over are added one after another."""
    if count == 7:
        return "((((01)(23))(45))6)"
    return {1: "0", 2: "(01)", 3: "((01)2)", 6: "(((01)(23))(45))"}[count]


@pytest.mark.parametrize("count", [1, 2, 3, 6, 7])
def test_the_order_of_sums(engine, count):
    assert engine.fold(work.Plain(), range(count)).text == summed(count)


@pytest.mark.parametrize("count", range(1, 40))
def test_parts_may_come_in_any_order(count):
    texts = set()
    for seed in range(20):
        order = list(range(count))
        random.Random(seed).shuffle(order)
        total = OrderedSum(count)
        for index in order:
            total.add(index, work.Order(f"{index} ", index))
        texts.add(total.total.text)
    assert len(texts) == 1
    assert texts.pop().replace("(", "").replace(")", "").split() == [str(index) for index in range(count)]


@pytest.mark.parametrize("count", range(1, 100))
def test_siblings_are_siblings(count):
    blocks = {(index, index + 1) for index in range(count)}
    while len(blocks) > 1:
        block = min(blocks, key=lambda block: (block[1] - block[0], block))
        other = sibling(block, count)
        assert sibling(other, count) == block
        assert other in blocks or other[1] - other[0] > 1
        if other in blocks:
            blocks -= {block, other}
            blocks.add((min(block[0], other[0]), max(block[1], other[1])))
        else:  # a larger one that is still in pieces
            break


def test_few_parts_are_held_at_a_time():
    total = OrderedSum(1000)
    for index in range(1000):
        total.add(index, 1)
        assert len(total.parts) <= 10
    assert total.total == 1000


@pytest.mark.parametrize("count", COUNTS)
def test_the_same_bits(engine, count):
    numbers = [random.Random(count * 100 + place).gauss(0, 10**8) for place in range(count)]
    expected = Here().fold(work.Floats(), numbers)
    assert engine.fold(work.Floats(), numbers) == expected
    if count == 33:  # or else the test shows nothing
        assert expected != sum(numbers)


def test_what_finishes_late_is_added_in_its_place(engine):
    assert engine.fold(work.Slow(), range(6)).text == summed(6)


def test_asides_and_progress(engine):
    asides, done = {}, []
    total = engine.fold(work.Asides(), range(10), aside=asides.__setitem__, done=done.append)
    assert total == 45
    assert asides == {number: f"about {number}".encode() for number in range(0, 10, 2)}
    assert sorted(done) == list(range(10))


@pytest.mark.parametrize("bad", [(0,), (3, 4, 5), (11,)])
def test_the_first_error_is_told_as_it_was(engine, bad):
    done = []
    with pytest.raises(InputError) as raised:
        engine.fold(work.Bad(bad), range(10**5), done=done.append)
    expected = InputError("expected a turn, found nothing", "replies.jsonl", bad[0])
    assert (str(raised.value), vars(raised.value)) == (str(expected), vars(expected))
    assert set(done) >= set(range(bad[0]))
    assert len(done) < 5 * 10**4  # those after it were given up
    assert engine.fold(work.Floats(), [1.5, 2.5]) == 4.0


def test_an_error_that_is_no_user_s_has_its_class(engine):
    with pytest.raises(KeyError, match="odd"):
        engine.fold(work.Raising("key"), range(3))
    with pytest.raises(SystemExit):
        engine.fold(work.Raising("exit"), range(3))


def test_an_error_in_opening(engine):
    with pytest.raises(InputError, match="there are no weights"):
        engine.fold(work.BadOpen(), range(5))


def test_what_needs_too_much_memory_is_cut(engine):
    before = engine.made_up["cut"]
    asides, done = [], []
    total = engine.fold(
        work.Large(fits=3), [(0, 10), (10, 12)], aside=lambda *each: asides.append(each), done=done.append
    )
    assert total == sum(range(12))
    # 0 to 10 -> 0 to 5, 5 to 10 -> 0 to 2, 2 to 5, 5 to 7, 7 to 10: four pieces, told in order
    assert [value for index, value in asides if index == 0] == [b"(0, 2)", b"(2, 5)", b"(5, 7)", b"(7, 10)"]
    assert sorted(done) == [(0, 10), (10, 12)]
    assert engine.made_up["cut"] - before == 3
    assert any("needed more memory than there was" in note for note in engine.notes)


def test_what_cannot_be_cut_is_named(engine):
    with pytest.raises(WorkFailed, match="^numbers 0 to 1: needs more memory than there is, and cannot be cut"):
        engine.fold(work.Large(fits=0), [(0, 4)])


def test_engines_by_name():
    assert isinstance(make_engine(None, None), Here)
    assert isinstance(make_engine(None, 1), Here)
    assert isinstance(make_engine("here", 8), Here)
    assert make_engine(None, 3).workers == 3
    assert make_engine("processes", None).workers >= 1
    with pytest.raises(InputError, match="unknown engine 'spark'"):
        make_engine("spark", None)
    with pytest.raises(InputError, match="workers: expected a whole number from 1"):
        make_engine(None, 0)
