"""The parts of the page that Python writes whole: the answer, scores, pairs, agreement, and the spread of values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, replace

from dialogauge.agreement.points import LEVELS
from dialogauge.agreement.result import Agreement
from dialogauge.evaluation.result import Result
from dialogauge.figures.report.charts import heat_map, histograms, pair_matrix
from dialogauge.figures.report.content import ReportContent, without_folders
from dialogauge.figures.report.export import Exports, figure_button
from dialogauge.figures.report.findings import Finding
from dialogauge.figures.report.made import scrolled
from dialogauge.tables import Table, html_escape, render_table, running_text, small_print, to_csv, to_html
from dialogauge.tables.forest import forest_key, forest_panel

OPEN = 4
"""So many further findings, and caveats, stand there openly."""
MATRIX_BESIDE = 7
"""Systems up to which matrices stand side by side."""


def answer_section(content: ReportContent) -> str:
    """What was found, then what it rests on and what to keep in mind."""
    lead, others = (content.findings or [Finding("", ["Nothing was compared."])])[0], content.findings[1:]
    parts = [f'<p class="answer">{_sentences(lead.sentences)}</p>']
    if lead.basis:
        parts.append(f'<p class="basis">{html_escape(_capital(lead.basis))}.</p>')
    if others:
        parts.append(_listed([_sentences(finding.sentences) for finding in others], "findings", "more"))
        if not isinstance(content.result, Agreement):
            warning = "Each metric is tested by itself: the more metrics, the more differences come by chance."
            parts.append(f'<p class="basis">{warning}</p>')
    if content.result.caveats:
        names = content.result.names()
        lines = [running_text(f"{_capital(caveat.message.rstrip('.'), names)}.") for caveat in content.result.caveats]
        parts.append(f"<h3>Keep in mind</h3>\n{_listed(lines, 'caveats', 'more')}")
    return _section("answer", "The answer", parts)


def scores_section(content: ReportContent, exports: Exports) -> str:
    """Every metric with intervals and floors, and the same as a table."""
    result = content.result
    if isinstance(result, Agreement):
        return ""
    panels = result.forest_panels()
    drawn = [forest_panel(panel) for panel in panels]
    figure = _figure("scores", "Scores", drawn, f"{forest_key(panels)}.")
    if isinstance(result, Result):
        table = result.to_table(content.digits)
        buttons = exports.table_buttons("scores", result, "the scores", content.digits)
    else:
        table = result.to_table(content.digits, intervals=True)
        texts = {"latex": render_table("latex", table)}  # each as `compare` and `score` print it
        texts |= {"markdown": render_table("markdown", result.to_table(content.digits))}
        texts |= {"csv": to_csv([asdict(score) for score in result.scores])}
        buttons = exports.buttons("scores", texts, "the scores")
    return _section("scores", "Scores", [figure, buttons, _table(table, "Scores")])


def pairs_section(content: ReportContent, exports: Exports) -> str:
    """Who beats whom under each metric, after correction."""
    comparison = content.comparison
    if comparison is None or not comparison.pairs:
        return ""
    metrics = [metric for metric in comparison.columns if any(pair.metric == metric for pair in comparison.pairs)]
    drawn = [pair_matrix(comparison, metric) for metric in metrics]
    kind = "beside" if len(comparison.systems) <= MATRIX_BESIDE else "wide"
    key = (
        "Read from the row: a triangle up says that the system is better than that of the column, a triangle down that "
        "it is worse (p < 0.05 after Holm's correction over the pairs of the metric), a dot that they are not told "
        "apart, ≠ that they differ where there is no better. Point at a cell for the difference; the "
        "numbers open below."
    )
    figure = _figure("pairs", "Pairs of systems", drawn, key, kind)
    whole = comparison.pairs_table(content.digits)
    tables = [
        f"<details><summary>On <bdi>{html_escape(metric)}</bdi></summary>\n"
        f"{_table(_of_metric(whole, metric), f'Differences on {metric}')}</details>"
        for metric in metrics
    ]
    texts = {"latex": render_table("latex", comparison.to_table(content.digits, intervals=True))}
    texts |= {"markdown": render_table("markdown", whole), "csv": to_csv(comparison.to_records())}
    buttons = exports.buttons("pairs", texts, "the pairs")
    inside = f'<details class="counts"><summary>The differences in numbers</summary>{"".join(tables)}</details>'
    return _section("pairs", "Pairs of systems", [figure, buttons, inside])


def agreement_section(content: ReportContent, exports: Exports) -> str:
    """Metrics against people: at a glance, with intervals, and in numbers."""
    agreement = content.result
    if not isinstance(agreement, Agreement):
        return ""
    levels = [level for level in LEVELS if any(s.level == level and s.system is None for s in agreement.scopes)]
    parts = []
    for name, coefficient in (("agreement", "spearman"), ("agreement-pearson", "pearson")):
        drawn = [heat_map(agreement, level, coefficient) for level in levels]
        key = "Blue: agrees with people, orange: points the wrong way."
        if agreement.ceilings:
            key += " One rater: one rater with the mean of the others. Ceiling: what knowing people's mean would reach."
        figure = _figure(name, f"Agreement with people, {coefficient.capitalize()}", drawn, key, "wide")
        parts.append(
            figure if coefficient == "spearman" else f"<details><summary>By Pearson</summary>{figure}</details>"
        )
    panels = agreement.forest_panels()
    key = f"{forest_key(panels)}."
    parts.append(_figure("agreement-intervals", "With intervals", [forest_panel(panel) for panel in panels], key))
    parts.append(exports.table_buttons("agreement", agreement, "the agreement", content.digits))
    parts.append(_table(agreement.to_table(content.digits), "Agreement with people"))
    return _section("agreement", "Agreement with people", parts)


def spreads_section(content: ReportContent) -> str:
    """How the values of single replies spread."""
    found = {metric: histograms(metric, systems) for metric, systems in content.spreads.items()}
    known = {metric: both for metric, both in found.items() if both is not None}
    if not known:
        return ""
    key = "Bars: how many replies have the value, scaled to the tallest of the row. Orange: the median."
    figure = _figure("spreads", "Values of single replies", [drawn for drawn, _ in known.values()], key)
    tables = [
        f"<details><summary>On <bdi>{html_escape(metric)}</bdi></summary>\n"
        f"{_table(table, f'Counts for {metric}')}</details>"
        for metric, (_, table) in known.items()
    ]
    inside = f'<details class="counts"><summary>The same in numbers</summary>{"".join(tables)}</details>'
    return _section("spreads", "Values of single replies", [figure, inside])


def no_replies_section(content: ReportContent) -> str:
    return _section("replies", "Replies", [f"<p>{html_escape(content.why_no_turns)}</p>"])


def _section(name: str, title: str, parts: Sequence[str]) -> str:
    inside = "\n".join(filter(None, parts))
    return (
        f'<section id="{name}" aria-labelledby="{name}-title">\n<h2 id="{name}-title">{html_escape(title)}</h2>\n'
        f"{inside}\n</section>"
    )


def _figure(name: str, what: str, drawn: Sequence[str], key: str, kind: str = "beside") -> str:
    caption = f"<figcaption>{running_text(_capital(key))}</figcaption>" if key else ""
    panels = f'<div class="panels {kind}">{"".join(drawn)}</div>'
    if kind == "wide":
        panels = f'<div class="scroll" role="region" aria-label="{html_escape(what)}" tabindex="0">{panels}</div>'
    return f'<figure id="figure-{name}">{panels}\n{caption}{figure_button(name, what)}</figure>'


def _table(table: Table, what: str) -> str:
    """The table, and how to read it in small print that opens; signatures stand with how it was made."""
    notes = [without_folders(note) for note in table.notes if not note.startswith("signature: ")]
    shown = scrolled(to_html(replace(table, notes=[])), what)
    return shown + (f"<details><summary>How to read it</summary>{small_print(notes)}</details>" if notes else "")


def _of_metric(table: Table, metric: str) -> Table:
    """Its rows of a table of pairs, without the column that names it."""
    return Table(table.headers[1:], [row[1:] for row in table.rows if row[0].text == metric])


def _listed(lines: Sequence[str], kind: str, more: str) -> str:
    """The first few, and the others where one asks for them."""
    shown = f'<ul class="{kind}">{"".join(f"<li>{line}</li>" for line in lines[:OPEN])}</ul>'
    if len(lines) <= OPEN:
        return shown
    rest = "".join(f"<li>{line}</li>" for line in lines[OPEN:])
    return f'{shown}<details><summary>{len(lines) - OPEN} {more}</summary><ul class="{kind}">{rest}</ul></details>'


def _sentences(sentences: Sequence[str]) -> str:
    return running_text(" ".join(sentences))


def _capital(text: str, names: Collection[str] = ()) -> str:
    """But for names: fbd is no Fbd, and a.txt no A.txt."""
    first = text.split(" ")[0].rstrip(",;:")
    return text[:1].upper() + text[1:] if first.isalpha() and first not in names else text
