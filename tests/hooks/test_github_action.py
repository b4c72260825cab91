"""The GitHub action: the shell of its steps, one after the other as a runner does it, in a folder of its own. GitHub
itself is a server on localhost that keeps comments."""

import json
import os
import re
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / "action.yml"
EXPRESSION = re.compile(r"\$\{\{ (.+?) \}\}")
WORDS = "the cat sat on a mat today".split()


@pytest.fixture(scope="module")
def action():
    return yaml.safe_load(ACTION.read_text(encoding="utf-8"))


@pytest.fixture
def github():
    """A server with the comments of one pull request, as `GET`, `POST` and `PATCH` know them."""
    comments, tokens = [{"id": 1, "user": {"type": "User"}, "body": "<!-- dialogauge: bot -->\nmine"}], []

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self):
            page = int(self.path.rpartition("=")[2])
            self.answer(200, comments[(page - 1) * 100 : page * 100])

        def do_POST(self):
            assert self.path == "/repos/me/bot/issues/7/comments"
            comments.append({"id": len(comments) + 1, "user": {"type": "Bot"}, **self.given()})
            self.answer(201, comments[-1])

        def do_PATCH(self):
            number = int(self.path.removeprefix("/repos/me/bot/issues/comments/"))
            comments[number - 1].update(self.given())
            self.answer(200, comments[number - 1])

        def given(self):
            return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

        def answer(self, status, content):
            tokens.append(self.headers["Authorization"])
            self.send_response(status if tokens[-1] == "Bearer secret" else 403)
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, *given):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", comments
    server.shutdown()
    server.server_close()


class Runner:
    """Runs steps with a `run`, with what their `env` says, as far as inputs and earlier steps are concerned."""

    def __init__(self, action, folder, api):
        self.steps = {step["id"]: step for step in action["runs"]["steps"] if "id" in step}
        self.folder = folder
        self.values = {f"inputs.{name}": given.get("default", "") for name, given in action["inputs"].items()}
        self.values |= {"inputs.name": "bot", "inputs.token": "secret", "github.event.pull_request.number": "7"}
        programs = folder / ".programs"
        programs.mkdir()
        (programs / "dialogauge").write_text(f'#!/bin/sh\nexec {sys.executable} -m dialogauge "$@"\n')
        (programs / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        for program in programs.iterdir():
            program.chmod(0o755)
        self.environment = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_API_URL": api,
            "GITHUB_REPOSITORY": "me/bot",
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "GITHUB_OUTPUT": str(folder / "output"),
        }

    def run(self, step, status=0, **inputs):
        self.values |= {f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}
        wanted = self.steps[step].get("env", {})
        given = {name: EXPRESSION.sub(lambda found: self.values[found[1]], value) for name, value in wanted.items()}
        (self.folder / "output").write_text("")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", self.steps[step]["run"]],
            cwd=self.folder,
            env=self.environment | given,
            capture_output=True,
            text=True,
        )
        assert done.returncode == status, done.stdout + done.stderr
        for line in (self.folder / "output").read_text().splitlines():
            name, _, value = line.partition("=")
            self.values[f"steps.{step}.outputs.{name}"] = value
        return done.stdout


@pytest.fixture
def runner(action, github, tmp_path):
    return Runner(action, tmp_path, github[0])


def say(folder, words):
    """What the bot says: so many of the words that were expected."""
    rows = [
        {"context": [f"q{i}"], "response": " ".join(WORDS[:words]), "references": [" ".join(WORDS)], "system": "bot"}
        for i in range(30)
    ]
    (folder / "replies.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_what_got_worse_is_told_and_fails(runner, github, tmp_path):
    inputs = {"responses": "repl*.jsonl", "metrics": "meteor", "fail_if_worse": "meteor"}
    say(tmp_path, 6)
    runner.run("compare", **inputs)
    report = (tmp_path / ".dialogauge" / "report.md").read_text()
    assert report.startswith("### bot: no earlier run to compare with\n\n| system | turns | meteor ↑ |")
    assert (tmp_path / "summary.md").read_text() == report
    assert runner.values["steps.compare.outputs.worse"] == "false"
    for step in ("comment", "fail", "keep"):
        runner.run(step)
    first = {"id": 2, "user": {"type": "Bot"}, "body": f"<!-- dialogauge: bot -->\n{report}"}
    assert github[1][1:] == [first]  # beside the one that a person wrote

    say(tmp_path, 3)
    runner.run("compare")
    report = (tmp_path / runner.values["steps.compare.outputs.report"]).read_text()
    assert report.startswith("### bot: worse\n\n|  | system | meteor ↑ |")
    assert "\n~~~~text\nnow/bot is worse than last/bot under meteor\n~~~~\n" in report
    runner.run("comment")
    assert [comment["body"] for comment in github[1][1:]] == [f"<!-- dialogauge: bot -->\n{report}"]
    assert runner.values["steps.compare.outputs.worse"] == "true"
    assert runner.run("fail", status=1) == "::error::now/bot is worse than last/bot under meteor\n"

    assert "answered 403" in runner.run("comment", token="of a fork")


@pytest.mark.slow  # three processes of ours
def test_limits_need_no_earlier_run_and_wrong_calls_say_what_is_wrong(runner, tmp_path):
    say(tmp_path, 3)
    runner.run("compare", responses="replies.jsonl", metrics="length", fail_below="bleu=99")
    assert (tmp_path / ".dialogauge" / "report.md").read_text().startswith("### bot: below the limit\n")
    assert "bot scores " in runner.run("fail", status=1)
    told = runner.run("compare", status=2, fail_below="blue=99")
    assert told == "::error::unknown metric 'blue'; did you mean bleu?\n"
    assert "::error::baseline: no run in elsewhere" in runner.run("compare", status=2, baseline="elsewhere")


@pytest.mark.slow  # it builds the package
def test_the_package_is_that_of_the_action(runner, tmp_path):
    pytest.importorskip("hatchling")
    runner.environment |= {"PIP_TARGET": str(tmp_path / "site"), "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    for extras in ("", "neural,offline"):
        runner.run("install", extras=extras)
        assert (tmp_path / "site" / "dialogauge" / "examples" / "everyday.jsonl").is_file()


def test_the_workflow_of_the_page_fits_the_action(action):
    page = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")
    workflow = yaml.safe_load(re.search(r"(?ms)^```yaml\n(.*?)^```$", page)[1])
    given = workflow["jobs"]["replies"]["steps"][-1]["with"].keys()
    assert given <= action["inputs"].keys()
    assert given >= {name for name, each in action["inputs"].items() if each.get("required")}


def test_expressions_stand_where_no_shell_reads_them(action):
    """A title or a name of a file is text of whoever opens a pull request."""
    assert not [step["run"] for step in action["runs"]["steps"] if "run" in step and EXPRESSION.search(step["run"])]
    assert {step["shell"] for step in action["runs"]["steps"] if "run" in step} == {"bash"}


def test_long_reports_are_cut_at_a_line():
    from dialogauge.hooks.github_comment import LONGEST, cut

    cut = cut("| row |\n" * 10_000)
    assert len(cut) < LONGEST + 100
    assert cut.endswith("| row |\n\n(cut here; the job's summary has the whole)\n")
