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


PUBLIC = {"corpus/perturb.py", "evaluation/sensitivity.py", "reproduce/fault_checks.py"}
"""Where `of` is a keyword of the public interface or a field of JSON."""


def test_nothing_is_called_of():
    called = set()
    for file, node in nodes():
        name = (
            node.arg
            if isinstance(node, ast.arg)
            else node.id
            if isinstance(node, ast.Name)
            else getattr(node, "name", None)
        )
        if name == "of":
            called.add(str(file.relative_to(SOURCE)))
    assert called - PUBLIC == set()
