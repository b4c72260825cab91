"""Agreement of metrics with people on the eight rated corpora that `gauge` was developed on, and what length does.

    python benchmarks/gauge_agreement.py CORPORA [--metrics LIST] [--pair FIRST SECOND]... [--page PAGE] [--last-look]

CORPORA is the folder with grade/, usr_persona/, fed/, conture/ and fbd_six/. Turns of all systems are pooled, people
who answered and random replies among them, as `dialogauge correlate` does it; a metric that needs references stands on
the turns that have any. bert_ruber/ is for a last look: it is read with --last-look alone, once all choices are made.
Markdown goes to stdout; --page also puts it between the two marks in a page of the documentation.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import dialogauge
from dialogauge.agreement import Agreement
from dialogauge.agreement.result import AgreementRow, Contrast
from dialogauge.corpus import Corpus
from dialogauge.evaluation.options import RunOptions
from dialogauge.metrics.registry import Request, known_names
from dialogauge.stats.intervals import IntervalEstimate, mean_of_estimates
from dialogauge.stats.significance import holm_corrected
from dialogauge.studies.length_bias import LENGTH, LengthBias, length_bias
from dialogauge.tables import Cell, Header, Table, to_markdown

DEVELOPMENT = {
    "GRADE ConvAI2": "grade/eval_data/convai2",
    "GRADE DailyDialog": "grade/eval_data/dailydialog",
    "GRADE Empathetic": "grade/eval_data/empatheticdialogues",
    "USR PersonaChat": "usr_persona/pc_usr_data.json",
    "FED": "fed/fed_data.json",
    "ConTurE": "conture/data.json",
    "Daily(Z)": "fbd_six/dailyz_annotation.json",
    "Persona(Z)": "fbd_six/personaz_annotation.json",
}
LAST_LOOK = "bert_ruber/Eng_Scores_queries_gen_gtruth_replies.csv"
COSINE = "semantic_similarity.cosine"
"""The plain cosine of mean-pooled vectors of response and last utterance, which has learned nothing."""
METRICS = (
    *("gauge", "ruber_unreferenced", COSINE, "semantic_similarity", "semantic_distance", "entailment", LENGTH),
    *("ruber", "ruber_referenced", "bertscore", "embedding_average", "embedding_greedy", "embedding_extrema"),
    *("meteor", "rouge_l", "bleu"),
)
SYSTEMS = 5
"""The fewest systems whose correlation is shown."""
DASH = "–"
BEGIN, END = "<!-- benchmarks/gauge_agreement.py -->", "<!-- end of benchmarks/gauge_agreement.py -->"


def load_corpora(folder: Path, last_look: bool) -> dict[str, Corpus]:
    corpora = {name: dialogauge.load(folder / path) for name, path in DEVELOPMENT.items()}
    if last_look:
        pairs = dialogauge.load(folder / LAST_LOOK)
        corpora |= {"BERT-RUBER generated": pairs.select(["generated"]), "BERT-RUBER all": pairs}
    return corpora


def correlate_all(corpora: Mapping[str, Corpus], requests: Sequence[Request]) -> list[Agreement]:
    """Metrics that can be measured on the same corpora stand side by side, each time with length."""
    alike: dict[tuple[str, ...], list[Request]] = {}
    for request in requests:
        alike.setdefault(usable_on(corpora, request), []).append(request)
    (length,) = RunOptions().requests(LENGTH)
    found = []
    for names, group in alike.items():
        wanted = list(dict.fromkeys([*group, length]))
        found.append(dialogauge.correlate({name: corpora[name] for name in names}, wanted, progress=True))
        print(f"{', '.join(request.name for request in group)}: done", file=sys.stderr, flush=True)
    return found


def usable_on(corpora: Mapping[str, Corpus], *requests: Request) -> tuple[str, ...]:
    return tuple(
        name
        for name, corpus in corpora.items()
        if all(any(request.metric.usable(turn) for turn in corpus) for request in requests)
    )


def turn_rows(found: Sequence[Agreement], metric: str) -> dict[str, AgreementRow]:
    """By corpus; of the metrics that several agreements have, the one on most corpora."""
    rows = [[row for row in each.rows if row.metric == metric and row.level == "turn"] for each in found]
    return {row.corpus: row for row in max(rows, key=len)}


def turn_tables(corpora: Mapping[str, Corpus], found: Sequence[Agreement], metrics: Sequence[str]) -> list[Table]:
    """Spearman's correlations, and their intervals."""
    with_references = [name for name, corpus in corpora.items() if any(turn.references for turn in corpus)]
    names = list(corpora)
    means = {"mean": names, f"mean of {len(with_references)}": with_references}
    headers = [Header("Spearman", align="left"), *map(Header, (*names, *means))]
    values, intervals = [], []
    for metric in metrics:
        rows = turn_rows(found, metric)
        known = {name: _spearman(rows[name]) for name in names if name in rows}
        for mean, over in means.items():
            if set(over) <= set(known):
                known[mean] = mean_of_estimates([known[name] for name in over])
        cells = [known.get(name) for name in (*names, *means)]
        values.append([Cell(f"`{metric}`"), *(Cell(_short(cell.value) if cell else DASH) for cell in cells)])
        intervals.append([Cell(f"`{metric}`"), *(Cell(_interval(cell) if cell else DASH) for cell in cells)])
    best = [max((_number(row[place].text) for row in values), default=0.0) for place in range(1, len(headers))]
    for row in values:
        row[1:] = [Cell(cell.text, best=_number(cell.text) == top) for cell, top in zip(row[1:], best, strict=True)]
    ceilings = {each.corpus: each for agreement in found for each in agreement.ceilings if each.level == "turn"}
    people = [ceilings[name].reachable if name in ceilings else None for name in names]
    values.append([Cell("ceiling"), *map(Cell, map(_short, people)), Cell(""), Cell("")])
    counts = {name: sorted({rows[name].n for rows in _all_rows(found, metrics) if name in rows}) for name in names}
    values.append([Cell("turns"), *(Cell(" or ".join(map(str, counts[name]))) for name in names), Cell(""), Cell("")])
    return [Table(headers, values), Table([Header("95 % interval", align="left"), *headers[1:]], intervals)]


def system_table(corpora: Mapping[str, Corpus], found: Sequence[Agreement], metrics: Sequence[str]) -> Table:
    """Of the corpora with systems enough."""
    names = [name for name, corpus in corpora.items() if len(corpus.systems) >= SYSTEMS]
    rows = []
    for metric in metrics:
        cells = []
        for name in names:
            row = next((row for each in found for row in each.rows if _is(row, name, "system", metric)), None)
            pearson = IntervalEstimate(*map(_nan, (row.pearson, row.pearson_low, row.pearson_high))) if row else None
            both = (pearson, _spearman(row)) if row else ()
            cells += [Cell(_short(each.value), _interval(each)) for each in both if each] or [Cell(DASH)] * 2
        rows.append([Cell(f"`{metric}`"), *cells])
    headers = [f"{name}, {len(corpora[name].systems)} systems: {what}" for name in names for what in ("Pearson", "ρ")]
    return Table([Header("systems", align="left"), *map(Header, headers)], rows)


def pair_table(corpora: Mapping[str, Corpus], first: str, second: str) -> Table:
    """Where one metric agrees better than another, beyond chance: p corrected by Holm over the corpora."""
    requests = RunOptions().requests([first, second])
    names = usable_on(corpora, *requests)
    found = dialogauge.correlate({name: corpora[name] for name in names}, requests, level="turn")
    contrasts = [each for each in found.contrasts if each.coefficient == "spearman"]
    corrected = holm_corrected([each.p for each in contrasts])
    rows = [
        [Cell(each.corpus), *_sides(found, each), *map(Cell, (_short(each.p, 3), _short(p, 3)))]
        for each, p in zip(contrasts, corrected, strict=True)
    ]
    sides = (f"`{requests[0].name}`", f"`{requests[1].name}`")
    return Table(
        [Header("Spearman", align="left"), *map(Header, (*sides, "difference", "p", "p, Holm"))],
        rows,
    )


def length_table(corpora: Mapping[str, Corpus], found: Sequence[Agreement], metrics: Sequence[str]) -> Table:
    """Slopes on the logarithm of length, in standard deviations."""
    slopes: dict[str, dict[str, LengthBias]] = {}
    for agreement in found:
        for each in length_bias(agreement):
            slopes.setdefault(each.metric, {})[each.corpus] = each
    fullest = max(slopes.values(), key=len)
    rows = [[Cell("people"), *(_estimate(fullest[name].people if name in fullest else None) for name in corpora)]]
    for metric in filter(slopes.__contains__, metrics):
        mine = [slopes[metric].get(name) for name in corpora]
        rows.append([Cell(f"`{metric}`"), *(_estimate(each.plain if each else None) for each in mine)])
        rows.append([Cell("… given the rating"), *(_estimate(each.given_rating if each else None) for each in mine)])
    return Table([Header("slope on log length", align="left"), *map(Header, corpora)], rows)


def put_into(page: Path, text: str) -> None:
    """Between the marks."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{page}: expected the lines {BEGIN} and {END}")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def _all_rows(found: Sequence[Agreement], metrics: Sequence[str]) -> list[dict[str, AgreementRow]]:
    return [turn_rows(found, metric) for metric in metrics]


def _is(row: AgreementRow, corpus: str, level: str, metric: str) -> bool:
    return (row.corpus, row.level, row.metric, row.system) == (corpus, level, metric, None)


def _sides(found: Agreement, contrast: Contrast) -> list[Cell]:
    rows = [found.row(metric, corpus=contrast.corpus) for metric in (contrast.first, contrast.second)]
    difference = IntervalEstimate(*map(_nan, (contrast.difference, contrast.low, contrast.high)))
    return [_estimate(each) for each in (*map(_spearman, rows), difference)]


def _spearman(row: AgreementRow) -> IntervalEstimate:
    return IntervalEstimate(*map(_nan, (row.spearman, row.spearman_low, row.spearman_high)))


def _nan(value: float | None) -> float:
    return float("nan") if value is None else value


def _number(text: str) -> float:
    return float("-inf") if text == DASH else float(text)


def _short(value: float | None, decimals: int = 2) -> str:
    """As .51, which is how tables of correlations are read."""
    if value is None or value != value:
        return DASH
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("0.", ".", 1)


def _interval(estimate: IntervalEstimate) -> str:
    return f"[{_short(estimate.low)}, {_short(estimate.high)}]"


def _estimate(estimate: IntervalEstimate | None) -> Cell:
    return Cell(_short(estimate.value), _interval(estimate)) if estimate else Cell(DASH)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument(
        "--metrics", default=",".join(name for name in METRICS if name.partition(".")[0] in known_names())
    )
    parser.add_argument("--pair", nargs=2, action="append", metavar=("FIRST", "SECOND"))
    parser.add_argument("--page", type=Path)
    parser.add_argument("--last-look", action="store_true")
    given = parser.parse_args()
    corpora = load_corpora(given.corpora, given.last_look)
    requests = RunOptions().requests(given.metrics)
    metrics = [request.name for request in requests]
    found = correlate_all(corpora, requests)
    tables = [
        *turn_tables(corpora, found, metrics),
        system_table(corpora, found, metrics),
        *(pair_table(corpora, *pair) for pair in given.pair or [("ruber_unreferenced", COSINE)]),
        length_table(corpora, found, metrics),
    ]
    text = "\n\n".join(map(to_markdown, tables))
    print(text)
    if given.page:
        put_into(given.page, text)


if __name__ == "__main__":
    main()
