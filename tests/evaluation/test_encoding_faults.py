"""A run that is killed while it encodes, or finds its cache damaged, is followed by runs with the right scores."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from dialogauge.encode.cache.cache import Cache
from tests.encode.models import build

METRICS = "bertscore,embedding_average"
TURNS = 3000


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return build("bert", tmp_path_factory.mktemp("model") / "bert")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """So many texts that they are encoded in several windows."""
    path = tmp_path_factory.mktemp("corpus") / "turns.jsonl"
    draw = random.Random(0)
    words = "hello how are you today fine thank the soup dog park walk dinner card pay brother nice".split()
    with path.open("w") as file:
        for place in range(TURNS):
            said = [" ".join(draw.choices(words, k=draw.randint(1, 12))) for _ in range(2)]
            file.write(json.dumps({"id": str(place), "response": said[0], "references": [said[1]]}) + "\n")
    return path


def command(corpus, model):
    arguments = ["score", str(corpus), "--metrics", METRICS, "--encoder", str(model), "--format", "json"]
    return [sys.executable, "-m", "dialogauge", *arguments, "--resamples", "20"]


def score(corpus, model):
    done = subprocess.run(command(corpus, model), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def values(document):
    return np.array([score["value"] for score in document["scores"]])


@pytest.fixture(scope="module")
def truth(corpus, model):
    done = subprocess.run([*command(corpus, model), "--no-cache"], capture_output=True, text=True, check=True)
    return values(json.loads(done.stdout))


def entries():
    with Cache() as cache:
        return cache.status().entries


@pytest.mark.slow
def test_killed_while_encoding(corpus, model, truth, tmp_path, monkeypatch):
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path / "cache"))
    kept = [0]
    for _ in range(3):
        process = subprocess.Popen(command(corpus, model), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and entries() <= kept[-1]:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kept.append(entries())
    assert kept[0] < kept[1] < kept[2] < 2 * TURNS, "each run went on where the one before was killed"
    np.testing.assert_allclose(values(score(corpus, model)), truth, atol=1e-6)


@pytest.mark.slow
def test_flipped_bits(corpus, model, truth, tmp_path, monkeypatch):
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path / "cache"))
    np.testing.assert_allclose(values(score(corpus, model)), truth, atol=1e-6)
    (file,) = (tmp_path / "cache").glob("*.sqlite")
    data = bytearray(file.read_bytes())
    draw = random.Random(1)
    for _ in range(len(data) // 20_000):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    file.write_bytes(data)
    document = score(corpus, model)
    np.testing.assert_allclose(values(document), truth, atol=1e-6)
    assert "cache" in {warning["code"] for warning in document["warnings"]}
    np.testing.assert_allclose(values(score(corpus, model)), truth, atol=1e-6)
