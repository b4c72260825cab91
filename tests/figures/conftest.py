from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def at_two_times(tmp_path, monkeypatch) -> Callable[[Callable[[Path], Path], str], tuple[bytes, bytes]]:
    """What a figure's file holds, drawn today and drawn in 2001 (a date that Matplotlib would write into it)."""

    def draw_twice(draw: Callable[[Path], Path], kind: str) -> tuple[bytes, bytes]:
        monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
        today = draw(tmp_path / f"today.{kind}").read_bytes()
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
        return today, draw(tmp_path / f"then.{kind}").read_bytes()

    return draw_twice
