"""The torchmetrics metric: batches and two processes give what one evaluation gives."""

import math
from pathlib import Path

import pytest
import torch

import dialogauge

pytest.importorskip("torchmetrics")
from torchmetrics import MetricCollection

from dialogauge.hooks.torchmetrics_metric import DialogueMetric

TURNS = dialogauge.load(Path(__file__).resolve().parents[2] / "examples" / "everyday.jsonl").select(["good"]).turns
METRICS = ("bleu", "meteor", "distinct.1", "length")


def feed(metric, turns, size=10):
    for start in range(0, len(turns), size):
        batch = turns[start : start + size]
        metric.update([t.response for t in batch], [t.references for t in batch], [t.context for t in batch])
    return metric


@pytest.fixture(scope="module")
def expected():
    result = dialogauge.evaluate(TURNS, list(METRICS), resamples=9)
    return {name: result.score("good", name).value for name in METRICS}


@pytest.mark.parametrize("name", METRICS)
def test_batches_give_what_one_evaluation_gives(name, expected):
    metric = feed(DialogueMetric(name), TURNS)
    assert metric.compute().item() == pytest.approx(expected[name], rel=1e-12)
    assert len(metric.summaries) == 1
    metric.reset()
    with pytest.warns(UserWarning, match="before the ``update`` method"):
        assert math.isnan(metric.compute().item())
    metric.reset()
    # `forward` gives the value of a batch, and goes on with the whole.
    for turn in TURNS:
        metric([turn.response], [turn.references], [turn.context])
    assert len(metric.summaries) == 1
    assert metric.compute().item() == pytest.approx(expected[name], rel=1e-12)


def test_a_collection_holds_several(expected):
    names = {name.replace(".", "_"): name for name in METRICS}  # modules take no dot in a name
    found = feed(MetricCollection({key: DialogueMetric(name) for key, name in names.items()}), TURNS).compute()
    assert {names[key]: value.item() for key, value in found.items()} == pytest.approx(expected, rel=1e-12)


def test_summaries_stay_where_they_are_when_a_metric_is_moved(expected):
    metric = feed(DialogueMetric("bleu"), TURNS).to("cpu").set_dtype(torch.float32)
    assert metric.compute().item() == pytest.approx(expected["bleu"], rel=1e-12)


def in_one_process(rank, address, folder):
    torch.distributed.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
    share = TURNS[:20] if rank == 0 else TURNS[20:]
    found = {}
    for name in METRICS:
        metric = feed(DialogueMetric(name), share)
        found[name] = metric.compute().item()
        with metric.sync_context(should_sync=False):
            assert len(metric.summaries) == 1  # compute has put its own back
    torch.save(found, Path(folder) / f"{rank}.pt")
    torch.distributed.destroy_process_group()


def test_two_processes_give_what_one_gives(expected, tmp_path):
    address = f"file://{tmp_path / 'meeting'}"
    torch.multiprocessing.spawn(in_one_process, (address, str(tmp_path)), nprocs=2)
    for rank in range(2):
        assert torch.load(tmp_path / f"{rank}.pt") == pytest.approx(expected, rel=1e-12)


def test_what_needs_more_than_batches_is_refused():
    for name in ("bertscore[idf=true]", "self_repetition", "fbd[est=extrapolated]"):
        with pytest.raises(dialogauge.InputError, match="use dialogauge.evaluate"):
            DialogueMetric(name)
    with pytest.raises(dialogauge.InputError, match="expected one metric, found 2"):
        DialogueMetric("bleu,meteor")
    with pytest.raises(dialogauge.InputError, match="target: expected one for each of 2 replies, found 1"):
        DialogueMetric("bleu").update(["a", "b"], [["a"]])
    with pytest.raises(dialogauge.InputError, match="bleu needs references, and 1 of 1 turns have none"):
        DialogueMetric("bleu").update(["a"])
