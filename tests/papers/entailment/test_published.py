"""The entailment paper's numbers as we copied them."""

import re

from dialogauge.papers.entailment.table2 import entailment_table2
from dialogauge.papers.entailment.table3 import entailment_table3
from tests.shared import shared

EMBEDDINGS = {"bert": "BERT", "elmo": "ELMo", "use": "USE", "word2vec": "word2vec"}
METRICS = {"ss_h2": "SS(H−2)", "ss_h1": "SS(H−1)", "average": "A", "greedy": "G", "extrema": "E"}


def lines():
    return shared("papers/dialog-entailment-naacl2019.txt").read_text(encoding="utf-8").splitlines()


def numbers(line):
    return tuple(float(number) for number in re.findall(r"-?0\.\d{3}", line))


def test_every_digit_of_table_2():
    found = {line.split(" 0.")[0]: numbers(line) for line in lines() if len(numbers(line)) == 2}
    for name, row in entailment_table2().rows.items():
        assert tuple(row.values()) == found[name]
        assert list(row) == ["Reddit", "OpenSubtitles"]


def test_every_digit_of_table_3():
    found = {line.split(" ")[0]: numbers(line) for line in lines() if len(numbers(line)) == 2}
    for name, printed in entailment_table3().rows.items():
        metric, embedding = name.split("/")
        assert found[METRICS[metric] + EMBEDDINGS[embedding]] == printed
