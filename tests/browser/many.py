"""Files of many turns whose texts are as those of the examples: their words, as often as they come there."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SYSTEMS = ("good", "dull", "offtopic", "mixed")
LAST_WORD = "zyzzyva"
"""Of the last turn's reply alone."""


def write_many(path: Path, count: int, seed: int = 0) -> Path:
    """Turns of four systems to the same contexts: three utterances and a reference of 4 to 20 words each, no two alike.
    The last turn's reply ends in LAST_WORD."""
    rng = np.random.default_rng(seed)
    words, share = _words()
    contexts = -(-count // len(SYSTEMS))

    def sentences(number: int) -> list[str]:
        lengths = rng.integers(4, 21, number)
        chosen = words[np.searchsorted(share, rng.random(int(lengths.sum())))]
        parts = np.split(chosen, np.cumsum(lengths)[:-1])
        return [" ".join(part).capitalize() + "." for part in parts]

    heard, references = sentences(3 * contexts), sentences(contexts)
    replies = sentences(count)
    replies[-1] += f" {LAST_WORD}"
    with path.open("w", encoding="utf-8") as file:
        for i, reply in enumerate(replies):
            system, context = SYSTEMS[i // contexts], i % contexts
            record = {
                "id": str(context),
                "context": heard[3 * context : 3 * context + 3],
                "response": f"{references[context]} {reply}" if system == "good" else reply,
                "references": [references[context]],
                "system": system,
            }
            file.write(json.dumps(record) + "\n")
    return path


def _words() -> tuple[np.ndarray, np.ndarray]:
    counts: Counter[str] = Counter()
    for name in ("everyday.jsonl", "rated.jsonl"):
        for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines():
            turn = json.loads(line)
            for text in (*turn["context"], turn["response"], *turn["references"]):
                counts.update(word.strip(".,?!") for word in text.lower().split())
    shares = np.array(list(counts.values()), dtype=float)
    return np.array(list(counts)), np.cumsum(shares) / shares.sum()
