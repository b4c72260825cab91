"""Metrics of other packages, whole and broken."""

import json
import sys

import numpy as np
import pytest

from dialogauge import Corpus, Turn, evaluate
from dialogauge.cli.main import main
from dialogauge.errors import InputError
from dialogauge.metrics import MeanMetric
from dialogauge.metrics.base import GROUP_NAMES
from dialogauge.metrics.registry import known_names, metric_class, metric_groups, parse_requests
from tests.installed import install

EXTRA = """
from dataclasses import dataclass
from dialogauge.metrics.dialogue.length import Length
from dialogauge.metrics import PlainMetric

print("on stdout, where results go")

@dataclass(frozen=True)
class Words(Length):
    name = "words"
    title = "words, counted elsewhere"

class Plain:
    title = "no metric"

@dataclass(frozen=True)
class Bare(PlainMetric):
    name = "bare"
    higher_is_better = True
    bounds = (0.0, 1.0)
    def measure(self, turns): ...
    def summarise(self, measures, weights=None): ...
    def conclude(self, summary): ...

@dataclass(frozen=True)
class Hollow(PlainMetric):
    name = "hollow"
    title = "nothing"

@dataclass(frozen=True)
class Moody(Length):
    name = "moody"
    @property
    def bounds(self):
        raise RuntimeError("not today")

class Wrong(Length):
    name = "wrong"
    title = ""
    higher_is_better = "yes"
    bounds = (1.0, 0.0)
    needs = ("references",)
    parts = "characters"
    resampling = "often"
    limit: int = 3

@dataclass(frozen=True)
class Other(Length):
    name = "another"

@dataclass(frozen=True)
class Listed(Length):
    name = "listed"
    title = "words of a list"
    words: tuple[str, ...] = ()

@dataclass(frozen=True)
class Mute(Length):
    name = "mute"
    def recipe(self): ...

@dataclass(frozen=True)
class Late(Length):
    name = "late"
    @property
    def higher_is_better(self):
        return "yes"
"""
POINTS = {
    "words": "extra_metrics:Words",
    "plain": "extra_metrics:Plain",
    "bare": "extra_metrics:Bare",
    "hollow": "extra_metrics:Hollow",
    "moody": "extra_metrics:Moody",
    "wrong": "extra_metrics:Wrong",
    "other": "extra_metrics:Other",
    "listed": "extra_metrics:Listed",
    "mute": "extra_metrics:Mute",
    "late": "extra_metrics:Late",
    "gone": "extra_metrics:Gone",
    "absent": "no_such_module:Metric",
    "failing": "failing_metrics:Metric",
    "leaving": "leaving_metrics:Metric",
}
FAULTS = {
    "plain": "it is no subclass of Metric",
    "bare": "it does not define title",
    "hollow": "it does not define higher_is_better, bounds, conclude, measure, summarise",
    "moody": "RuntimeError: not today",
    "wrong": "it is no frozen dataclass: decorate it with @dataclass(frozen=True)"
    "; title: expected a line on what it measures, found ''"
    "; higher_is_better: expected True, False or None, found 'yes'"
    "; bounds: expected two numbers, the lower first, found (1.0, 0.0)"
    "; needs: expected a tuple of sets of context, dialogue, extra, facts, ratings, real, references"
    ", found ('references',)"
    "; parts: expected a tuple of texts, found 'characters'"
    '; resampling: expected "bootstrap" or "jackknife", found \'often\'',
    "other": "its name is 'another', not 'other'",
    "listed": "option words: expected bool, int, float, str or a Literal, each also with None, found tuple[str, ...]",
    "mute": "recipe: expected a dict, found None",
    "late": "higher_is_better: expected True, False or None, found 'yes'",
    "gone": "AttributeError: module 'extra_metrics' has no attribute 'Gone'",
    "absent": "ModuleNotFoundError: No module named 'no_such_module'",
    "failing": "ZeroDivisionError: division by zero",
    "leaving": "SystemExit: 3",
}


@pytest.fixture(autouse=True)
def installed(tmp_path, monkeypatch):
    broken = {"failing_metrics": "1 / 0\n", "leaving_metrics": "raise SystemExit(3)\n"}
    install(tmp_path, "extra-metrics", {"dialogauge.metrics": POINTS}, extra_metrics=EXTRA, **broken)
    monkeypatch.syspath_prepend(tmp_path)


def refusal(name, fault, target=None, package="extra-metrics"):
    return (
        f"metric '{name}' of the package {package} ({target or POINTS[name]}) cannot be used: {fault}."
        " Update or uninstall the package; docs/plug-ins.md says what plug-ins need"
    )


def test_the_list_goes_on_past_broken_metrics_and_names_each(capsys):
    assert main(["metrics", "--format", "json"]) == 0
    shown = capsys.readouterr()
    names = [metric["name"] for metric in json.loads(shown.out)["metrics"]]
    assert names == [name for name in known_names() if name not in FAULTS]
    assert names[-1] == "words"
    warnings = [line for line in shown.err.splitlines() if line.startswith("warning")]
    assert warnings == [f"warning: {refusal(name, fault)}" for name, fault in sorted(FAULTS.items())]


def test_a_table_of_metrics_is_printed_beside_broken_ones(capsys):
    assert main(["metrics"]) == 0
    assert "words, counted elsewhere" in capsys.readouterr().out


@pytest.mark.parametrize("name", FAULTS)
def test_a_broken_metric_that_is_asked_for_is_refused(name):
    with pytest.raises(InputError) as error:
        parse_requests(f"bleu,{name}")
    assert str(error.value) == refusal(name, FAULTS[name])


def test_metrics_beside_a_broken_one_are_found():
    assert [request.label for request in parse_requests("bleu,words")] == ["bleu", "words"]
    assert metric_class("words").title == "words, counted elsewhere"
    assert [request.label for request in parse_requests("Words")] == ["words"]


def test_a_name_that_is_taken_is_said_once_and_the_owner_keeps_it(tmp_path, capsys):
    points = {"bleu": "second:Words", "words": "second:Words"}
    code = EXTRA.replace("counted elsewhere", "counted a third time")
    install(tmp_path, "more-metrics", {"dialogauge.metrics": points}, second=code)
    assert main(["metrics", "--format", "json"]) == 0
    shown = capsys.readouterr()
    titles = {metric["name"]: metric["measures"] for metric in json.loads(shown.out)["metrics"]}
    assert titles["words"] == "words, counted elsewhere"
    for name, owner in (("bleu", "dialogauge itself"), ("words", "the package extra-metrics")):
        told = refusal(name, f"the name is taken by {owner}", points[name], "more-metrics")
        assert shown.err.count(told) == 1


def test_a_score_by_a_metric_that_two_packages_have_says_so(tmp_path, capsys):
    install(tmp_path, "more-metrics", {"dialogauge.metrics": {"words": "second:Words"}}, second=EXTRA)
    (tmp_path / "bot.jsonl").write_text('{"response": "one two"}\n')
    assert main(["score", str(tmp_path / "bot.jsonl"), "--metrics", "words,length"]) == 0
    told = refusal("words", "the name is taken by the package extra-metrics", "second:Words", "more-metrics")
    assert f"warning: {told}" in capsys.readouterr().err.splitlines()


def test_a_metric_class_made_by_a_user_is_checked_where_it_is_used():
    class Questions(MeanMetric):
        name = "questions"
        higher_is_better = None
        bounds = (0.0, 1.0)

        def measure(self, turns):
            return np.array([[float("?" in turn.response)] for turn in turns])

    with pytest.raises(InputError, match="the metric .*Questions cannot be used: it does not define title; see docs"):
        parse_requests([Questions()])
    Questions.title = "replies that ask"
    assert evaluate(Corpus([Turn("0", "why?"), Turn("1", "so.")]), [Questions()]).scores[0].value == 0.5


def user_metric(measured):
    class Mine(MeanMetric):
        name = "mine"
        title = "as a test says"
        higher_is_better = None
        bounds = (0.0, 1.0)
        parts = ("half",)

        def measure(self, turns):
            return measured(turns)

    return Mine()


@pytest.mark.parametrize(
    ("measured", "message"),
    [
        (lambda _: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda _: sys.exit("enough"), "SystemExit: enough"),
        (
            lambda turns: np.ones((len(turns) + 1, 2)),
            "measure: expected 2 rows, one for each turn, found 3",
        ),
        (lambda turns: [1.0] * len(turns), "rows of 2 or more numbers, found an array of shape (2,)"),
        (lambda turns: [[1.0]] * len(turns), "rows of 2 or more numbers, found an array of shape (2, 1)"),
        (lambda turns: [[np.inf, 1.0]] * len(turns), "expected finite numbers, or NaN for no value, found an infinite"),
    ],
)
def test_what_is_wrong_while_a_metric_of_others_measures_is_told_as_its_own(measured, message):
    with pytest.raises(InputError) as error:
        evaluate([Turn("0", "why?"), Turn("1", "so.")], user_metric(measured))
    assert str(error.value).startswith("the metric mine failed: ")
    assert message in str(error.value)


def test_what_a_metric_of_others_prints_is_kept_from_results(capsys):
    metric = user_metric(lambda turns: print("hello") or [[1.0, 0.5]] * len(turns))
    assert evaluate([Turn("0", "why?"), Turn("1", "so.")], metric).score("system", "mine.half").value == 0.5
    assert capsys.readouterr() == ("", "hello\n")


def test_our_own_metrics_are_found_without_looking_for_packages(monkeypatch):
    monkeypatch.setattr("dialogauge.plugins.entry_points", lambda **_: pytest.fail("looked for packages"))
    assert parse_requests("bleu,ROUGE-L")
    assert parse_requests("default")


def test_groups_have_the_metrics_of_other_packages_and_name_those_that_are_broken(tmp_path):
    code = EXTRA.replace('name = "words"', 'name = "phrases"\n    group = "overlap"')
    install(tmp_path, "more-metrics", {"dialogauge.metrics": {"phrases": "second:Words"}}, second=code)
    groups = metric_groups()
    assert groups["overlap"] == ["bleu", "chrf", "rouge_l", "meteor", "phrases"]
    assert groups["all"][-2:] == ["phrases", "words"]
    assert not any("words" in groups[name] for name in GROUP_NAMES)
    result = evaluate([Turn("0", "why?", references=("so",)), Turn("1", "so.", references=("so",))], "overlap")
    assert result.columns == groups["overlap"]
    assert [caveat.message for caveat in result.caveats if caveat.code.startswith("broken")] == [
        refusal(name, fault) for name, fault in sorted(FAULTS.items())
    ]


def test_a_group_that_there_is_not_is_refused(tmp_path):
    code = EXTRA.replace('name = "words"', 'name = "phrases"\n    group = "verbs"')
    install(tmp_path, "more-metrics", {"dialogauge.metrics": {"phrases": "third:Words"}}, third=code)
    with pytest.raises(InputError, match="group: expected one of overlap, .*, found 'verbs'"):
        parse_requests("phrases")
