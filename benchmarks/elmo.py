"""Speed of ELMo beside a plain loop: the same network and texts, one text after the other.

    python -m benchmarks.elmo [FILE] [DIM PROJECTION]

FILE is anything `dialogauge score` reads; by default the examples. Weights are random, of the size of ELMo's small
published model (cells of 1024, projections of 128) unless others are given: 4096 512 is the original. They are read
before the clock starts; nothing is kept between rounds.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch

from dialogauge import load
from dialogauge.encode.elmo.encoder import ElmoEncoder
from dialogauge.encode.elmo.files import OPTIONS, WEIGHTS, find_elmo
from dialogauge.encode.elmo.network import ElmoNetwork
from dialogauge.encode.elmo.words import cased_words
from dialogauge.tables import Cell, Header, Table, to_text

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "everyday.jsonl"
FILTERS = [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]]
"""Those of all published models."""
FEW = 100
ROUNDS = 3


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdecimal()]
    names = [word for word in sys.argv[1:] if not word.isdecimal()]
    cell, projection = numbers or (1024, 128)
    path = Path(names[0]) if names else EXAMPLES
    texts = [text for turn in load(path) for text in (turn.response, *turn.references)]
    distinct = list(dict.fromkeys(texts))
    words = [cased_words(text).words for text in distinct]
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), cell, projection)
        files = find_elmo(folder)
        network = ElmoNetwork(files)
        print(f"{path.name}: {len(texts):,} texts, {len(distinct):,} distinct with {sum(map(len, words)):,} words")
        print(f"cells of {cell}, projections of {projection}; {network.device}, {torch.get_num_threads()} threads\n")

        def plain(chosen: list[str]) -> None:
            """A text after the other, every word through the letters' network."""
            for text in chosen:
                network._known.clear()
                network([cased_words(text).words])[:, 0].mean(0).cpu().numpy()

        def ours(chosen: list[str]) -> None:
            network._known.clear()
            encoder = ElmoEncoder(files)
            encoder._network = network
            encoder.tokens(chosen)

        rows = []
        for title, chosen in ((f"the first {FEW} distinct texts", distinct[:FEW]), ("all distinct texts", distinct)):
            slow, fast = best(partial(plain, chosen), 1), best(partial(ours, chosen), ROUNDS)
            count = sum(len(cased_words(text).words) for text in chosen)
            rows.append([title, f"{slow:.2f}", f"{fast:.2f}", f"{count / fast:,.0f}", f"{slow / fast:.1f}"])
        headers = [Header(name, align="left" if not place else "right") for place, name in enumerate(HEADERS)]
        print(to_text(Table(headers, [[Cell(text) for text in row] for row in rows])))


HEADERS = ("job", "one by one, s", "ours, s", "words/s", "ratio")


def write(folder: Path, cell: int, projection: int) -> None:
    """Weights that keep states of a usual size."""
    lstm = {"cell_clip": 3, "proj_clip": 3, "use_skip_connections": True, "n_layers": 2}
    letters: dict[str, Any] = {"embedding": {"dim": 16}, "filters": FILTERS, "n_highway": 1 if cell < 2048 else 2}
    letters |= {"max_characters_per_token": 50, "activation": "relu"}
    options = {"lstm": {**lstm, "dim": cell, "projection_dim": projection}, "char_cnn": letters}
    (folder / OPTIONS).write_text(json.dumps(options), encoding="utf-8")
    (folder / WEIGHTS).touch()
    random = np.random.default_rng(0)
    shapes = find_elmo(str(folder)).shape.tensors()
    with h5py.File(folder / WEIGHTS, "w") as file:
        for name, shape in shapes.items():
            rows = math.prod(shape[:-1]) if len(shape) > 1 else 1
            file[name] = random.standard_normal(shape, np.float32) / math.sqrt(rows)


def best(job: Callable[[], None], rounds: int) -> float:
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    main()
