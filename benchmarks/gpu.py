"""Encoding on a GPU: a RoBERTa-base-size model with random weights, pairs of dialogue length, beside the plain ways.

    python benchmarks/gpu.py DIALOGUES [PAIRS]

DIALOGUES is a file of conversations that `dialogauge score` reads, such as DailyDialog's. The tokeniser is trained on
the same text. Every way gets the same pairs; vectors out are the first token's, as the FBD paper takes them.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import ByteLevelBPETokenizer, processors
from transformers import AutoModel, AutoTokenizer, PreTrainedTokenizerFast, RobertaConfig, RobertaModel

from dialogauge import load
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.cache.store import Output
from dialogauge.encode.find import ModelFiles, find_model
from dialogauge.encode.network import EncoderNetwork
from dialogauge.encode.tokenizer import Tokenizer
from dialogauge.encode.transformer import Transformer, batches
from dialogauge.tables import Cell, Header, Table, to_text

VOCABULARY = 50_265
LONG = 25
"""Every so many pairs, the context is the whole dialogue so far; in the others the last utterance."""

Pair = tuple[str, str]


def main() -> None:
    if not torch.cuda.is_available():
        raise SystemExit("no GPU that CUDA can use")
    pairs = _pairs(Path(sys.argv[1]))[: int(sys.argv[2]) if len(sys.argv) > 2 else 20_000]
    with tempfile.TemporaryDirectory() as folder:
        files = _model(Path(folder) / "roberta-base-size", pairs)
        encoded = Tokenizer(files).encode(pairs)
        lengths = [len(one) for one in encoded]
        rate = _matrix_rate()
        network = EncoderNetwork(files, "bfloat16", files.layers)
        print(
            f"{torch.cuda.get_device_name()}: {rate / 1e12:.0f} TFLOP/s in bfloat16 products of 8192 x 8192;"
            f" {len(pairs):,} pairs, {len(set(pairs)):,} distinct, {sum(lengths):,} tokens,"
            f" {sum(lengths) / len(lengths):.1f} on average, {max(lengths)} at most;"
            f" {network.parameters:,} weights beside the embeddings"
        )
        tokens = sum(lengths)
        ways: list[tuple[str, Callable[[], Any]]] = [
            ("file order, batch 32, float32 (the FBD paper's code)", lambda: _plain(files, pairs, 32, False)),
            ("sorted, batch 64, float32 (bert-score's way)", lambda: _plain(files, pairs, 64, True)),
            ("ours, float32", lambda: _ours(files, pairs, "float32")),
            ("ours, bfloat16", lambda: _ours(files, pairs, "bfloat16")),
            ("ours, bfloat16, once more", lambda: _ours(files, pairs, "bfloat16")),
            ("ours, bfloat16, kept in the cache", lambda: _ours(files, pairs, "bfloat16", Path(folder) / "cache")),
            ("ours, bfloat16, from the cache", lambda: _ours(files, pairs, "bfloat16", Path(folder) / "cache")),
            ("ours, bfloat16, a fiftieth of the memory", lambda: _short_of_memory(files, pairs)),
            ("ours, bfloat16, the model alone", lambda: _alone(network, encoded)),
        ]
        rows = []
        for name, way in ways:
            seconds = way()
            share = 2 * network.parameters * tokens / seconds / rate
            rows.append([name, f"{seconds:.2f}", f"{tokens / seconds:,.0f}", f"{share:.1%}"])
            print(*rows[-1], file=sys.stderr, flush=True)
    heads = [Header("way", align="left"), *map(Header, ("seconds", "tokens/s", "of the matrix rate"))]
    print(to_text(Table(heads, [[Cell(text) for text in row] for row in rows], [])))


def _pairs(path: Path) -> list[Pair]:
    return [
        (" ".join(turn.context if place % LONG == 0 else turn.context[-1:]), turn.response)
        for place, turn in enumerate(load(path))
    ]


def _model(directory: Path, pairs: Sequence[Pair]) -> ModelFiles:
    """Special tokens have RoBERTa's ids."""
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator((" ".join(pair) for pair in pairs), VOCABULARY, special_tokens=special)
    trained._tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    names = dict(zip(("bos", "pad", "eos", "unk", "mask"), special, strict=True)) | {"cls": "<s>", "sep": "</s>"}
    PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=trained._tokenizer,
        model_max_length=512,
        model_input_names=["input_ids", "attention_mask"],
        **{f"{name}_token": token for name, token in names.items()},
    ).save_pretrained(directory)
    config = RobertaConfig(vocab_size=VOCABULARY, max_position_embeddings=514, type_vocab_size=1)
    torch.manual_seed(0)
    RobertaModel(config).save_pretrained(directory)  # type: ignore[no-untyped-call]
    return find_model(str(directory))


@torch.no_grad()
def _plain(files: ModelFiles, pairs: Sequence[Pair], size: int, ordered: bool) -> float:
    tokenizer = AutoTokenizer.from_pretrained(files.directory)
    model = AutoModel.from_pretrained(files.directory).eval().to("cuda")
    chosen = sorted(pairs, key=lambda pair: len(pair[0]) + len(pair[1])) if ordered else pairs

    def run(some: Sequence[Pair]) -> None:
        for start in range(0, len(some), size):
            contexts, responses = zip(*some[start : start + size], strict=True)
            inputs = tokenizer(list(contexts), list(responses), padding=True, truncation=True, return_tensors="pt")
            model(**inputs.to("cuda")).last_hidden_state[:, 0].cpu().numpy()

    run(chosen[: 4 * size])
    return _seconds(lambda: run(chosen))


def _ours(files: ModelFiles, pairs: Sequence[Pair], dtype: Any, folder: Path | None = None) -> float:
    """Text in, vectors out. The model is loaded and has seen one text; nothing else is warm."""
    encoder = Transformer(files, dtype, Cache(folder) if folder else None)
    encoder.pooled([("one", "text")], "cls")
    return _seconds(lambda: encoder.pooled(pairs, "cls"))


def _short_of_memory(files: ModelFiles, pairs: Sequence[Pair]) -> float:
    """Batches that do not fit are halved."""
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(0.02)
    try:
        return _ours(files, pairs, "bfloat16")
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


def _alone(network: EncoderNetwork, encoded: Sequence[Any]) -> float:
    lengths = [len(one) for one in encoded]
    grouped = [[encoded[place] for place in places] for places in batches(lengths, network.budget, network.enough)]
    output = [Output("cls", network.layers)]
    network(grouped[0], output)
    return _seconds(lambda: [network(batch, output) for batch in grouped])


def _matrix_rate(size: int = 8192, count: int = 30) -> float:
    left, right = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    _seconds(lambda: [left @ right for _ in range(5)])
    return 2 * size**3 * count / _seconds(lambda: [left @ right for _ in range(count)])


def _seconds(job: Callable[[], Any]) -> float:
    torch.cuda.synchronize()
    start = time.perf_counter()
    job()
    torch.cuda.synchronize()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
