"""Options and files reach the training."""

from dataclasses import replace

import pytest

from dialogauge.learned.entailment.data import Files
from dialogauge.learned.entailment.recipe import ADAPTER, ESIM, TRANSFORMER, EntailmentRecipe
from dialogauge.learned.gauge import recipe as gauge_recipe
from dialogauge.learned.gauge.data import GaugeFiles
from dialogauge.learned.ruber.recipe import PAPER, TOWERS, RuberRecipe
from dialogauge.learned.ruber.train import Conversations
from tests.cli.train.conftest import ENTAILMENT, GAUGE, RUBER
from tests.learned.entailment.pairs import pairs, write_pairs
from tests.learned.ruber.conversations import dialogues, write


@pytest.mark.parametrize(
    ("model", "options", "recipe"),
    [
        ("ruber", [], TOWERS),
        ("ruber", ["--recipe", "towers"], TOWERS),
        ("ruber", ["--recipe", "paper"], PAPER),
        ("ruber", ["--recipe", "paper"], RuberRecipe()),
        (
            "ruber",
            ["--recipe", "paper", "--network", "towers", "--layers", "6, 3"],
            replace(PAPER, network="towers", layers=(6, 3)),
        ),
        ("ruber", ["--layers", "0"], replace(TOWERS, layers=(0,))),
        ("entailment", [], ADAPTER),
        ("entailment", ["--recipe", "adapter"], ADAPTER),
        ("entailment", ["--recipe", "transformer"], TRANSFORMER),
        ("entailment", ["--recipe", "esim", "--units", 9], replace(ESIM, units=9)),
        ("gauge", [], gauge_recipe.ADAPTER),
        ("gauge", ["--recipe", "transformer"], gauge_recipe.TRANSFORMER),
    ],
)
def test_a_recipe_by_its_name(trained_with, options, recipe):
    assert trained_with(*options)[2] == recipe


@RUBER
def test_every_option_reaches_the_recipe_of_ruber(train, card):
    given = {
        "network": "towers",
        "sentence": "max",
        "loss": "ranking",
        "margin": 0.25,
        "negatives": ["hard", "in_batch"],
        "dropout": 0.125,
        "context": 2,
        "members": 2,
        "batch": 16,
        "rate": 0.002,
        "schedule": "plateau",
        "patience": 3,
        "stop": 4,
        "epochs": 1,
        "seed": 9,
    }
    options = [
        part
        for name, value in given.items()
        for part in (f"--{name}", ", ".join(value) if isinstance(value, list) else value)
    ]
    assert train(*options).code == 0
    recipe = card()["training"]["recipe"]
    assert {name: recipe[name] for name in given} == given


@ENTAILMENT
def test_every_option_reaches_the_recipe_of_entailment(trained_with):
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
    found = trained_with(*options, "--hypothesis-only", "--full-precision")[2]
    assert found == EntailmentRecipe(**given, hypothesis_only=True, mixed=False)
    assert found.record().keys() == {*given, "hypothesis_only", "mixed", "network"}


@GAUGE
def test_every_option_reaches_the_training_of_a_gauge(trained_with):
    given = {
        "rank": 3,
        "pool": "cls",
        "dropout": 0.125,
        "context": 2,
        "weight": 0.25,
        "likelihood": 1.5,
        "exchanges": 17,
        "batch": 16,
        "accumulate": 2,
        "rate": 0.002,
        "warm_up": 0.25,
        "weight_decay": 0.5,
        "epochs": 7,
        "stop": 4,
        "rating_epochs": 5,
        "rating_rate": 0.001,
        "seed": 9,
    }
    options = [part for name, value in given.items() for part in (f"--{name.replace('_', '-')}", value)]
    files = ["--ratings", "r", "--ratings", "s", "--dimension", "d", "--replies", "t", "--validation-share", "0.3"]
    other = [
        "--teacher",
        "large",
        "--teacher",
        "old",
        "--skip-invalid",
        "--reader",
        "csv",
        "--half",
        "--no-cache",
        "--encoder",
        "e",
    ]
    data, out, recipe, rest = trained_with(*options, "--full-precision", *files, *other)
    assert data == GaugeFiles(["a", "b"], ["t"], ["r", "s"], "d", 0.3, "csv", True)
    assert recipe == gauge_recipe.GaugeRecipe(**given, mixed=False)
    assert recipe.record().keys() == {*given, "mixed"}
    assert str(out) == "m"
    usual = {"encoder": "e", "half": True, "overwrite": False, "cache": False, "progress": True}
    assert rest == {**usual, "teacher": ["large", "old"]}


@pytest.mark.parametrize(
    ("model", "options", "data"),
    [
        (
            "ruber",
            ["--leave-out", "l", "--reader", "csv", "--map", "system=bot"],
            Conversations(["a", "b"], ["v"], 0.05, ["l"], "csv", True, {"system": "bot"}),
        ),
        ("entailment", ["--test", "t", "--test", "u"], Files(["a", "b"], ["v"], ["t", "u"], None, True)),
    ],
)
def test_every_other_option_reaches_the_training(trained_with, options, data):
    shared = ["--validation", "v", "--skip-invalid", "--encoder", "e", "--half", "--overwrite", "--no-cache"]
    given, out, _, rest = trained_with(*options, *shared)
    assert (given, str(out)) == (data, "m")
    assert rest == {"encoder": "e", "half": True, "overwrite": True, "cache": False, "progress": True}


@RUBER
def test_the_papers_recipe(train, card):
    assert train("--recipe", "paper", "--loss", "ranking", "--sentence", "rnn").code == 0
    chosen = {"network": "ruber", "loss": "ranking", "sentence": "rnn", "schedule": "plateau"}
    expected = {**chosen, "epochs": 2, "layers": [], "context": 1}
    assert {name: card()["training"]["recipe"][name] for name in expected} == expected


@RUBER
def test_layers(train, bert, card, tmp_path):
    done = train("--encoder", bert, "--layers", "2,0")
    assert done.code == 0, done.err
    assert card()["training"]["recipe"]["layers"] == [2, 0]
    assert "side by side from layers 2, 0" in (tmp_path / "m" / "README.md").read_text()
    assert train("--encoder", bert, "--layers", "4", "--overwrite").err.startswith("bert@")


@pytest.mark.parametrize(
    ("model", "learned", "held", "told"),
    [("ruber", 60, 18, "- valid.jsonl"), ("entailment", 54, 9, "| validation | 9 |")],
)
def test_files_to_validate_with(train, model, card, tmp_path, learned, held, told):
    valid = tmp_path / "valid.jsonl"
    write(valid, dialogues(9)) if model == "ruber" else write_pairs(valid, pairs(9))
    assert train("--validation", valid, share=()).code == 0
    assert (card()["training"]["pairs"], card()["validation"]["pairs"]) == (learned, held)
    assert [file["name"] for file in card()["training"]["files"]] == ["data.jsonl"]
    assert [file["name"] for file in card()["validation"]["files"]] == ["valid.jsonl"]
    assert told in (tmp_path / "m" / "README.md").read_text().partition("How good it is")[2]


@RUBER
def test_leave_out(train, card, tmp_path):
    asked = tmp_path / "asked.jsonl"
    asked.write_text('{"context": ["what ?", "SAY0 now!"], "response": "x"}\n{"response": "no context"}\n')
    done = train("--leave-out", asked)
    assert "warning: 10 turns ask what --leave-out names, and are not learned from" in done.err
    assert card()["training"]["pairs"] + card()["validation"]["pairs"] == 50


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        ("ruber", [{"dialogue": "x", "utterances": ["ask0", "say0"]}, {"dialogue": "y", "utterances": 3}]),
        ("entailment", [*pairs(9), {"premise": "x", "hypothesis": 3, "label": "neutral"}]),
        ("gauge", [{"dialogue": "x", "utterances": ["hello", "nice"]}, {"dialogue": "y", "utterances": 3}]),
    ],
)
def test_several_files_and_lines_that_cannot_be_read(train, data, tmp_path, rows):
    other = write_pairs(tmp_path / "other.jsonl", rows)
    assert train(files=(data, other)).err.startswith(f"{other}:{len(rows)}: ")
    done = train("--skip-invalid", files=(data, other))
    assert done.code == 0
    assert "warning: " in done.err
    assert "other.jsonl" in done.err


@pytest.mark.parametrize(
    ("model", "example", "others"),
    [
        ("ruber", "dialogauge train ruber conversations.jsonl --out my-ruber", ["ruber[model=my-ruber]"]),
        (
            "entailment",
            "dialogauge train entailment pairs.jsonl --out my-entailment",
            [
                "dialogauge synthesize entailment conversations.jsonl --out pairs.jsonl",
                "entailment[model=my-entailment]",
                "--recipe esim --encoder static:glove.txt",
            ],
        ),
        (
            "gauge",
            "dialogauge train gauge conversations.jsonl --ratings",
            ["gauge[model=my-gauge]", "--encoder mpnet --recipe transformer", "--teacher large"],
        ),
    ],
)
def test_the_help_shows_examples(dialogauge, model, example, others):
    done = dialogauge("train", "--help")
    assert done.code == 0
    assert example in done.out
    own = dialogauge("train", model, "--help")
    assert own.code == 0
    for shown in (example, *others):
        assert shown in own.out
