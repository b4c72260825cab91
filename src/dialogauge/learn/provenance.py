"""What every model's card says of how it was made."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from dialogauge import __version__
from dialogauge.corpus.corpus import SourceFile


def describe_data(files: Sequence[SourceFile]) -> list[dict[str, str]]:
    return [{"name": Path(file.path).name, "sha256": file.sha256, "reader": file.reader} for file in files]


def list_data(files: Sequence[Mapping[str, str]]) -> str:
    """For people, from `describe_data`."""
    return "\n".join(f"- {file['name']} ({file['reader']}), sha256 {file['sha256']}" for file in files)


def versions() -> dict[str, str]:
    packages = ("numpy", "safetensors", "torch", "transformers")
    return {
        "dialogauge": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }
