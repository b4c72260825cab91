"""Speed and memory of likelihoods by SmolLM2, beside transformers one text at a time.

    python benchmarks/likelihoods.py [FILE] [TURNS]

FILE is anything `dialogauge score` reads, with contexts; where the shared data is there, it is FED's. The first TURNS
(64) are scored; for `fed` one in 32 of them. Both ways run on the threads that torch takes, in one process, one after
the other; nothing is cached, and the model is loaded before the clock starts.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch

from dialogauge import Corpus, Turn, load
from dialogauge.encode.base import Dtype
from dialogauge.encode.causal.network import CausalNetwork
from dialogauge.encode.causal.prompt import as_lines
from dialogauge.encode.encoders import Encoders
from dialogauge.metrics.likelihoods.fed import Fed, follow_ups
from dialogauge.metrics.likelihoods.likelihood import Likelihood

SHARED = Path(os.environ.get("DIALOGAUGE_SHARED") or Path(__file__).resolve().parents[2] / "shared")
FED = SHARED / "corpora" / "fed" / "fed_data.json"
EVERYDAY = Path(__file__).resolve().parents[1] / "examples" / "everyday.jsonl"
FOLLOWING = list(dict.fromkeys(text for each in follow_ups().values() for side in each for text in side))

Texts = list[tuple[str, str]]


def responses(turns: Sequence[Turn]) -> Texts:
    return [(as_lines(turn.context), as_lines([turn.response])) for turn in turns]


def following(turns: Sequence[Turn]) -> Texts:
    return [(as_lines([*turn.context, turn.response]), text) for turn in turns for text in FOLLOWING]


@torch.no_grad()
def plain(network: CausalNetwork, texts: Texts) -> None:
    """As transformers documents it: one text, the loss over its tokens."""
    for prompt in network.prompter.prompts(texts):
        ids = torch.tensor([prompt.before + prompt.text])
        labels = ids.clone()
        labels[0, : len(prompt.before)] = -100
        network._model(input_ids=ids, labels=labels)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(name: str, metric: Likelihood | Fed, texts: Texts, turns: Sequence[Turn], dtype: Dtype) -> None:
    encoders = Encoders()
    ready = metric.prepare(Corpus(list(turns)), encoders=encoders)
    network = encoders.language_model(metric.model, dtype)._loaded()
    ours = seconds(lambda: ready.measure(turns))
    theirs = seconds(lambda: plain(network, texts))
    print(
        f"{name:10} {dtype:9} {len(turns):5} turns  {len(turns) / ours:7.2f} turns/s   one by one "
        f"{len(turns) / theirs:7.2f} turns/s   {theirs / ours:5.1f} times as fast",
        flush=True,
    )


def main() -> None:
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else FED if FED.is_file() else EVERYDAY
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 64
    turns = [turn for turn in islice(load(file), count) if turn.context and turn.response.strip()]
    few = turns[: max(1, len(turns) // 32)]
    print(f"{file.name}, {torch.get_num_threads()} threads")
    dtypes: tuple[Dtype, Dtype] = ("float32", "bfloat16")
    for dtype in dtypes:
        compare("likelihood", Likelihood(dtype=dtype), responses(turns), turns, dtype)
        compare("fed", Fed(dtype=dtype), following(few), few, dtype)
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10:,.0f} MiB")


if __name__ == "__main__":
    main()
