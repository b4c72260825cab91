"""Table 3 of the entailment paper and ours: a line for each metric, two columns for each corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.agreement.agreement_table import interval_and_p
from dialogauge.agreement.result import AgreementRow
from dialogauge.evaluation.digits import fixed
from dialogauge.reproduce.entailment_corpora import RatedCorpus
from dialogauge.reproduce.entailment_published import GONE, PAPER, entailment_table3
from dialogauge.tables import Cell, Header, Table

if TYPE_CHECKING:
    from dialogauge.reproduce.entailment_rows import TableRow
    from dialogauge.reproduce.entailment_table3 import EntailmentTable3

MEAN = "mean of GRADE"
EMPTY = Cell("")


def table3_text(result: EntailmentTable3) -> Table:
    headers = [Header("metric", align="left"), *(Header(name) for name in entailment_table3().corpora)]
    for name in columns_of(result):
        headers += [Header(f"{_title(name, result)} r"), Header("ρ")]
    rows = [_line(row, result) for row in result.rows]
    return Table(headers, [*rows, *_people(result)], notes_of(result))


def columns_of(result: EntailmentTable3) -> list[str]:
    """GRADE's corpora, the mean over them, then the others."""
    grade = [each.name for each in result.corpora if each.is_grade]
    mean = [MEAN] if any(name == MEAN for _, name in result.ours) else []
    return [*grade, *mean, *(each.name for each in result.corpora if not each.is_grade)]


def _title(name: str, result: EntailmentTable3) -> str:
    short = {each.name: each.title.removeprefix("GRADE ").removesuffix("Dialogues") for each in result.corpora}
    return short.get(name, name)


def _line(row: TableRow, result: EntailmentTable3) -> list[Cell]:
    published = [Cell(fixed(row.sign * value)) for value in row.published or ()] or [EMPTY, EMPTY]
    cells = [text for name in columns_of(result) for text in _pair(result.ours.get((row.name, name)), name == MEAN)]
    return [Cell(row.title), *published, *cells]


def _pair(ours: AgreementRow | None, with_interval: bool) -> list[Cell]:
    if ours is None:
        return [EMPTY, EMPTY]
    return [
        Cell(
            fixed(getattr(ours, name)),
            interval_and_p(getattr(ours, f"{name}_low"), getattr(ours, f"{name}_high"), None) if with_interval else "",
        )
        for name in ("pearson", "spearman")
    ]


def _people(result: EntailmentTable3) -> list[list[Cell]]:
    """What people's agreement allows, and how many turns there are."""
    one, ceiling, turns = [], [], []
    for name in columns_of(result):
        known = result.ceilings.get(name)
        one += [Cell(fixed(known.pearson)), Cell(fixed(known.spearman))] if known else [EMPTY, EMPTY]
        ceiling += [Cell(fixed(known.reachable)) if known else EMPTY, EMPTY]
        most = max((found.n for (_, corpus), found in result.ours.items() if corpus == name), default=None)
        turns += [Cell(str(most) if most is not None and name != MEAN else ""), EMPTY]
    lines = {"(one rater)": one, "(ceiling)": ceiling, "(turns)": turns}
    return [[Cell(name), EMPTY, EMPTY, *cells] for name, cells in lines.items()]


def notes_of(result: EntailmentTable3) -> list[str]:
    how = f"bootstrap over dialogues or contexts ({result.resamples} resamples, seed {result.seed})"
    notes = [
        GONE,
        f"Reddit, OpenSubtitles: Pearson, table 3 of {PAPER}; then ours: Pearson (r) and Spearman (ρ) with the mean"
        " rating, over turns of all systems",
        "all are oriented: more is better, and below 0 a metric points the wrong way. SS is a distance: the paper"
        " prints its correlations as they are, below 0 where it agrees with people, and here their signs are turned."
        " The code of the paper computes a similarity in its place (similarity rows), whose sign needs no turning",
        "H-1: the last utterance; H-2: the last two as one text, by the paper's section 5.2.2; second last: the one"
        " before the last alone, as the caption of its figure 2 has it",
        f"mean of GRADE: of its corpora, each counting once; [low, high]: 95% interval, {how}; those of single corpora"
        " are in the JSON and CSV",
        "A, G, E and BERTScore hold the response against a reference, which FED and ConTurE have not",
        "(one rater): one rater against the mean of the others; (ceiling): what a metric would reach that knew people's"
        " mean; ConTurE has one rating for each turn, the majority of three",
        "ratings: " + "; ".join(f"{each.title}: {each.scale.words}" for each in result.corpora),
    ]
    return [*notes, *_fewer(result.corpora, result)]


def _fewer(corpora: list[RatedCorpus], result: EntailmentTable3) -> list[str]:
    """Where rows stand on fewer turns than others."""
    found = []
    for each in corpora:
        turns = {row.name: made.n for row in result.rows if (made := result.ours.get((row.name, each.name)))}
        most = max(turns.values(), default=0)
        if fewer := {name: n for name, n in turns.items() if n < most}:
            found.append(f"{each.title}: {', '.join(fewer)} on {min(fewer.values())} of {most} turns alone")
    return found
