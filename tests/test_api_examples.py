"""The examples in the docstrings of the public API run, and print what they show."""

import doctest
import re
import shutil
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

import dialogauge
from dialogauge import metrics

ROOT = Path(__file__).resolve().parents[1]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PUBLIC = {
    name: getattr(home, name) for home in (dialogauge, metrics) for name in home.__all__ if not name.startswith("_")
}
SHOWN = (
    *("evaluate", "compare", "compare_runs", "correlate", "sensitivity", "normality", "perturb", "load", "stream"),
    *(
        "metric",
        "worst_replies",
        "plot_scores",
        "train_ruber",
        "train_entailment",
        "train_gauge",
        "synthesize_entailment",
        "rate",
    ),
    *("Corpus", "Turn", "Result", "Comparison", "Agreement", "RunOptions", "MeanMetric"),
)


def examples(name):
    found = doctest.DocTestFinder().find(PUBLIC[name], name, module=False, globs={})
    return [test for test in found if test.examples]


def check(tests, folder, monkeypatch):
    shutil.copytree(ROOT / "examples", folder / "examples")
    monkeypatch.chdir(folder)
    runner, told = doctest.DocTestRunner(optionflags=FLAGS), StringIO()
    with redirect_stdout(told):
        for test in tests:
            runner.run(test)
    assert runner.tries
    assert not runner.failures, told.getvalue()


@pytest.mark.parametrize("name", [name for name in PUBLIC if examples(name)])
def test_examples_print_what_they_show(name, tmp_path, monkeypatch):
    check(examples(name), tmp_path, monkeypatch)


def test_the_page_on_python_shows_what_is_printed(tmp_path, monkeypatch):
    page = ROOT / "docs" / "python.md"
    code = re.sub(r"(?m)^```.*$", "", page.read_text(encoding="utf-8"))
    check([doctest.DocTestParser().get_doctest(code, {}, page.name, str(page), 0)], tmp_path, monkeypatch)


@pytest.mark.parametrize("name", SHOWN)
def test_there_is_an_example(name):
    assert examples(name)


@pytest.mark.parametrize("name", PUBLIC)
def test_everything_public_says_what_it_is(name):
    assert PUBLIC[name].__doc__
