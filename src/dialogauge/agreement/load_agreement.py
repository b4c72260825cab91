"""A study of agreement on disk, read back as it was saved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dialogauge.agreement.points import RatedTurns
from dialogauge.agreement.result import SCHEMA as AGREEMENT_SCHEMA
from dialogauge.agreement.result import Agreement, AgreementRow, Ceiling, Contrast
from dialogauge.agreement.save import AGREEMENT, SCHEMA
from dialogauge.array_file import open_plain
from dialogauge.corpus.corpus import SourceFile
from dialogauge.corpus.reading.json import parse_object, to_record
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import Caveat, InputError, describe, quote, require_arrow
from dialogauge.evaluation.kept.batches import batches_of_values
from dialogauge.evaluation.kept.saved import RUN, TURNS, kept_texts, read_record
from dialogauge.evaluation.options import Settings


def is_agreement_run(path: str | Path) -> bool:
    """Whether a path is a directory that `correlate --out` wrote."""
    path = Path(path)
    return (path / RUN).is_file() and (path / AGREEMENT).is_file()


def load_agreement(path: str | Path) -> Agreement:
    """What `correlate --out` or `Agreement.save` wrote. `points` are not kept; of rated turns without kept texts, only
    id and system are known."""
    path = Path(path)
    require_arrow("what a kept run holds of single turns")
    try:
        record = read_record(path)
        if record["schema"] != SCHEMA:
            raise InputError(f"expected a run of schema {SCHEMA}, found {record['schema']!r}", path)
        return _agreement(path, record)
    except InputError as error:
        raise error if error.path else InputError(f"is not a whole run: {error.message}", path) from error
    except Exception as error:  # whatever comes of files that are not as we wrote them
        raise InputError(f"is not a whole run: {str(error) or type(error).__name__}", path) from error


def _agreement(path: Path, record: dict[str, Any]) -> Agreement:
    with open_plain(path / AGREEMENT) as file:
        document = parse_object(file.read().decode("utf-8"))
    if document["schema"] != AGREEMENT_SCHEMA:
        raise InputError(f"expected agreement of schema {AGREEMENT_SCHEMA}, found {document['schema']!r}", path)
    ceilings = [{name: value for name, value in each.items() if name != "reachable"} for each in document["ceilings"]]
    rows = [to_record(AgreementRow, row) for row in document["rows"]]
    if not isinstance(record["unit"], str):
        raise InputError(f"{RUN}: unit is {describe(record['unit'])}")
    if missing := {row.metric for row in rows} - {*record["metrics"]}:
        raise InputError(f"has agreement of a metric that was not measured: {quote(min(missing))}", path)
    return Agreement(
        rows=rows,
        ceilings=[to_record(Ceiling, ceiling) for ceiling in ceilings],
        contrasts=[to_record(Contrast, contrast) for contrast in document["contrasts"]],
        points=[],
        metrics=list(record["metrics"]),
        files=tuple(to_record(SourceFile, file) for file in record["files"]),
        caveats=[to_record(Caveat, caveat) for caveat in record["warnings"]],
        settings=to_record(Settings, record["settings"]),
        unit=record["unit"],
        rated=_rated(path, list(record["corpora"])),
    )


def _rated(path: Path, corpora: list[str]) -> list[RatedTurns]:
    """Each corpus's turns with ratings and values, as turns.parquet has them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open_plain(path / TURNS) as file:
        schema = pq.read_schema(file)
        table = pa.Table.from_batches(batches_of_values(file, TURNS), schema).to_pandas()
    turns: dict[str, dict[tuple[str, str], Turn]] = {corpus: {} for corpus in corpora}
    for turn in kept_texts(path) or ():
        turns[str(turn.extra["corpus"])][turn.system, turn.id] = replace(turn, extra=NOTHING)
    found = []
    for corpus in corpora:
        mine = table[table["corpus"] == corpus]
        keys = list(zip(mine["system"], mine["id"], strict=True))
        own = turns[corpus] or {key: Turn(key[1], "", system=key[0]) for key in keys}
        places = {key: place for place, key in enumerate(own)}
        at = np.array([places[key] for key in keys], dtype=np.int64)
        ratings, values = (
            {
                str(name): _spread(at, mine[column].to_numpy(), (mine[kind] == name).to_numpy(), len(own))
                for name in dict.fromkeys(mine[kind])
            }
            for kind, column in (("dimension", "rating"), ("metric", "value"))
        )
        found.append(RatedTurns(corpus, list(own.values()), ratings, values))
    return found


def _spread(at: Any, numbers: Any, chosen: Any, count: int) -> Any:
    """The chosen numbers, each where its turn stands; NaN elsewhere."""
    spread = np.full(count, np.nan)
    spread[at[chosen]] = numbers[chosen]
    return spread
