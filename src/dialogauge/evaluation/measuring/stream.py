"""Turns that are too many for their rows: one pass, of which tallies are kept, and the values of turns on disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dialogauge.corpus.turn import Turn
from dialogauge.evaluation.kept.turn_values import TurnValuesWriter
from dialogauge.evaluation.measuring.tally import Tally
from dialogauge.evaluation.measuring.whole_dialogues import of_whole_dialogues, stream_batches
from dialogauge.evaluation.sample import measure_all
from dialogauge.evaluation.units import Total, Units
from dialogauge.metrics.prepared import AnyPrepared

STREAM_BATCH = 20_000
"""Large, since every batch is summed up by group."""

Tallies = Mapping[tuple[str, str], Tally]
"""By system and label of the metric."""


def tally_turns(
    metrics: dict[str, AnyPrepared],
    turns: Iterator[Turn],
    units: Units,
    bar: Any,
    values: TurnValuesWriter | None = None,
) -> Tallies:
    """Every metric on every system. `values`: where the scores of single turns go."""
    totals: dict[tuple[str, str], Total] = {}
    for batch in stream_batches(turns, STREAM_BATCH, of_whole_dialogues(ready.asked for ready in metrics.values())):
        by_system: dict[str, list[Turn]] = {}
        for turn in batch:
            by_system.setdefault(turn.system, []).append(turn)
        for system, part in by_system.items():
            keys, messages = units.keys(part), units.messages(part)
            for label, (places, rows) in measure_all(metrics, part, bar).items():
                metric = metrics[label].metric
                tally = Tally.noted(metric, keys, messages, places, rows)
                totals.setdefault((system, label), Total()).add(tally)
                if values is not None:
                    values.write(system, label, metric, part, places, rows)
    return {place: total.sum() for place, total in totals.items()}
