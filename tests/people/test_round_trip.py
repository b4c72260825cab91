"""The session in docs/people.md and README.md, from scores to estimates, with a real server and scripted raters.

Run as a script, it writes the present output into the page: python -m tests.people.test_round_trip
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import pytest

from dialogauge import load
from dialogauge.cli.main import main
from tests.people.scripted_rater import ScriptedRater, attentive
from tests.test_docs import ROOT, same

PAGE, README = ROOT / "docs" / "people.md", ROOT / "README.md"
BLOCK = re.compile(r"(?ms)^```console\n(?P<lines>.*?)^```$")
SERVES = "dialogauge rate ask.jsonl"
QUICKER = ["--time-floor", "0", "--port", "0"]
"""Scripted raters answer within milliseconds, and another server may run."""


def commands(page: Path) -> list[str]:
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def printed(command: str) -> str:
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err), patch("dialogauge.progress.EVERY", math.inf):
        assert main(shlex.split(command)[1:]) == 0, err.getvalue()
    return "\n".join(line.rstrip() for line in (err.getvalue() + out.getvalue()).rstrip("\n").split("\n"))


def rated(command: str) -> str:
    """Serves the study, lets everyone rate to the end, and stops the server by Ctrl-C."""
    call = [sys.executable, "-m", "dialogauge", *shlex.split(command)[1:], *QUICKER]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            links = {}
            people = len(re.findall(r"(?m)^r\d+\t", _links(server)))
            for line in server.stdout:
                name, _, link = line.strip().partition("\t")
                if "/r/" in link:
                    links[name] = link
                if len(links) == people:
                    break
            corpus = load("examples/everyday.jsonl")
            raters = [ScriptedRater(link, attentive(corpus, name)) for name, link in links.items()]
            with ThreadPoolExecutor(len(raters)) as together:
                ends = list(together.map(ScriptedRater.rate_all, raters))
        finally:
            server.send_signal(signal.SIGINT)
        server.communicate(timeout=30)
    assert all("Thank you" in end for end in ends)
    return "\n".join(
        ["organiser  http://localhost:8765/o/…", *(f"{name}  http://localhost:8765/r/…" for name in links)]
    )


def _links(server: subprocess.Popen[str]) -> str:
    """What the study keeps of its links, once the first is printed."""
    assert server.stdout is not None
    first = server.stdout.readline()
    assert first.startswith("organiser"), first + (server.stderr.read() if server.stderr else "")
    return Path("study/links.txt").read_text(encoding="utf-8")


def carried_out() -> dict[str, str]:
    """Every command of the page with what it printed, in the order of the page."""
    return {command: rated(command) if command.startswith(SERVES) else printed(command) for command in commands(PAGE)}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("session")
    shutil.copytree(ROOT / "examples", folder / "examples")
    with chdir(folder):
        return folder, carried_out()


def test_the_session_prints_what_the_page_shows(session):
    _, found = session
    shown = {}
    for block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        command, _, output = block.partition("\n")
        shown[command.removeprefix("$ ")] = output.rstrip("\n")
    assert len(shown) == 7
    for command, output in shown.items():
        if not command.startswith(SERVES):
            assert same(output, found[command]), f"{command}\n{output}\n{found[command]}"


def test_what_is_asked_about_comes_back_rated_with_its_probability(session):
    folder, _ = session
    asked, ratings = load(folder / "ask.jsonl"), load(folder / "ratings.jsonl")
    assert len(asked) == len(ratings) == 36 * 3
    for before, after in zip(asked, ratings, strict=True):
        assert (before.id, before.system, before.response) == (after.id, after.system, after.response)
        assert before.extra.items() <= after.extra.items()
        assert len(after.ratings["overall"]) == 2
        assert after.extra["trusted"]["overall"] == [True, True]


def test_raters_said_what_they_think_of_the_reply_they_saw(session):
    """Whatever they were shown in, and whoever rated it: the export has the opinion of that person on that turn."""
    folder, _ = session
    corpus = load("examples/everyday.jsonl")
    for turn in load(folder / "ratings.jsonl"):
        names = turn.extra["raters"]["overall"]
        said = [attentive(corpus, name)(" ".join([*turn.context, turn.response])) for name in names]
        assert list(turn.ratings["overall"]) == said


def test_going_on_leaves_out_what_is_rated(session, capsys):
    folder, _ = session
    files = [str(folder / "examples" / "everyday.jsonl"), "--rated", str(folder / "ratings.jsonl")]
    out = folder / "more.jsonl"
    assert main(["plan", *files, "--choose", "20", "--metrics", "bertscore", "--out", str(out), "--overwrite"]) == 0
    assert not {turn.id for turn in load(out)} & {turn.id for turn in load(folder / "ask.jsonl")}
    capsys.readouterr()
    assert main(["plan", str(folder / "ratings.jsonl"), "--difference", "0.4", "--format", "json", "--quiet"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["from"][0]["components"]["system_rater"] is not None


def test_the_readme_has_the_same_session():
    assert commands(README) == commands(PAGE)


if __name__ == "__main__":
    os.environ.pop("COLUMNS", None)
    with tempfile.TemporaryDirectory() as temporary, chdir(temporary):
        shutil.copytree(ROOT / "examples", "examples")
        outputs = carried_out()
    text = PAGE.read_text(encoding="utf-8")
    for each, output in outputs.items():
        block = next(found[0] for found in BLOCK.finditer(text) if found["lines"].startswith(f"$ {each}\n"))
        text = text.replace(block, f"```console\n$ {each}\n{output}\n```")
    PAGE.write_text(text, encoding="utf-8")
