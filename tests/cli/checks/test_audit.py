"""dialogauge audit."""

import json

from dialogauge.cli.main import main


def test_the_table_and_its_json(capsys):
    call = [
        "audit",
        "examples/rated.jsonl",
        "--metrics",
        "rouge_l",
        "--kinds",
        "mismatch",
        "--resamples",
        "50",
        "--quiet",
    ]
    assert main(call) == 0
    table = capsys.readouterr().out
    assert "not asked: position, repeats and flips of rouge_l: only a judge answers more than once" in table
    assert main([*call, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "dialogauge.audit/1"
    assert [each["question"] for each in document["findings"]] == ["length", "damage", *["curve"] * 3, "agreement"]


def test_questions_and_names(capsys):
    call = [
        "audit",
        "examples/rated.jsonl",
        "--metrics",
        "rouge_l",
        "--questions",
        "agreement",
        "--names",
        "rouge_l=ROUGE",
    ]
    assert main([*call, "--format", "markdown", "--resamples", "50", "--quiet"]) == 0
    assert "| ROUGE" in capsys.readouterr().out
