"""A run on disk: a directory that is either whole or absent."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dialogauge import __version__
from dialogauge.endpoint.chat import canonical
from dialogauge.errors import require_arrow
from dialogauge.evaluation.kept.saved import ANSWERS, MEASURES, RUN, SCHEMA, TURNS, pack_samples
from dialogauge.evaluation.kept.texts import TEXTS
from dialogauge.evaluation.kept.turn_values import TurnValuesWriter
from dialogauge.files import check_writable, whole_directory
from dialogauge.tables import printable, to_json

if TYPE_CHECKING:
    from dialogauge.endpoint.endpoints import Endpoints
    from dialogauge.evaluation.kept.saved import KeptTexts
    from dialogauge.evaluation.kept.texts import RunTexts
    from dialogauge.evaluation.replies import Order, RankedReplies
    from dialogauge.evaluation.result import Result

PACKAGES = ("numpy", "pandas", "pyarrow", "scipy", "torch", "transformers")
"""Those on which numbers may depend; named where they are installed, whether or not a run needed them."""
SCORES = "scores.json"
REPLIES: dict[Order, str] = {"worst": "worst.jsonl", "best": "best.jsonl"}
FILES = (RUN, SCORES, TURNS, TEXTS, MEASURES, ANSWERS, *REPLIES.values())


def save_result(
    result: Result,
    directory: Path,
    *,
    overwrite: bool,
    command: list[str] | None,
    ranked: Mapping[Order, Sequence[RankedReplies]],
    texts: RunTexts | KeptTexts | None,
) -> Path:
    check_run_writable(directory, overwrite)
    with whole_directory(directory, overwrite) as new:
        _write_files(result, new, command, with_texts=texts is not None)
        if texts is not None:
            texts.save(new / TEXTS)
        _write_replies(ranked, new)
        if result.endpoints is not None:
            write_answers([result.endpoints], new / ANSWERS)
    return directory


def check_run_writable(directory: Path, overwrite: bool) -> None:
    """Refuses a directory that is there already, before any work is done."""
    require_arrow("keeping a run")
    check_writable(directory, overwrite, FILES, "a run")


def _write_files(result: Result, directory: Path, command: list[str] | None, with_texts: bool) -> None:
    kept = [sample for sample in result.samples if not sample.groups]
    described, arrays = pack_samples(kept)
    if arrays:
        np.savez_compressed(directory / MEASURES, **arrays)
    (directory / SCORES).write_text(result.to_json() + "\n", encoding="utf-8")
    record = {**_run_record(result, command), "texts": with_texts, "samples": described}
    (directory / RUN).write_text(to_json(record) + "\n", encoding="utf-8")
    _write_turns(result, directory / TURNS)


def write_answers(asked: Iterable[Endpoints], path: Path) -> None:
    """One answer a line, with its request: all that was asked of endpoints."""
    lines = (canonical(record) + b"\n" for endpoints in asked for record in endpoints.used())
    with path.open("wb") as file:
        file.writelines(dict.fromkeys(lines))


def _write_replies(ranked: Mapping[Order, Sequence[RankedReplies]], directory: Path) -> None:
    """One reply a line, as the reader `jsonl` reads it, with the metric and the value that it is listed for."""
    for order, found in ranked.items():
        records = [{"metric": item.metric, **record} for item in found for record in item.to_records()]
        lines = [printable(json.dumps(record, ensure_ascii=False)) for record in records]
        (directory / REPLIES[order]).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _write_turns(result: Result, path: Path) -> None:
    spooled = next((sample.spooled for sample in result.samples if sample.spooled), None)
    if spooled is not None:
        spooled.save(path)
        return
    with path.open("wb") as file, closing(TurnValuesWriter(file)) as writer:
        for sample in result.samples:
            if sample.values is not None:
                writer.add(sample.system, sample.label, sample.ids, sample.values)


def provenance(command: list[str] | None) -> dict[str, Any]:
    """By which command and with what a run was made."""
    versions = {"dialogauge": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return {"command": command or sys.argv, "versions": versions}


def _run_record(result: Result, command: list[str] | None) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        **provenance(command),
        "settings": asdict(result.settings),
        "compat": result.compat,
        "unit": result.unit,
        "systems": result.systems,
        "metrics": result.columns,
        "signatures": {score.metric: score.signature for score in result.scores},
        "files": [asdict(file) for file in result.files],
        "warnings": [asdict(caveat) for caveat in result.caveats],
    }
