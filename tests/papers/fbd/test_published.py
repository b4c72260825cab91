"""The paper's numbers as we copied them. Both texts of the paper hold them, each spaced in its own way."""

import re

import pytest

from dialogauge.corpus import known
from dialogauge.metrics.registry import BUILT_IN
from dialogauge.papers.fbd.published import Correlation, Spread, table3, table4, table5
from tests.shared import shared

CORPORA = ["fbd-personam", "fbd-dailyh", "fbd-convai2", "fbd-empathetic", "fbd-dailyz", "fbd-personaz"]
DIMENSIONS = ["relevance", "grammar", "content", "overall"]


def numbers(row):
    return [number for value in row.values.values() for number in vars(value).values()]


def printed(text, decimals):
    """The numbers in a line of the paper, which leaves the zero out: `.400`, `1.00`."""
    return [float(number) for number in re.findall(rf"1\.00|\.\d{{{decimals}}}", text)]


@pytest.mark.parametrize(
    ("table", "rows", "columns"), [(table3, 12, CORPORA), (table4, 2, CORPORA), (table5, 12, DIMENSIONS)]
)
def test_shapes(table, rows, columns):
    assert len(table().rows) == rows
    assert list(table().titles) == columns
    for row in table().rows.values():
        assert list(row.values) == columns
        assert len(numbers(row)) == 2 * len(columns)
        assert all(0 <= number <= 1 for number in numbers(row))


def test_spot_values():
    assert table3().rows["BLEU"].values["fbd-personam"] == Correlation(spearman=0.4, pearson=0.672)
    assert table3().rows["Average"].values["fbd-dailyh"] == Correlation(spearman=0.209, pearson=0.209)
    assert table3().rows["PRD (BERT base)"].values["fbd-convai2"] == Correlation(spearman=1.0, pearson=0.972)
    assert table3().rows["FBD (RoBERTa base)"].values["fbd-personaz"] == Correlation(spearman=1.0, pearson=0.86)
    assert table4().rows["RoBERTa"].values["fbd-convai2"] == Spread(mean=0.73, deviation=0.34)
    assert table5().rows["METEOR"].values["grammar"] == Correlation(spearman=0.119, pearson=0.044)
    assert table5().rows["FBD (RoBERTa base)"].values["content"] == Correlation(spearman=0.524, pearson=0.839)


@pytest.mark.parametrize("text", ["distribution-distances-acl2021.txt", "distribution-distances-arxiv.txt"])
def test_every_digit(text):
    lines = shared(f"papers/{text}").read_text(encoding="utf-8").splitlines()
    for table, decimals, length in ((table3(), 3, 12), (table4(), 2, 12), (table5(), 3, 8)):
        mark = "±" if decimals == 2 else ""
        found = [printed(line, decimals) for line in lines if mark in line and re.match(r"[A-Z][\w-]+", line)]
        assert [row for row in found if len(row) == length] == [numbers(row) for row in table.rows.values()]


def test_table5_repeats_a_column_of_table3():
    assert list(table5().rows) == list(table3().rows)
    for name, row in table5().rows.items():
        assert row.values["overall"] == table3().rows[name].values[table5().about["corpus"]]


def test_the_two_files_with_the_same_contexts_have_the_same_normality():
    """The paper's own sign that its Empathetic is Daily(H)."""
    for row in table4().rows.values():
        assert row.values["fbd-dailyh"] == row.values["fbd-empathetic"]


def test_names_are_known_elsewhere():
    corpora = {corpus.name: corpus for corpus in known.corpora()}
    assert all(corpora[name].title.endswith(f": {title}") for name, title in table3().titles.items())
    assert list(table4().titles) == list(table3().titles)
    assert tuple(table5().titles) == corpora[table5().about["corpus"]].dimensions
    assert {row.metric for row in table3().rows.values()} <= set(BUILT_IN)


def test_encoders():
    encoders = {name: row.encoder for name, row in table3().rows.items()}
    assert [encoders[name] for name in ("BLEU", "METEOR", "ROUGE-L")] == [None] * 3
    assert {encoders[name] for name in ("Greedy", "Average", "Extrema")} == {"static vectors through nlg-eval"}
    for name, encoder in encoders.items():
        if name.endswith("(BERT base)"):
            assert encoder == table4().rows["BERT"].encoder == "bert-base-uncased"
        if name.endswith("(RoBERTa base)"):
            assert encoder == table4().rows["RoBERTa"].encoder == "roberta-base"
    assert encoders == {name: row.encoder for name, row in table5().rows.items()}
