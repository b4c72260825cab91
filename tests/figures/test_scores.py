import re
import sys
from dataclasses import replace

import pytest

from dialogauge import compare, evaluate, plot_comparison, plot_scores
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError, MissingPackage
from dialogauge.figures.drawing import BEST, FLOOR, MUTED


@pytest.fixture
def result():
    turns = [Turn(str(i), f"w{i} $x_{i}$", (f"q{i}",), system=s) for s in ("a$_b$", "é") for i in range(20)]
    return evaluate(Corpus(turns), "length,distinct")


@pytest.mark.parametrize(("name", "start"), [("f.png", b"\x89PNG"), ("f.svg", b"<?xml"), ("f.pdf", b"%PDF")])
def test_formats(result, tmp_path, name, start):
    path = plot_scores(result, tmp_path / "deep" / name)
    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_same_result_same_bytes(result, at_two_times, kind):
    today, then = at_two_times(lambda path: plot_scores(result, path), kind)
    assert today == then


def test_without_matplotlib_the_extra_is_named(result, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackage, match=r"pip install 'dialogauge\[plot\]'"):
        plot_scores(result, tmp_path / "f.png")


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("folder.png", "not a plain file"),
        ("file/f.png", "part of its path is a file"),
        ("a\0b.png", "can have this name"),
    ],
)
def test_where_no_figure_can_be_written_is_said_before_anything_is_drawn(result, tmp_path, name, fault):
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=fault):
        plot_scores(result, tmp_path / name)


def marks(path):
    """How often the floor's mark is drawn, and how often the figure says what it is, once beside the mark."""
    svg = path.read_text()
    named = svg.count("<!-- floor: what chance alone gives -->")
    return len(re.findall(rf"<use [^>]*stroke: {FLOOR}", svg)) - named, named


def test_a_floor_is_drawn_for_each_score_that_has_one(result, tmp_path):
    """In the colour that nothing else has, and in the panels that have one only."""
    assert FLOOR == "#d55e00"
    scores = [
        replace(score, floor=score.value / 2, p=0.2, higher_is_better=False) if score.metric == "distinct" else score
        for score in result.scores
    ]
    none, both = (replace(result, scores=some) for some in (result.scores, scores))
    assert marks(plot_scores(none, tmp_path / "none.svg")) == (0, 0)
    assert FLOOR not in (tmp_path / "none.svg").read_text()
    assert marks(plot_scores(both, tmp_path / "both.svg")) == (2, 1)
    first = next(score for score in scores if score.floor is not None)
    one = replace(result, scores=[replace(score, floor=None) if score == first else score for score in scores])
    assert marks(plot_scores(one, tmp_path / "one.svg")) == (1, 1)


def test_a_floor_lies_where_its_value_is(result, tmp_path):
    """At the score itself, the mark stands on the dot."""
    scores = [replace(score, floor=score.value) for score in result.scores]
    svg = plot_scores(replace(result, scores=scores), tmp_path / "same.svg").read_text()
    places = re.findall(r'<use [^>]*x="([\d.]+)" y="([\d.]+)" style="fill: (#[0-9a-f]{6}); stroke: (#[0-9a-f]{6})', svg)
    floors = {(x, y) for x, y, _, stroke in places if stroke == FLOOR}
    dots = {(x, y) for x, y, fill, stroke in places if stroke == fill != FLOOR}
    assert len(floors & dots) == 4
    assert len(floors - dots) == 1, "in the key"


def places(path):
    """Of each panel's title, from the top, how many stand at its height."""
    found = re.findall(r"<!-- m\d -->.*?translate\(([\d.]+) ([\d.]+)\)", path.read_text(), re.S)
    heights = [height for _, height in found]
    return [heights.count(height) for height in dict.fromkeys(heights)]


@pytest.mark.parametrize(("metrics", "rows"), [(1, [1]), (4, [4]), (5, [3, 2]), (9, [3, 3, 3])])
def test_many_metrics_stand_in_rows(metrics, rows, tmp_path):
    turns = [Turn(str(i), "x", extra={f"v{m}": i % 7 + m for m in range(9)}) for i in range(20)]
    names = {f"column[name=v{m}]": f"m{m}" for m in range(metrics)}
    result = evaluate(Corpus(turns), ",".join(names)).renamed(names)
    assert places(plot_scores(result, tmp_path / "f.svg")) == rows


def test_the_figure_says_what_its_marks_mean(result, tmp_path):
    svg = plot_scores(result, tmp_path / "f.svg").read_text()
    assert "<!-- best score of a metric -->" in svg
    assert "<!-- other scores; lines: 95% interval over contexts -->" in svg
    alone = replace(result, systems={"é": 20})
    assert "<!-- score; line: 95% interval over contexts -->" in plot_scores(alone, tmp_path / "g.svg").read_text()


def test_names_that_are_long_or_alike_stay_apart(tmp_path):
    names = ["the same beginning of a very long name " * 2 + end for end in ("1", "2")]
    turns = [Turn(str(i), f"w{i}", (f"q{i}",), system=s) for s in names for i in range(20)]
    svg = plot_scores(evaluate(Corpus(turns), "length"), tmp_path / "f.svg").read_text()
    assert "<!-- the same begin…y long name 1 -->" in svg
    assert "<!-- the same begin…y long name 2 -->" in svg


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
