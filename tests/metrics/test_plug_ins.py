"""Metrics of other packages, installed as pip leaves them: modules and a dist-info folder with entry points."""

import json

import pytest

from dialogauge.cli.main import main
from dialogauge.errors import InputError
from dialogauge.metrics.registry import known_names, metric_class, parse_requests

WHOLE = """
from dataclasses import dataclass
from dialogauge.metrics.length import Length
from dialogauge.metrics.base import Metric

@dataclass(frozen=True)
class Words(Length):
    name = "words"
    title = "words, counted elsewhere"

@dataclass(frozen=True)
class Bare(Metric):
    name = "bare"
    higher_is_better = True
    bounds = (0.0, 1.0)
    def measure(self, turns): ...
    def summarise(self, measures, weights=None): ...
    def conclude(self, summary, real=None): ...

@dataclass(frozen=True)
class Hollow(Metric):
    name = "hollow"
    title = "nothing"

@dataclass(frozen=True)
class Moody(Length):
    name = "moody"
    @property
    def bounds(self):
        raise RuntimeError("not today")

class Plain:
    title = "no metric"
"""
POINTS = {
    "words": "extra_metrics:Words",
    "bare": "extra_metrics:Bare",
    "hollow": "extra_metrics:Hollow",
    "moody": "extra_metrics:Moody",
    "plain": "extra_metrics:Plain",
    "gone": "extra_metrics:Gone",
    "absent": "no_such_module:Metric",
    "failing": "failing_metrics:Metric",
    "leaving": "leaving_metrics:Metric",
}
FAULTS = {
    "bare": "it does not define title",
    "hollow": "it does not define higher_is_better, bounds, conclude, measure, summarise",
    "moody": "RuntimeError: not today",
    "plain": "it is no subclass of dialogauge.metrics.base.Metric",
    "gone": "AttributeError: module 'extra_metrics' has no attribute 'Gone'",
    "absent": "ModuleNotFoundError: No module named 'no_such_module'",
    "failing": "ZeroDivisionError: division by zero",
    "leaving": "SystemExit: 3",
}


@pytest.fixture(autouse=True)
def installed(tmp_path, monkeypatch):
    (tmp_path / "extra_metrics.py").write_text(WHOLE)
    (tmp_path / "failing_metrics.py").write_text("1 / 0\n")
    (tmp_path / "leaving_metrics.py").write_text("raise SystemExit(3)\n")
    info = tmp_path / "extra_metrics-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: extra-metrics\nVersion: 1.0\n")
    lines = [f"{name} = {target}\n" for name, target in POINTS.items()]
    (info / "entry_points.txt").write_text("[dialogauge.metrics]\n" + "".join(lines))
    monkeypatch.syspath_prepend(tmp_path)


def warning(name: str) -> str:
    return f"metric '{name}' of the package extra-metrics ({POINTS[name]}) cannot be used: {FAULTS[name]}"


def test_the_list_goes_on_past_broken_metrics_and_names_each(capsys):
    assert main(["metrics", "--format", "json"]) == 0
    shown = capsys.readouterr()
    names = [metric["name"] for metric in json.loads(shown.out)["metrics"]]
    assert names == [name for name in known_names() if name not in FAULTS]
    assert names[-1] == "words"
    assert shown.err.splitlines() == [f"warning: {warning(name)}" for name in sorted(FAULTS)]


def test_a_table_of_metrics_is_printed_beside_broken_ones(capsys):
    assert main(["metrics"]) == 0
    assert "words, counted elsewhere" in capsys.readouterr().out


@pytest.mark.parametrize("name", FAULTS)
def test_a_broken_metric_that_is_asked_for_is_refused(name):
    with pytest.raises(InputError) as error:
        parse_requests(f"bleu,{name}")
    assert str(error.value) == warning(name)


def test_metrics_beside_a_broken_one_are_found():
    assert [request.label for request in parse_requests("bleu,words")] == ["bleu", "words"]
    assert metric_class("words").title == "words, counted elsewhere"
