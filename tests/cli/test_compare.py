import csv
import io
import json

import pytest

from tests.shared import annotation


@pytest.fixture
def runs(dialogauge, responses, tmp_path):
    """The same bot on two days: `monday` is system a of the responses, `tuesday` system b."""
    for name, system in (("monday", "a"), ("tuesday", "b")):
        path = tmp_path / f"{name}.jsonl"
        rows = [json.loads(line) for line in responses.read_text().splitlines()]
        path.write_text("".join(json.dumps({**row, "system": "bot"}) + "\n" for row in rows if row["system"] == system))
        assert dialogauge("score", path, "--metrics", "bleu,rouge_l", "--out", tmp_path / "runs" / name).code == 0
    return [tmp_path / "runs" / "monday", tmp_path / "runs" / "tuesday"]


def test_files(dialogauge, responses):
    done = dialogauge("compare", responses, "--metrics", "bleu,rouge_l")
    assert done.code == 0
    lines = done.out.split("\n")
    assert lines[2].split()[:4] == ["a", "a", lines[2].split()[2], "b"]
    assert any(line.split()[:3] == ["rouge_l", "a", "b"] for line in lines)


def test_formats(dialogauge, responses):
    document = json.loads(dialogauge("compare", responses, "--metrics", "bleu", "--format", "json").out)
    assert document["schema"] == "dialogauge.comparison/1"
    assert document["pairs"][0]["better"] == "a"
    rows = list(
        csv.DictReader(io.StringIO(dialogauge("compare", responses, "--metrics", "bleu", "--format", "csv").out))
    )
    assert rows[0]["better"] == "a"
    assert "\\toprule" in dialogauge("compare", responses, "--metrics", "bleu", "--format", "latex").out


def test_runs_of_one_name_and_a_build_that_got_worse(dialogauge, runs):
    done = dialogauge("compare", *runs)
    assert done.code == 0
    assert "monday/bot" in done.out
    done = dialogauge("compare", *runs, "--fail-if-worse", "rouge_l")
    assert done.code == 1
    assert done.err == "tuesday/bot is worse than monday/bot under rouge_l\n"
    assert dialogauge("compare", *runs[::-1], "--fail-if-worse", "rouge_l").code == 0
    assert dialogauge("compare", *runs, "--fail-if-worse", "rouge_l,bleu").code == 1
    done = dialogauge("compare", *runs, "--fail-if-worse", "meteor")
    assert (done.code, done.err) == (2, "--fail-if-worse meteor: the runs have only bleu, rouge_l\n")


def test_what_cannot_be_tested_does_not_pass(dialogauge, tmp_path):
    for name, start in (("x", 0), ("y", 50)):
        count = 30 if name == "x" else 1
        rows = [{"context": [f"q{i}"], "response": "a b", "references": ["a b"]} for i in range(start, start + count)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = dialogauge("compare", tmp_path / "x.jsonl", tmp_path / "y.jsonl", "--fail-if-worse", "bleu")
    assert done.code == 1
    assert "y cannot be tested against x under bleu" in done.err


@pytest.mark.parametrize("option", [["--compat", "fbd-paper"], ["--reader", "jsonl"], ["--skip-invalid"]])
def test_options_that_have_no_meaning_for_runs(dialogauge, runs, option):
    done = dialogauge("compare", *runs, *option)
    assert (done.code, done.err) == (2, f"{option[0]} has no meaning for runs: they are measured already\n")


def test_the_metric_to_watch_need_not_be_named_twice(dialogauge, responses):
    assert dialogauge("compare", responses, "--fail-if-worse", "bleu").code == 1
    assert dialogauge("compare", responses, "--fail-if-worse", "bleu", "--systems", "b,a").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metrics", ""], "no metric named; known: "),
        (["--fail-if-worse", "length"], "--fail-if-worse length: this metric has no better or worse"),
        (["--metrics", "bleu", "--systems", "a"], "nothing to compare: there is only the system 'a'"),
        (["--metrics", "bleu", "--systems", "a,z"], "unknown system 'z'"),
        (["--metrics", "blue"], "unknown metric 'blue'"),
        (["--metrics", "bleu", "--compat", "fbd"], "unknown compat 'fbd'; did you mean fbd-paper?"),
    ],
)
def test_wrong_calls(dialogauge, responses, arguments, message):
    done = dialogauge("compare", responses, *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(message)


def test_a_missing_run(dialogauge, runs, tmp_path):
    missing = runs[0].with_name(runs[0].name + "x")
    done = dialogauge("compare", runs[0], missing)
    assert (done.code, done.err) == (2, f"{missing}: no such file or run; did you mean {runs[0]}?\n")
    missing = tmp_path / "tomorrow's"
    done = dialogauge("compare", runs[0], missing)
    hint = f"runs are what `dialogauge score FILE --out {missing}` writes"
    assert (done.code, done.err) == (2, f"{missing}: no such file or run; {hint}\n")
    done = dialogauge("score", runs[0], "--metrics", "bleu")
    hint = "is a run, which holds scores and no turns; `dialogauge compare` reads runs"
    assert (done.code, done.err) == (2, f"{runs[0]}: {hint}\n")
    (tmp_path / "empty").mkdir()
    done = dialogauge("compare", tmp_path / "empty", tmp_path / "empty")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"{tmp_path / 'empty'}: is no run: it has no run.json, which `dialogauge score FILE")


def test_runs_and_files_do_not_mix(dialogauge, runs, responses):
    done = dialogauge("compare", runs[0], responses, "--metrics", "bleu")
    assert done.code == 2
    assert done.err.startswith(f"{runs[0]}: is a run, the others are not")
    done = dialogauge("compare", *runs, "--metrics", "meteor")
    assert (done.code, done.err) == (2, "meteor is not in every run; in all of them: bleu, rouge_l\n")


def test_marks_follow_the_tests_on_dailyz(dialogauge):
    call = ("compare", annotation("dailyz"), "--metrics", "bleu,rouge_l,meteor,distinct")
    document = json.loads(dialogauge(*call, "--format", "json").out)
    systems = document["corpus"]["systems"]
    assert len(document["pairs"]) == 4 * 28
    letters = dict(zip(systems, "abcdefgh", strict=True))
    beaten = {}
    for pair in document["pairs"]:
        assert (pair["better"] is not None) == (pair["p_holm"] < 0.05)
        assert pair["p_holm"] >= pair["p"]
        if pair["better"]:
            loser = pair["second"] if pair["better"] == pair["first"] else pair["first"]
            beaten.setdefault((pair["better"], pair["metric"]), []).append(letters[loser])
    assert beaten
    rows = dialogauge(*call, "--format", "markdown").out.split("\n")
    for row in rows[2:10]:
        _, system, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        for metric, cell in zip(("bleu", "rouge_l", "meteor", "distinct"), cells, strict=True):
            assert cell.split(" ")[1:] == sorted(beaten.get((system, metric), []))


def test_the_papers_recipes(dialogauge):
    done = dialogauge(
        "score", annotation("dailyz"), "--metrics", "bleu,distinct", "--compat", "fbd-paper", "--format", "json"
    )
    document = json.loads(done.out)
    assert "own_recipe" in [warning["code"] for warning in document["warnings"]]
    assert document["scores"][2]["signature"].startswith("bleu|compat:fbd-paper|")
    assert 0 < document["scores"][2]["value"] < 1e-70


def test_the_level_of_intervals(dialogauge, responses, runs):
    for inputs in ((responses, "--metrics", "bleu"), runs):
        wide, narrow = (
            json.loads(dialogauge("compare", *inputs, "--confidence", level, "--format", "json").out)
            for level in (0.99, 0.5)
        )
        assert (wide["settings"]["confidence"], narrow["settings"]["confidence"]) == (0.99, 0.5)
        for one, other in zip(wide["pairs"], narrow["pairs"], strict=True):
            assert one["low"] <= other["low"] <= other["high"] <= one["high"]
            assert one["p"] == other["p"]
        assert "[low, high] of a difference: 50% interval" in dialogauge("compare", *inputs, "--confidence", 0.5).out
