import json
import re
from importlib import import_module
from pkgutil import walk_packages

import pytest

import dialogauge.papers
from dialogauge.corpus import Corpus, Turn
from dialogauge.evaluation import evaluate
from dialogauge.evaluation.forms import Forms


@pytest.fixture(scope="module")
def result():
    rows = [
        Turn(str(i), answer, (f"q{i}",), references=("a good answer to it",), system=system)
        for i in range(30)
        for system, answer in (("good_one", f"a good answer to w{i}"), ("bad", f"no{i}"))
    ]
    return evaluate(Corpus(rows), "rouge_l,length,distinct")


def test_frame(result):
    frame = result.to_frame()
    assert list(frame.columns)[:7] == ["system", "metric", "value", "low", "high", "n", "higher_is_better"]
    assert len(frame) == 2 * (3 + 2 + 2)


def test_json_has_the_documented_shape(result):
    document = json.loads(result.to_json())
    assert document["schema"] == "dialogauge.scores/1"
    assert document["corpus"] == {"turns": 60, "systems": ["good_one", "bad"], "files": []}
    assert {"system", "metric", "value", "low", "high", "n", "higher_is_better", "signature"} <= document["scores"][
        0
    ].keys()
    undefined = next(s for s in document["scores"] if s["system"] == "bad" and s["metric"] == "distinct")
    assert undefined["value"] is None
    assert document["warnings"] == []


def test_best_is_marked_by_direction_and_not_where_there_is_none(result):
    header, _, good, bad, *_ = str(result).split("\n")
    assert re.split(r"  +", header) == ["system", "turns", "rouge_l ↑", "length", "distinct ↑"]
    assert [float(value) for value in re.findall(r"([\d.]+)\*", good)] == [0.8]
    assert "*" not in bad
    assert "–" in bad


def test_digits_follow_the_interval():
    # The mean of 0/1 values over 100 turns has an interval about 0.2 wide: two decimals are enough.
    rows = [Turn(str(i), "x", extra={"v": float(i % 2)}) for i in range(100)]
    table = str(evaluate(Corpus(rows), "column[name=v]"))
    assert re.search(r"0\.50 \[0\.[34]\d, 0\.[56]\d\]", table)


def test_notes_say_how_the_intervals_were_made(result):
    text = str(result)
    assert "95% interval of rouge_l, length: bootstrap over contexts (1000 resamples), seed 0" in text
    assert "jackknife over contexts, seed 0" in text
    assert "signature: rouge_l|tok:rouge-score|stem:no|dialogauge:" in text


def test_markdown_and_latex(result):
    assert "| good\\_one | 30 | **0." in result.to_markdown()
    assert "good\\_one & 30 & \\textbf{0." in result.to_latex()
    assert "rouge\\_l $\\uparrow$" in result.to_latex()


def test_csv_is_one_line_per_score(result):
    lines = result.to_csv().split("\n")
    assert lines[0].startswith("system,metric,value,low,high,n,")
    assert len(lines) == 1 + len(result.scores)


def test_printing_shows_the_caveats_below_the_table():
    """Six turns are few, which a script's reader must be told as one of the command line is."""
    result = evaluate(Corpus([Turn(str(i), f"word{i}", (f"q{i}",)) for i in range(6)]), "length")
    (caveat,) = result.caveats
    assert str(result) == f"{result.render('table')}\n\nwarning: {caveat.message}"
    assert caveat.message not in result.render("table")


def test_one_short_line_stands_for_a_result(result):
    assert repr(result) == "<Result: 2 systems, 3 metrics, 60 turns>"
    assert repr(result.samples[0]) == "<Sample: rouge_l of good_one, 30 turns>"
    assert repr(Corpus([Turn("1", "x")])) == "<Corpus: 1 system, 1 turn>"


def forms(cls=Forms):
    return {each for sub in cls.__subclasses__() for each in (sub, *forms(sub))}


def test_no_form_of_a_result_prints_all_that_it_holds():
    for module in walk_packages(dialogauge.papers.__path__, "dialogauge.papers."):
        import_module(module.name)
    import_module("dialogauge.agreement.result")
    assert len(forms()) > 10
    assert {cls.__repr__ for cls in forms()} == {Forms.__repr__}
