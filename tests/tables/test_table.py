"""Text that is aligned and safe, and tables that are wider than the terminal."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.tables import Cell, Header, Table, cut, first_few, printable, to_text
from dialogauge.tables.table import width, wrapped

TABLE = Table(
    [Header("system", align="left"), Header("bleu", "higher"), Header("fbd", "lower")],
    [
        [Cell("s_0"), Cell("9.5", "[8.1, 10.2]"), Cell("2.05", best=True)],
        [Cell("你好"), Cell("12.5", "[11.0, 14.0]", best=True), Cell("–")],
    ],
    ["a note"],
)
SCORES = Table(
    [Header("system", align="left"), *(Header(f"metric{i}", "higher") for i in range(4))],
    [
        [Cell(name), *(Cell(f"{i}.{place}25", f"[{i}.100, {i}.300] n=17", best=not place) for i in range(4))]
        for place, name in enumerate(("ours", "theirs"))
    ],
    ["signature: metric|encoder:minilm|layer:6|dialogauge:0.1.0"],
)
NUMBER = re.compile(r"\d+\.\d+|n=\d+")


def widest(text):
    return max(map(width, text.split("\n")))


def test_what_fits_stays_as_it_is():
    assert to_text(SCORES, widest(to_text(SCORES))) == to_text(SCORES)


def test_intervals_stand_below_their_values_before_columns_are_split():
    # Beside: 6 for the names, 4 columns of 6 + 1 + 19, 4 gaps of 2: 118. Below, a column takes the 14 of its interval.
    assert widest(to_text(SCORES)) == 118
    header, rule, first, interval, count, *_ = to_text(SCORES, 70).split("\n")
    assert header.split() == ["system", "metric0", "↑", "metric1", "↑", "metric2", "↑", "metric3", "↑"]
    assert rule == "─" * 70
    assert first.split() == ["ours", "0.025*", "1.025*", "2.025*", "3.025*"]
    assert interval.split("  ")[-1] == "[3.100, 3.300]"
    assert count.split() == ["n=17"] * 4


def test_columns_are_split_into_blocks_of_one_width_that_repeat_the_names():
    first, second, notes = to_text(SCORES, 50).split("\n\n")
    assert first.split("\n")[0].split() == ["system", "metric0", "↑", "metric1", "↑"]
    assert second.split("\n")[0].split() == ["system", "metric2", "↑", "metric3", "↑"]
    assert [line.split()[0] for line in second.split("\n")[2::3]] == ["ours", "theirs"]
    assert notes == "signature:\n  metric|encoder:minilm|layer:6|dialogauge:0.1.0"


@pytest.mark.parametrize("columns", [1, 10, 24, 40, 60, 80, 100, 200])
def test_no_number_is_lost_or_cut_at_any_width(columns):
    assert sorted(NUMBER.findall(to_text(SCORES, columns))) == sorted(NUMBER.findall(to_text(SCORES)))
    assert columns < 24 or widest(to_text(SCORES, columns)) <= columns


def test_texts_are_wrapped_at_words_and_names_stay_whole():
    table = Table(
        [Header("name", align="left"), Header("what it is", align="left"), Header("n")],
        [[Cell("a_name_without_spaces"), Cell("a long explanation of what there is to know"), Cell("12")]],
    )
    assert to_text(table, 44).split("\n") == [
        "name                   what it is         n",
        "───────────────────────────────────────────",
        "a_name_without_spaces  a long            12",
        "                       explanation of",
        "                       what there is to",
        "                       know",
    ]


def test_a_spare_column_is_left_out_before_columns_are_split_and_a_note_says_so():
    headers = [Header("name", align="left"), Header("first"), Header("second", spare=True)]
    table = Table(headers, [[Cell("x"), Cell("1" * 20), Cell("2" * 20)]])
    assert "2" * 20 in to_text(table, 48)
    text = to_text(table, 44)
    assert "2" * 20 not in text
    assert text.endswith("\n\nno room for second: --wide, or --format json")


def test_wide_characters_count_twice():
    assert wrapped("你好 你好 你好", 9) == ["你好 你好", "你好"]
    assert wrapped("你好你好你好", 8) == ["你好你好", "你好"]


@given(st.text(max_size=80), st.integers(4, 30))
def test_wrapping_keeps_every_character_and_the_width(text, columns):
    lines = wrapped(text, columns)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(width(line) <= columns for line in lines)


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


def test_printable_spells_what_nobody_sees():
    """Above U+FFFF as JSON does, in two halves. Joiners stay: a family of emoji needs them."""
    assert printable("\u200b\u00ad\u2063\ufeff") == "\\u200b\\u00ad\\u2063\\ufeff"
    assert json.loads(f'"{printable(chr(0xE0041))}"') == chr(0xE0041)
    assert printable("👩\u200d👧") == "👩\u200d👧"


def test_printable_spells_what_could_act_on_a_terminal():
    assert printable("a\x1b[2J\r\n\x9bé😀\u202e") == "a\\u001b[2J\\u000d\\u000a\\u009bé😀\\u202e"
