from dialogauge.errors import Caveat
from dialogauge.evaluation.caveats import merge_caveats


def test_caveats_that_differ_in_numbers_alone_become_one():
    base = [Caveat("a", "7 of 8 turns"), Caveat("a", "7 of 8 turns")]
    found = {
        ("noise", 0.5): [Caveat("a", "7 of 8 turns"), Caveat("b", "1 turn of 2.5")],
        ("noise", 1.0): [Caveat("b", "3 turns of 4"), Caveat("c", "x.1: 3"), Caveat("c", "x.2: 3")],
        ("permute", 1.0): [Caveat("b", "9 turns of 4"), Caveat("d", "y[order=2]: 3"), Caveat("d", "y[order=3]: 3")],
    }
    assert merge_caveats(base, found) == [
        Caveat("a", "7 of 8 turns"),
        Caveat("b", "3 turns of 4 (noise at ratio 1; the like in 2 more of the perturbed corpora)"),
        Caveat("c", "x.1: 3 (noise at ratio 1)"),
        Caveat("c", "x.2: 3 (noise at ratio 1)"),
        Caveat("d", "y[order=2]: 3 (permute at ratio 1)"),
        Caveat("d", "y[order=3]: 3 (permute at ratio 1)"),
    ]
