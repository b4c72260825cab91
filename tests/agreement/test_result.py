"""The forms of an agreement that people read."""

import csv
import io
import json
from dataclasses import replace

import pytest

from dialogauge.corpus import Corpus
from dialogauge.tables import FORMATS
from tests.agreement.corpora import GOOD, POOR, quick, rated

SYSTEMS = ("a", "b", "c", "d")


@pytest.fixture(scope="module")
def result():
    """Two corpora, one with three raters, two levels, and a metric that never differs."""
    flat = [replace(t, extra={**t.extra, "flat": 1.0}) for t in rated(25, SYSTEMS, raters=3, whole=True)]
    other = [replace(t, extra={**t.extra, "flat": float(t.id)}) for t in rated(25, ("a", "b"), seed=1)]
    return quick({"one": Corpus(flat), "two": Corpus(other)}, [GOOD, POOR, "column[name=flat]"])


def lines(result, **more):
    return [[cell.text for cell in row] for row in result.to_table().rows]


@pytest.mark.parametrize("form", FORMATS)
def test_every_form(result, form):
    text = result.render(form)
    assert GOOD in text.replace("\\", "").replace("{[}", "[")
    assert "nan" not in text.casefold()
    assert not text.endswith("\n")


def test_the_forms_are_what_they_say(result):
    assert json.loads(result.render("json"))["schema"] == "dialogauge.agreement/1"
    assert "\\toprule" in result.render("latex")
    assert result.render("markdown").startswith("| corpus")
    assert str(result).startswith(result.render("table") + "\n\nwarning: ")
    assert repr(result).startswith("<Agreement: ")


def test_csv_has_a_line_per_row(result):
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert len(rows) == len(result.rows)
    for found, row in zip(rows, result.rows, strict=True):
        assert (found["corpus"], found["level"], found["metric"]) == (row.corpus, row.level, row.metric)
        assert found["pearson"] == ("" if row.pearson is None else repr(row.pearson))
    assert rows[2]["metric"] == "column[name=flat]"
    assert rows[2]["pearson"] == rows[2]["pearson_low"] == ""


def test_frame(result):
    frame = result.to_frame()
    assert len(frame) == len(result.rows)
    assert frame["kendall"].tolist()[0] == result.rows[0].kendall


def test_columns_in_which_nothing_differs_are_not_shown(result):
    headers = [header.text for header in result.to_table().headers]
    people = ["alpha", "split-half", "ceiling"]
    measures = ["metric", "n", "Pearson", "Spearman", "Kendall", "accuracy", "cosine"]
    assert headers == ["corpus", "level", *measures, *people]
    small = quick(rated(), level="turn").to_table()
    assert [header.text for header in small.headers] == measures
    assert small.notes[0] == "corpus, turn, overall"
    wide = quick(rated(25, SYSTEMS), level="turn", per_system=True).to_table()
    assert [header.text for header in wide.headers] == ["system", *measures]
    assert [row[0].text for row in wide.rows] == ["all", *SYSTEMS]


def test_a_line_for_each_metric_then_people_then_means(result):
    metrics = [GOOD, POOR, "column[name=flat]"]
    found = [tuple(line[:3]) for line in lines(result)]
    people = "(one of 3 raters)"
    assert found == [
        *(("one", "turn", name) for name in (*metrics, people)),
        *(("one", "system", name) for name in (*metrics, people)),
        *(("two", "turn", name) for name in metrics),
        *(("mean", "turn", name) for name in metrics[:2]),
    ]


def test_numbers_in_the_table(result):
    table = result.to_table()
    row = result.rows[0]
    cell = table.rows[0][4]
    assert cell.text == f"{row.pearson:.3f}"
    assert cell.aside.startswith(f"[{row.pearson_low:.3f}, {row.pearson_high:.3f}] p")
    assert [cell.text for cell in table.rows[0][6:9]] == [
        f"{value:.3f}" for value in (row.kendall, row.pairwise_accuracy, row.cosine)
    ]
    flat = table.rows[2]
    assert (flat[4].text, flat[4].aside, flat[4].best) == ("–", "", False)
    ceiling = result.ceilings[0]
    assert [cell.text for cell in table.rows[3][3:]] == [
        *("100", f"{ceiling.pearson:.3f}", f"{ceiling.spearman:.3f}", "", "", ""),
        *(f"{ceiling.alpha:.3f}", f"{ceiling.split_half:.3f}", f"{ceiling.split_half**0.5:.3f}"),
    ]
    assert all(len(line) == len(table.headers) for line in table.rows)


def test_the_best_are_marked_where_there_are_several(result):
    cells = {row[2].text: row[4] for row in result.to_table().rows[:2]}
    assert cells[GOOD].best
    assert cells[GOOD].best == result.row(GOOD).pearson_top
    assert cells[POOR].best == result.row(POOR).pearson_top
    assert not any(cell.best for row in quick(rated()).to_table().rows for cell in row)


def test_raters_who_differ_in_number():
    corpus = rated(raters=3)
    fewer = [replace(t, ratings={"overall": t.ratings["overall"][: 2 + int(t.id) % 2]}) for t in corpus]
    assert lines(quick(Corpus(fewer)))[-1][0] == "(one of 2 to 3 raters)"


def test_notes_say_how_it_was_done(result):
    notes = "\n".join(result.to_table().notes)
    assert "60 resamples, seed 0" in notes
    assert "95% interval, bootstrap over contexts" in notes
    assert "bootstrap over contexts and systems" in notes
    assert "mean: over corpora" in notes
    assert "signature: column|name:good" in notes
    alone = "\n".join(quick(rated(), confidence=0.9, seed=7).to_table().notes)
    assert "90% interval" in alone
    assert "seed 7" in alone
    assert "systems" not in alone
    assert "mean: over corpora" not in alone
    assert "raters" not in alone
    assert "marked" not in alone


def test_what_it_would_take_to_tell_the_two_best_apart():
    corpus = rated(30)
    near = [replace(t, extra={**t.extra, "near": t.extra["good"] + 0.01 * (int(t.id) % 7)}) for t in corpus]
    result = quick(Corpus(near), [POOR, GOOD, "column[name=near]"], level="turn")
    (contrast,) = (c for c in result.contrasts if c.coefficient == "spearman" and POOR not in (c.first, c.second))
    (note,) = (note for note in result.to_table().notes if note.startswith("to tell the two best"))
    assert f"about {contrast.needed:,} turns" in note
    assert "(corpus, overall)" in note
    assert POOR not in note
