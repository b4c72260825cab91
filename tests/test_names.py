"""One name, one thing: what the names of the source tree are held to."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "dialogauge"


def nodes() -> Iterator[tuple[Path, ast.AST]]:
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            yield file, node


def test_no_class_name_stands_for_two_things():
    homes = defaultdict(list)
    for file, node in nodes():
        if isinstance(node, ast.ClassDef):
            homes[node.name].append(str(file.relative_to(SOURCE)))
    assert len(homes) > 100
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_no_alias_of_a_type_has_the_name_of_a_class():
    classes = {node.name for _, node in nodes() if isinstance(node, ast.ClassDef)}
    aliases = defaultdict(set)
    for file in SOURCE.rglob("*.py"):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            for target in targets:
                if isinstance(target, ast.Name):
                    aliases[target.id].add(str(file.relative_to(SOURCE)))
    assert {name: files for name, files in aliases.items() if name in classes} == {}


PUBLIC = {"audit", "perturb", "sensitivity", "Sensitivity", "Fault"}
"""Functions and results of the public interface: `of` is a keyword of the former, and stands in the latter's JSON."""


def called_of(node: ast.AST) -> bool:
    return "of" in (getattr(node, name, None) for name in ("arg", "id", "name"))


def test_nothing_is_called_of():
    owners = {
        f"{file.relative_to(SOURCE)}: {owner.name}"
        for file, owner in nodes()
        if isinstance(owner, ast.ClassDef | ast.FunctionDef) and owner.name not in PUBLIC
        if any(called_of(node) for node in ast.walk(owner) if not isinstance(node, ast.keyword))
    }
    assert owners == set()
