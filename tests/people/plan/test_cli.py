"""dialogauge plan."""

import json
from pathlib import Path

import pytest

from dialogauge import choose, load, plan
from dialogauge.cli.main import main

RATED, EVERYDAY = "examples/rated.jsonl", "examples/everyday.jsonl"


def test_sizes_from_a_pilot(capsys):
    assert main(["plan", RATED, "--difference", "0.5", "--raters", "1,3", "--metrics", "rouge_l", "--quiet"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "ratings with rouge_l" in shown.out
    assert (
        main(["plan", RATED, "--difference", "0.5", "--raters", "1,3", "--metrics", "rouge_l", "--format", "json"]) == 0
    )
    document = json.loads(capsys.readouterr().out)
    assert document["sizes"] == plan(RATED, "rouge_l", difference=0.5, raters=[1, 3]).to_records()


def test_ratings_that_failed_checks_are_left_out(tmp_path, capsys):
    lines = [json.loads(line) for line in Path(RATED).read_text(encoding="utf-8").splitlines()]
    marked = tmp_path / "study.jsonl"
    for line in lines:
        line["ratings"] = {"overall": [*line["ratings"]["overall"], 1]}
        line["trusted"] = {"overall": [True, True, True, False]}
    marked.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    records = []
    for file, option in ((RATED, []), (str(marked), ["--trusted"]), (str(marked), [])):
        assert main(["plan", file, "--difference", "0.5", "--format", "csv", "--quiet", *option]) == 0
        records.append([row.split(",")[4:] for row in capsys.readouterr().out.splitlines()])
    assert records[0] == records[1] != records[2]


@pytest.mark.parametrize("form", ["csv", "markdown", "latex"])
def test_other_forms(form, capsys):
    assert main(["plan", "--difference", "0.5", "--like", "fed", "--anytime", "--format", form]) == 0
    assert "ratings" in capsys.readouterr().out


def test_a_choice_is_written_for_rate(tmp_path, capsys):
    out = tmp_path / "ask.jsonl"
    call = ["plan", EVERYDAY, "--choose", "12", "--metrics", "rouge_l", "--strata", "3", "--out", str(out)]
    assert main(call) == 0
    assert "1/3" in capsys.readouterr().out
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 36
    assert all(0 < line["probability"] <= 1 and line["stratum"] in ("1/3", "2/3", "3/3") for line in lines)
    chosen = choose(EVERYDAY, 12, "rouge_l", strata=3).corpus
    assert load(out).turns == chosen.turns
    assert main(call) == 2
    assert "--overwrite" in capsys.readouterr().err
    before = out.read_bytes()
    assert main([*call, "--overwrite", "--quiet"]) == 0
    assert out.read_bytes() == before


@pytest.mark.parametrize("which", ["all.jsonl", "study.jsonl", "real.jsonl"])
def test_what_is_read_is_not_overwritten(which, tmp_path, capsys):
    whole, study = tmp_path / "all.jsonl", tmp_path / "study.jsonl"
    lines = Path(EVERYDAY).read_text(encoding="utf-8").splitlines(keepends=True)
    whole.write_text("".join(lines), encoding="utf-8")
    study.write_text(json.dumps({**json.loads(lines[0]), "ratings": {"overall": [4]}}) + "\n", encoding="utf-8")
    (tmp_path / "real.jsonl").write_text("".join(lines), encoding="utf-8")
    before = (tmp_path / which).read_bytes()
    call = ["plan", str(whole), "--choose", "5", "--rated", str(study), "--real", str(tmp_path / "real.jsonl")]
    assert main([*call, "--out", str(tmp_path / which), "--overwrite"]) == 2
    assert "is what is read" in capsys.readouterr().err
    assert (tmp_path / which).read_bytes() == before


def test_a_choice_goes_to_a_pipe(capfdbinary):
    assert main(["plan", EVERYDAY, "--choose", "3"]) == 0
    shown = capfdbinary.readouterr()
    assert len([json.loads(line) for line in shown.out.splitlines()]) == 9
    head, *_, last = shown.err.decode().splitlines()
    assert head.startswith("stratum")
    assert "probability" in head
    assert last == "proportional allocation, seed 0"
    assert b"u000a" not in shown.err


def test_what_is_rated_is_not_asked_again(tmp_path, capsys):
    first, study, second = (tmp_path / name for name in ("first.jsonl", "study.jsonl", "second.jsonl"))
    assert main(["plan", EVERYDAY, "--choose", "20", "--metrics", "length", "--out", str(first)]) == 0
    lines = [json.loads(line) for line in first.read_text(encoding="utf-8").splitlines()]
    study.write_text(
        "".join(json.dumps({**line, "ratings": {"overall": [4]}}) + "\n" for line in lines), encoding="utf-8"
    )
    call = ["plan", EVERYDAY, "--choose", "44", "--metrics", "length", "--rated", str(study), "--out", str(second)]
    assert main(call) == 0
    assert not {turn.id for turn in load(first)} & {turn.id for turn in load(second)}
    assert len({turn.id for turn in load(second)}) == 44
    call[3] = "45"
    assert main([*call, "--overwrite"]) == 2
    assert "no more than the 44 contexts that nobody has rated, found 45" in capsys.readouterr().err


def test_pairs_compared_in_the_file_itself_are_not_asked_again(tmp_path, capsys):
    pairs, out = tmp_path / "pairs.jsonl", tmp_path / "ask.jsonl"
    sides = {side: {"system": side * 2, "response": f"reply {side}"} for side in "ab"}
    lines = [
        {"id": str(c), "context": [f"context {c}"], **sides, "preferences": {"overall": ["a"] if c < 2 else [None]}}
        for c in range(6)
    ]
    pairs.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert main(["plan", str(pairs), "--choose", "4", "--out", str(out)]) == 0
    assert {turn.id for turn in load(out)} == {"2", "3", "4", "5"}
    assert main(["plan", str(pairs), "--choose", "5"]) == 2
    assert "no more than the 4 contexts that nobody has rated, found 5" in capsys.readouterr().err


def test_what_was_rated_must_be_what_is_chosen_from(tmp_path, capsys):
    study = tmp_path / "study.jsonl"
    call = ["plan", EVERYDAY, "--choose", "3", "--rated", str(study)]
    turn = {"id": "01", "system": "good", "response": "other", "ratings": {"overall": 3}}
    for wrong, message in ((turn, "people rated the reply 'other'"), ({**turn, "id": "x"}, "has no such turn")):
        study.write_text(json.dumps(wrong), encoding="utf-8")
        assert main(call) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ([], "expected --difference D"),
        (["--choose", "3"], "expected a FILE to choose from"),
        ([EVERYDAY, "--choose", "3", "--difference", "1"], "--difference: does not go with --choose"),
        ([EVERYDAY, "--choose", "3", "--anytime"], "--anytime: does not go with --choose"),
        (["--difference", "1", "--trusted"], "--trusted: expected a FILE"),
        (["--difference", "1", "--systems", "a,b"], "--systems: expected a FILE"),
        (["--difference", "1", "--skip-invalid"], "--skip-invalid: expected a FILE"),
        ([EVERYDAY, "--choose", "3", "--trusted"], "--trusted: does not go with --choose"),
        (["--difference", "1", "--out", "x"], "--out: does not go without --choose"),
        (["--difference", "1", "--raters", "1,x"], "--raters: expected whole numbers with commas"),
        (["--difference", "-1"], "difference: expected a number from"),
    ],
)
def test_wrong_calls(call, message, capsys):
    assert main(["plan", *call]) == 2
    assert message in capsys.readouterr().err
