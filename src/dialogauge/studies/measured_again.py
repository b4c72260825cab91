"""Metrics of a kept run made ready to measure its texts again, with nothing but what the run holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dialogauge.array_file import open_plain
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.reading.json import parse_object
from dialogauge.encode.encoders import Encoders
from dialogauge.endpoint.chat import is_chat
from dialogauge.errors import InputError
from dialogauge.evaluation.kept.saved import ANSWERS
from dialogauge.metrics.base import AnyMetric
from dialogauge.metrics.judge.judge import ModelJudge
from dialogauge.metrics.judge.replay import replayed_judge
from dialogauge.metrics.prepared import AnyPrepared, PlainMetric

ANSWER = {"url": str, "sample": int, "request": dict, "status": int, "answer": dict}
"""What a line of answers.jsonl holds."""


def ready_again(metric: AnyMetric, label: str, corpus: Corpus, run: Path) -> AnyPrepared:
    """A judge stands on the answers that the run holds, other metrics on texts alone. InputError, with the reason,
    where that is not enough."""
    if isinstance(metric, ModelJudge):
        return replayed_judge(metric, _answers(run), corpus)
    if not isinstance(metric, PlainMetric):
        raise InputError("that takes an encoder or a model")
    if not type(metric).__module__.startswith("dialogauge.") or ".py:" in label:
        raise InputError("that takes code of yours, which is not run here")
    if metric.label.startswith("column"):
        raise InputError("kept texts have no other columns")
    return metric.prepare(corpus, None, Encoders(None))


def _answers(run: Path) -> list[dict[str, Any]]:
    try:
        with open_plain(run / ANSWERS) as file:
            records = [parse_object(line.decode("utf-8")) for line in file]
        for record in records:
            if any(not isinstance(record[name], kind) for name, kind in ANSWER.items()):
                raise ValueError(f"expected {', '.join(ANSWER)} in every line")
            if record["status"] == 200 and not is_chat(record["answer"]):
                raise ValueError("an answer without choices[0].message")
        return records
    except Exception as error:  # whatever comes of a file that is not as we wrote it
        raise InputError(f"{ANSWERS} cannot be read: {str(error) or type(error).__name__}") from error
