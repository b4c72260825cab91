"""`judge` and `answer` with a real model behind a real server. A scripted endpoint stands between and counts."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from dialogauge.cli.main import main
from tests.serving.llama_server import MODEL, missing, serving
from tests.serving.scripted import Asked, Reply, Scripted

pytestmark = pytest.mark.serve
ROOT = Path(__file__).resolve().parents[2]
TURNS = 12


@pytest.fixture(scope="module")
def server():
    assert not missing(), "`make test-serve` installs them"
    with serving() as url:
        yield url


@pytest.fixture
def between(server):
    def forward(asked: Asked) -> Reply:
        request = urllib.request.Request(f"{server}/chat/completions", asked.raw)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return Reply(answer.status, answer.read())

    with Scripted(forward) as counting:
        yield counting


@pytest.fixture
def turns(tmp_path, monkeypatch):
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path / "cache"))
    lines = (ROOT / "examples" / "everyday.jsonl").read_text(encoding="utf-8").splitlines()
    path = tmp_path / "turns.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines[:TURNS]), encoding="utf-8")
    return path


def scoring(turns, between, out, *more):
    metric = f"judge[prompt=coherence,model={MODEL},url={between.url}]"
    return ["score", str(turns), "--metrics", metric, "--out", str(out), "--resamples", "100", "--quiet", *more]


def kept(run):
    """What a run holds, but for the command that made it."""
    return {path.name: path.read_bytes() for path in run.iterdir() if path.name != "run.json"}


def test_a_judge_asks_once_and_its_run_can_be_verified(turns, between, tmp_path, capsys):
    assert main(scoring(turns, between, tmp_path / "first")) == 0
    first = capsys.readouterr().out
    sent = len(between.requests)
    assert TURNS <= sent <= TURNS + 3  # the way in which the endpoint can be asked is found out first
    assert main(scoring(turns, between, tmp_path / "second")) == 0
    assert main(scoring(turns, between, tmp_path / "third", "--offline")) == 0
    assert capsys.readouterr().out == first + first
    assert len(between.requests) == sent
    assert kept(tmp_path / "first") == kept(tmp_path / "second") == kept(tmp_path / "third")
    scores = json.loads((tmp_path / "first" / "scores.json").read_text())["scores"]
    assert all(1 <= score["value"] <= 5 and score["n"] == TURNS // 3 for score in scores)
    assert all("|way:logprobs" in score["signature"] for score in scores)
    assert main(["verify", str(tmp_path / "first"), "--quiet"]) == 0
    assert "the kept answers" in capsys.readouterr().out


def test_killed_half_way_a_judge_goes_on_where_it_was(turns, between, tmp_path, capsys):
    call = [sys.executable, "-c", "from dialogauge.cli.entry import start; start()"]
    process = subprocess.Popen([*call, *scoring(turns, between, tmp_path / "run", "--concurrency", "1")])
    until = time.monotonic() + 120
    while len(between.requests) < TURNS // 2 and time.monotonic() < until:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert TURNS // 2 <= len(between.requests) < TURNS
    assert not (tmp_path / "run").exists()
    assert main(scoring(turns, between, tmp_path / "run")) == 0
    sent = [asked.raw for asked in between.requests]
    assert len(sent) - len(set(sent)) <= 1  # the one that was under way
    assert main(scoring(turns, between, tmp_path / "again")) == 0
    assert kept(tmp_path / "run") == kept(tmp_path / "again")


def test_answers_of_a_model_stand_beside_the_systems_of_the_file(turns, between, tmp_path, capsys):
    out = tmp_path / "smollm2.jsonl"
    call = ["answer", str(turns), "--model", MODEL, "--url", between.url, "--out", str(out), "--quiet"]
    call += ["--max-tokens", "20", "--temperature", "0", "--seed", "1"]
    assert main(call) == 0
    assert len(between.requests) == TURNS // 3
    assert all(json.loads(line)["response"] for line in out.read_text().splitlines())
    capsys.readouterr()
    assert main(["compare", str(turns), str(out), "--metrics", "length", "--format", "json", "--quiet"]) == 0
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    assert {pair["units"] for pair in pairs if MODEL in (pair["first"], pair["second"])} == {TURNS // 3}
    before = out.read_bytes()
    assert main([*call, "--overwrite", "--offline"]) == 0
    assert out.read_bytes() == before
