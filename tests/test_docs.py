"""What the documentation shows is what the program prints.

Run as a script, it writes the present output into the pages: python -m tests.test_docs
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs" / "metrics").glob("*.md")])
SHOWN = re.compile(r"(?m)^    \$ (?P<command>dialogauge .*examples/.*)\n(?P<output>(?:    .*\n|\n(?=    ))+)")


def printed(command: str) -> str:
    """The output of a command as a page shows it: indented, without spaces at line ends."""
    arguments = [sys.executable, "-m", *shlex.split(command)]
    done = subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT, check=True)
    lines = (done.stderr + done.stdout).rstrip("\n").split("\n")
    return "".join(f"    {line}".rstrip() + "\n" for line in lines)


def examples(page: Path) -> list[re.Match[str]]:
    return list(SHOWN.finditer(page.read_text(encoding="utf-8") + "\n"))


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.name)
def test_commands_print_what_the_page_shows(page):
    for shown in examples(page):
        assert shown["output"].rstrip("\n") == printed(shown["command"]).rstrip("\n")


def test_pages_have_examples():
    assert {page.name for page in PAGES if examples(page)} >= {"README.md", "bleu.md", "distinct.md", "meteor.md"}


if __name__ == "__main__":
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for shown in reversed(examples(page)):
            output = printed(shown["command"]).rstrip("\n") + "\n" * (
                len(shown["output"]) - len(shown["output"].rstrip("\n"))
            )
            text = text[: shown.start("output")] + output + text[shown.end("output") :]
        page.write_text(text, encoding="utf-8")
