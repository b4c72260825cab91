import csv
import io
import json
import os
import re
import subprocess
import sys

import pandas as pd
import pytest

from dialogauge.tables import printable
from tests.shared import SIX, annotation, shared


def test_table(dialogauge, responses):
    done = dialogauge("score", responses, "--metrics", "bleu,rouge_l")
    assert done.code == 0
    assert done.err == ""
    lines = done.out.split("\n")
    assert lines[0].split() == ["system", "turns", "bleu", "↑", "rouge_l", "↑"]
    assert lines[2].startswith("a ")
    assert lines[2].count("*") == 2
    assert "*" not in lines[3]


def test_json(dialogauge, responses):
    done = dialogauge("score", responses, "--metrics", "rouge_l,distinct", "--format", "json")
    document = json.loads(done.out)
    assert document["schema"] == "dialogauge.scores/1"
    assert document["corpus"]["turns"] == 50
    assert document["corpus"]["files"][0]["path"] == str(responses)
    assert len(document["corpus"]["files"][0]["sha256"]) == 64
    score = document["scores"][0]
    assert score["low"] <= score["value"] <= score["high"]
    assert score["n"] == 25


def test_csv_markdown_and_latex(dialogauge, responses):
    rows = list(
        csv.DictReader(io.StringIO(dialogauge("score", responses, "--metrics", "length", "--format", "csv").out))
    )
    assert [(row["system"], row["metric"], row["value"]) for row in rows[:1]] == [("a", "length", "5.0")]
    assert dialogauge("score", responses, "--metrics", "length", "--format", "markdown").out.startswith("| system |")
    assert "\\toprule" in dialogauge("score", responses, "--metrics", "length", "--format", "latex").out


def test_systems_are_chosen_and_ordered(dialogauge, responses):
    done = dialogauge("score", responses, "--metrics", "length", "--systems", "b,a", "--format", "json")
    assert json.loads(done.out)["corpus"]["systems"] == ["b", "a"]
    done = dialogauge("score", responses, "--metrics", "length", "--systems", "aa")
    assert (done.code, done.err) == (2, "unknown system 'aa'; did you mean a?\n")


def test_same_seed_same_bytes(dialogauge, responses):
    first, again, other = (
        dialogauge("score", responses, "--metrics", "bleu", "--format", "json", "--seed", seed).out
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_out_and_overwrite(dialogauge, responses, tmp_path):
    out = tmp_path / "run"
    call = ("score", responses, "--metrics", "bleu,distinct", "--out", out)
    assert dialogauge(*call).code == 0
    turns = pd.read_parquet(out / "turns.parquet")
    assert set(turns["metric"]) == {"bleu"}
    assert len(turns) == 50
    before = (out / "scores.json").read_bytes()
    done = dialogauge(*call, "--seed", 5)
    assert done.code == 2
    assert done.err.startswith(f"{out}: is there already and was left as it is")
    assert (out / "scores.json").read_bytes() == before
    assert dialogauge(*call, "--seed", 5, "--overwrite").code == 0
    assert (out / "scores.json").read_bytes() != before


@pytest.mark.parametrize("rows", [200_000, 7], ids=["rows", "streamed"])
def test_out_keeps_the_texts_unless_they_are_left_out(dialogauge, responses, tmp_path, monkeypatch, rows):
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", rows)
    call = ("score", responses, "--metrics", "bleu", "--out", tmp_path / "run", "--overwrite")
    assert dialogauge(*call).code == 0
    given = [json.loads(line) for line in responses.read_text().splitlines()]
    kept = pd.read_parquet(tmp_path / "run" / "texts.parquet")
    assert list(zip(kept["system"], kept["response"], strict=True)) == [
        (turn["system"], turn["response"]) for turn in given
    ]
    assert dialogauge(*call, "--no-texts").code == 0
    assert not (tmp_path / "run" / "texts.parquet").exists()
    assert json.loads((tmp_path / "run" / "run.json").read_text())["texts"] is False


def test_an_existing_directory_is_refused_before_the_files_are_read(dialogauge, tmp_path):
    (tmp_path / "run").mkdir()
    done = dialogauge("score", tmp_path / "missing.jsonl", "--metrics", "bleu", "--out", tmp_path / "run")
    assert done.err.startswith(f"{tmp_path / 'run'}: is there already")


def test_plot(dialogauge, responses, tmp_path):
    assert dialogauge("score", responses, "--metrics", "bleu", "--plot", tmp_path / "scores.png").code == 0
    assert (tmp_path / "scores.png").read_bytes().startswith(b"\x89PNG")
    done = dialogauge("score", responses, "--metrics", "bleu", "--plot", tmp_path / "scores.doc")
    assert (done.code, done.err) == (
        2,
        f"{tmp_path / 'scores.doc'}: cannot draw into this kind of file; end its name in .png, .svg, .pdf\n",
    )


BAD_FILES = {
    "empty file": (b"", ": "),
    "not UTF-8": (b'{"response": "ok"}\n{"response": "caf\xe9"}\n', ":2: "),
    "broken JSON": (b'{"response": "ok"}\n{"response": \n', ":2: "),
    "missing field": (b'{"response": "ok"}\n{"context": ["hi"]}\n', ":2: "),
    "wrong type": (b'{"response": "ok"}\n{"response": 3}\n', ":2: "),
    "a rating that is text": (b'{"response": "ok", "ratings": {"overall": "good"}}\n', ":1: "),
    "duplicate": (b'{"id": 1, "response": "ok"}\n{"id": 1, "response": "ok"}\n', ":2: "),
    "transposed references": (b'{"response": "ok", "references": [["a", "b"], ["c", "d"]]}\n', ":1: "),
    "hyps of changing length": (
        b'{"src": "a", "refs": ["b"], "hyps": ["c", "d"], "human_scores": [[1], [2]]}\n'
        b'{"src": "a", "refs": ["b"], "hyps": ["c"], "human_scores": [[1]]}\n',
        ":2: ",
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_named_with_their_line_and_nothing_is_written(dialogauge, tmp_path, name):
    content, place = BAD_FILES[name]
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    done = dialogauge("score", path, "--metrics", "length", "--out", tmp_path / "run")
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith(f"{path}{place}"), done.err
    assert done.err.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["bad.jsonl"]


def test_a_missing_file(dialogauge, tmp_path):
    done = dialogauge("score", tmp_path / "nothing.jsonl", "--metrics", "length")
    assert done.code == 2
    assert done.err.startswith(f"{tmp_path / 'nothing.jsonl'}: ")


def test_skip_invalid_counts_what_it_leaves_out(dialogauge, tmp_path):
    path = tmp_path / "some.jsonl"
    path.write_text('{"response": "one two"}\n{"response": 3}\n{"response": "one two three four"}\n')
    done = dialogauge("score", path, "--metrics", "length", "--skip-invalid", "--format", "json")
    document = json.loads(done.out)
    assert document["scores"][0]["value"] == 3
    assert "skipped_lines" in [warning["code"] for warning in document["warnings"]]
    assert "warning: " in done.err


def test_references_needed_and_not_there(dialogauge, tmp_path):
    path = tmp_path / "plain.jsonl"
    path.write_text('{"response": "hello"}\n')
    done = dialogauge("score", path, "--metrics", "bleu")
    assert (done.code, done.err) == (2, "bleu needs references, and none of the corpus's 1 turns has any\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metrics", "blue"], "unknown metric 'blue'; did you mean bleu?"),
        (["--metrics", "bleu[lower=true]"], "unknown option of bleu 'lower'; did you mean lowercase?"),
        (
            ["--metrics", "length", "--resamples", "0"],
            "resamples: expected a whole number from 1 to 1,000,000, found 0",
        ),
        (["--metrics", "length", "--seed", "-1"], "seed: expected a whole number from 0 to 9e+18, found -1"),
        (["--metrics", "length", "--reader", "jsnl"], "unknown reader 'jsnl'; did you mean jsonl"),
    ],
)
def test_wrong_calls(dialogauge, responses, arguments, message):
    done = dialogauge("score", responses, *arguments)
    assert done.code == 2
    assert done.err.startswith(message)


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex"])
def test_control_characters_never_reach_the_terminal(dialogauge, tmp_path, form):
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
    path = tmp_path / "evil.jsonl"
    rows = [
        {"response": f"hi {evil}{i}", "references": [evil], "system": f"s{evil}", "id": f"{evil}{i}"} for i in range(3)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = dialogauge("score", path, "--metrics", "bleu,length", "--format", form, "--plot", tmp_path / "plot.svg")
    assert done.code == 0
    assert printable(done.out + done.err, keep="\n") == done.out + done.err
    path.write_text(json.dumps({"response": "x", "ratings": {evil: evil}}) + "\n" + json.dumps({"response": [evil]}))
    for more in ([], ["--skip-invalid"], ["--systems", evil], ["--reader", evil]):
        done = dialogauge("score", path, "--metrics", "length", *more)
        assert done.code == 2
        assert printable(done.err, keep="\n") == done.err


def test_output_can_be_cut_off_by_a_pipe(responses):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "dialogauge", "score", str(responses), "--metrics", "length"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert done.returncode == 1
    assert done.stderr == ""


@pytest.mark.parametrize("corpus", SIX)
def test_every_file_of_the_fbd_paper(dialogauge, corpus):
    done = dialogauge("score", annotation(corpus), "--metrics", "bleu,rouge_l,meteor,distinct", "--format", "json")
    assert done.code == 0
    document = json.loads(done.out)
    systems = {"convai2": 4, "dailyh": 11, "dailyz": 8, "empathetic": 11, "personam": 4, "personaz": 5}[corpus]
    items = {"dailyz": 100, "personam": 60}.get(corpus, 150)
    assert len(document["corpus"]["systems"]) == systems
    for score in document["scores"]:
        assert score["n"] == items
        assert score["low"] <= score["value"] <= score["high"]


@pytest.mark.parametrize("part", [pytest.param("train", marks=pytest.mark.slow), "validation", "test"])
def test_daily_dialog_as_conversations(dialogauge, part):
    path = shared(f"training/dailydialog/dialogues_{part}.txt.gz")
    done = dialogauge("score", path, "--metrics", "length,distinct", "--format", "json")
    document = json.loads(done.out)
    assert document["corpus"]["systems"] == [f"dialogues_{part}"]
    assert document["settings"]["unit"] == "dialogues"
    assert document["scores"][0]["units"] < document["scores"][0]["n"]


def test_the_level_of_intervals(dialogauge, responses):
    """The jackknife's half width goes with Student's t: for 24 degrees of freedom 1.7109 at 90 %, 0.6848 at 50 %."""

    rows = [
        {"context": [f"{i}"], "response": "go " * (1 + i % 5), "references": ["go on"], "system": "a"}
        for i in range(25)
    ]
    responses.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def document(level):
        call = ("score", responses, "--metrics", "distinct,bleu", "--confidence", level, "--format", "json")
        return json.loads(dialogauge(*call).out)

    wide, narrow = document("0.9"), document("0.5")
    assert wide["settings"]["confidence"] == 0.9
    for one, other in zip(wide["scores"], narrow["scores"], strict=True):
        assert one["value"] == other["value"]
        assert one["low"] <= other["low"] <= other["high"] <= one["high"]
        if one["metric"] == "distinct.1":
            ratio = (one["high"] - one["low"]) / (other["high"] - other["low"])
            assert ratio == pytest.approx(1.7109 / 0.6848, rel=1e-3)
    assert (
        "[low, high]: 90% interval of bleu"
        in dialogauge("score", responses, "--metrics", "bleu", "--confidence", 0.9).out
    )
    done = dialogauge("score", responses, "--metrics", "bleu", "--confidence", 95)
    assert (done.code, done.err) == (2, "confidence: expected a number between 0 and 1, found 95.0\n")


def test_the_worst_and_best_replies(dialogauge, responses):
    done = dialogauge("score", responses, "--metrics", "meteor,distinct,length", "--worst", 2, "--best", 1)
    assert done.code == 0
    assert done.err == (
        "warning: replies cannot be ranked by distinct (it has no value for a single turn), "
        "length (neither more nor less of it is better)\n"
    )
    scores, worst, best = re.split(r"\n\n(?=system)", done.out)
    assert scores == dialogauge("score", responses, "--metrics", "meteor,distinct,length").out.rstrip("\n")
    lines = worst.split("\n")
    assert lines[0].split() == ["system", "id", "meteor", "↑", "after", "response", "reference"]
    assert [line.split()[0] for line in lines[2:6]] == ["a", "a", "b", "b"]
    assert lines[2].split()[3:] == "question 0 a full answer to w0 a full answer to 0".split()
    assert "the worst by meteor: 2 replies of each system" in worst
    assert "not listed, as bad as the last one listed: 23 of a, 23 of b" in worst
    assert "the best by meteor: 1 reply of each system" in best


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_the_worst_replies_for_papers(dialogauge, responses, form):
    done = dialogauge("score", responses, "--metrics", "meteor", "--worst", 1, "--format", form)
    assert done.out.count({"markdown": "| system |", "latex": r"\toprule"}[form]) == 2
    assert "a full answer to w0" in done.out


def test_the_worst_replies_for_programs(dialogauge, responses, tmp_path):
    call = ("score", responses, "--metrics", "meteor,bleu,distinct", "--worst", 1, "--best", 2)
    document = json.loads(dialogauge(*call, "--format", "json", "--out", tmp_path / "run").out)
    assert [(found["metric"], len(found["replies"])) for found in document["worst"]] == [("meteor", 2), ("bleu", 2)]
    assert [(found["metric"], len(found["replies"])) for found in document["best"]] == [("meteor", 4), ("bleu", 4)]
    assert document["warnings"][-1]["code"] == "unranked"
    reply = document["worst"][0]["replies"][0]
    assert reply["context"] == ["question 0"]
    assert reply["references"] == ["a full answer to 0"]
    values = pd.read_parquet(tmp_path / "run" / "turns.parquet").query("metric == 'meteor' and system == 'a'")
    assert reply["value"] == values["value"].min()
    for order in ("worst", "best"):
        lines = (tmp_path / "run" / f"{order}.jsonl").read_text().splitlines()
        expected = [{"metric": found["metric"], **one} for found in document[order] for one in found["replies"]]
        assert [json.loads(line) for line in lines] == expected
    again = dialogauge("score", responses, "--metrics", "meteor", "--out", tmp_path / "run", "--overwrite")
    assert again.code == 0
    assert not (tmp_path / "run" / "worst.jsonl").exists()


def test_the_worst_replies_of_a_corpus_too_large_for_rows(dialogauge, responses, monkeypatch):
    call = ("score", responses, "--metrics", "meteor", "--worst", 3, "--format", "json")
    kept = json.loads(dialogauge(*call).out)
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 7)
    streamed = json.loads(dialogauge(*call).out)
    assert streamed["worst"] == kept["worst"]


def test_the_worst_replies_of_what_is_piped_in(responses):
    command = [sys.executable, "-m", "dialogauge", "score", "-", "--metrics", "meteor", "--worst", "1"]
    done = subprocess.run(command, stdin=responses.open(), capture_output=True, text=True, check=True)
    assert "a full answer to w0" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--worst", "3", "--format", "csv"], "--worst: CSV has one line per score and no room for texts; choose"),
        (["--best", "0"], "best: expected a whole number from 1 to "),
        (["--worst", "3", "--metrics", "distinct"], "replies cannot be ranked by distinct (it has no value"),
        (["--worst", "3", "--metrics", "rouge_l.recall"], "replies cannot be ranked by rouge_l.recall (single turns"),
    ],
)
def test_replies_that_cannot_be_listed(dialogauge, responses, arguments, message):
    done = dialogauge("score", responses, *([] if "--metrics" in arguments else ["--metrics", "bleu"]), *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(message)
