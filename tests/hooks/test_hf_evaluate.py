"""The module for Hugging Face `evaluate`, used as its own are."""

import math
from importlib.util import find_spec

import pytest

import dialogauge
from tests.hooks.imports import import_evaluate

REPLIES = ["fine, thanks to you", "over there", "over there"]
REFERENCES = [["fine, and you?", "fine"], ["over there"], ["there"]]
CONTEXTS = [["hi", "how are you?"], "where?", "where?"]
TURNS = [
    {"response": reply, "references": references, "context": context}
    for reply, references, context in zip(REPLIES, REFERENCES, CONTEXTS, strict=True)
]
HOW = {"seed": 3, "resamples": 50}


@pytest.fixture
def module(tmp_path):
    import_evaluate()
    from dialogauge.hooks.hf_evaluate import DialogueModule

    return lambda metrics: DialogueModule(metrics, cache_dir=str(tmp_path))


def test_its_values_are_those_of_an_evaluation(module):
    found = module("bleu,distinct.1").compute(predictions=REPLIES, references=REFERENCES, context=CONTEXTS, **HOW)
    result = dialogauge.evaluate(TURNS, "bleu,distinct.1", **HOW)
    expected = {}
    for score in result.scores:
        expected |= {score.metric: score.value, f"{score.metric}.low": score.low, f"{score.metric}.high": score.high}
    assert found == expected


def test_batches_and_single_references_add_up(module):
    batches = module("bleu")
    batches.add(prediction=REPLIES[0], reference="fine")
    batches.add_batch(predictions=REPLIES[1:], references=["over there", "there"])
    whole = module("bleu").compute(predictions=REPLIES, references=["fine", "over there", "there"])
    assert batches.compute() == whole
    assert whole["bleu"] > 0


def test_metrics_that_need_no_references_go_without(module):
    found = module("length").compute(predictions=["one"], references=[[]])
    assert found["length"] == 1
    assert module("length").compute(predictions=["one", "one two"])["length"] == 1.5
    with pytest.raises(dialogauge.InputError, match="bleu needs references, and none of the corpus's 1 turns has any"):
        module("bleu").compute(predictions=["one"])
    assert math.isnan(found["length.low"])  # one turn has no interval


def test_its_file_can_be_loaded_by_evaluate(tmp_path, monkeypatch):
    evaluate = import_evaluate()
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    file = find_spec("dialogauge.hooks.hf_evaluate").origin
    loaded = evaluate.load(file, "length", cache_dir=str(tmp_path))
    assert loaded.compute(predictions=["one two"], references=[""])["length"] == 2


def test_contexts_of_another_number_are_refused(module):
    with pytest.raises(dialogauge.InputError, match="context: expected one for each of 3 replies, found 1"):
        module("length").compute(predictions=REPLIES, references=REFERENCES, context=["hi"])
