import csv
import io
import json
import re
import shlex
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file

from dialogauge.learned.entailment.model import open_entailment
from dialogauge.learned.entailment.recipe import ADAPTER, ESIM, TRANSFORMER, EntailmentRecipe
from dialogauge.tables import printable
from tests.encode.models import build
from tests.learned.entailment.pairs import pairs, write_pairs, write_short_vectors


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    return write_short_vectors(tmp_path_factory.mktemp("vectors") / "words.txt")


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return build("bert", tmp_path_factory.mktemp("bert") / "bert")


@pytest.fixture
def said(tmp_path):
    return write_pairs(tmp_path / "pairs.jsonl", pairs())


@pytest.fixture
def train(dialogauge, said, vectors, tmp_path):
    """A short training of ESIM on the pairs, to `m`; later options count."""

    def run(*options, files=(said,), share=("--validation-share", 0.2)):
        quick = ("--recipe", "esim", "--encoder", vectors, "--epochs", 1, "--units", 4, "--no-cache", *share)
        return dialogauge("train", "entailment", *files, "--out", tmp_path / "m", *quick, *options)

    return run


def card_in(directory):
    return json.loads((directory / "card.json").read_text())


def test_table(train, tmp_path):
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
    card = card_in(tmp_path / "m")
    for row, counts in zip(lines[2:5], card["validation"]["confusion"], strict=True):
        assert row.split()[-3:] == [str(count) for count in counts]


def test_json_csv_markdown_and_latex(train, tmp_path):
    card = json.loads(train("--format", "json").out)
    kept = card_in(tmp_path / "m")
    assert card["curves"] == kept["curves"]
    assert card["validation"] == kept["validation"]
    rows = list(csv.DictReader(io.StringIO(train("--format", "csv", "--overwrite", "--epochs", 2).out)))
    assert [float(row["epoch"]) for row in rows] == [1, 2]
    assert float(rows[0]["rate"]) > float(rows[1]["rate"]) > 0
    assert rows[0].keys() == {"best", "epoch", "loss", "validation_loss", "accuracy", "rate"}
    assert train("--format", "markdown", "--overwrite").out.startswith("| pairs |")
    assert "\\toprule" in train("--format", "latex", "--overwrite").out


@pytest.mark.parametrize("name", ["m", "my model", "a=b", "it's", "true", "7", "a,b", "none"])
def test_the_call_that_is_printed_works(dialogauge, train, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    done = train("--out", name)
    if name in ("a,b", "none"):
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"{name}: cannot be named as a metric's model")
        return
    assert done.code == 0, done.err
    (printed,) = (line.removeprefix("use it: ") for line in done.err.split("\n") if line.startswith("use it: "))
    program, *arguments = shlex.split(printed)
    assert program == "dialogauge"
    turns = tmp_path / "turns.jsonl"
    turns.write_text('{"context": ["hello", "dog"], "response": "nice"}\n')
    scored = dialogauge(*(turns if argument == "FILE" else argument for argument in arguments), "--format", "json")
    assert scored.code == 0, scored.err
    scores = json.loads(scored.out)["scores"]
    assert 0 < scores[0]["value"] < 1
    assert scores[0]["metric"] == f"entailment[model={name.replace('=', '_')}]"
    assert len(scores) == 7


def given_recipe(monkeypatch, dialogauge, *arguments):
    """The recipe that the call would train by."""
    seen = []
    place = "dialogauge.learned.entailment.train.train_entailment"
    monkeypatch.setattr(place, lambda *given, **_: seen.append(given[2]) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        dialogauge("train", "entailment", "pairs.jsonl", "--out", "m", *arguments)
    return seen[0]


def test_a_recipe_by_its_name(dialogauge, monkeypatch):
    assert given_recipe(monkeypatch, dialogauge) == ADAPTER
    assert given_recipe(monkeypatch, dialogauge, "--recipe", "adapter") == ADAPTER
    assert given_recipe(monkeypatch, dialogauge, "--recipe", "transformer") == TRANSFORMER
    assert given_recipe(monkeypatch, dialogauge, "--recipe", "esim", "--units", 9) == replace(ESIM, units=9)


def test_every_option_reaches_the_recipe(dialogauge, monkeypatch):
    given = {
        "rank": 3,
        "pool": "mean",
        "units": 5,
        "dropout": 0.125,
        "batch": 16,
        "accumulate": 2,
        "rate": 0.002,
        "warm_up": 0.25,
        "weight_decay": 0.5,
        "epochs": 7,
        "stop": 4,
        "seed": 9,
    }
    options = [part for name, value in given.items() for part in (f"--{name.replace('_', '-')}", value)]
    found = given_recipe(monkeypatch, dialogauge, *options, "--hypothesis-only", "--full-precision")
    assert found == EntailmentRecipe(**given, hypothesis_only=True, mixed=False)
    assert found.record().keys() == {*given, "hypothesis_only", "mixed", "network"}


def test_every_other_option_reaches_the_training(dialogauge, monkeypatch):
    seen = []
    place = "dialogauge.learned.entailment.train.train_entailment"
    monkeypatch.setattr(place, lambda *given, **options: seen.append((given, options)) or 1 / 0)
    files = ["a", "b", "--test", "t", "--test", "u", "--validation", "v", "--skip-invalid"]
    with pytest.raises(ZeroDivisionError):
        dialogauge("train", "entailment", *files, "--out", "m", "--encoder", "e", "--half", "--overwrite", "--no-cache")
    (given, out, _), options = seen[0]
    assert (given.training, given.validation, given.tests) == (["a", "b"], ["v"], ["t", "u"])
    assert (given.skip_invalid, given.share, str(out)) == (True, None, "m")
    assert options == {"encoder": "e", "half": True, "overwrite": True, "cache": False, "progress": True}


@pytest.mark.parametrize("recipe", ["adapter", "transformer"])
def test_recipes_of_transformers(train, bert, tmp_path, recipe):
    done = train("--recipe", recipe, "--encoder", bert, "--half", "--pool", "mean")
    assert done.code == 0, done.err
    model = open_entailment(tmp_path / "m")
    assert (model.shape.network, model.shape.rank, model.shape.pool) == (
        "transformer",
        16 * (recipe == "adapter"),
        "mean",
    )
    assert {array.dtype for array in load_file(tmp_path / "m" / "model.safetensors").values()} == {np.dtype("float16")}


def test_a_figure(train, tmp_path):
    pytest.importorskip("matplotlib")
    assert train("--plot", tmp_path / "curves.txt").err.startswith(f"{tmp_path / 'curves.txt'}: ")
    assert not (tmp_path / "m").exists()
    assert train("--epochs", 3, "--plot", tmp_path / "curves.svg").code == 0
    drawn = (tmp_path / "curves.svg").read_text()
    assert "accuracy" in drawn
    assert "ranking" not in drawn


def test_pairs_to_validate_with(train, tmp_path):
    valid = write_pairs(tmp_path / "valid.jsonl", pairs(9))
    assert train("--validation", valid, share=()).code == 0
    card = card_in(tmp_path / "m")
    assert (card["training"]["pairs"], card["validation"]["pairs"]) == (54, 9)
    assert [file["name"] for file in card["validation"]["files"]] == ["valid.jsonl"]


def test_several_files_and_lines_that_cannot_be_read(train, said, tmp_path):
    other = write_pairs(tmp_path / "other.jsonl", [*pairs(9), {"premise": "x", "hypothesis": 3, "label": "neutral"}])
    assert train(files=(said, other)).err.startswith(f"{other}:10: ")
    done = train("--skip-invalid", files=(said, other))
    assert done.code == 0
    assert "other.jsonl" in done.err


def test_the_help_shows_examples(dialogauge):
    done = dialogauge("train", "entailment", "--help")
    assert done.code == 0
    for shown in (
        "dialogauge synthesize entailment conversations.jsonl --out pairs.jsonl",
        "dialogauge train entailment pairs.jsonl --out my-entailment",
        "entailment[model=my-entailment]",
        "--recipe esim --encoder static:glove.txt",
    ):
        assert shown in done.out
    assert "dialogauge train entailment pairs.jsonl --out my-entailment" in dialogauge("train", "--help").out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--recipe", "adaptor"], "unknown recipe 'adaptor'; did you mean adapter?"),
        (["--recipe", "transformer", "--pool", "meen"], "unknown pool 'meen'; did you mean mean?"),
        (["--rank", "4"], "rank: ESIM leaves its encoder as it is; found 4"),
        (["--recipe", "adapter", "--rank", "-1"], "rank: expected a whole number from 0 to"),
        (["--recipe", "adapter"], "the encoder words@"),
        (["--units", "0"], "units: expected a whole number from 1 to"),
        (["--dropout", "1"], "dropout: expected a number from 0 to below 1"),
        (["--batch", "0"], "batch: expected a whole number from 1 to 1,000,000, found 0"),
        (["--accumulate", "0"], "accumulate: expected a whole number from 1 to 1,000,000, found 0"),
        (["--rate", "nan"], "rate: expected a number above 0"),
        (["--warm-up", "1"], "warm_up: expected a number from 0 to below 1"),
        (["--weight-decay=-1"], "weight_decay: expected a number from 0 to below 1"),
        (["--epochs", "0"], "epochs: expected a whole number from 1 to 1,000,000, found 0"),
        (["--seed", "-1"], "seed: expected a whole number from 0 to 4,294,967,295, found -1"),
        (["--validation-share", "1.5"], "the share to validate with: expected a number between 0 and 1, found 1.5"),
        (["--encoder", "static:nothing.txt"], "no word vectors 'nothing.txt'"),
        (["--validation", "x"], "--validation-share: --validation names pairs to validate with already"),
        (["--test", "missing.jsonl"], "missing.jsonl: "),
    ],
)
def test_wrong_calls(train, tmp_path, options, message):
    done = train(*options)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(message)
    assert done.err.count("\n") == 1
    assert not (tmp_path / "m").exists()


def test_an_unknown_model(dialogauge, said, tmp_path):
    done = dialogauge("train", "entailmant", said, "--out", tmp_path / "m")
    assert (done.code, done.out) == (2, "")
    assert "invalid choice: 'entailmant' (choose from" in done.err
    assert "ruber" in done.err
    assert "entailment" in done.err


BAD_PAIRS = {
    "an empty file": ("", "pairs.jsonl: expected pairs of premise and hypothesis"),
    "one class": (
        "".join(json.dumps(row) + "\n" for row in pairs() if row["label"] == "neutral"),
        "have the label neutral",
    ),
    "something else": ('{"dialogue": "a", "utterances": ["hi", "ho"]}\n', "premise, hypothesis and label"),
}


@pytest.mark.parametrize("name", BAD_PAIRS)
def test_pairs_that_teach_nothing(train, said, tmp_path, name):
    content, message = BAD_PAIRS[name]
    said.write_text(content)
    done = train()
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.jsonl"]


def test_two_classes_are_a_warning(train, said):
    write_pairs(said, [row for row in pairs() if row["label"] != "contradiction"])
    done = train()
    assert done.code == 0
    assert "warning: no pair to learn from has the label contradiction: it will never be predicted" in done.err


def test_control_characters_never_reach_the_terminal(train, tmp_path):
    for form in ("table", "markdown"):
        done = train("--out", tmp_path / "m\x1bc\x07\x08\x9b2J", "--overwrite", "--format", form)
        assert done.code == 0
        assert printable(done.out, keep="\n") == done.out
        assert printable(done.err, keep="\n") == done.err
