import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from dialogauge.cli.main import main


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def dialogauge(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """Runs the command line in this process, without the lines of progress that a slow machine prints."""
    monkeypatch.setattr("dialogauge.progress.EVERY", math.inf)

    def run(*arguments: object) -> Done:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as leave:
            code = int(leave.code or 0)
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture
def responses(tmp_path: Path) -> Path:
    """Two systems on 25 contexts, `a` nearer to the references."""
    path = tmp_path / "responses.jsonl"
    rows = [
        {
            "context": [f"question {i}"],
            "response": text,
            "references": [f"a full answer to {i}"],
            "system": system,
        }
        for i in range(25)
        for system, text in (("a", f"a full answer to w{i}"), ("b", f"none of word{i}"))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
