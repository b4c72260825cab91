"""Hugging Face `evaluate`: metrics of dialogauge as one of its modules.

DialogueModule("bleu,distinct").compute(predictions=replies, references=references, context=contexts)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

from dialogauge.errors import InputError
from dialogauge.evaluation import evaluate as measured

TextsByTurn = Sequence[str | Sequence[str]]


class DialogueModule(evaluate.Metric):  # type: ignore[misc]
    """The values of metrics, named as on the command line, each with the ends of its interval: `bleu`, `bleu.low`,
    `bleu.high`; NaN where there is none.

    `compute` takes the options of `dialogauge.evaluate` too (`seed`, `resamples`, `encoder`); batches may come by
    `add` and `add_batch` before. Without references, metrics that need none have values.
    """

    def __init__(self, config_name: str | None = "bleu", **how: Any) -> None:
        """`config_name` has the metrics, so that `evaluate.load(FILE, "bleu,distinct")` works with this file, too."""
        super().__init__(config_name=config_name or "bleu", **how)

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description="How good a dialogue system's responses are, by the metrics of dialogauge.",
            citation="https://github.com/dialogauge/dialogauge",
            inputs_description="predictions: replies; references: for each a text, or a list of texts.",
            features=[
                datasets.Features({"predictions": text, "references": datasets.Sequence(text)}),
                datasets.Features({"predictions": text, "references": text}),
            ],
        )

    def compute(
        self, *, predictions: Sequence[str] | None = None, references: TextsByTurn | None = None, **options: Any
    ) -> dict[str, float] | None:
        """References may be left out; what batches were given before stays as it is."""
        if predictions is not None and references is None:
            references = [[] for _ in predictions]
        values: dict[str, float] | None = super().compute(predictions=predictions, references=references, **options)
        return values

    def _compute(
        self, predictions: Sequence[str], references: TextsByTurn, context: TextsByTurn | None = None, **options: Any
    ) -> dict[str, float]:
        if context is not None and len(context) != len(predictions):
            raise InputError(f"context: expected one for each of {len(predictions)} replies, found {len(context)}")
        records = [
            {"response": reply, "references": references[place], "context": [] if context is None else context[place]}
            for place, reply in enumerate(predictions)
        ]
        values: dict[str, float | None] = {}
        for score in measured(records, self.config_name, **options).scores:
            values |= {score.metric: score.value, f"{score.metric}.low": score.low, f"{score.metric}.high": score.high}
        return {name: math.nan if value is None else value for name, value in values.items()}
