"""Agreement of metrics with people on the eight rated corpora that `gauge` was developed on, and what length does.

    python benchmarks/gauge_agreement.py CORPORA [--metrics LIST] [--pair FIRST SECOND]... [--page PAGE] [--last-look]

CORPORA is the folder with grade/, usr_persona/, fed/, conture/ and fbd_six/. Turns of all systems are pooled, people
who answered and random replies among them, as `dialogauge correlate` does it; a metric that needs references stands on
the turns that have any. bert_ruber/ is for a last look: it is read with --last-look alone, once all choices are made.
A metric that learned from ratings of these corpora is held against each with a model that has not seen it:
--metrics 'gauge[model=held-out/{corpus}]' takes held-out/grade-convai2, held-out/daily-z and so on.
Markdown goes to stdout; --page also puts it between the two marks in a page of the documentation.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import dialogauge
from dialogauge.agreement import Agreement
from dialogauge.agreement.result import MEAN, AgreementRow
from dialogauge.corpus import Corpus
from dialogauge.metrics.registry import COMMA_OUTSIDE_BRACKETS, parse_request
from dialogauge.stats.resampling import IntervalEstimate, mean_of_estimates
from dialogauge.stats.significance import holm_corrected
from dialogauge.studies.length_bias import LENGTH, length_bias
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
    *("gauge", "gauge[references=false]", "gauge[model=large]", "gauge[model=large,references=false]"),
    *("ruber_unreferenced", COSINE, "semantic_similarity", "semantic_distance", "entailment", LENGTH),
    *("ruber", "ruber_referenced", "bertscore", "embedding_average", "embedding_greedy", "embedding_extrema"),
    *("meteor", "rouge_l", "bleu"),
)
SYSTEMS = 5
"""The fewest systems whose correlation is shown."""
DASH = "–"
NONE = Cell(DASH)
PLACE = "{corpus}"
BEGIN, END = "<!-- benchmarks/gauge_agreement.py -->", "<!-- end of benchmarks/gauge_agreement.py -->"


def load_corpora(folder: Path, last_look: bool) -> dict[str, Corpus]:
    corpora = {name: dialogauge.load(folder / path) for name, path in DEVELOPMENT.items()}
    if last_look:
        pairs = dialogauge.load(folder / LAST_LOOK)
        corpora |= {"BERT-RUBER generated": pairs.select(["generated"]), "BERT-RUBER all": pairs}
    return corpora


def correlate_all(corpora: Mapping[str, Corpus], metrics: Sequence[str]) -> list[Agreement]:
    """Corpus by corpus, metrics that need references apart from the others, since they stand on other turns."""
    found = []
    for name, corpus in corpora.items():
        usable = [metric for metric in metrics if any(parse_request(metric).metric.usable(turn) for turn in corpus)]
        for needed in (False, True):
            group = [metric for metric in usable if needs_references(metric) == needed and metric != LENGTH]
            found.append(correlate_one(name, corpus, [*group, LENGTH]))
        print(f"{name}: done", file=sys.stderr, flush=True)
    return found


def correlate_one(name: str, corpus: Corpus, metrics: Sequence[str], level: str | None = None) -> Agreement:
    """With the model of each corpus in place of {corpus}."""
    folder = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    requests = [parse_request(metric.replace(PLACE, folder)) for metric in metrics]
    found = dialogauge.correlate({name: corpus}, requests, level=level, progress=True)
    return found.renamed({request.name: metric for request, metric in zip(requests, metrics, strict=True)})


def needs_references(metric: str) -> bool:
    return all("references" in need for need in parse_request(metric).metric.needs)


def turn_correlations(
    found: Sequence[Agreement], metric: str, means: Mapping[str, Sequence[str]]
) -> dict[str, IntervalEstimate]:
    """Spearman's by corpus, and the means over corpora that all have one. Length is there twice on each: on most turns
    it counts."""
    rows = [row for each in found for row in each.rows if row.metric == metric and row.level == "turn"]
    known = {row.corpus: _spearman(row) for row in sorted(rows, key=lambda row: row.n)}
    for mean, names in means.items():
        if set(names) <= set(known):
            known[mean] = mean_of_estimates([known[name] for name in names])
    return known


def turn_tables(corpora: Mapping[str, Corpus], found: Sequence[Agreement], metrics: Sequence[str]) -> list[Table]:
    """Spearman's correlations, and their intervals."""
    with_references = [name for name in DEVELOPMENT if any(turn.references for turn in corpora[name])]
    means = {MEAN: list(DEVELOPMENT), f"{MEAN} of {len(with_references)}": with_references}
    columns = [*corpora, *means]
    correlations = {metric: turn_correlations(found, metric, means) for metric in metrics}
    tops = {name: [known[name].value for known in correlations.values() if name in known] for name in columns}
    values, intervals = [], []
    for metric, known in correlations.items():
        top = {name for name, each in known.items() if each.value == max(tops[name])}
        numbers = {name: Cell(_short(each.value), best=name in top) for name, each in known.items()}
        values.append([Cell(metric), *(numbers.get(name, NONE) for name in columns)])
        bounds = {name: Cell(_interval(each)) for name, each in known.items()}
        intervals.append([Cell(metric), *(bounds.get(name, NONE) for name in columns)])
    values += people_rows(corpora, found, len(means))
    return [
        Table([Header(what, align="left"), *map(Header, columns)], rows)
        for what, rows in (("Spearman", values), ("95 % interval", intervals))
    ]


def people_rows(corpora: Mapping[str, Corpus], found: Sequence[Agreement], means: int) -> list[list[Cell]]:
    """What a metric would reach that knew people's mean rating, and how many turns there are."""
    known = sorted((each for some in found for each in some.ceilings if each.level == "turn"), key=lambda each: each.n)
    ceilings = {each.corpus: each.reachable for each in known}
    turns: dict[str, set[int]] = {name: set() for name in corpora}
    for points in (points for some in found for points in some.points if points.scope.level == "turn"):
        turns[points.scope.corpus].add(len(points.people))
    blank = [Cell("")] * means
    return [
        [Cell("ceiling"), *(Cell(_short(ceilings.get(name))) for name in corpora), *blank],
        [Cell("turns"), *(Cell(" or ".join(map(str, sorted(turns[name])))) for name in corpora), *blank],
    ]


def system_table(corpora: Mapping[str, Corpus], found: Sequence[Agreement], metrics: Sequence[str]) -> Table:
    """Of the corpora with systems enough; a metric that needs references has none for the replies that are them."""
    names = [name for name, corpus in corpora.items() if len(corpus.systems) >= SYSTEMS]
    large = (row for each in found for row in each.rows if row.level == "system" and row.n >= SYSTEMS)
    rows = {(row.corpus, row.metric): row for row in large}
    cells = [
        [
            cell
            for row in (rows.get((name, metric)) for name in names)
            for cell in ([_estimate(_pearson(row)), _estimate(_spearman(row))] if row else [NONE, NONE])
        ]
        for metric in metrics
    ]
    headers = [f"{name}, {len(corpora[name].systems)} systems: {what}" for name in names for what in ("Pearson", "ρ")]
    return Table(
        [Header("systems", align="left"), *map(Header, headers)],
        [[Cell(metric), *found] for metric, found in zip(metrics, cells, strict=True)],
    )


def pair_table(corpora: Mapping[str, Corpus], first: str, second: str) -> Table:
    """Where one metric agrees better than another, beyond chance: p corrected by Holm over the corpora."""
    both = [parse_request(first).metric, parse_request(second).metric]
    found = [
        correlate_one(name, corpus, [first, second], level="turn")
        for name, corpus in corpora.items()
        if all(any(metric.usable(turn) for turn in corpus) for metric in both)
    ]
    contrasts = [contrast for each in found for contrast in each.contrasts if contrast.coefficient == "spearman"]
    corrected = holm_corrected([contrast.p for contrast in contrasts])
    rows = []
    for each, contrast, p in zip(found, contrasts, corrected, strict=True):
        difference = IntervalEstimate(*map(_nan, (contrast.difference, contrast.low, contrast.high)))
        estimates = [*map(_spearman, each.rows), difference]
        rows.append(
            [Cell(contrast.corpus), *map(_estimate, estimates), *map(Cell, (_short(contrast.p, 3), _short(p, 3)))]
        )
    columns = (first, second, "difference", "p", "p, Holm")
    return Table([Header("Spearman", align="left"), *map(Header, columns)], rows)


def length_table(corpora: Mapping[str, Corpus], found: Sequence[Agreement], metrics: Sequence[str]) -> Table:
    """Slopes on the logarithm of length, in standard deviations."""
    biases = sorted((each for agreement in found for each in length_bias(agreement)), key=lambda each: each.n)
    people = {each.corpus: each.people for each in biases}
    rows = [[Cell("people"), *(_estimate(people.get(name)) for name in corpora)]]
    for metric in metrics:
        mine = {each.corpus: each for each in biases if each.metric == metric}
        if mine:
            plain = {name: each.plain for name, each in mine.items()}
            given = {name: each.given_rating for name, each in mine.items()}
            rows.append([Cell(metric), *(_estimate(plain.get(name)) for name in corpora)])
            rows.append([Cell("… given the rating"), *(_estimate(given.get(name)) for name in corpora)])
    return Table([Header("slope on log length", align="left"), *map(Header, corpora)], rows)


def put_into(page: Path, text: str) -> None:
    """Between the marks."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{page}: expected the lines {BEGIN} and {END}")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def _pearson(row: AgreementRow) -> IntervalEstimate:
    return IntervalEstimate(*map(_nan, (row.pearson, row.pearson_low, row.pearson_high)))


def _spearman(row: AgreementRow) -> IntervalEstimate:
    return IntervalEstimate(*map(_nan, (row.spearman, row.spearman_low, row.spearman_high)))


def _nan(value: float | None) -> float:
    return float("nan") if value is None else value


def _short(value: float | None, decimals: int = 2) -> str:
    """As .51, which is how tables of correlations are read."""
    if value is None or value != value:
        return DASH
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("0.", ".", 1)


def _interval(estimate: IntervalEstimate) -> str:
    return f"[{_short(estimate.low)}, {_short(estimate.high)}]"


def _estimate(estimate: IntervalEstimate | None) -> Cell:
    return Cell(_short(estimate.value), _interval(estimate)) if estimate else NONE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--metrics", type=COMMA_OUTSIDE_BRACKETS.split, default=METRICS)
    parser.add_argument("--pair", nargs=2, action="append", metavar=("FIRST", "SECOND"))
    parser.add_argument("--page", type=Path)
    parser.add_argument("--last-look", action="store_true")
    given = parser.parse_args()
    corpora = load_corpora(given.corpora, given.last_look)
    metrics = given.metrics
    found = correlate_all(corpora, metrics)
    pairs = given.pair or [["ruber_unreferenced", COSINE]]
    values, intervals = turn_tables(corpora, found, metrics)
    tables = {
        "Turn by turn": values,
        "Intervals": intervals,
        "Systems": system_table(corpora, found, metrics),
        **{f"{first} or {second}?": pair_table(corpora, first, second) for first, second in pairs},
        "Length": length_table(corpora, found, metrics),
    }
    text = "\n\n".join(f"### {title}\n\n{to_markdown(table)}" for title, table in tables.items())
    print(text)
    if given.page:
        put_into(given.page, text)


if __name__ == "__main__":
    main()
