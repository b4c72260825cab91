import json

import pytest

from dialogauge import __version__
from dialogauge.cli.main import VERBS


def test_version(dialogauge):
    assert dialogauge("--version").out == f"dialogauge {__version__}\n"


@pytest.mark.parametrize("verb", [None, *VERBS])
def test_help_shows_an_example(dialogauge, verb):
    done = dialogauge(*([verb] if verb else []), "--help")
    assert done.code == 0
    assert "examples:\n  dialogauge " in done.out


def test_a_typo_in_the_verb(dialogauge):
    assert dialogauge("scroe", "x") == (2, "", "unknown command 'scroe'; did you mean score?\n")


@pytest.mark.parametrize("arguments", [[], ["score"], ["score", "x"], ["score", "x", "--metrics"], ["score", "--nope"]])
def test_a_wrong_call_prints_usage(dialogauge, arguments):
    done = dialogauge(*arguments)
    assert done.code == 2
    assert done.err.startswith("usage: dialogauge")


def test_metrics_lists_all(dialogauge):
    done = dialogauge("metrics", "--format", "json")
    metrics = {metric["name"]: metric for metric in json.loads(done.out)["metrics"]}
    assert list(metrics) == ["bleu", "rouge_l", "meteor", "distinct", "length", "column"]
    assert metrics["bleu"]["needs"] == "references"
    assert metrics["bleu"]["options"] == "lowercase=false"
    assert metrics["length"]["higher_is_better"] is None
    assert metrics["distinct"]["parts"] == "distinct.1"
    assert "bleu" in dialogauge("metrics").out


def test_doctor(dialogauge, monkeypatch):
    done = dialogauge("doctor", "--format", "json")
    checks = {check["what"]: check for check in json.loads(done.out)["checks"]}
    assert done.code == 0
    assert checks["synonyms"]["found"].startswith("wordnet-3.0@")
    monkeypatch.setitem(VERBS["doctor"].OPTIONAL, "no-such-package", ("plot", "nothing"))
    done = dialogauge("doctor")
    assert done.code == 0
    assert "pip install 'dialogauge[plot]'" in done.out
    monkeypatch.setitem(VERBS["doctor"].REQUIRED, "no-such-package-either", "nothing")
    assert dialogauge("doctor").code == 1


def test_demo(dialogauge, tmp_path):
    done = dialogauge("demo", "--plot", tmp_path / "demo.svg")
    assert done.code == 0
    assert done.err == ""
    lines = done.out.split("\n")
    assert [line.split()[0] for line in lines[2:5]] == ["good", "dull", "offtopic"]
    assert "bleu, rouge_l, meteor: `good`, clearly; distinct: `offtopic`, clearly." in done.out
    assert (tmp_path / "demo.svg").read_text().startswith("<?xml")
