"""A run on disk, read back as the result that was saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dialogauge.array_file import open_plain
from dialogauge.corpus.corpus import SourceFile
from dialogauge.corpus.reading.json import parse_object, to_record
from dialogauge.errors import Caveat, InputError, describe, quote
from dialogauge.evaluation.answer import Answer
from dialogauge.evaluation.kept.save import SCORES
from dialogauge.evaluation.kept.saved import RUN, SCHEMA, kept_texts, load_run, read_record
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.pairs import Pair
from dialogauge.evaluation.result import SCHEMA as SCORES_SCHEMA
from dialogauge.evaluation.result import Result, Score, decimals_of_scores


def load_result(path: str | Path) -> Result:
    """What `score --out` or `Result.save` wrote: the scores as they were, what the metrics noted (nothing of a stream
    past 200,000 turns), and the texts where they are kept."""
    path = Path(path)
    try:
        record = read_record(path)
        if record["schema"] != SCHEMA:
            raise InputError(f"expected a run of schema {SCHEMA}, found {record['schema']!r}", path)
        document, sampled = _scores(path), bool(record["samples"])
    except InputError as error:
        raise error if error.path else InputError(f"is not a whole run: {error.message}", path) from error
    except Exception as error:  # whatever comes of files that are not as we wrote them
        raise InputError(f"is not a whole run: {str(error) or type(error).__name__}", path) from error
    samples = load_run(path, turns=True).samples if sampled else []
    try:
        return _result(path, record, document, samples)
    except Exception as error:
        raise InputError(f"is not a whole run: {str(error) or type(error).__name__}", path) from error


def _scores(path: Path) -> dict[str, Any]:
    with open_plain(path / SCORES) as file:
        document = parse_object(file.read().decode("utf-8"))
    if document["schema"] != SCORES_SCHEMA:
        raise InputError(f"expected scores of schema {SCORES_SCHEMA}, found {document['schema']!r}", path)
    return document


def _result(path: Path, record: dict[str, Any], document: dict[str, Any], samples: list[Any]) -> Result:
    scores = [to_record(Score, score) for score in document["scores"]]
    if not isinstance(record["unit"], str):
        raise InputError(f"{RUN}: unit is {describe(record['unit'])}")
    if not isinstance(record["systems"], dict) or not record["systems"]:
        raise InputError(f"{RUN}: systems is {describe(record['systems'])}")
    there = {(score.system, score.metric) for score in scores}
    for system in record["systems"]:
        if missing := [metric for metric in record["metrics"] if (system, metric) not in there]:
            raise InputError(f"has no score of {quote(system)} for {quote(missing[0])}")
    return Result(
        scores=scores,
        columns=list(record["metrics"]),
        systems=dict(record["systems"]),
        files=tuple(to_record(SourceFile, file) for file in record["files"]),
        caveats=[to_record(Caveat, caveat) for caveat in record["warnings"]],
        settings=to_record(Settings, record["settings"]),
        unit=record["unit"],
        samples=samples,
        compat=record["compat"],
        answer=_answer(document["answer"], scores) if "answer" in document else None,
        texts=kept_texts(path),
    )


def _answer(said: dict[str, Any], scores: list[Score]) -> Answer:
    pairs = [to_record(Pair, pair) for pair in said["pairs"]]
    named = {*said["systems"], *(name for pair in pairs for name in (pair.first, pair.second))}
    if strange := named - {score.system for score in scores}:
        raise InputError(f"has an answer on a system without scores: {quote(min(strange))}")
    return Answer(
        metric=said["metric"],
        higher_is_better=said["higher_is_better"],
        systems=said["systems"],
        pairs=pairs,
        unit=said["unit"],
        confidence=said["confidence"],
        decimals=decimals_of_scores([score for score in scores if score.metric == said["metric"]]),
    )
