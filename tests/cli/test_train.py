import csv
import io
import json
import re
import shlex
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file

from dialogauge.learned.ruber.recipe import PAPER, TOWERS, RuberRecipe
from dialogauge.tables import printable
from tests.encode.models import build
from tests.learned.ruber.conversations import WORDS, dialogues, write
from tests.learned.small import write_vectors


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    return write_vectors(tmp_path_factory.mktemp("vectors") / "topics.txt", WORDS, width=8)


@pytest.fixture
def said(tmp_path):
    return write(tmp_path / "talk.jsonl", dialogues(30))


@pytest.fixture
def train(dialogauge, said, vectors, tmp_path):
    """A short training on the conversations, to `m`; later options count."""

    def run(*options, files=(said,), share=("--validation-share", 0.3)):
        quick = ("--encoder", vectors, "--epochs", 2, "--rate", 0.003, "--batch", 8, "--no-cache", *share)
        return dialogauge("train", "ruber", *files, "--out", tmp_path / "m", *quick, *options)

    return run


def test_table(train, tmp_path):
    done = train()
    assert done.code == 0
    lines = done.out.split("\n")
    assert lines[0].split() == ["negatives", "ranking", "accuracy", "↑"]
    assert [line.split()[0] for line in lines[2:5]] == ["random", "same_length", "hard"]
    assert re.search(r"random +\d\.\d{4} \[\d\.\d{4}, \d\.\d{4}\]", lines[2])
    assert f"model: {tmp_path / 'm'}" in done.out
    assert "trained with 42 pairs of 21; epochs: 2" in done.out
    assert "warning: only 18 pairs of 9 dialogues to validate with" in done.err


def test_json_csv_markdown_and_latex(train, tmp_path):
    card = json.loads(train("--format", "json").out)
    kept = json.loads((tmp_path / "m" / "card.json").read_text())
    assert card["curves"] == kept["curves"]
    assert card["validation"] == kept["validation"]
    rows = list(csv.DictReader(io.StringIO(train("--format", "csv", "--overwrite", "--members", 2).out)))
    assert [(row["network"], row["epoch"]) for row in rows] == [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")]
    assert float(rows[0]["validation_loss"]) == card["curves"][0]["epochs"][0]["validation_loss"]
    assert train("--format", "markdown", "--overwrite").out.startswith("| negatives |")
    assert "\\toprule" in train("--format", "latex", "--overwrite").out


REFUSED = ["a,b", "a[b", "a]b", "[m]", "none", "All"]
"""Names that would be read as something else: the end of an option, or the model that comes with dialogauge."""


@pytest.mark.parametrize("name", ["m", "my model", "a=b", "m.1", "it's", "true", "7", *REFUSED])
def test_the_call_that_is_printed_works(dialogauge, train, tmp_path, monkeypatch, name):
    """Or else such a name is refused before anything is learned."""
    monkeypatch.chdir(tmp_path)
    done = train("--out", name)
    if name in REFUSED:
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"{name}: cannot be named as a metric's model; choose a name of its own")
        return
    assert done.code == 0, done.err
    (printed,) = (line.removeprefix("use it: ") for line in done.err.split("\n") if line.startswith("use it: "))
    program, *arguments = shlex.split(printed)
    assert program == "dialogauge"
    turns = tmp_path / "turns.jsonl"
    turns.write_text('{"context": ["ask0"], "response": "say0 now", "references": ["say0"]}\n')
    scored = dialogauge(*(turns if argument == "FILE" else argument for argument in arguments), "--format", "json")
    assert scored.code == 0, scored.err
    (score,) = json.loads(scored.out)["scores"]
    assert 0 < score["value"] < 1
    spelled = name.replace("=", "_")
    assert score["metric"] == f"ruber_unreferenced[model={spelled}]"
    both = dialogauge("score", turns, "--metrics", f"ruber[model={name}]", "--format", "json")
    parts = [score["metric"] for score in json.loads(both.out)["scores"]]
    assert parts == [f"ruber[model={spelled}]{part}" for part in ("", ".unreferenced", ".referenced")]


def test_every_option_reaches_the_recipe(train, tmp_path):
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
    recipe = json.loads((tmp_path / "m" / "card.json").read_text())["training"]["recipe"]
    assert {name: recipe[name] for name in given} == given


def recipe_in(directory):
    card = json.loads((directory / "card.json").read_text())
    return card["training"]["recipe"]


def given_recipe(monkeypatch, dialogauge, *arguments):
    """The recipe that the call would train by."""
    seen = []
    monkeypatch.setattr(
        "dialogauge.learned.ruber.train.train_ruber", lambda *given, **_: seen.append(given[2]) or 1 / 0
    )
    with pytest.raises(ZeroDivisionError):
        dialogauge("train", "ruber", "talk.jsonl", "--out", "m", *arguments)
    return seen[0]


def test_a_recipe_by_its_name(dialogauge, monkeypatch):
    assert given_recipe(monkeypatch, dialogauge) == TOWERS
    assert given_recipe(monkeypatch, dialogauge, "--recipe", "towers") == TOWERS
    assert given_recipe(monkeypatch, dialogauge, "--recipe", "paper") == PAPER == RuberRecipe()
    changed = given_recipe(monkeypatch, dialogauge, "--recipe", "paper", "--network", "towers", "--layers", "6, 3")
    assert changed == replace(PAPER, network="towers", layers=(6, 3))
    assert given_recipe(monkeypatch, dialogauge, "--layers", "0").layers == (0,)


def test_the_papers_recipe(train, tmp_path):
    assert train("--recipe", "paper", "--loss", "ranking", "--sentence", "rnn").code == 0
    found = recipe_in(tmp_path / "m")
    assert (found["network"], found["loss"], found["sentence"], found["schedule"]) == (
        "ruber",
        "ranking",
        "rnn",
        "plateau",
    )
    assert (found["epochs"], found["layers"], found["context"]) == (2, [], 1)


def test_layers(train, tmp_path):
    bert = build("bert", tmp_path / "bert")
    done = train("--encoder", bert, "--layers", "2,0")
    assert done.code == 0, done.err
    assert recipe_in(tmp_path / "m")["layers"] == [2, 0]
    assert "side by side from layers 2, 0" in (tmp_path / "m" / "README.md").read_text()
    assert train("--encoder", bert, "--layers", "4", "--overwrite").err.startswith("bert@")


def test_a_figure(train, tmp_path):
    pytest.importorskip("matplotlib")
    assert train("--plot", tmp_path / "curves.txt").err.startswith(f"{tmp_path / 'curves.txt'}: ")
    assert not (tmp_path / "m").exists()
    assert train("--plot", tmp_path / "curves.svg").code == 0
    assert "ranking accuracy" in (tmp_path / "curves.svg").read_text()


def test_half(train, tmp_path):
    assert train("--half").code == 0
    assert {array.dtype for array in load_file(tmp_path / "m" / "model.safetensors").values()} == {np.dtype("float16")}


def test_conversations_to_validate_with(train, tmp_path):
    valid = write(tmp_path / "valid.jsonl", dialogues(9))
    assert train("--validation", valid, share=()).code == 0
    card = json.loads((tmp_path / "m" / "card.json").read_text())
    assert (card["training"]["pairs"], card["validation"]["pairs"]) == (60, 18)
    assert [file["name"] for file in card["training"]["files"]] == ["talk.jsonl"]
    assert [file["name"] for file in card["validation"]["files"]] == ["valid.jsonl"]
    assert "- valid.jsonl" in (tmp_path / "m" / "README.md").read_text().partition("How good it is")[2]


def test_leave_out(train, tmp_path):
    asked = tmp_path / "asked.jsonl"
    asked.write_text('{"context": ["what ?", "SAY0 now!"], "response": "x"}\n{"response": "no context"}\n')
    done = train("--leave-out", asked)
    assert "warning: 10 turns ask what --leave-out names, and are not learned from" in done.err
    card = json.loads((tmp_path / "m" / "card.json").read_text())
    assert card["training"]["pairs"] + card["validation"]["pairs"] == 50


def test_several_files_and_lines_that_cannot_be_read(train, said, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text('{"dialogue": "x", "utterances": ["ask0", "say0"]}\n{"dialogue": "y", "utterances": 3}\n')
    assert train(files=(said, other)).err.startswith(f"{other}:2: ")
    done = train("--skip-invalid", files=(said, other))
    assert done.code == 0
    assert "warning: " in done.err
    assert "other.jsonl" in done.err


def test_the_help_shows_an_example(dialogauge):
    done = dialogauge("train", "--help")
    assert done.code == 0
    assert "dialogauge train ruber conversations.jsonl --out my-ruber" in done.out
    own = dialogauge("train", "ruber", "--help")
    assert own.code == 0
    assert "dialogauge train ruber conversations.jsonl --out my-ruber" in own.out
    assert "ruber[model=my-ruber]" in own.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sentence", "meen"], "unknown sentence 'meen'; did you mean mean"),
        (["--loss", "rankin"], "unknown loss 'rankin'; did you mean ranking?"),
        (["--recipe", "tower"], "unknown recipe 'tower'; did you mean towers?"),
        (["--recipe", "papers"], "unknown recipe 'papers'; did you mean paper or towers?"),
        (["--network", "tower"], "unknown network 'tower'; did you mean towers?"),
        (["--schedule", "lineal"], "unknown schedule 'lineal'; did you mean linear?"),
        (["--layers", "6,x"], "--layers: expected whole numbers, as 6,3, found '6,x'"),
        (["--layers", "6.5"], "--layers: expected whole numbers, as 6,3, found '6.5'"),
        (["--layers", ","], "--layers: expected whole numbers, as 6,3, found ','"),
        (["--layers", "3,1"], "layers: the encoder topics@"),
        (["--layers=-1"], "layers: "),
        (["--context", "3"], "context: towers look at 1 or 2 utterances, found 3"),
        (["--sentence", "rnn"], "sentence rnn: expected the network ruber"),
        (["--network", "ruber"], "loss softmax: expected the network towers and in_batch negatives"),
        (["--negatives", "random"], "loss softmax: expected the network towers and in_batch negatives"),
        (["--recipe", "paper", "--loss", "softmax"], "loss softmax: expected the network towers"),
        (["--negatives", "in_batch,hart"], "unknown kind of negatives 'hart'; did you mean hard?"),
        (["--negatives", ","], "negatives: expected at least one kind"),
        (["--rate", "0"], "rate: expected a number above 0"),
        (["--rate", "nan"], "rate: expected a number above 0"),
        (["--members", "0"], "members: expected a whole number from 1 to 1,000, found 0"),
        (["--seed", "-1"], "seed: expected a whole number from 0 to 4,294,967,294, found -1"),
        (["--seed", str(2**70)], "seed: expected"),
        (["--validation-share", "1.5"], "the share to validate with: expected a number between 0 and 1, found 1.5"),
        (["--encoder", "static:nothing.txt"], "no word vectors 'nothing.txt'"),
        (["--reader", "jsnl"], "unknown reader 'jsnl'; did you mean jsonl"),
        (["--validation", "x"], "--validation-share: --validation names conversations to validate with already"),
    ],
)
def test_wrong_calls(train, tmp_path, options, message):
    done = train(*options)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(message)
    assert not (tmp_path / "m").exists()


def test_an_unknown_model(dialogauge, said, tmp_path):
    done = dialogauge("train", "rubber", said, "--out", tmp_path / "m")
    assert (done.code, done.out) == (2, "")
    assert "invalid choice: 'rubber' (choose from" in done.err
    assert "ruber" in done.err


def test_no_directory_given(dialogauge, said):
    done = dialogauge("train", "ruber", said)
    assert done.code == 2
    assert "--out" in done.err


BAD_CONVERSATIONS = {
    "an empty file": ("", "talk.jsonl: "),
    "one utterance each": (
        '{"dialogue": "a", "utterances": ["hi"]}\n{"dialogue": "b", "utterances": ["ho"]}\n',
        "expected turns, found none",
    ),
    "one dialogue": (
        '{"dialogue": "a", "utterances": ["ask0", "say0", "oh0", "now"]}\n',
        "expected at least 2 dialogues, one to validate with; found 1",
    ),
    "one response to everything": (
        "".join(json.dumps({"dialogue": str(n), "utterances": [f"ask{n}", "Yes ."]}) + "\n" for n in range(9)),
        "all responses are the same text",
    ),
    "responses without context": ('{"response": "say0"}\n{"response": "say1"}\n', "nothing to learn from"),
}


@pytest.mark.parametrize("name", BAD_CONVERSATIONS)
def test_conversations_that_teach_nothing(train, said, tmp_path, name):
    content, message = BAD_CONVERSATIONS[name]
    said.write_text(content)
    done = train()
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["talk.jsonl"]


def test_a_directory_that_is_there(train, tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "thesis.tex").write_text("years of work")
    done = train(files=(tmp_path / "missing.jsonl",))
    assert done.code == 2
    assert done.err.startswith(f"{tmp_path / 'm'}: is there already and was left as it is")
    assert train("--overwrite").err.startswith(f"{tmp_path / 'm'}: holds more than a model ('thesis.tex')")
    assert (tmp_path / "m" / "thesis.tex").exists()


def test_the_directory_one_stands_in(train, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    done = train("--out", ".", "--overwrite")
    assert done.code == 2
    assert done.err.startswith(".: cannot be named as a metric's model")


def test_control_characters_never_reach_the_terminal(train, tmp_path):
    refused, evil = "m\x1b]0;owned\x07\x1b[2J", "m\x1bc\x07\x08\x9b2J"
    for name, form, code in ((refused, "table", 2), (evil, "table", 0), (evil, "markdown", 0)):
        done = train("--out", tmp_path / name, "--overwrite", "--format", form)
        assert done.code == code
        assert printable(done.out, keep="\n") == done.out
        assert printable(done.err, keep="\n") == done.err
