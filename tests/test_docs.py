"""What the documentation shows is what the program prints.

Run as a script, it writes the present output into the pages: python -m tests.test_docs
"""

import math
import os
import re
import shlex
import shutil
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import pytest

from dialogauge.cli.main import main
from tests.hooks.imports import import_evaluate

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
START = sorted((ROOT / "docs" / "start").glob("*.md"))
REPORT = ROOT / "docs" / "report.md"
RATE = ROOT / "docs" / "rate.md"
INTEGRATIONS = ROOT / "docs" / "integrations.md"
ALSO = [ROOT / "docs" / name for name in ("answers.md", "audit.md", "distances.md", "estimate.md", "plan.md")]
PAGES = sorted([README, *ALSO, *START, *(ROOT / "docs" / "metrics").glob("*.md")])
NEURAL = (
    "bertscore",
    "embedding",
    "fbd",
    "prd",
    "mmd",
    "mauve",
    "topic",
    "contradiction",
    "ruber",
    "semantic",
    "entailment",
    "--metrics gauge",
    "gauge[",
)
NUMBER = re.compile(r"(?<![\w.@-])[0-9]+(?:\.[0-9]+)?(?![\w@-])")
SHOWN = re.compile(r"(?m)^    \$ (?P<command>dialogauge .*examples/.*)\n(?P<output>(?:    .*\n|\n(?=    ))+)")
COMMAND = re.compile(r"(?m)^    (?P<command>dialogauge .*)$")
"""A command of a page that is shown without its output."""
PYTHON = re.compile(r"(?ms)^```python\n(?P<code>.*?)^```$")
QUICKER = {"train entailment": ("--epochs", "1")}
"""What is added to commands that take minutes."""
TRACKERS = {
    "MLFLOW_TRACKING_URI": "file://{}/mlruns",
    "MLFLOW_ALLOW_FILE_STORE": "true",
    "WANDB_MODE": "offline",
    "WANDB_SILENT": "true",
}
"""For what pages show of experiment trackers: no server, no account."""
NOT_OURS = {"reproduce table3": "no such file; expected the folder with the FBD paper's files"}
"""Commands on other people's files, and what is said where those are missing."""


def printed(command: str) -> str:
    """The output of a command as a page shows it: indented, without spaces at line ends, and without the lines of
    progress that a slow machine prints."""
    out, err = StringIO(), StringIO()
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with (
        chdir(ROOT),
        redirect_stdout(out),
        redirect_stderr(err),
        patch.dict(os.environ, environment, clear=True),
        patch("dialogauge.progress.EVERY", math.inf),
    ):
        assert main(shlex.split(command)[1:]) == 0, err.getvalue()
    lines = (err.getvalue() + out.getvalue()).rstrip("\n").split("\n")
    return "".join(f"    {line}".rstrip() + "\n" for line in lines)


def examples(page: Path) -> list[re.Match[str]]:
    return list(SHOWN.finditer(page.read_text(encoding="utf-8") + "\n"))


def same(shown: str, found: str) -> bool:
    """Whether two outputs say the same. What a language model computed may differ by one in the last digit shown, as
    another processor rounds otherwise."""
    numbers, others = NUMBER.findall(shown), NUMBER.findall(found)
    return NUMBER.split(shown) == NUMBER.split(found) and all(
        abs(float(one) - float(other)) < 1.5 * 10.0 ** -len(one.partition(".")[2])
        for one, other in zip(numbers, others, strict=True)
    )


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.name)
def test_commands_print_what_the_page_shows(page):
    for shown in examples(page):
        output, found = shown["output"].rstrip("\n"), printed(shown["command"]).rstrip("\n")
        default_set = "--metrics" not in shown["command"]
        if default_set or any(metric in shown["command"] for metric in NEURAL):
            assert same(output, found), f"{output}\n{found}"
        else:
            assert output == found


# Those of the README train models.
@pytest.mark.parametrize(
    "page", [pytest.param(README, marks=pytest.mark.slow), *START, REPORT, RATE], ids=lambda page: page.name
)
def test_commands_run(page, tmp_path, monkeypatch, capsys):
    """Those that stand without output, one after the other, since some use what others wrote."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    shown = COMMAND.finditer(page.read_text(encoding="utf-8"))
    commands = [shlex.split(found["command"], comments=True)[1:] for found in shown]
    assert len(commands) > 10 or page != README
    for arguments in commands:
        verb = " ".join(arguments[:2])
        code, told = main([*arguments, *QUICKER.get(verb, ())]), capsys.readouterr()
        if verb in NOT_OURS:
            assert (code, NOT_OURS[verb] in told.err) == (2, True)
        else:
            assert code == 0, f"{arguments}\n{told.err}"


@pytest.mark.parametrize(
    "page", [README, ROOT / "docs" / "start" / "score.md", REPORT, INTEGRATIONS], ids=lambda page: page.name
)
def test_python_runs(page, tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for name, value in TRACKERS.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    blocks = PYTHON.findall(page.read_text(encoding="utf-8"))
    assert blocks
    if page == INTEGRATIONS:
        import_evaluate()
    for code in blocks:
        exec(compile(code, page.name, "exec"), {})
    if page == README:
        assert (tmp_path / "runs" / "today" / "run.json").is_file()
        assert any((tmp_path / "figures").iterdir())


def test_outputs_that_differ_are_told_apart():
    assert same("bertscore 0.431 [0.4, 0.5] x", "bertscore 0.432 [0.4, 0.5] x")
    assert not same("bertscore 0.431", "bertscore 0.433")
    assert not same("bertscore 0.431 x", "bertscore 0.431 y")
    assert not same("n 64", "n 66")


def test_pages_have_examples():
    expected = {README, *START, *(ROOT / "docs" / "metrics" / f"{name}.md" for name in ("bleu", "distinct", "meteor"))}
    assert {page for page in PAGES if examples(page)} >= expected


if __name__ == "__main__":
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for shown in reversed(examples(page)):
            output = printed(shown["command"]).rstrip("\n") + "\n" * (
                len(shown["output"]) - len(shown["output"].rstrip("\n"))
            )
            text = text[: shown.start("output")] + output + text[shown.end("output") :]
        page.write_text(text, encoding="utf-8")
