"""What the reader of the scores must know, found by looking at the corpus and at what was left out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dialogauge.corpus.corpus import Corpus
from dialogauge.errors import Caveat
from dialogauge.evaluation.units import Units
from dialogauge.metrics.base import Metric

FEW = 20


def of_corpus(corpus: Corpus, units: Units, metrics: Iterable[Metric]) -> list[Caveat]:
    found = []
    empty = sum(not turn.response.strip() for turn in corpus)
    if empty:
        message = f"{empty} of {len(corpus)} responses are empty; they count, with no words and no overlap"
        found.append(Caveat("empty_responses", message))
    smallest = min(len(set(of.tolist())) for of in units.of.values())
    if smallest < FEW:
        message = (
            f"only {smallest} {units.kind} behind a system's scores: with fewer than {FEW}, intervals are too narrow"
        )
        found.append(Caveat("few_samples", message))
    if not units.shared:
        message = f"the systems answer different {units.kind}: part of any difference may be that of the {units.kind}"
        found.append(Caveat("unpaired", message))
    sizes = [len(turns) for turns in corpus.by_system.values()]
    sensitive = [metric.name for metric in metrics if metric.resampling == "jackknife"]
    if sensitive and min(sizes) < max(sizes):
        message = (
            f"systems have {min(sizes)} to {max(sizes)} turns; {', '.join(sensitive)} changes with the number of turns:"
            " compare systems of one size"
        )
        found.append(Caveat("different_sizes", message))
    return found


def of_metric(label: str, metric: Metric, measured: int, total: Any, turns: int) -> list[Caveat]:
    """`total` is the summary over all systems, `measured` the turns that had what the metric needs."""
    found = []
    if measured < turns:
        wanted = " or ".join(" and ".join(sorted(need)) for need in metric.needs)
        message = f"{label}: {turns - measured} of {turns} turns have no {wanted} and are left out"
        found.append(Caveat("missing_input", message))
    undefined = measured - int(total.n)
    if undefined:
        message = f"{label}: no value for {undefined} of {measured} turns; they are left out"
        found.append(Caveat("undefined_scores", message))
    return [*found, *metric.caveats(total)]
