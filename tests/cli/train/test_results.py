"""What comes of a training: tables, files, figures, and the call that is printed."""

import csv
import io
import json
import re
import shlex

import numpy as np
import pytest
from safetensors.numpy import load_file

from dialogauge.learned.entailment.model import open_entailment
from dialogauge.metrics.learned.entailment import CLASSES
from dialogauge.tables import printable
from tests.cli.train.conftest import ENTAILMENT, GAUGE, RUBER
from tests.learned.entailment.pairs import pairs, write_pairs
from tests.learned.gauge.talk import rated, write_lines

REFUSED = ["a,b", "a[b", "a]b", "[m]", "none", "All"]
"""Names that would be read as something else: the end of an option, or the model that comes with dialogauge."""
TURN = {
    "ruber": {"context": ["ask0"], "response": "say0 now", "references": ["say0"]},
    "entailment": {"context": ["hello", "dog"], "response": "nice"},
    "gauge": {
        "context": ["hello", "is the weather nice ?"],
        "response": "the weather is nice today .",
        "references": ["it is"],
    },
}
PARTS = {
    "ruber": {"ruber_unreferenced": [""], "ruber": ["", ".unreferenced", ".referenced"]},
    "entailment": {"entailment": ["", *(f".{share}{name}" for share in ("", "share_") for name in CLASSES)]},
    "gauge": {"gauge": ["", ".relevance", ".fluency", ".specificity"]},
}
"""The metrics that a model is for, the one that is printed first, and their columns."""


@RUBER
def test_table_of_ruber(train, tmp_path):
    done = train()
    assert done.code == 0
    lines = done.out.split("\n")
    assert lines[0].split() == ["negatives", "ranking", "accuracy", "↑"]
    assert [line.split()[0] for line in lines[2:5]] == ["random", "same_length", "hard"]
    assert re.search(r"random +\d\.\d{4} \[\d\.\d{4}, \d\.\d{4}\]", lines[2])
    assert f"model: {tmp_path / 'm'}" in done.out
    assert "trained with 42 pairs of 21; epochs: 2" in done.out
    assert "warning: only 18 pairs of 9 dialogues to validate with" in done.err


@ENTAILMENT
def test_table_of_entailment(train, tmp_path, card):
    done = train("--test", write_pairs(tmp_path / "more.jsonl", pairs(9)))
    assert done.code == 0
    lines = done.out.split("\n")
    header = "pairs accuracy ↑ majority of class as entailment as neutral as contradiction"
    assert " ".join(lines[0].split()) == header
    assert re.match(
        r"validation \(9\) +\d\.\d{4} \[\d\.\d{4}, \d\.\d{4}\] +0\.3333 +entailment +\d+ +\d+ +\d+$", lines[2]
    )
    assert [line.split()[0] for line in lines[3:5]] == ["neutral", "contradiction"]
    assert lines[5].startswith("more.jsonl (9)")
    assert f"model: {tmp_path / 'm'} (README.md, card.json)" in done.out
    assert "trained with 45 pairs" in done.out
    assert "calibration error" in done.out
    assert "warning: only 9 pairs to validate with" in done.err
    for row, counts in zip(lines[2:5], card()["validation"]["confusion"], strict=True):
        assert row.split()[-3:] == [str(count) for count in counts]


@GAUGE
def test_table_of_a_gauge(train, tmp_path, card):
    done = train("--ratings", write_lines(tmp_path / "rated.jsonl", rated(40)), "--rating-epochs", 1)
    assert done.code == 0, done.err
    lines = done.out.split("\n")
    assert lines[0].split() == ["kind", "accuracy", "↑"]
    assert {line.split()[0] for line in lines[2 : lines.index("")]} == card()["validation"]["accuracy"].keys()
    assert "how often a real reply of conversations held back scores above one of each kind" in done.out
    assert "of two replies that people rated differently (4 held back), the better one scores higher in" in done.out
    assert f"model: {tmp_path / 'm'} (README.md, card.json)" in done.out
    assert "warning: 9 utterances that two people answered, fewer than 20" in done.err


@GAUGE
def test_csv_has_a_line_for_each_part_and_epoch(train, tmp_path):
    path = write_lines(tmp_path / "rated.jsonl", rated(40))
    done = train("--format", "csv", "--epochs", 2, "--ratings", path, "--rating-epochs", 1)
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [(row["part"], float(row["epoch"])) for row in rows] == [
        ("conversations", 1),
        ("conversations", 2),
        ("ratings", 1),
    ]


@pytest.mark.parametrize(
    ("model", "header"), [("ruber", "| negatives |"), ("entailment", "| pairs |"), ("gauge", "| kind |")]
)
def test_json_markdown_and_latex(train, card, header):
    printed = json.loads(train("--format", "json").out)
    assert printed["curves"] == card()["curves"]
    assert printed["validation"] == card()["validation"]
    assert train("--format", "markdown", "--overwrite").out.startswith(header)
    assert "\\toprule" in train("--format", "latex", "--overwrite").out


@RUBER
def test_csv_has_a_line_for_each_network_and_epoch(train, card):
    assert train().code == 0
    alone = card()["curves"][0]["epochs"][0]["validation_loss"]
    rows = list(csv.DictReader(io.StringIO(train("--format", "csv", "--overwrite", "--members", 2).out)))
    assert [(row["network"], row["epoch"]) for row in rows] == [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")]
    assert float(rows[0]["validation_loss"]) == alone


@ENTAILMENT
def test_csv_has_a_line_for_each_epoch(train):
    rows = list(csv.DictReader(io.StringIO(train("--format", "csv", "--epochs", 2).out)))
    assert [float(row["epoch"]) for row in rows] == [1, 2]
    assert float(rows[0]["rate"]) > float(rows[1]["rate"]) > 0
    assert rows[0].keys() == {"best", "epoch", "loss", "validation_loss", "accuracy", "rate"}


@pytest.mark.parametrize("name", ["m", "my model", "a=b", "m.1", "it's", "true", "7", *REFUSED])
def test_the_call_that_is_printed_works(dialogauge, train, model, tmp_path, monkeypatch, name):
    """Or else such a name is refused before anything is learned."""
    monkeypatch.chdir(tmp_path)
    done = train("--out", name)
    if name in REFUSED:
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"{name}: cannot be named as a metric's model; choose a name of its own")
        return
    assert done.code == 0, done.err
    (printed,) = (line.removeprefix("use it: ") for line in done.err.split("\n") if line.startswith("use it: "))
    (program, *shown, metric) = shlex.split(printed)
    assert (program, *shown) == ("dialogauge", "score", "FILE", "--metrics")
    turns = tmp_path / "turns.jsonl"
    turns.write_text(json.dumps(TURN[model]) + "\n")
    assert metric == f"{next(iter(PARTS[model]))}[model={name}]"
    for metric, parts in PARTS[model].items():
        scored = dialogauge("score", turns, "--metrics", f"{metric}[model={name}]", "--format", "json")
        assert scored.code == 0, scored.err
        scores = json.loads(scored.out)["scores"]
        assert 0 < scores[0]["value"] < (100 if model == "gauge" else 1)
        spelled = name.replace("=", "_")
        assert [score["metric"] for score in scores] == [f"{metric}[model={spelled}]{part}" for part in parts]


def test_half(train, tmp_path):
    assert train("--half").code == 0
    assert dtypes(tmp_path / "m") == {np.dtype("float16")}


@ENTAILMENT
@pytest.mark.parametrize(("recipe", "rank"), [("adapter", 16), ("transformer", 0)])
def test_recipes_of_transformers(train, bert, tmp_path, recipe, rank):
    done = train("--recipe", recipe, "--encoder", bert, "--half", "--pool", "mean")
    assert done.code == 0, done.err
    shape = open_entailment(tmp_path / "m").shape
    assert (shape.network, shape.rank, shape.pool) == ("transformer", rank, "mean")
    assert dtypes(tmp_path / "m") == {np.dtype("float16")}


def dtypes(directory):
    return {array.dtype for array in load_file(directory / "model.safetensors").values()}


@pytest.mark.parametrize(
    ("model", "label"), [("ruber", "ranking accuracy"), ("entailment", "accuracy"), ("gauge", "accuracy")]
)
def test_a_figure(train, tmp_path, label):
    pytest.importorskip("matplotlib")
    assert train("--plot", tmp_path / "curves.txt").err.startswith(f"{tmp_path / 'curves.txt'}: ")
    assert not (tmp_path / "m").exists()
    assert train("--epochs", 3, "--plot", tmp_path / "curves.svg").code == 0
    drawn = (tmp_path / "curves.svg").read_text()
    assert label in drawn
    assert ("ranking" in drawn) == ("ranking" in label)


def test_control_characters_never_reach_the_terminal(train, tmp_path):
    refused, evil = "m\x1b]0;owned\x07\x1b[2J", "m\x1bc\x07\x08\x9b2J"
    for name, form, code in ((refused, "table", 2), (evil, "table", 0), (evil, "markdown", 0)):
        done = train("--out", tmp_path / name, "--overwrite", "--format", form)
        assert done.code == code
        assert printable(done.out, keep="\n") == done.out
        assert printable(done.err, keep="\n") == done.err
