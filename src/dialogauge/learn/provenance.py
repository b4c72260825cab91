"""What every model's card says of how it was made."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dialogauge import __version__
from dialogauge.corpus.corpus import SourceFile
from dialogauge.models.directory import LANGUAGES
from dialogauge.text.languages import Languages

LEARNED = 0.05
"""The share of training texts in a language from which on a model was made for it."""


def describe_data(files: Sequence[SourceFile]) -> list[dict[str, str]]:
    return [{"name": Path(file.path).name, "sha256": file.sha256, "reader": file.reader} for file in files]


def list_data(files: Sequence[Mapping[str, str]]) -> str:
    """For people, from `describe_data`."""
    return "\n".join(f"- {file['name']} ({file['reader']}), sha256 {file['sha256']}" for file in files)


def languages_of(texts: Iterable[str]) -> list[str]:
    """Those that a fair share of the texts that a model learns from is in, as far as they tell."""
    found = Languages()
    found.note(texts)
    return found.among(LEARNED)


def made_for(card: Mapping[str, Any]) -> str:
    return ", ".join(card[LANGUAGES]) or "no language that its texts would tell"


def versions() -> dict[str, str]:
    packages = ("numpy", "safetensors", "torch", "transformers")
    return {
        "dialogauge": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }
