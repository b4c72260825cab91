"""Files of two systems, small chunks, and a run of them."""

import json
import random

import pytest

WORDS = "we like to walk in the park when it rains or snows and the dog runs home".split()


def text(rng, most=12):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, most)))


def row(rng, name, system, dialogue):
    said = {"id": name, "response": text(rng), "references": [text(rng)], "system": system}
    return said | {"context": [text(rng), text(rng)], "dialogue": dialogue, "facts": [text(rng)]}


@pytest.fixture
def files(tmp_path):
    """Two systems over three files."""
    rng = random.Random(3)
    paths = []
    for name in "abc":
        path = tmp_path / f"{name}.jsonl"
        rows = [row(rng, f"{name}{place}", system, f"{name}{place // 4}") for place in range(80) for system in "st"]
        path.write_text("".join(json.dumps(each) + "\n" for each in rows))
        paths.append(path)
    return paths


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 50)
    monkeypatch.setattr("dialogauge.corpus.chunks.plan.CHUNK_BYTES", 3000)
