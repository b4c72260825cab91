"""What a step of several recurrent networks looks at."""

from dialogauge.learned.ruber.batches import Packings, sorted_batch
from dialogauge.learned.ruber.graphs import Steps
from dialogauge.learned.ruber.recurrence import Packing
from tests.learned.small import torch

CPU = torch.device("cpu")
LENGTHS = torch.tensor([1, 5, 3, 9, 2, 17])


def pairs(*rows):
    """Of one network."""
    return sorted_batch(torch.tensor([rows]), LENGTHS)


def test_chunks_by_hand():
    """Texts 0 to 5 have 1, 5, 3, 9, 2 and 17 words. Queries 1 and 3: the longer is first. Responses and negatives are
    0, 5 and 2, 4; from the longest they are 5, 2, 4, 0, and go to the two chunks in turns."""
    batch = pairs((1, 0, 5), (3, 2, 4))
    assert batch.rows.tolist() == [[[3, 1], [5, 4], [2, 0]]]
    assert batch.longest.tolist() == [17, 5]
    assert batch.places.tolist() == [[1, 5, 2, 0, 4, 3]]
    found = batch.rows.flatten(1)[0][batch.places[0]].view(2, 3)
    assert found.tolist() == [[1, 0, 5], [3, 2, 4]]


def test_a_packing_by_hand():
    """Texts of 3 and 1 words: both have a first word, one a second and a third."""
    packing = Packing.from_lengths(torch.tensor([3, 1]))
    assert packing.counts == (2, 1, 1)
    assert packing.steps.tolist() == [0, 0, 1, 2]
    assert packing.texts.tolist() == [0, 1, 0, 0]
    assert packing.starts.tolist() == [0, 2, 3]


def test_packed_by_the_lengths_themselves():
    packing = Packings(CPU, few=False).choose(pairs((1, 0, 5), (3, 2, 4)))[1]
    assert packing.counts == (2,) * 5 + (1,) * 12


def test_few_packings_by_hand():
    """17 words count as 32, 5 as 8; 9 as 16, 3 as 8."""
    packings = Packings(CPU, few=True)
    long, short = pairs((1, 0, 5), (3, 2, 4)), pairs((3, 0, 1), (2, 1, 4))
    packings.fit([long, short])
    keys = [packings.choose(batch) for batch in (long, short, long)]
    assert keys[0][1].counts == (2,) * 8 + (1,) * 24
    assert keys[1][1].counts == (2,) * 8 + (1,) * 8
    assert keys[0] == keys[2]
    assert keys[0][1] is keys[2][1]


def test_packings_grow_with_what_comes_up():
    packings = Packings(CPU, few=True)
    first, later = pairs((0, 0, 1), (4, 2, 0)), pairs((3, 3, 3), (3, 3, 3))
    packings.fit([first])
    before = packings.choose(first)
    packings.fit([later])
    after = packings.choose(first)
    assert before[1].counts == (2,) * 8 + (1,) * 8
    assert after[1].counts == (2,) * 16
    assert before[0] != after[0]
    assert packings.choose(later) == after


def test_steps_are_run_then_recorded_then_replayed():
    total, recorded = torch.zeros(()), []

    def record(step, inputs):
        recorded.append(inputs[0].clone())
        return lambda: step(*inputs)

    steps = Steps(record)
    for key, number in [("a", 1.0), ("a", 2.0), ("b", 10.0), ("a", 4.0)]:
        steps.run(key, total.add_, (torch.tensor(number),))
    assert (float(total), [float(number) for number in recorded]) == (17, [2])


def test_steps_without_a_recorder():
    total, steps = torch.zeros(()), Steps(None)
    for number in (1.0, 2.0, 4.0):
        steps.run("a", total.add_, (torch.tensor(number),))
    assert float(total) == 7
