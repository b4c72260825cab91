"""The texts of the turns that were measured: in memory, on their way to disk, and in a kept run's texts.parquet."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO

from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.evaluation.kept.batches import ROWS, batches
from dialogauge.evaluation.kept.turn_values import TEXTS as SPOOLED_TEXTS
from dialogauge.evaluation.kept.turn_values import SpooledFiles, temporary_file

TEXTS = "texts.parquet"


class TextsWriter:
    """A Parquet file with one row per turn, under the names that the reader of Parquet knows, so that it is a corpus
    too. `corpora`: whether a column says of which corpus a turn is. The file is given open: pyarrow would take a path
    such as `s3:runs/1` for an address."""

    def __init__(self, target: IO[bytes], *, corpora: bool = False) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        text, texts = pa.string(), pa.list_(pa.string())
        fields = [("id", text), ("system", text), ("dialogue", text), ("context", texts), ("response", text)]
        fields += [("references", texts), ("facts", texts), ("ratings", text)]
        self._schema = pa.schema([*([("corpus", text)] if corpora else []), *fields])
        self._writer = pq.ParquetWriter(target, self._schema, compression="zstd")

    def write(self, turns: Iterable[Turn], corpus: str | None = None) -> None:
        import pyarrow as pa

        left = iter(turns)
        while part := list(islice(left, ROWS)):
            rows = [{"corpus": corpus, **_row(turn)} for turn in part]
            try:
                table = pa.Table.from_pylist(rows, self._schema)
            except UnicodeEncodeError:
                table = pa.Table.from_pylist(_without_surrogates(rows), self._schema)
            self._writer.write_table(table)

    def close(self) -> None:
        self._writer.close()


@dataclass(frozen=True, repr=False)
class TextsInMemory:
    """The turns of these systems, in the order of the corpus."""

    turns: Sequence[Turn]
    systems: Collection[str]

    def __iter__(self) -> Iterator[Turn]:
        return (turn for turn in self.turns if turn.system in self.systems)

    def save(self, path: Path) -> None:
        with path.open("wb") as file, closing(TextsWriter(file)) as writer:
            writer.write(self)


class SpooledTexts:
    """Those of a stream, in a temporary file that goes with its process, however that ends."""

    def __init__(self) -> None:
        self._file = temporary_file(self)

    def watch(self, turns: Iterator[Turn]) -> Iterator[Turn]:
        """The turns, written as they pass."""
        with closing(TextsWriter(self._file)) as writer:
            while part := list(islice(turns, ROWS)):
                writer.write(part)
                yield from part

    def __iter__(self) -> Iterator[Turn]:
        self._file.seek(0)
        return read_texts(self._file)

    def save(self, path: Path) -> None:
        self._file.seek(0)
        with path.open("wb") as file:
            shutil.copyfileobj(self._file, file)


class TextsOfParts:
    """Those of a corpus that was read in parts, each in a file of its own."""

    def __init__(self, spooled: SpooledFiles) -> None:
        self._spooled = spooled

    def __iter__(self) -> Iterator[Turn]:
        for file in self._spooled.files(SPOOLED_TEXTS):
            yield from read_texts(file)

    def save(self, path: Path) -> None:
        with path.open("wb") as file, closing(TextsWriter(file)) as writer:
            writer.write(self)


RunTexts = TextsInMemory | SpooledTexts | TextsOfParts


def read_texts(file: BinaryIO | IO[bytes]) -> Iterator[Turn]:
    """The turns of a texts.parquet, a few thousand in memory at a time; the corpus of each, where it says so, is in
    `extra`. Whatever pyarrow raises where it is no such file."""
    for batch in batches(file):
        for row in batch.to_pylist():
            yield _turn(row)


def _row(turn: Turn) -> dict[str, Any]:
    return {
        "id": turn.id,
        "system": turn.system,
        "dialogue": turn.dialogue,
        "context": turn.context,
        "response": turn.response,
        "references": turn.references,
        "facts": turn.facts,
        "ratings": json.dumps(dict(turn.ratings), ensure_ascii=False) if turn.ratings else None,
    }


def _turn(row: dict[str, Any]) -> Turn:
    return Turn(
        id=row["id"],
        response=row["response"],
        context=tuple(row["context"]),
        references=tuple(row["references"]),
        system=row["system"],
        ratings=json.loads(row["ratings"]) if row["ratings"] else NOTHING,
        dialogue=row["dialogue"],
        facts=tuple(row["facts"]),
        extra={"corpus": row["corpus"]} if "corpus" in row else NOTHING,
    )


def _without_surrogates(value: Any) -> Any:
    """Halves of surrogate pairs, which turns made in Python may hold and no file can, as U+FFFD."""
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in value)
    if isinstance(value, dict):
        return {name: _without_surrogates(each) for name, each in value.items()}
    return [_without_surrogates(each) for each in value] if isinstance(value, list | tuple) else value
