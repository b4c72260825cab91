"""Data flows from left to right: a package imports from packages to its left, never from its right."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "dialogauge"
LEFT_TO_RIGHT = [
    "errors",
    "numbers",
    "files",
    "tables",
    "progress",
    "text",
    "stats",
    "plugins",
    "corpus",
    "encode",
    "models",
    "learn",
    "metrics",
    "evaluation",
    "agreement",
    "reproduce",
    "report",
    "cli",
]
APART = {
    "tables": {"errors", "numbers", "files"},
    "stats": {"files", "tables", "progress", "text"},
    "learn": {"metrics"},
    "metrics": {"learn"},
}
"""What a part does not import, though it stands to its left: training and scoring meet in the models alone."""
PARTS = sorted(
    path.name.removesuffix(".py") for path in SOURCE.iterdir() if path.name.removesuffix(".py") in LEFT_TO_RIGHT
)


def imports_of(part: str) -> set[str]:
    home = SOURCE / part
    files = home.rglob("*.py") if home.is_dir() else [home.with_suffix(".py")]
    found = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file} imports relatively"
                names = [f"{node.module}.{a.name}" for a in node.names]
            found |= {name.split(".")[1] for name in names if name.startswith("dialogauge.")}
    return found & set(LEFT_TO_RIGHT)


@pytest.mark.parametrize("part", PARTS)
def test_imports_point_left(part):
    allowed = set(LEFT_TO_RIGHT[: LEFT_TO_RIGHT.index(part) + 1])
    allowed -= APART.get(part, set())
    assert imports_of(part) <= allowed


def test_every_part_is_looked_at():
    looked_at = {"errors", "files", "tables", "corpus", "models", "learn", "metrics", "evaluation", "report", "cli"}
    assert looked_at <= set(PARTS)
