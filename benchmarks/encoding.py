"""Speed of encoding and BERTScore beside the plain way and the bert-score package: same texts, threads and process.

    python benchmarks/encoding.py [FILE]

FILE is anything `dialogauge score` reads, with contexts and references; by default dailyh of the FBD paper where the
shared data is there, else the examples. Models are loaded before the clock starts; nothing is kept between rounds.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

from dialogauge import Corpus, evaluate, load
from dialogauge.encode.cache.store import Output
from dialogauge.encode.encoders import Encoders
from dialogauge.encode.find import KNOWN, at_hand, find_model
from dialogauge.encode.network import EncoderNetwork
from dialogauge.encode.tokenizer import Tokenizer
from dialogauge.encode.transformer import Transformer, batches
from dialogauge.metrics.embedding.bertscore import BertScore
from dialogauge.tables import Cell, Header, Table, to_text

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("DIALOGAUGE_SHARED") or ROOT.parent / "shared")
DAILYH = SHARED / "corpora" / "fbd_six" / "dailyh_annotation.json"
METRICS = ("bertscore", "embedding_average", "embedding_greedy", "embedding_extrema")
BATCH = 32
"""The batch of the FBD paper's code."""
ROUNDS = 3

Pair = tuple[str, str]


def main() -> None:
    path = (
        Path(sys.argv[1]) if len(sys.argv) > 1 else DAILYH if DAILYH.exists() else ROOT / "examples" / "everyday.jsonl"
    )
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    corpus = load(path)
    print(f"{path.name}: {len(corpus)} turns of {len(corpus.by_system)} systems, {torch.get_num_threads()} threads\n")
    _show(("job", "peer", "ours", "peer's", "ratio"), [*_pairs(corpus), *_bertscore(corpus)], 2)
    _show(
        ("model alone", "numbers", "tokens/s", "of which matrix products could do", "share"),
        [_rate(corpus, name, dtype) for name in KNOWN if at_hand(name) for dtype in (torch.float32, torch.bfloat16)],
        2,
    )
    _show(("metric", "largest change of a turn", "of a system"), _bfloat16(corpus), 1)


def _pairs(corpus: Corpus) -> list[list[str]]:
    """Every system's pairs and the references', each on its own in file order, as the FBD paper's code takes them."""
    groups = [[(" ".join(turn.context), turn.response) for turn in turns] for turns in corpus.by_system.values()]
    first = next(iter(corpus.by_system.values()))
    groups.append([(" ".join(turn.context), turn.references[0]) for turn in first])
    distinct = list(dict.fromkeys(pair for group in groups for pair in group))
    plain = _plain(find_model("minilm").directory)
    encoder = _minilm()

    def ours(groups: Sequence[Sequence[Pair]]) -> None:
        fresh = _minilm(encoder)
        for group in groups:
            fresh.pooled(group, "cls")

    jobs: dict[str, list[list[Pair]]] = {
        f"{sum(map(len, groups))} pairs of all systems": groups,
        f"{len(distinct)} distinct pairs": [distinct],
    }
    peer = f"file order, batch {BATCH}"
    return [_row(name, peer, partial(ours, chosen), partial(plain, chosen)) for name, chosen in jobs.items()]


def _plain(directory: Path) -> Callable[[Sequence[Sequence[Pair]]], None]:
    tokenizer = AutoTokenizer.from_pretrained(directory)
    model = AutoModel.from_pretrained(directory).eval()

    @torch.no_grad()
    def run(groups: Sequence[Sequence[Pair]]) -> None:
        for group in groups:
            for start in range(0, len(group), BATCH):
                contexts, responses = zip(*group[start : start + BATCH], strict=True)
                inputs = tokenizer(list(contexts), list(responses), padding=True, truncation=True, return_tensors="pt")
                model(**inputs).last_hidden_state[:, 0].numpy()

    return run


def _bertscore(corpus: Corpus) -> list[list[str]]:
    from bert_score import BERTScorer

    files = find_model("minilm")
    scorer = BERTScorer(model_type=str(files.directory), num_layers=files.layers)
    encoder = _minilm()

    def ours(groups: Sequence[Sequence[Any]]) -> None:
        encoders = Encoders()
        encoders._open["minilm", "float32"] = _minilm(encoder)
        metric = BertScore().prepare(corpus, encoders=encoders)
        for group in groups:
            metric.measure(group)

    def theirs(groups: Sequence[Sequence[Any]]) -> None:
        for group in groups:
            scorer.score([turn.response for turn in group], [list(turn.references) for turn in group])

    groups = list(corpus.by_system.values())
    distinct = list({(turn.response, turn.references): turn for turn in corpus}.values())
    jobs: dict[str, list[Any]] = {
        f"BERTScore of {len(corpus)} turns": groups,
        f"BERTScore of {len(distinct)} distinct turns": [distinct],
    }
    peer = "bert-score 0.3.13"
    return [_row(name, peer, partial(ours, chosen), partial(theirs, chosen)) for name, chosen in jobs.items()]


def _minilm(like: Transformer | None = None) -> Transformer:
    """The encoder with its model loaded (the other's, where given) and nothing at hand."""
    encoder = Transformer(find_model("minilm") if like is None else like.files)
    if like is None:
        encoder.pooled(["loaded"])
    else:
        encoder._network, encoder.__dict__["tokenizer"] = like._network, like.tokenizer
    return encoder


def _rate(corpus: Corpus, name: str, dtype: torch.dtype) -> list[str]:
    """Real tokens through the model, times two operations for each weight that is no embedding, beside the rate of a
    plain matrix product in the same numbers, measured before and after."""
    files = find_model(name)
    spelled = str(dtype).removeprefix("torch.")
    network = EncoderNetwork(files, spelled, files.layers)  # type: ignore[arg-type]
    pairs = list(dict.fromkeys((" ".join(turn.context), turn.response) for turn in corpus))
    encoded = Tokenizer(files).encode(pairs)
    lengths = [len(one) for one in encoded]
    grouped = [[encoded[place] for place in places] for places in batches(lengths, network.budget, network.enough)]
    output = [Output("cls", files.layers)]

    def run() -> None:
        for batch in grouped:
            network(batch, output)

    run()
    best, product = 0.0, 0.0
    for _ in range(ROUNDS):
        product = max(product, _matrix_rate(dtype))
        best = max(best, sum(lengths) / _seconds(run))
    limit = product / (2 * network.parameters)
    return [name, spelled, f"{best:,.0f}", f"{limit:,.0f}", f"{best / limit:.0%}"]


def _matrix_rate(dtype: torch.dtype, size: int = 2048) -> float:
    left, right = torch.randn(size, size).to(dtype), torch.randn(size, size).to(dtype)
    left @ right
    count = 10
    return 2 * size**3 * count / _seconds(lambda: [left @ right for _ in range(count)])


def _bfloat16(corpus: Corpus) -> list[list[str]]:
    """The largest change that bfloat16 makes to the score of any turn, and of any system."""
    exact, rounded = (
        evaluate(corpus, list(METRICS), dtype=dtype, cache=False, resamples=20) for dtype in ("float32", "bfloat16")
    )
    rows = []
    for metric in METRICS:
        turns, systems = 0.0, 0.0
        for left, right in zip(exact.samples, rounded.samples, strict=True):
            if left.metric.name == metric and left.values is not None and right.values is not None:
                turns = max(turns, float(np.abs(left.values - right.values).max()))
                systems = max(systems, abs(float(left.values.mean() - right.values.mean())))
        rows.append([metric, f"{turns:.4f}", f"{systems:.5f}"])
    return rows


def _row(job: str, peer: str, ours: Callable[[], None], theirs: Callable[[], None]) -> list[str]:
    mine, other = float("inf"), float("inf")
    for _ in range(ROUNDS):
        mine, other = min(mine, _seconds(ours)), min(other, _seconds(theirs))
    return [job, peer, f"{mine:.2f}", f"{other:.2f}", f"{other / mine:.1f}"]


def _seconds(job: Callable[[], Any]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def _show(headers: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> None:
    heads = [Header(text, align="left" if place < left else "right") for place, text in enumerate(headers)]
    print(to_text(Table(heads, [[Cell(text) for text in row] for row in rows], [])), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
