"""A study of agreement on disk: a directory that is either whole or absent, as the runs of `score` are."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dialogauge.errors import require_arrow
from dialogauge.evaluation.kept.save import provenance, write_answers
from dialogauge.evaluation.kept.saved import ANSWERS, RUN, TURNS
from dialogauge.evaluation.kept.texts import TEXTS, TextsWriter
from dialogauge.files import check_writable, whole_directory
from dialogauge.tables import to_json

if TYPE_CHECKING:
    from dialogauge.agreement.points import RatedTurns
    from dialogauge.agreement.result import Agreement

SCHEMA = "dialogauge.agreement_run/1"
AGREEMENT = "agreement.json"
FILES = (RUN, AGREEMENT, TURNS, TEXTS, ANSWERS)


def save_agreement(
    agreement: Agreement, directory: Path, *, overwrite: bool, command: list[str] | None, texts: bool
) -> Path:
    check_agreement_writable(directory, overwrite)
    with whole_directory(directory, overwrite) as new:
        (new / AGREEMENT).write_text(agreement.to_json() + "\n", encoding="utf-8")
        record = {**_run_record(agreement, command), "texts": texts}
        (new / RUN).write_text(to_json(record) + "\n", encoding="utf-8")
        _write_turns(agreement.rated, new / TURNS)
        if texts:
            _write_texts(agreement.rated, new / TEXTS)
        if agreement.endpoints:
            write_answers(agreement.endpoints, new / ANSWERS)
    return directory


def check_agreement_writable(directory: Path, overwrite: bool) -> None:
    """Refuses a directory that is there already, before any work is done."""
    require_arrow("keeping a run")
    check_writable(directory, overwrite, FILES, "a run")


def _write_turns(rated: list[RatedTurns], path: Path) -> None:
    """One row group for each corpus, dimension and metric: no table of all of them is ever in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text, number = pa.dictionary(pa.int32(), pa.string()), pa.float64()
    names = {"corpus": text, "id": pa.string(), "system": pa.string(), "dimension": text, "rating": number}
    schema = pa.schema([*names.items(), ("metric", text), ("value", number)])
    with path.open("wb") as file, pq.ParquetWriter(file, schema) as writer:  # a path may look like an address
        for part in rated:
            for dimension, ratings in part.ratings.items():
                given = np.flatnonzero(~np.isnan(ratings))
                turns = [part.turns[place] for place in given]
                same = pa.array(np.zeros(len(given), dtype=np.int32))
                for metric, values in part.values.items():
                    columns = [
                        pa.DictionaryArray.from_arrays(same, [part.corpus]),
                        pa.array([turn.id for turn in turns], pa.string()),
                        pa.array([turn.system for turn in turns], pa.string()),
                        pa.DictionaryArray.from_arrays(same, [dimension]),
                        pa.array(ratings[given]),
                        pa.DictionaryArray.from_arrays(same, [metric]),
                        pa.array(values[given], from_pandas=True),
                    ]
                    writer.write_table(pa.table(columns, schema=schema))


def _write_texts(rated: list[RatedTurns], path: Path) -> None:
    with path.open("wb") as file, closing(TextsWriter(file, corpora=True)) as writer:
        for part in rated:
            writer.write(part.turns, part.corpus)


def _run_record(agreement: Agreement, command: list[str] | None) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        **provenance(command),
        "settings": asdict(agreement.settings),
        "unit": agreement.unit,
        "corpora": {part.corpus: len(part.turns) for part in agreement.rated},
        "systems": {part.corpus: part.systems for part in agreement.rated},
        "whole_dialogues": [
            part.corpus for part in agreement.rated if any(turn.extra.get("dialogue_ratings") for turn in part.turns)
        ],
        "metrics": agreement.metrics,
        "signatures": {row.metric: row.signature for row in agreement.rows},
        "files": [asdict(file) for file in agreement.files],
        "warnings": [asdict(caveat) for caveat in agreement.caveats],
    }
