"""dialogauge normality: what it prints is what Python gives, and wrong calls are refused before anything is read."""

import csv
import io
import json

import pytest

from dialogauge.corpus import load
from dialogauge.studies.normality import normality
from tests.corpus.files import write_lines
from tests.encode.models import build


@pytest.fixture(autouse=True)
def few_directions(monkeypatch):
    monkeypatch.setattr("dialogauge.stats.gaussian_tests.DIRECTIONS", 30)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(build("bert", tmp_path_factory.mktemp("model") / "bert"))


def test_what_is_printed_is_what_python_gives(dialogauge, responses, model):
    call = ("--pool", "mean", "--layer", 2, "--context", 1, "--seed", 3, "--systems", "b,a")
    done = dialogauge("normality", responses, "--encoder", model, *call)
    expected = normality(load(responses), encoder=model, pool="mean", layer=2, context=1, seed=3, systems=["b", "a"])
    assert (done.code, done.out) == (0, expected.render("table") + "\n")
    assert done.err == "".join(f"warning: {caveat.message}\n" for caveat in expected.caveats)
    assert [row.name for row in expected.rows] == ["references", "b", "a"]


def test_defaults_are_those_of_python(dialogauge, responses, model):
    done = dialogauge("normality", responses, "--encoder", model, "--systems", "a", "--format", "json")
    assert done.out == f"{normality(load(responses), encoder=model, systems=['a']).to_json()}\n"


def test_real_conversations(dialogauge, responses, model, tmp_path):
    real = write_lines(tmp_path / "real.jsonl", *({"context": ["q"], "response": f"one {i}"} for i in range(22)))
    done = dialogauge(
        "normality", responses, "--encoder", model, "--real", real, "--systems", "a", "--format", "csv", "--no-cache"
    )
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [(row["name"], row["kind"], row["n"]) for row in rows] == [
        *(("references", "references", "25"), ("real", "real", "22"), ("a", "system", "25"))
    ]
    assert done.err == (
        "warning: rows have 22 to 25 vectors; the more there are, the smaller the departures that are found: "
        "compare rows of one size\n"
    )


def test_formats(dialogauge, responses, model):
    call = ("normality", responses, "--encoder", model, "--systems", "a")
    document = json.loads(dialogauge(*call, "--format", "json").out)
    assert document["schema"] == "dialogauge.normality/1"
    assert document["corpus"]["files"][0]["path"] == str(responses)
    assert dialogauge(*call, "--format", "markdown").out.startswith("| vectors of | n | W | p |")
    assert "$\\pm$" in dialogauge(*call, "--format", "latex").out


def test_plot(dialogauge, responses, model, tmp_path):
    call = ("normality", responses, "--encoder", model, "--systems", "a")
    assert dialogauge(*call, "--plot", tmp_path / "new" / "f.svg").code == 0
    assert (tmp_path / "new" / "f.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--pool", "sum"), "usage: dialogauge normality"),
        (("--dtype", "int8"), "usage: dialogauge normality"),
        (("--layer", -1), "layer: expected a whole number from 0 to 1,000,000, found -1"),
        (("--context", -1), "context: expected a whole number from 0 to 1,000,000, found -1"),
        (("--seed", -1), "seed: expected a whole number from 0 to 9e+18, found -1"),
        (("--plot", "f.txt"), "f.txt: cannot draw into this kind of file"),
    ],
)
def test_wrong_calls(dialogauge, arguments, message):
    # The file is not there: a wrong call is refused before anything is read.
    done = dialogauge("normality", "nowhere.jsonl", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(message)


def test_real_files_that_are_not_there(dialogauge, responses, model):
    done = dialogauge("normality", responses, "--encoder", model, "--real", "nowhere.jsonl")
    assert (done.code, done.out) == (2, "")
    assert "nowhere.jsonl" in done.err


def test_help_has_examples(dialogauge):
    assert "dialogauge normality responses.jsonl --encoder" in dialogauge("normality", "--help").out
