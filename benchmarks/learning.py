"""How long a learned metric takes: to train on 40,000 pairs, and to score 10,000 turns.

    python benchmarks/learning.py [CONVERSATIONS] [MODEL]

CONVERSATIONS is anything the readers know; by default DailyDialog's training file, where the shared data is there.
Nothing is encoded beforehand. Training is by both recipes (both pool), vectors included. Of scoring, the share of the
time that passes inside the encoder is shown: what is left is ours. Without MODEL, a directory, the model that comes
with dialogauge scores.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import dialogauge
from dialogauge.corpus import Corpus
from dialogauge.encode.encoders import Encoders
from dialogauge.encode.transformer import Transformer
from dialogauge.learned.ruber.recipe import RECIPES, RuberRecipe
from dialogauge.learned.ruber.train_networks import train
from dialogauge.learned.ruber.training_data import make_training_data, read_data
from dialogauge.metrics.registry import parse_request

SHARED = Path(os.environ.get("DIALOGAUGE_SHARED") or Path(__file__).resolve().parents[2] / "shared")
DAILYDIALOG = SHARED / "training" / "dailydialog" / "dialogues_train.txt.gz"
PAIRS, TURNS, BATCH = 40_000, 10_000, 512


class Clock:
    """Adds up the seconds that pass inside a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.seconds = 0.0

    def __call__(self, *given: Any, **named: Any) -> Any:
        started = time.perf_counter()
        try:
            return self.function(*given, **named)
        finally:
            self.seconds += time.perf_counter() - started


def time_training(corpus: Corpus, name: str, recipe: RuberRecipe) -> None:
    started = time.perf_counter()
    data = read_data(islice(corpus, PAIRS), None, recipe)
    training_data = make_training_data(data, Encoders().get("minilm"), recipe)
    encoded = time.perf_counter()
    trained = train(training_data, recipe)
    ended = time.perf_counter()
    print(
        f"{name}: {len(data.train) + len(data.held)} pairs ({len(data.texts)} texts) in {ended - started:.0f} s, "
        f"{encoded - started:.0f} s encoding and {ended - encoded:.0f} s for {len(trained.members[0].curve)} epochs; "
        f"ranking accuracy {trained.validation.accuracy.value:.4f}",
        flush=True,
    )


def share_in_encoder(corpus: Corpus, wanted: str) -> float:
    """Of one pass over the turns in batches, with an encoder that has seen nothing."""
    encoders = Encoders()
    metric = parse_request(wanted).metric.prepare(corpus, encoders=encoders)
    encoder = encoders.get("minilm")
    assert isinstance(encoder, Transformer)
    encoder.pooled(["loads the model"], "mean")
    clock = Clock(encoder.pooled)
    encoder.pooled = clock  # type: ignore[method-assign]
    turns = list(islice(corpus, TURNS))
    started = time.perf_counter()
    for start in range(0, len(turns), BATCH):
        metric.measure(turns[start : start + BATCH])
    return clock.seconds / (time.perf_counter() - started)


def main(conversations: Path, model: str | None) -> None:
    corpus = dialogauge.load(conversations)
    wanted = "ruber_unreferenced" if model is None else f"ruber_unreferenced[model={model}]"
    share = share_in_encoder(corpus, wanted)
    print(f"scoring {TURNS} turns: {100 * share:.1f} % of the time in the encoder", flush=True)
    for name, recipe in RECIPES.items():
        time_training(corpus, name, recipe)


if __name__ == "__main__":
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else DAILYDIALOG
    if given.is_file():
        main(given, sys.argv[2] if len(sys.argv) > 2 else None)
    else:
        print(f"learning: left out, there is no {given}")
