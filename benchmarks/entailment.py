"""Speed of entailment models: judging beside the plain way, training by each recipe, and making pairs.

    python benchmarks/entailment.py [FILE] [CONVERSATIONS]

FILE is anything `dialogauge score` reads, with contexts; CONVERSATIONS anything `dialogauge synthesize` reads. Where
the shared data is there, they are dailyh of the FBD paper and ConvAI2's validation file. The plain way is the same
tuned model in transformers' own batches of 32, in file order. Models are loaded before the clock starts.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import torch
from scipy.special import softmax
from transformers import AutoTokenizer

from dialogauge import load, synthesize_entailment
from dialogauge.encode.encoders import Encoders
from dialogauge.encode.find import find_model
from dialogauge.encode.network import load_model
from dialogauge.learned.entailment.data import Files, read_data
from dialogauge.learned.entailment.model import EntailmentModel, open_entailment, premise_of
from dialogauge.learned.entailment.recipe import RECIPES
from dialogauge.learned.entailment.train import train
from dialogauge.learned.pair_network import Tuned

SHARED = Path(os.environ.get("DIALOGAUGE_SHARED") or Path(__file__).resolve().parents[2] / "shared")
DAILYH = SHARED / "corpora" / "fbd_six" / "dailyh_annotation.json"
CONVAI2 = SHARED / "training" / "convai2" / "valid_both_original_no_cands.txt.gz"
BATCH, LEARNED = 32, 1000
"""Pairs of a plain batch, and pairs that each recipe learns from."""


def plain(model: EntailmentModel) -> Any:
    """The tuned model as transformers runs it."""
    files = find_model("minilm")
    tokenizer, network = AutoTokenizer.from_pretrained(files.directory), load_model(files, "float32", files.layers)
    Tuned(model.saved, model.shape.rank).apply(network)
    head = model.ready(Encoders()).judge.head.float()  # type: ignore[attr-defined]

    @torch.no_grad()
    def run(premises: list[str], hypotheses: list[str]) -> Any:
        found = []
        for at in range(0, len(premises), BATCH):
            texts = premises[at : at + BATCH], hypotheses[at : at + BATCH]
            inputs = tokenizer(*texts, padding=True, truncation="only_first", return_tensors="pt")
            found.append(head(network(**inputs).last_hidden_state[:, 0]).numpy())
        return softmax(np.concatenate(found).astype(np.float64) / model.temperature, axis=1)

    return run


def judging(path: Path) -> None:
    turns = [turn for turn in load(path) if turn.context and turn.response.strip()]
    pairs = list(dict.fromkeys((premise_of(turn.context), turn.response.strip()) for turn in turns))
    premises, hypotheses = (list(side) for side in zip(*pairs, strict=True))
    model = open_entailment()
    ready, other = model.ready(Encoders()), plain(model)
    ready.judged(["loaded"], ["loaded"])
    mine, found = _timed(lambda: ready.judged(premises, hypotheses).probabilities)
    theirs, expected = _timed(lambda: other(premises, hypotheses))
    print(
        f"judging {len(pairs)} distinct pairs of {path.name}: {mine:.1f} s, the plain way {theirs:.1f} s, ratio "
        f"{theirs / mine:.1f}; largest difference of a probability {np.abs(found - expected).max():.1e}",
        flush=True,
    )


def making_and_learning(path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "pairs.jsonl"
        seconds, _ = _timed(lambda: synthesize_entailment(path, out))
        count = _lines(out)
        print(f"making {count} pairs of {path.name}: {seconds:.1f} s, {count / seconds:,.0f} a second", flush=True)
        few = Path(folder) / "few.jsonl"
        with out.open(encoding="utf-8") as lines:
            few.write_text("".join(islice(lines, LEARNED)), encoding="utf-8")
        for name, recipe in RECIPES.items():
            once = replace(recipe, epochs=1)
            seconds, trained = _timed(lambda once=once: _train(few, once))
            pairs = len(trained.data.train)
            print(
                f"learning, {name}: {pairs} pairs once in {seconds:.1f} s, {pairs / seconds:.0f} a second", flush=True
            )


def _train(path: Path, recipe: Any) -> Any:
    return train(read_data(Files([path]), 0), Encoders().get("minilm"), recipe)


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def _timed(job: Any) -> tuple[float, Any]:
    started = time.perf_counter()
    found = job()
    return time.perf_counter() - started, found


def main() -> None:
    given = [Path(name) for name in sys.argv[1:]]
    rated, conversations = (given + [DAILYH, CONVAI2][len(given) :])[:2]
    for path, job in ((rated, judging), (conversations, making_and_learning)):
        if path.exists():
            job(path)
        else:
            print(f"{path}: not here, left out")


if __name__ == "__main__":
    main()
