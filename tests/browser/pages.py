"""Pages as the command line makes them."""

from __future__ import annotations

import re
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np

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


def word_vectors(folder: Path) -> str:
    """An encoder that knows the words of the examples, and takes no time."""
    text = (EXAMPLES / "everyday.jsonl").read_text(encoding="utf-8").lower()
    words = sorted(set(re.findall(r"[a-z]+", text)))
    rows = np.random.default_rng(0).normal(size=(len(words), 4))
    lines = (" ".join([word, *(f"{value:.3f}" for value in row)]) for word, row in zip(words, rows, strict=True))
    (folder / "words.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"static:{folder / 'words.txt'}"
