"""The scorer for Inspect: a real evaluation of the model that Inspect has for tests; its command line on the log."""

import math
import os
import subprocess
import sys
import tomllib
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import dialogauge
from tests.installed import install

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its own, of what it imports
    inspect_ai = pytest.importorskip("inspect_ai")
    from inspect_ai.dataset import Sample
    from inspect_ai.log import read_eval_log
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ModelOutput, ModelUsage, get_model

    from dialogauge.hooks.inspect_scorer import dialogue

ROOT = Path(__file__).resolve().parents[2]
ASKED = [
    Sample(input="how are you?", target=["fine", "fine, and you?"]),
    Sample(input=[ChatMessageSystem(content="be brief"), ChatMessageUser(content="where is it?")], target="over there"),
    Sample(input="who was it?"),
]
SAID = ["fine, thanks", "over there", "I do not know"]
TURNS = [
    {"context": ["how are you?"], "response": SAID[0], "references": ["fine", "fine, and you?"]},
    {"context": ["where is it?"], "response": SAID[1], "references": ["over there"]},
]


def said(text):
    """With its tokens counted: to count them itself Inspect would fetch a tokeniser."""
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    model = get_model("mockllm/model", custom_outputs=map(said, SAID))
    task = inspect_ai.Task(dataset=ASKED, scorer=[dialogue("bleu"), dialogue("length.characters")], name="replies")
    folder = tmp_path_factory.mktemp("logs")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # In a thread of its own: a browser, where tests before have opened one, keeps an event loop in this one.
        with ThreadPoolExecutor(1) as thread:
            evaluating = thread.submit(inspect_ai.eval, task, model, display="none", log_dir=str(folder), max_samples=1)
            (found,) = evaluating.result()
    assert found.status == "success", found.error
    return found


def test_all_replies_are_scored_as_dialogauge_scores_them(log):
    bleu, characters = log.results.scores
    expected = dialogauge.evaluate(TURNS, "bleu").scores[0]
    assert {name: each.value for name, each in bleu.metrics.items()} == pytest.approx(
        {"value": expected.value, "low": expected.low, "high": expected.high, "replies": 2}
    )
    assert characters.metrics["value"].value == sum(map(len, SAID)) / 3


def test_single_replies_have_their_own_scores_and_reasons_where_they_have_none(log):
    each = dialogauge.evaluate(TURNS, "bleu").turns_to_frame()["value"]
    found = [sample.scores["dialogue"] for sample in log.samples]
    assert [score.value for score in found[:2]] == pytest.approx(list(each))
    assert math.isnan(found[2].value)
    assert found[2].explanation == "bleu needs references, and this sample has none"
    assert [sample.scores["dialogue1"].value for sample in log.samples] == [len(text) for text in SAID]


@pytest.mark.slow  # it takes that command line seconds to start
def test_the_command_line_of_inspect_finds_it_by_its_entry_point(log, tmp_path):
    """Inspect believes packages that lie where pip puts them."""
    site = tmp_path / "site-packages"
    site.mkdir()
    (site / "dialogauge").symlink_to(ROOT / "src" / "dialogauge")
    points = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    install(site, "dialogauge", {"inspect_ai": points["inspect_ai"]})
    call = ["score", log.location, "--scorer", "dialogauge/dialogue", "-S", "metric=rouge_l", "--display", "none"]
    done = subprocess.run(
        [sys.executable, "-m", "inspect_ai", *call, "--action", "append", "--output-file", "scored.eval"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    scored = read_eval_log(str(tmp_path / "scored.eval")).results.scores[-1]
    assert scored.params == {"metric": "rouge_l"}
    expected = dialogauge.evaluate(TURNS, "rouge_l").scores[0].value
    assert scored.metrics["value"].value == pytest.approx(expected)


@pytest.mark.parametrize("name", ["bertscore[idf=true]", "self_repetition", "fbd"])
def test_what_needs_the_whole_corpus_is_refused_with_what_has_it(name):
    with pytest.raises(dialogauge.InputError, match=r"needs the whole corpus: dialogauge score LOG\.eval --metrics"):
        dialogue(name)


def test_one_metric_is_taken():
    with pytest.raises(dialogauge.InputError, match="expected one metric, found 2"):
        dialogue("bleu,meteor")
