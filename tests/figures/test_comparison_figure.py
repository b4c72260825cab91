import re
from dataclasses import replace

import pytest

from dialogauge import compare, plot_comparison
from dialogauge.corpus import Corpus, Turn
from dialogauge.figures.drawing import BEST, MUTED


@pytest.fixture(scope="module")
def comparison():
    """`a` answers as the reference does, `b` and `c` do not, and do not differ from each other."""
    answers = {"a": "a good answer", "b": "no", "c": "nay"}
    return compare(
        Corpus(
            [
                Turn(str(i), f"{answers[s]} w{i}", (f"q{i}",), ("a good answer to it",), s)
                for s in answers
                for i in range(30)
            ]
        ),
        "rouge_l,meteor",
    )


def drawn(path):
    """How many marks there are in the colours of differences and of those that are not shown, the key's left out."""
    svg = path.read_text()
    return tuple(len(re.findall(rf"<use [^>]*stroke: {colour}", svg)) - 1 for colour in (BEST, MUTED))


def test_each_pair_is_marked_by_its_corrected_test(comparison, tmp_path):
    path = plot_comparison(comparison, tmp_path / "f.svg")
    assert [pair.better for pair in comparison.pairs] == ["a", "a", None] * 2
    assert drawn(path) == (4, 2)
    svg = path.read_text()
    assert "<!-- a − b -->" in svg
    assert "<!-- different (p &lt; 0.05 after Holm's correction) -->" in svg
    assert "<!-- not shown to differ; lines: 95% interval over contexts -->" in svg
    assert svg.count("<!-- right of 0: the first is better -->") == 2


def test_where_lower_is_better_the_other_side_is(comparison, tmp_path):
    lower = replace(comparison, scores=[replace(score, higher_is_better=False) for score in comparison.scores])
    assert plot_comparison(lower, tmp_path / "f.svg").read_text().count("<!-- left of 0: the first is better -->") == 2


def test_a_pair_that_has_no_difference_is_said(comparison, tmp_path):
    first, *others = comparison.pairs
    unknown = replace(first, difference=None, low=None, high=None, p=None, p_holm=None, better=None)
    path = plot_comparison(replace(comparison, pairs=[unknown, *others]), tmp_path / "f.svg")
    assert drawn(path) == (3, 2)
    assert path.read_text().count("not tested") == 1


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_same_comparison_same_bytes(comparison, at_two_times, kind):
    today, then = at_two_times(lambda path: plot_comparison(comparison, path), kind)
    assert today == then
