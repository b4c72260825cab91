"""Every format a user can ask for: HTML and LaTeX well-formed and escaped, as far as can be seen without a browser and
LaTeX."""

import csv
import io
import json
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dialogauge
from dialogauge import Turn
from dialogauge.corpus import Corpus
from dialogauge.evaluation import compare
from dialogauge.tables import (
    Cell,
    Header,
    Table,
    printable,
    render,
    running_text,
    to_csv,
    to_html,
    to_json,
    to_latex,
    to_markdown,
)
from tests.tables.test_table import TABLE


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


def test_csv_has_no_formulas():
    """A spreadsheet would compute them; numbers stay numbers."""
    records = [{"system": text, "value": -0.5} for text in ("=1+1", "+1", "-x", "@SUM(A1)", "a=b")]
    rows = list(csv.DictReader(io.StringIO(to_csv(records))))
    assert [row["system"] for row in rows] == ["'=1+1", "'+1", "'-x", "'@SUM(A1)", "a=b"]
    assert {row["value"] for row in rows} == {"-0.5"}


def test_json_writes_undefined_numbers_as_null_and_reads_back():
    value = {"a": [float("nan"), float("inf"), 0.1], "b": "\x1b[31m\x9b\u202eüç\x7f"}
    text = to_json(value)
    assert json.loads(text) == {"a": [None, None, 0.1], "b": "\x1b[31m\x9b\u202eüç\x7f"}
    assert "üç" in text
    assert printable(text, keep="\n") == text


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex"])
def test_no_format_lets_control_characters_through(form):
    evil = "x\x1b]0;owned\x07\x9b31m\u202e"
    table = Table([Header(evil)], [[Cell(evil, evil)]], [evil])
    text = render(form, table=table, records=[{"system": evil}], document={"system": evil})
    assert printable(text, keep="\n") == text


TURNS = [
    Turn(str(number), text, references=("how are you",), system=system, ratings={"overall": number})
    for number, text in enumerate(["how are you", "fine", "are you"])
    for system in ("<script>alert(1)</script>", "plain & simple")
]

COMMANDS = {
    *("begin", "end", "centering", "caption", "label", "toprule", "midrule", "bottomrule"),
    *("textbf", "textsuperscript", "scriptsize", "allowbreak", "uparrow", "downarrow", "pm"),
    *("textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar"),
}


def parsed(html):
    return ElementTree.fromstring(f"<div>{html.replace('<br>', '<br/>')}</div>")


def test_cells_by_hand():
    table = Table(
        [Header("system", align="left"), Header("bleu", "higher")],
        [[Cell("a"), Cell("1.5", "[1, 2]", best=True, raised="b")]],
        ["note 1", "note 2"],
    )
    assert to_html(table) == (
        '<table class="numbers">\n<thead><tr><th scope="col" class="left">system</th>'
        '<th scope="col" class="right">bleu ↑</th></tr></thead>\n<tbody>\n'
        '<tr><th scope="row" class="left" dir="auto">a</th>'
        '<td class="right"><b>1.5</b><sup>b</sup> <small>[1, 2]</small></td></tr>\n</tbody>\n</table>\n'
        '<p class="notes">note 1<br>\nnote 2</p>'
    )


def test_hostile_names_are_text():
    table = Table([Header('<b onload="x">')], [[Cell("&lt;\x1b[31m\u202e", "<i>", raised="'\"")]], ["</p><script>"])
    html = to_html(table)
    assert "<script" not in html
    assert 'onload="' not in html
    assert parsed(html).find(".//tbody//th").text == "&lt;\\u001b[31m\\u202e"


def test_names_from_right_to_left_turn_nothing_round():
    assert running_text("a <b> is") == "a &lt;b&gt; is"
    assert running_text("between ישן and b (0.1, p)") == "between <bdi>ישן</bdi> and b (0.1, p)"
    assert running_text("between ישן and חדש") == "between <bdi>ישן</bdi> and <bdi>חדש</bdi>"
    assert running_text("of حديث 2 שלום (0.1") == "of <bdi>حديث 2 שלום</bdi> (0.1"


def test_results_show_themselves_with_their_warnings():
    result = dialogauge.evaluate(TURNS, "bleu,length", resamples=20)
    shown = parsed(result._repr_html_())
    assert [cell.text for cell in shown.findall(".//thead//th")] == ["system", "turns", "bleu ↑", "length"]
    assert [row[0].text for row in shown.findall(".//tbody/tr")] == list(result.systems)
    text = "".join(shown.itertext())
    for caveat in result.caveats:
        assert f"warning: {caveat.message}" in text
    for note in result.to_table().notes:
        assert note in text


def test_comparisons_and_agreements_show_all_their_tables():
    comparison = dialogauge.compare(TURNS, "bleu", resamples=20)
    assert len(parsed(comparison._repr_html_()).findall(".//table")) == len(comparison.all_tables()) == 2
    agreement = dialogauge.correlate(TURNS, "length", resamples=20)
    assert len(parsed(agreement._repr_html_()).findall(".//table")) == len(agreement.all_tables())


def check(latex):
    """Refuses what LaTeX would: unknown commands, braces and dollars that are not closed, rows of the wrong length,
    and characters with a meaning that are not escaped."""
    body = "\n".join(line for line in latex.split("\n") if not line.startswith("% "))
    assert set(re.findall(r"\\([A-Za-z]+)", body)) <= COMMANDS
    plain = re.sub(r"\\[&%$#_{}]", "", body.replace("\\\\", "\n"))
    depth = 0
    for character in plain:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    assert plain.count("$") % 2 == 0
    assert not re.search(r"[#%~^_<>|]", re.sub(r"\\label\{.*\}", "", plain))
    (columns,) = re.findall(r"\\begin\{tabular\}\{([lr]*)\}", body)
    rows = [line for line in body.split("\n") if line.endswith(r" \\")]
    assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(columns)}
    assert body.count("&") - body.count(r"\&") == (len(columns) - 1) * len(rows)


@given(st.lists(st.text(), min_size=4, max_size=4), st.text())
def test_any_text_is_escaped(texts, note):
    name, value, aside, raised = texts
    check(to_latex(Table([Header(name, "lower"), Header("x")], [[Cell(value, aside, True, raised), Cell("")]], [note])))


def test_notes_are_the_caption_and_the_name_the_label():
    table = Table([Header("x")], [[Cell("1")]], ["lower is better", "signature: a|b|c", "see --wide"], "my scores")
    lines = to_latex(table).split("\n")
    assert lines[1:5] == [
        r"\begin{table}[t]",
        r"\centering",
        r"\caption{Lower is better. Signature: a\textbar{}\allowbreak{}b\textbar{}\allowbreak{}c. See -{}-wide.}",
        r"\label{tab:my-scores}",
    ]
    assert lines[-1] == r"\end{table}"


def test_a_symbol_that_a_note_explains_keeps_its_case():
    table = Table([Header("p")], [[Cell("0.1")]], ["p: the share of draws"], "scores")
    assert r"\caption{p: the share of draws.}" in to_latex(table)


def test_characters_beyond_latin_are_said():
    assert "LuaLaTeX" in to_latex(Table([Header("你好")], [[Cell("1")]]))
    assert "LuaLaTeX" not in to_latex(Table([Header("Réal – Łódź")], [[Cell("−1 ± 2")]]))


def test_signs_of_numbers_are_mathematics():
    table = Table([Header("x")], [[Cell("−1 ± 2", "-0.5±0.1")]], ["mean ± standard error"])
    assert r"$-$1 $\pm$ 2 {\scriptsize $-$0.5$\pm$0.1} \\" in to_latex(table).split("\n")
    assert r"\caption{Mean $\pm$ standard error.}" in to_latex(table).split("\n")


def test_one_table_of_a_comparison_has_scores_intervals_and_letters():
    turns = [
        Turn(str(i), f"{'a good' if system == 's_0' else 'no'} answer w{i}", (f"q{i}",), ("a good answer",), system)
        for i in range(30)
        for system in ("s_0", "s_1")
    ]
    latex = compare(Corpus(turns), "rouge_l,length").to_latex(names={"rouge_l": "ROUGE-L"}, digits=2)
    check(latex)
    assert latex.count(r"\begin{table}") == 1
    assert r"\label{tab:comparison}" in latex
    assert " & system & ROUGE-L $\\uparrow$ & length \\\\" in latex
    # Three of four words, all three of the reference's: precision 3/4, recall 1, F1 6/7 in every turn.
    assert r"a & s\_0 & 0.86\textsuperscript{b} {\scriptsize {[}0.86, 0.86]}" in latex
    assert r"\caption{{[}low, high]: 95\% interval of ROUGE-L, length: bootstrap over contexts" in latex
    assert "Letters beside a score: the systems it beats" in latex
