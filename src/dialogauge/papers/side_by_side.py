"""What the papers' tables stand on: a published number beside ours with its interval, and what stands in for a paper's
models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from dialogauge.agreement.table import interval_and_p
from dialogauge.corpus.corpus import Corpus, SourceFile
from dialogauge.corpus.reading.reader import FileHead, Reader
from dialogauge.encode.encoders import STATIC
from dialogauge.encode.find import find_model
from dialogauge.errors import Caveat, InputError, unknown
from dialogauge.evaluation.digits import fixed
from dialogauge.evaluation.forms import Forms
from dialogauge.files import expanded
from dialogauge.tables import Cell, Header, Table

Row = TypeVar("Row")


@dataclass(frozen=True)
class Source:
    """Where a table stands: the paper's key, in `corpus/known.toml` where its corpora are known, and the number it has
    there (that of the ACL's version, where arXiv's has another). The caption is in our words."""

    paper: str
    number: int
    caption: str


@dataclass(frozen=True)
class Published(Generic[Row]):
    """A table as it was printed. Rows stand under the paper's names, `titles` has its name of each column."""

    source: Source
    titles: Mapping[str, str]
    rows: Mapping[str, Row]
    about: Mapping[str, Any]
    """What else the file says of it."""


@cache
def published_file(module: str) -> dict[str, Any]:
    """`published.toml` beside a module."""
    import tomllib

    return tomllib.loads(Path(module).with_name("published.toml").read_text(encoding="utf-8"))


def read_published(module: str, table: str, make_row: Callable[[str, dict[str, Any]], Row]) -> Published[Row]:
    """`make_row` is given the name of a row and what stands in it, by column."""
    about = dict(published_file(module)[table])
    source = Source(about.pop("paper"), about.pop("number"), about.pop("caption"))
    columns, rows = about.pop("columns"), about.pop("rows")
    titles = dict(zip(columns, about.pop("titles", columns), strict=True))
    made = {name: make_row(name, dict(zip(columns, numbers, strict=True))) for name, numbers in rows.items()}
    return Published(source, titles, made, about)


@dataclass(frozen=True, repr=False, kw_only=True)
class SideBySide(Forms):
    """A table or figure of a paper, its numbers and ours. JSON has `head`, the files, `body`, and the caveats."""

    schema: ClassVar[str]
    listed: ClassVar[str] = "cells"
    """The field that has a dataclass for each record."""

    files: tuple[SourceFile, ...]
    caveats: list[Caveat]

    @abstractmethod
    def head(self) -> dict[str, Any]:
        """Which table or figure it is."""

    def body(self) -> dict[str, Any]:
        return {self.listed: self.to_records()}

    @abstractmethod
    def notes(self) -> list[str]:
        """What stands below the table."""

    def to_records(self) -> list[dict[str, Any]]:
        return [asdict(line) for line in getattr(self, self.listed)]

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": self.schema,
            **self.head(),
            "files": [asdict(file) for file in self.files],
            **self.body(),
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }


def make_table(
    left: Iterable[str],
    right: Iterable[str | Header],
    rows: Iterable[Iterable[str | Cell]],
    notes: list[str],
    name: str = "results",
) -> Table:
    """Columns of words, then columns of numbers."""
    headers = [Header(text, align="left") for text in left]
    headers += [Header(header) if isinstance(header, str) else header for header in right]
    cells = [[Cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    return Table(headers, cells, notes, name)


def paper_and_ours(titles: Iterable[str], *ours: str) -> list[str]:
    """Headers: for each title the paper's column, and ours beside it."""
    return [header for title in titles for header in (f"{title}: paper", *ours)]


def estimate(value: float | None, low: float | None, high: float | None, p: float | None = None) -> Cell:
    return Cell(fixed(value), interval_and_p(low, high, p))


def numbers_of(row: Any, coefficient: str) -> tuple[float | None, float | None, float | None, float | None]:
    """A coefficient of a row of an agreement: its value, the ends of its interval, and p."""
    value, low, high, p = (getattr(row, coefficient + part) for part in ("", "_low", "_high", "_p"))
    return value, low, high, p


def check_known(kind: str, names: Iterable[str], known: Iterable[str]) -> None:
    known = list(known)
    for name in names:
        if name not in known:
            raise unknown(kind, name, known)


def files_of(corpora: Iterable[Corpus]) -> tuple[SourceFile, ...]:
    return tuple(file for corpus in corpora for file in corpus.files)


def is_read_by(reader: Reader, path: Path) -> bool:
    """Whether a file is of the reader's format, by its content."""
    try:
        return path.is_file() and reader.sniff(FileHead.read(path))
    except InputError:
        return False


BERT_BASE = "bert-base-uncased"
STAND_INS: Mapping[str, str | None] = {
    BERT_BASE: "minilm",
    "roberta-base": "mpnet",
    "bert-large-uncased": None,
    "roberta-large": None,
}
"""The papers' models, and what is taken where their weights are not to be had. No number is ever shown under the name
of a model that did not make it."""


def named_values(text: str) -> Iterator[tuple[str, str, str]]:
    """`a=1, b=2`: name and value of each piece, both "" where there is none, and the piece."""
    for piece in filter(None, map(str.strip, text.split(","))):
        name, _, value = (part.strip() for part in piece.partition("="))
        yield name, value, piece


def parse_models(text: str | None) -> dict[str, str]:
    """`roberta-base=my-model,bert-base-uncased=minilm`: the encoder to take for each of the paper's models."""
    chosen = {}
    for model, encoder, piece in named_values(text or ""):
        if not encoder or model not in STAND_INS:
            raise InputError(f"--models: expected MODEL=ENCODER with one of {', '.join(STAND_INS)}, found {piece!r}")
        chosen[model] = encoder
    return chosen


def check_bert_alone(models: Iterable[str]) -> None:
    """Refuses an encoder for a model that the paper does not have."""
    if others := set(models) - {BERT_BASE}:
        raise InputError(f"--models: this paper has {BERT_BASE} alone, found {', '.join(sorted(others))}")


def encoder_for(model: str, chosen: Mapping[str, str]) -> str | None:
    """The encoder given for a model, else the model itself, else what stands in for it; None where there is none."""
    if model in chosen:
        return chosen[model]
    return next((name for name in (model, STAND_INS[model]) if name and _is_there(name)), None)


def static_encoder(vectors: str | Path) -> str:
    """The encoder that looks words up in a file."""
    return f"{STATIC}{expanded(vectors).absolute()}"


@cache
def _is_there(name: str) -> bool:
    try:
        find_model(name)
    except InputError:
        return False
    return True


def stand_in_caveats(used: Mapping[str, str | None]) -> list[Caveat]:
    """What the reader must know of the models that were replaced or left out."""
    caveats = []
    for model, name in used.items():
        if name is None:
            instead = STAND_INS[model]
            neither = f"neither {model} nor {instead} is" if instead else f"{model} is not"
            message = f"{neither} to be had, so its rows are left out; see `dialogauge encoders`"
            caveats.append(Caveat("no_model", message))
        elif name != model:
            message = f"{name} stands in for {model}: its rows are another model's and need not agree with the paper"
            caveats.append(Caveat("stand_in_model", message))
    return caveats
