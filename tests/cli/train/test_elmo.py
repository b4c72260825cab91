"""Networks over ELMo's words: trained, kept, and used again."""

import json

import pytest

from dialogauge import Corpus, Turn, evaluate
from dialogauge.encode.encoders import Encoders
from dialogauge.learned.entailment.model import open_entailment
from tests.encode.elmo.small import write_elmo
from tests.learned.entailment.pairs import pairs, write_pairs

LOG = [{"dialogue": f"d{i}", "utterances": [f"Hello {i}", f"How is {i % 7}?", "Fine."]} for i in range(20)]


def test_esim(dialogauge, tmp_path):
    elmo, file = write_elmo(tmp_path / "elmo"), write_pairs(tmp_path / "pairs.jsonl", pairs())
    out = tmp_path / "model"
    options = ("--recipe", "esim", "--encoder", f"elmo:{elmo}", "--units", 4, "--epochs", 1, "--out", out)
    done = dialogauge("train", "entailment", file, *options)
    assert done.code == 0, done.err
    judged = open_entailment(out).ready(Encoders()).judged(["a dog", "a dog", ""], ["it barks", "dinner", "x"])
    assert judged.probabilities.sum(axis=1) == pytest.approx(1, abs=1e-6)
    assert judged.silent.tolist() == [False, False, True]
    assert json.loads((out / "card.json").read_text())["encoder"]["name"] == f"elmo:{elmo}"
    # Other weights under the same name are not the encoder that it was trained with.
    write_elmo(elmo, seed=1)
    done = dialogauge("score", file, "--metrics", f"entailment[model={out}]")
    assert done.code == 2


def test_ruber(dialogauge, tmp_path):
    elmo, log = write_elmo(tmp_path / "elmo"), tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in LOG))
    out = tmp_path / "model"
    options = ("--recipe", "paper", "--encoder", f"elmo:{elmo}", "--epochs", 1, "--out", out)
    done = dialogauge("train", "ruber", log, *options)
    assert done.code == 0, done.err
    turns = [Turn(id=str(i), context=("How is it?",), response=text) for i, text in enumerate(("Fine.", "No"))]
    result = evaluate(Corpus(turns), f"ruber_unreferenced[model={out}]", cache=False, resamples=20)
    assert 0 <= result.scores[0].value <= 1
    assert "enc:elmo:elmo@" in result.scores[0].signature
