"""Packages as pip leaves them: modules, and a dist-info folder with entry points."""

from collections.abc import Mapping
from pathlib import Path


def install(folder: Path, package: str, points: Mapping[str, Mapping[str, str]], **modules: str) -> None:
    """`points` has the entry points of each group, `modules` the code of each module."""
    for name, code in modules.items():
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
    info = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in added.items())
        for group, added in points.items()
    )
    (info / "entry_points.txt").write_text("\n".join(groups))
