"""What a notebook shows: well-formed, escaped, with the same content as the other forms."""

from xml.etree import ElementTree

import dialogauge
from dialogauge import Turn
from dialogauge.tables import Cell, Header, Table, to_html

TURNS = [
    Turn(str(number), text, references=("how are you",), system=system, ratings={"overall": number})
    for number, text in enumerate(["how are you", "fine", "are you"])
    for system in ("<script>alert(1)</script>", "plain & simple")
]


def parsed(html):
    return ElementTree.fromstring(f"<div>{html.replace('<br>', '<br/>')}</div>")


def test_cells_by_hand():
    table = Table(
        [Header("system", align="left"), Header("bleu", "higher")],
        [[Cell("a"), Cell("1.5", "[1, 2]", best=True, raised="b")]],
        ["note 1", "note 2"],
    )
    assert to_html(table) == (
        '<table>\n<thead><tr><th style="text-align: left; white-space: normal">system</th>'
        '<th style="text-align: right; white-space: nowrap">bleu ↑</th></tr></thead>\n<tbody>\n'
        '<tr><td style="text-align: left; white-space: normal">a</td>'
        '<td style="text-align: right; white-space: nowrap">'
        "<b>1.5</b><sup>b</sup> <small>[1, 2]</small></td></tr>\n</tbody>\n</table>\n"
        '<p style="font-size: smaller; overflow-wrap: anywhere">note 1<br>\nnote 2</p>'
    )


def test_hostile_names_are_text():
    table = Table([Header('<b onload="x">')], [[Cell("&lt;\x1b[31m\u202e", "<i>", raised="'\"")]], ["</p><script>"])
    html = to_html(table)
    assert "<script" not in html
    assert 'onload="' not in html
    assert parsed(html).find(".//td").text == "&lt;\\u001b[31m\\u202e"


def test_results_show_themselves_with_their_warnings():
    result = dialogauge.evaluate(TURNS, "bleu,length", resamples=20)
    shown = parsed(result._repr_html_())
    assert [cell.text for cell in shown.findall(".//th")] == ["system", "turns", "bleu ↑", "length"]
    assert [row[0].text for row in shown.findall(".//tbody/tr")] == list(result.systems)
    text = "".join(shown.itertext())
    for caveat in result.caveats:
        assert f"warning: {caveat.message}" in text
    for note in result.to_table().notes:
        assert note in text


def test_comparisons_and_agreements_show_all_their_tables():
    comparison = dialogauge.compare(TURNS, "bleu", resamples=20)
    assert len(parsed(comparison._repr_html_()).findall("table")) == len(comparison.all_tables()) == 2
    agreement = dialogauge.correlate(TURNS, "length", resamples=20)
    assert len(parsed(agreement._repr_html_()).findall("table")) == len(agreement.all_tables())
