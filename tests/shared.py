"""The folder of corpora and golden numbers that stands beside a checkout; tests that need it skip without it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(os.environ.get("DIALOGAUGE_SHARED") or Path(__file__).resolve().parents[2] / "shared")
SIX = ("convai2", "dailyh", "dailyz", "empathetic", "personam", "personaz")


def shared(name: str) -> Path:
    """The path of a file in the folder, or a skip that says what is missing."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"needs {name} in {FOLDER} (set DIALOGAUGE_SHARED)")
    return path


def annotation(corpus: str) -> Path:
    return shared(f"corpora/fbd_six/{corpus}_annotation.json")


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").strip("\n").split("\n")]
