"""Pages as the command line makes them."""

from __future__ import annotations

from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from dialogauge.cli.main import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def call(*arguments: str | Path) -> str:
    """What the call prints; it must succeed."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(list(map(str, arguments)))
    assert code == 0, err.getvalue()
    return out.getvalue()


def page_of(path: Path, verb: str, *arguments: str | Path) -> Path:
    """The page that the verb writes with --html."""
    call(verb, *arguments, "--quiet", "--resamples", "100", "--html", path)
    return path
