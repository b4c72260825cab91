"""Data flows from left to right: a package imports from packages to its left, never from its right."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "dialogauge"
LEFT_TO_RIGHT = [
    "tables",
    "errors",
    "files",
    "array_file",
    "sqlite_file",
    "progress",
    "text",
    "stats",
    "plugins",
    "endpoint",
    "engines",
    "corpus",
    "encode",
    "learned",
    "metrics",
    "evaluation",
    "scale",
    "agreement",
    "studies",
    "people",
    "papers",
    "figures",
    "hooks",
    "cli",
]
WITHOUT_TRAINING = {
    "learned.directory",
    "learned.pair_network",
    "learned.words",
    "learned.ruber.inputs",
    "learned.ruber.networks",
    "learned.ruber.model",
    "learned.entailment.networks",
    "learned.entailment.model",
    "learned.gauge.networks",
    "learned.gauge.model",
}
"""What measuring may know of learned models, and the only part of `learned` that these modules import themselves."""
PARTS = sorted(
    path.name.removesuffix(".py")
    for path in SOURCE.iterdir()
    if not path.name.startswith("__") and (path.suffix == ".py" or any(path.glob("*.py")))
)


def modules_imported(file: Path) -> set[str]:
    """The modules of ours, without `dialogauge.`, that a file imports names from."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively"
            names = [f"{node.module}.{a.name}" for a in node.names]
        found |= {name.removeprefix("dialogauge.") for name in names if name.startswith("dialogauge.")}
    return found


def parts_imported(part: str) -> set[str]:
    home = SOURCE / part
    files = home.rglob("*.py") if home.is_dir() else [home.with_suffix(".py")]
    return {name.split(".")[0] for file in files for name in modules_imported(file)} & set(PARTS)


def test_every_part_has_its_place():
    assert set(PARTS) == set(LEFT_TO_RIGHT)


@pytest.mark.parametrize("part", PARTS)
def test_imports_point_left(part):
    allowed = set(LEFT_TO_RIGHT[: LEFT_TO_RIGHT.index(part) + 1])
    assert parts_imported(part) <= allowed


@pytest.mark.parametrize("file", [*(SOURCE / "metrics").rglob("*.py"), *map(str, sorted(WITHOUT_TRAINING))], ids=str)
def test_measuring_does_without_training(file):
    path = file if isinstance(file, Path) else SOURCE.joinpath(*file.split(".")).with_suffix(".py")
    learned = {name for name in modules_imported(path) if name.startswith("learned.")}
    assert {name.rpartition(".")[0] for name in learned} <= WITHOUT_TRAINING
