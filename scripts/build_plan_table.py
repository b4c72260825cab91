"""Builds the table of how ratings vary in public corpora, from which `dialogauge plan` plans where there is no pilot.

    python scripts/build_plan_table.py CORPORA > src/dialogauge/people/plan/known.toml

CORPORA is a directory with the corpora in folders of their own: grade, usr_persona, fed and bert_ruber, each as its
authors publish it. Only numbers are kept. The same corpora and the same metrics give the same bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from dialogauge.corpus import load
from dialogauge.corpus.known import corpora
from dialogauge.evaluation.options import RunOptions
from dialogauge.people.plan.basis import Basis
from dialogauge.people.plan.turn_values import turn_values

FILES = {
    "usr-persona": "usr_persona/pc_usr_data.json",
    "grade-dailydialog": "grade/eval_data/dailydialog",
    "grade-empatheticdialogues": "grade/eval_data/empatheticdialogues",
    "grade-convai2": "grade/eval_data/convai2",
    "bert-ruber": "bert_ruber/Eng_Scores_queries_gen_gtruth_replies.csv",
    "fed": "fed/fed_data.json",
}
METRICS, WITHOUT_REFERENCES = "gauge,bertscore,rouge_l", "gauge"
NO_REFERENCES = {"fed"}
SYSTEMS = {"usr-persona": ["KV-MemNN", "Seq2Seq", "Language Model", "New Human Generated"]}
"""Where not all are compared: USR's original replies are the references of the others."""
HEAD = """\
# How ratings vary in public corpora, read by basis.py and made by scripts/build_plan_table.py.
# Variances are in squared points of the scale; what a corpus cannot tell is absent. Of metrics: the correlation of
# their differences with the ratings' between systems on the same context (within systems where they share none), and
# the variance that this explains.
"""


def main(folder: Path) -> None:
    print(HEAD)
    known = {corpus.name: corpus for corpus in corpora()}
    for name, file in FILES.items():
        corpus = load(folder / file).select(SYSTEMS.get(name))
        values, _ = turn_values(corpus, WITHOUT_REFERENCES if name in NO_REFERENCES else METRICS, RunOptions())
        print(f"# {known[name].papers[0]}\n# {known[name].source}\n")
        for dimension in known[name].dimensions:
            print("\n".join(entry(Basis.from_corpus(name, corpus, dimension, values))) + "\n")


def entry(basis: Basis) -> Iterator[str]:
    yield "[[ratings]]"
    for key in ("name", "dimension"):
        yield f'{key} = "{getattr(basis, key)}"'
    for key in ("systems", "units", "raters", "low", "high", "alpha"):
        yield from number(key, getattr(basis, key))
    yield "[ratings.components]"
    for key, value in asdict(basis.components).items():
        yield from number(key, value)
    for metric, gain in basis.gains.items():
        yield f"[ratings.metrics.{metric}]"
        for key, value in asdict(gain).items():
            yield from number(key, value)


def number(key: str, value: float | bool | None) -> Iterator[str]:
    if value is not None:
        shown = str(value).lower() if isinstance(value, bool | int) else f"{value:.4f}"
        yield f"{key} = {shown}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
