"""Labels of an inference corpus, the paper's and one made from conversations."""

import csv
import io
import json

import pytest

from dialogauge.errors import InputError
from dialogauge.learned.synthesis import synthesize_entailment
from dialogauge.papers.entailment.table1 import reproduce_entailment_table1
from dialogauge.tables import FORMATS
from tests.shared import shared

WORDS = "rain sun bread soup train ticket dog park where when how nice fine please thanks today".split()


@pytest.fixture(scope="module")
def conversations(tmp_path_factory):
    path = tmp_path_factory.mktemp("talk") / "talk.jsonl"
    lines = [
        {
            "dialogue": f"d{i}",
            "utterances": [f"{WORDS[(i + k) % 16]} {WORDS[(3 * i + k) % 16]} {i} {k}" for k in range(5)],
        }
        for i in range(120)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def table(conversations):
    return reproduce_entailment_table1([conversations])


def test_counts_are_those_that_synthesize_writes(table, conversations, tmp_path):
    written = synthesize_entailment([conversations], tmp_path / "pairs.jsonl")
    for cell in table.cells:
        labels = ("entailment", "neutral", "contradiction") if cell.label is None else (cell.label,)
        wanted = {key: n for key, n in written.counts.items() if key[0] == cell.split and key[1] in labels}
        assert cell.pairs == sum(wanted.values())
        if cell.label:
            assert cell.share == pytest.approx(written.share(cell.split, cell.label))
    assert table.dialogues == 120


def test_nothing_is_written(conversations):
    assert [path.name for path in conversations.parent.iterdir()] == ["talk.jsonl"]


def test_the_papers_numbers(table):
    train = {cell.label: cell for cell in table.cells if cell.split == "train"}
    assert train["neutral"].published_thousands == 579.5
    assert train["neutral"].published_share == pytest.approx(579.5 / (218.2 + 579.5 + 261.9))
    test = {cell.label: cell.published_thousands for cell in table.cells if cell.split == "test"}
    assert test == {"entailment": 1.4, "neutral": 3.1, "contradiction": 1.1, None: 5.6}


def test_forms(table):
    assert all(table.render(form) for form in FORMATS)
    text = str(table)
    assert "579.5K 54.7%" in text
    assert "50.2K" in text
    found = json.loads(table.to_json())
    assert len(found["cells"]) == 12
    rows = list(csv.DictReader(io.StringIO(table.to_csv())))
    assert sum(int(row["pairs"]) for row in rows if row["label"]) == sum(
        int(row["pairs"]) for row in rows if not row["label"]
    )


def test_no_conversations():
    with pytest.raises(InputError, match="--conversations: entailment-table1 needs files of conversations"):
        reproduce_entailment_table1([])


def test_convai2():
    file = shared("training/convai2/valid_both_original_no_cands.txt.gz")
    table = reproduce_entailment_table1([file])
    train = {cell.label: cell for cell in table.cells if cell.split == "train"}
    assert table.dialogues == 1000
    for cell in train.values():  # the defaults are made for these shares
        assert cell.share == pytest.approx(cell.published_share, abs=0.001)
