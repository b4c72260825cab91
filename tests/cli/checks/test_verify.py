"""dialogauge verify."""

import json

import pytest

from dialogauge.cli.main import main


@pytest.fixture
def run(tmp_path, capsys):
    out = tmp_path / "run"
    assert main(["score", "examples/everyday.jsonl", "--metrics", "rouge_l", "--out", str(out), "--quiet"]) == 0
    capsys.readouterr()
    return out


def test_a_run_that_agrees(run, capsys):
    assert main(["verify", str(run), "--quiet"]) == 0
    assert "numbers derived again agree with what is kept" in capsys.readouterr().out


def test_a_run_that_was_changed_fails_and_says_where(run, capsys):
    path = run / "scores.json"
    document = json.loads(path.read_text())
    document["scores"][0]["value"] = 0.5
    path.write_text(json.dumps(document))
    assert main(["verify", str(run), "--quiet"]) == 1
    first = document["scores"][0]
    assert f"rouge_l of {first['system']}, scores: value is 0.5, and 0." in capsys.readouterr().out


def test_a_run_of_which_nothing_could_be_derived_fails(tmp_path, capsys):
    shards = [str(tmp_path / number) for number in "12"]
    for number, shard in enumerate(shards, start=1):
        call = ["score", "examples/everyday.jsonl", "--metrics", "length", "--shard", f"{number}/2", "--out", shard]
        assert main(call) == 0
    run = str(tmp_path / "run")
    assert main(["merge", *shards, "--out", run]) == 0
    capsys.readouterr()
    assert main(["verify", run, "--quiet"]) == 1
    assert "no number could be derived again" in capsys.readouterr().out


def test_json(run, capsys):
    assert main(["verify", str(run), "--format", "json", "--quiet"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "dialogauge.verification/1"
    assert document["agrees"] is True
    assert {check["differ"] for check in document["checks"]} == {0}


def test_what_is_no_run_is_refused(tmp_path, capsys):
    assert main(["verify", str(tmp_path / "nothing")]) == 2
    assert "expected a directory that `score --out` or `correlate --out` wrote" in capsys.readouterr().err
