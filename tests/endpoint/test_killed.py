"""Real processes: a second run asks nothing, and one that was killed goes on; all give the same bytes."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from dialogauge.cli.main import main
from tests.serving.scripted import Scripted, chat

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "everyday.jsonl"
HELD = 20
"""So many requests are answered before the process is killed."""


def call(server, out, *more):
    wanted = f"judge[prompt=coherence,model=scripted,url={server.url}]"
    files = [str(EXAMPLES), "--systems", "good", "--concurrency", "3", "--quiet"]
    return [sys.executable, "-m", "dialogauge", "score", *files, "--metrics", wanted, "--out", str(out), *more]


def environment(folder):
    return {**os.environ, "DIALOGAUGE_CACHE": str(folder), "DIALOGAUGE_API_KEY": ""}


def contents(run):
    """Every file of a run, but for the command that made it, which names the run."""
    found = {path.name: path.read_bytes() for path in run.iterdir()}
    record = json.loads(found["run.json"])
    del record["command"]
    return {**found, "run.json": record}


class Judge:
    """Rates by the length of the reply; holds all requests after the first ones while it is told to."""

    def __init__(self):
        self.released = threading.Event()
        self.answered = []

    def __call__(self, asked):
        if asked.number >= HELD:
            self.released.wait(30)
        reply = json.loads(asked.body["messages"][1]["content"])["reply"]
        self.answered.append(asked.raw)
        return chat(f'{{"score": {1 + len(reply) % 5}}}')


def test_killed_and_resumed_it_gives_the_same_bytes_and_asks_nothing_twice(tmp_path, monkeypatch, capsys):
    def run(name, cache, *more):
        monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path / cache))
        assert main(call(server, tmp_path / name, *more)[3:]) == 0
        return capsys.readouterr().out

    judge = Judge()
    with Scripted(judge) as server:
        process = subprocess.Popen(call(server, tmp_path / "first"), env=environment(tmp_path / "a"))
        end = time.monotonic() + 60
        while len(server.requests) < HELD + 3 and time.monotonic() < end:  # three are under way, and held
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert not (tmp_path / "first").exists()
        answered = judge.answered[:HELD]
        before = len(server.requests)
        assert before == HELD + 3
        judge.released.set()

        done = subprocess.run(
            call(server, tmp_path / "resumed"), env=environment(tmp_path / "a"), check=True, capture_output=True
        )
        resumed = done.stdout.decode()
        sent_again = [request.raw for request in server.requests[before:]]
        assert len(sent_again) == 65 - HELD
        assert not {*sent_again} & {*answered}
        count = len(server.requests)
        second, offline = run("second", "a"), run("offline", "a", "--offline")
        assert len(server.requests) == count
        whole = run("whole", "b")
        assert len(server.requests) == count + 65
    assert resumed == second == offline == whole
    runs = [contents(tmp_path / name) for name in ("resumed", "second", "offline", "whole")]
    assert all(run == runs[0] for run in runs)
    assert len(runs[0]["answers.jsonl"].splitlines()) == 65


def test_offline_without_answers_says_how_many_are_missing(tmp_path):
    with Scripted(chat("4")) as server:
        done = subprocess.run(
            call(server, tmp_path / "run", "--offline"), env=environment(tmp_path), capture_output=True, text=True
        )
        assert done.returncode == 2
        assert "65 answers are not kept, and with --offline nothing is asked" in done.stderr
        limited = call(server, tmp_path / "run", "--max-requests", "10")
        done = subprocess.run(limited, env=environment(tmp_path), capture_output=True, text=True)
        assert done.returncode == 1
        assert "10 requests sent, no more with --max-requests 10. 9 of the 64 answers" in done.stderr
        assert "55 answers missing for all of this corpus" in done.stderr
        assert len(server.requests) == 10
        done = subprocess.run(
            call(server, tmp_path / "run", "--offline"), env=environment(tmp_path), capture_output=True, text=True
        )
        assert "55 answers are not kept" in done.stderr
        assert len(server.requests) == 10
