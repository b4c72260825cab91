"""`dialogauge score` with distances: floors, real conversations, explanations."""

import csv
import io
import json
import re
from dataclasses import replace

import pytest

from dialogauge.evaluation.floors import EXCHANGES, SPLITS, SWAPS
from dialogauge.evaluation.result import short_p
from dialogauge.tables import printable
from tests.encode.models import build
from tests.studies.test_explain import ODD, answers

FBD, PRD, MMD = "fbd[encoder=bert]", "prd[encoder=bert,clusters=5,runs=2]", "mmd[encoder=bert]"
FLOOR_COLOUR = "#d55e00"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return build("bert", tmp_path_factory.mktemp("model") / "bert", hidden_size=8, num_attention_heads=2)


def write(path, turns):
    keys = ("id", "response", "context", "references", "system")
    path.write_text("".join(json.dumps({key: getattr(turn, key) for key in keys}) + "\n" for turn in turns))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Logs of two bots, one of which answers at random, and of people. Answer 17 of the first is not like any other."""
    path = tmp_path_factory.mktemp("logs")
    good, poor = answers("good", 40, 0), answers("poor", 40, 1)
    good[17] = replace(good[17], response=ODD)
    poor = [replace(turn, response=f"{ODD} {turn.response}") for turn in poor]
    write(path / "bots.jsonl", [*good, *poor])
    write(path / "people.jsonl", [replace(turn, references=()) for turn in answers("people", 30, 2)])
    return path


@pytest.fixture
def score(dialogauge, folder, model):
    def call(*more):
        return dialogauge("score", folder / "bots.jsonl", "--encoder", model, *more)

    return call


@pytest.fixture
def beside(score, folder):
    def call(*more):
        return score("--real", folder / "people.jsonl", "--metrics", "fbd,prd[clusters=5,runs=2],mmd", *more)

    return call


def test_the_table_has_floors_and_p_values(beside):
    done = beside()
    assert done.code == 0
    header, _, good, poor, _, *notes = done.out.split("\n")
    assert header.split()[2:] == [FBD, "↓", PRD, "↑", MMD, "↓"]
    for line in (good, poor):
        assert line.count(" floor ") == line.count(" p=") == 3
    # No draw is as bad as the poor one.
    least = f" p={short_p(1 / (EXCHANGES + 1))}"
    assert poor.count(least) == 3
    assert good.count(least) < 3
    said = "\n".join(notes)
    assert f"interval of {FBD}, {PRD}, which is what another sample of this size would score" in said
    assert f"interval of {MMD}, for the distance of the populations" in said
    (note,) = [line for line in notes if line.startswith("floor of")]
    assert note.startswith(f"floor of {FBD}, {PRD}, {MMD}: the mean over {SPLITS} draws in which the real side")
    assert f"; p: the share of {EXCHANGES} draws as bad as the score" in note
    assert said.count("|real:@") == 3


def test_warnings_name_what_is_inside_its_floor(beside):
    said = beside().err
    lines = [line for line in said.split("\n") if "inside its floor" in line]
    assert lines
    for line in lines:
        assert line.startswith("warning: ")
        assert " for good (p = 0." in line
        assert "poor (p" not in line
        assert "With 40 contexts the test has little power" in line
    assert "40 generated vectors of good against 30 real ones" in said


def test_by_references_the_floor_comes_from_swaps(score):
    done = score("--metrics", "fbd,mmd")
    assert (
        f"floor of {FBD}, {MMD}: the mean over {SWAPS} draws in which response and reference change places" in done.out
    )
    assert "|real:references-first|" in done.out
    assert "the real side is split" not in done.out


def test_json(beside, folder):
    document = json.loads(beside("--format", "json").out)
    assert [file["path"] for file in document["corpus"]["files"]] == [
        str(folder / name) for name in ("bots.jsonl", "people.jsonl")
    ]
    assert document["corpus"]["turns"] == 80
    scores = {(score["system"], score["metric"]): score for score in document["scores"]}
    assert len(scores) == 2 * (3 + 4 + 1)
    for (_, metric), score in scores.items():
        assert score["n"] == score["units"] == 40
        assert score["interval_of"] == ("population" if metric == MMD else "another_sample")
        if metric == f"{PRD}.spread":
            assert (score["floor"], score["p"], score["needed"], score["floor_from"]) == (None, None, None, None)
            continue
        assert score["floor_from"] == "splits"
        assert 0 < score["p"] <= 1
        better = score["higher_is_better"]
        assert (score["p"] <= 0.05) == ((score["value"] < score["needed"]) == better), metric
    assert scores["poor", FBD]["p"] == pytest.approx(1 / (EXCHANGES + 1))
    assert scores["poor", FBD]["floor"] < scores["poor", FBD]["needed"] < scores["poor", FBD]["value"]
    assert scores["poor", PRD]["floor"] > scores["poor", PRD]["needed"] > scores["poor", PRD]["value"]
    assert "inside_floor" in {warning["code"] for warning in document["warnings"]}


def test_csv_has_floors_too(score):
    rows = list(csv.DictReader(io.StringIO(score("--metrics", "fbd", "--format", "csv").out)))
    assert {"floor", "p", "needed", "floor_from", "interval_of"} <= rows[0].keys()
    assert float(rows[0]["floor"]) > 0


def test_metrics_that_are_no_distances_have_no_floor(score):
    document = json.loads(score("--metrics", "length,fbd", "--format", "json").out)
    first = document["scores"][0]
    assert (first["metric"], first["interval_of"]) == ("length", "expected")
    assert (first["floor"], first["p"], first["needed"], first["floor_from"]) == (None, None, None, None)
    out = score("--metrics", "length").out
    assert "floor" not in out


def test_several_files_of_real_conversations(score, folder, tmp_path):
    more = write(tmp_path / "more.jsonl", [replace(turn, system="more") for turn in answers("more", 5, 9)])
    call = ("--metrics", "fbd", "--format", "json", "--real", folder / "people.jsonl", "--real", more)
    document = json.loads(score(*call).out)
    assert [file["path"] for file in document["corpus"]["files"][1:]] == [str(folder / "people.jsonl"), str(more)]


def test_same_seed_same_bytes(score, folder):
    call = ("--metrics", "fbd", "--real", folder / "people.jsonl", "--format", "json", "--seed")
    first, again, other = (score(*call, seed).out for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_explain_prints_a_second_table(score):
    done = score("--metrics", "fbd,mmd", "--explain", "fbd")
    assert done.code == 0
    scores, explanation = done.out.split("\n\n", 1)[0], done.out.split("\n\n")[2]
    assert scores.split("\n")[0].split() == ["system", "turns", FBD, "↓", MMD, "↓"]
    header, _, *lines = explanation.split("\n")
    assert header.split() == ["system", "id", "push", "after", "response"]
    assert [line.split()[0] for line in lines] == ["good"] * 10 + ["poor"] * 10
    assert lines[0].split()[1] == "17"
    assert lines[0].endswith(ODD)
    assert f"push: by how much {FBD} would fall" in done.out


def test_explain_without_metrics_scores_what_it_explains(score):
    alone, both = score("--explain", "fbd"), score("--metrics", "fbd", "--explain", "fbd")
    assert alone.code == 0
    assert alone.out == both.out
    assert alone.out.split("\n")[0].split() == ["system", "turns", FBD, "↓"]


def test_explain_in_json(score, folder):
    document = json.loads(score("--explain", "fbd", "--format", "json").out)
    assert document["schema"] == "dialogauge.scores/1"
    (explanation,) = document["explanations"]
    assert explanation["schema"] == "dialogauge.explanation/1"
    assert explanation["metric"] == FBD
    first = explanation["pushes"][0]
    turn = next(turn for turn in answers("good", 40, 0) if turn.id == "17")
    assert (first["system"], first["id"], first["response"]) == ("good", "17", ODD)
    assert (first["context"], first["reference"]) == (list(turn.context), turn.references[0])
    assert "explanations" not in json.loads(score("--metrics", "fbd", "--format", "json").out)
    beside = score("--explain", "fbd", "--real", folder / "people.jsonl", "--format", "json")
    assert json.loads(beside.out)["explanations"][0]["pushes"][0]["reference"] is None


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_explain_in_other_forms(score, form):
    done = score("--explain", "fbd", "--systems", "good", "--format", form)
    assert done.code == 0
    assert done.out.count(ODD) == 1
    assert done.out.count("i would like the") == 9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--explain", "fbd", "--format", "csv"], "--explain: CSV has one line per score and no room for texts"),
        (["--explain", "bleu"], "cannot explain bleu: influences are known of fbd alone"),
        (["--explain", "mmd"], f"cannot explain {MMD}: influences are known of fbd alone"),
        (["--explain", "fbd.mean"], f"cannot explain {FBD}.mean: ask for {FBD}"),
        (["--explain", "fbd[cov=shrunk]"], "cannot explain fbd[encoder=bert,cov=shrunk]: influences are known with"),
        (["--explain", "fdb"], "unknown metric 'fdb'; did you mean fed or fbd?"),
        (["--metrics", "fbd", "--real", "people.jsonl"], "people.jsonl: no such file"),
    ],
)
def test_wrong_calls(score, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    done = score(*arguments, "--out", tmp_path / "run")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(message)
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_real_conversations_that_no_metric_takes(score, folder):
    done = score("--metrics", "bleu,length", "--real", folder / "people.jsonl")
    message = "real conversations are given, and none of the metrics takes any: bleu, length\n"
    assert (done.code, done.out, done.err) == (2, "", message)


def test_a_plot_draws_the_floors(beside, score, tmp_path):
    assert beside("--plot", tmp_path / "distances.svg").code == 0
    # For each of two systems in each of three panels, and one in the key.
    drawn = (tmp_path / "distances.svg").read_text()
    assert len(re.findall(rf"<use [^>]*stroke: {FLOOR_COLOUR}", drawn)) == 7
    assert score("--metrics", "length", "--plot", tmp_path / "length.svg").code == 0
    assert FLOOR_COLOUR not in (tmp_path / "length.svg").read_text()


def test_a_run_is_written_and_holds_the_floors(score, tmp_path):
    printed = json.loads(score("--metrics", "mmd", "--format", "json", "--out", tmp_path / "run").out)
    assert printed["scores"][0]["floor"] is not None
    assert json.loads((tmp_path / "run" / "scores.json").read_text()) == printed


def test_turns_without_references_need_real_conversations(dialogauge, folder, model):
    people = folder / "people.jsonl"
    done = dialogauge("score", people, "--metrics", "fbd", "--encoder", model)
    assert done.code == 2
    expected = "fbd needs references or real conversations (--real), and none of the corpus's 30 turns has any\n"
    assert done.err == expected
    assert dialogauge("score", people, "--metrics", "fbd", "--encoder", model, "--real", people).code == 0


def test_control_characters_of_explained_texts_never_reach_the_terminal(dialogauge, model, tmp_path):
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
    turns = [
        replace(turn, id=f"{turn.id}{evil}", context=(f"{evil} hello {turn.id}",), response=f"{turn.response}{evil}")
        for turn in answers(f"s{evil}", 6, 0)
    ]
    path = write(tmp_path / "evil.jsonl", turns)
    for form in ("table", "json", "markdown", "latex"):
        done = dialogauge("score", path, "--explain", "fbd", "--encoder", model, "--format", form)
        assert done.code == 0
        assert printable(done.out + done.err, keep="\n") == done.out + done.err
