import csv
import io
import json

import pytest

from dialogauge.tables import (
    Cell,
    Header,
    Table,
    cut,
    first_few,
    printable,
    render,
    to_csv,
    to_json,
    to_latex,
    to_markdown,
    to_text,
)
from dialogauge.tables.text import width

TABLE = Table(
    [Header("system", align="left"), Header("bleu", "higher"), Header("fbd", "lower")],
    [
        [Cell("s_0"), Cell("9.5", "[8.1, 10.2]"), Cell("2.05", best=True)],
        [Cell("你好"), Cell("12.5", "[11.0, 14.0]", best=True), Cell("–")],
    ],
    ["a note"],
)


def test_what_is_too_long_ends_in_an_ellipsis():
    assert [cut("word", longest) for longest in (4, 3)] == ["word", "wo…"]
    assert [first_few(iter("abc"), most) for most in (3, 2)] == ["a, b, c", "a, b, …"]


def test_text_is_aligned_by_display_width():
    assert to_text(TABLE).split("\n") == [
        "system              bleu ↑  fbd ↓",
        "─────────────────────────────────",
        "s_0      9.5  [8.1, 10.2]   2.05*",
        "你好    12.5* [11.0, 14.0]     –",
        "",
        "a note",
    ]


def test_full_width_names_are_aligned():
    table = Table(
        [Header("system", align="left"), Header("bleu")], [[Cell("ＢＯＴ"), Cell("9.5")], [Cell("b"), Cell("12.5")]]
    )
    assert to_text(table).split("\n") == ["system  bleu", "────────────", "ＢＯＴ   9.5", "b       12.5"]


def test_every_text_line_starts_its_columns_at_the_same_place():
    header, _, first, second, *_ = to_text(TABLE).split("\n")
    assert width(first[: first.index("[")]) == width(second[: second.index("[")])
    assert width(header) == width(first)


def test_markdown():
    assert to_markdown(TABLE).split("\n") == [
        "| system | bleu ↑ | fbd ↓ |",
        "| --- | ---: | ---: |",
        r"| s\_0 | 9.5 \[8.1, 10.2\] | **2.05** |",
        r"| 你好 | **12.5** \[11.0, 14.0\] | – |",
        "",
        "- a note",
    ]


def test_latex_uses_booktabs_and_escapes():
    lines = to_latex(TABLE).split("\n")
    assert lines[0] == r"% needs \usepackage{booktabs}"
    assert r"\toprule" in lines
    assert r"\bottomrule" in lines
    assert r"system & bleu $\uparrow$ & fbd $\downarrow$ \\" in lines
    assert r"s\_0 & 9.5 {\scriptsize {[}8.1, 10.2]} & \textbf{2.05} \\" in lines


def test_latex_special_characters():
    table = Table([Header("x", align="left")], [[Cell(r"a&b%c$d#e_f{g}h~i^j\k")]])
    assert r"a\&b\%c\$d\#e\_f\{g\}h\textasciitilde{}i\textasciicircum{}j\textbackslash{}k \\" in to_latex(table)


def test_csv_reads_back():
    records = [
        {"name": 'say "hi", you', "value": 0.1 + 0.2, "none": None},
        {"name": "b", "value": float("nan"), "none": 1},
    ]
    rows = list(csv.reader(io.StringIO(to_csv(records))))
    assert rows == [["name", "value", "none"], ['say "hi", you', "0.30000000000000004", ""], ["b", "", "1"]]


def test_json_writes_undefined_numbers_as_null_and_reads_back():
    value = {"a": [float("nan"), float("inf"), 0.1], "b": "\x1b[31m\x9b\u202eüç\x7f"}
    text = to_json(value)
    assert json.loads(text) == {"a": [None, None, 0.1], "b": "\x1b[31m\x9b\u202eüç\x7f"}
    assert "üç" in text
    assert printable(text, keep="\n") == text


def test_printable_spells_what_could_act_on_a_terminal():
    assert printable("a\x1b[2J\r\n\x9bé😀\u202e") == "a\\u001b[2J\\u000d\\u000a\\u009bé😀\\u202e"


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex"])
def test_no_format_lets_control_characters_through(form):
    evil = "x\x1b]0;owned\x07\x9b31m\u202e"
    table = Table([Header(evil)], [[Cell(evil, evil)]], [evil])
    text = render(form, table=table, records=[{"system": evil}], document={"system": evil})
    assert printable(text, keep="\n") == text


@pytest.mark.parametrize(
    ("text", "columns"),
    # Full-width letters and marks (U+FF01 to U+FF5E, U+3000) take two columns, half-width katakana one, joiners none.
    [
        ("abc", 3),
        ("你好", 4),
        ("e\u0301", 1),
        ("😀", 2),
        ("", 0),
        ("ＡＢ！", 6),
        ("\u3000", 2),
        ("ｱｲ", 2),
        ("a\u200db", 2),
    ],
)
def test_width(text, columns):
    assert width(text) == columns
