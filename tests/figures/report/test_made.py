"""How a result was made: commands, signatures, paths."""

import pytest

import dialogauge
from dialogauge.figures.report.content import report_content, without_folders
from dialogauge.figures.report.export import Exports
from dialogauge.figures.report.made import made_section, shown_command, signature_in_words
from tests.figures.report.test_page import turns


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["dialogauge", "score", "a.jsonl"], "dialogauge score a.jsonl"),
        (["/opt/bin/dialogauge", "score", "/home/me/a b.jsonl", "--metrics", "bleu,fbd"],
         "dialogauge score 'a b.jsonl' --metrics bleu,fbd"),
        (["dialogauge", "score", "x/a.jsonl", "y/b.jsonl", "--out", "runs/today", "--html", "z/mine.html"],
         "dialogauge score a.jsonl b.jsonl --out today --html report.html"),
        (["dialogauge", "score", "a", "--html=/tmp/mine.html", "--real=/tmp/people.txt"],
         "dialogauge score a --html=report.html --real=people.txt"),
        (["dialogauge", "score", "a", "--metrics", "bertscore[encoder=/home/me/bert]", "--encoder", "org/model"],
         "dialogauge score a --metrics 'bertscore[encoder=bert]' --encoder org/model"),
        (["dialogauge", "score", "a", "--systems", "$(rm -rf x); y"],
         "dialogauge score a --systems '$(rm -rf x); y'"),
        (["pytest", "tests"], None),
        (["-c"], None),
        ([], None),
        (None, None),
    ],
)  # fmt: skip
def test_commands_name_files_and_no_folders(command, shown):
    assert shown_command(command) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/me/data/a.jsonl:3: what", "a.jsonl:3: what"),
        ("~/data/a.jsonl and ./b.txt", "a.jsonl and b.txt"),
        ("fbd|enc:/models/bert@53aa|x:1", "fbd|enc:bert@53aa|x:1"),
        (r"C:\Users\me\a.txt", "a.txt"),
        ("https://doi.org/10.1/x", "https://doi.org/10.1/x"),
        ("org/model and/or 1/2", "org/model and/or 1/2"),
        ("a / b", "a / b"),
    ],
)
def test_folders_are_left_out(text, shown):
    assert without_folders(text) == shown


def test_signatures_in_words():
    said = signature_in_words("bleu|tok:13a|smooth:exp|order:4|lowercase:false|odd:7|dialogauge:0.1.0")
    assert said.endswith("; tokeniser 13a; smoothing exp; n-grams up to 4; lower-cased: false; dialogauge 0.1.0")
    assert "encoder minilm (sha256 53aa5117…)" in signature_in_words("fbd|enc:minilm@53aa5117")
    assert signature_in_words("of_another_package|enc:x") == "encoder x"


def test_every_signature_and_caveat_is_there():
    result = dialogauge.evaluate(turns(("a",), 4), "rouge_l,distinct.1", resamples=20)
    section = made_section(report_content(result), Exports())
    for score in result.scores:
        assert score.signature in section
    for name in ("numpy", "python", "dialogauge"):
        assert f"<dt>{name}</dt>" in section
    # Made from Python: the call is shown in place of a command line.
    assert (
        "dialogauge.evaluate(turns, &#x27;rouge_l,distinct.1&#x27;, seed=0, resamples=20, confidence=0.95)" in section
    )


def test_paths_in_names_of_metrics_are_short(tmp_path):
    path = tmp_path / "measures.py"
    path.write_text("def brevity(turn):\n    return -len(turn.response)\n")
    result = dialogauge.evaluate(turns(), f"{path}:brevity", resamples=20)
    page = dialogauge.write_report(result, tmp_path / "x.html").read_text()
    assert str(tmp_path) not in page
    assert "brevity" in page
