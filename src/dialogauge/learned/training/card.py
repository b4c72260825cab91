"""What every training hands back, and what every model's card says of how it was made."""

from __future__ import annotations

import platform
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge import __version__
from dialogauge.corpus.corpus import SourceFile
from dialogauge.encode.base import Encoder
from dialogauge.errors import Caveat
from dialogauge.learned.directory import LANGUAGES
from dialogauge.tables import Table, render
from dialogauge.text.languages import Languages

if TYPE_CHECKING:
    from dialogauge.learned.training.loop import Fitted

LEARNED = 0.05
"""The share of training texts in a language from which on a model was made for it."""


@dataclass(frozen=True)
class TrainingResult(ABC):
    """What came of training: the model's directory and its card."""

    directory: Path
    card: dict[str, Any] = field(repr=False)
    caveats: list[Caveat] = field(default_factory=list)

    def render(self, form: str, *, width: int | None = None) -> str:
        return render(form, table=self._table(), records=self._records(), document=self.card, width=width)

    @abstractmethod
    def _records(self) -> list[dict[str, Any]]: ...

    @abstractmethod
    def _table(self) -> Table: ...


def made_from(kind: str, name: str, encoder: Encoder, texts: Iterable[str]) -> dict[str, Any]:
    """How a card begins. `name` is the encoder's, as it was asked for."""
    return {
        "kind": kind,
        "encoder": {"name": name, "identity": encoder.identity},
        LANGUAGES: languages_of(texts),
    }


def made_by(members: Sequence[Fitted[Any]]) -> dict[str, Any]:
    """How a card ends."""
    curves = [{"best": fitted.best + 1, "epochs": [asdict(stage) for stage in fitted.curve]} for fitted in members]
    return {"curves": curves, "versions": versions()}


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
