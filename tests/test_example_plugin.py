"""The package in examples/plugin, installed by pip and used from the command line, with broken ones beside it."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from dialogauge import Turn
from dialogauge.corpus.readers import registry as readers
from dialogauge.encode import encoders
from dialogauge.metrics import registry as metrics
from tests.installed import install

PLUG_IN = Path(__file__).resolve().parents[1] / "examples" / "plugin"
BROKEN = {
    "untitled": (
        "from dialogauge.metrics.dialogue.length import Length\n"
        "class Broken(Length):\n    name, title = 'untitled', None\n",
        "title: expected a line on what it measures, found None",
    ),
    "unimportable": ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
    "mistyped": ("Broken = 3\n", "it is no subclass of Metric"),
}

pytestmark = pytest.mark.skipif(
    not (find_spec("pip") and find_spec("setuptools")), reason="needs pip and setuptools to install examples/plugin"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the plug-in installed."""
    folder = tmp_path_factory.mktemp("site")
    source = shutil.copytree(PLUG_IN, folder / "source")  # setuptools builds within it
    target = folder / "packages"
    offline = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "install", *offline, "--target", target, source], check=True)
    return target


def dialogauge(site, *arguments):
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, "-m", "dialogauge", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )


def test_its_metric_scores_what_its_reader_reads(site, tmp_path):
    log = tmp_path / "bot.txt"
    log.write_text("Q: hi\nA: hello, how are you?\nQ: fine\nA: good.\nQ: bye\nA: so soon?\nQ: yes\nA: bye.\n")
    done = dialogauge(site, "score", log, "--metrics", "question_share,length", "--format", "json")
    found = json.loads(done.stdout)
    # Two of the four replies have a question mark.
    score = found["scores"][0]
    assert (score["system"], score["metric"], score["value"], score["n"]) == ("bot", "question_share", 0.5, 4)
    assert score["signature"].startswith("question_share|question_share:1.0|mark:?|")
    assert found["corpus"]["turns"] == 4


def test_broken_packages_beside_it_are_named_once_each_and_hide_nothing(site, tmp_path):
    packages = shutil.copytree(site, tmp_path / "packages")
    for name, (code, _) in BROKEN.items():
        points = {"dialogauge.metrics": {name: f"{name}_metric:Broken"}}
        install(packages, f"{name}-metric", points, **{f"{name}_metric": code})
    done = dialogauge(packages, "metrics", "--format", "json")
    names = [metric["name"] for metric in json.loads(done.stdout)["metrics"]]
    assert {"bleu", "fbd", "question_share"} <= set(names)
    assert not BROKEN.keys() & set(names)
    warnings = done.stderr.splitlines()
    assert len(warnings) == len(BROKEN)
    for warning, (name, (_, fault)) in zip(warnings, sorted(BROKEN.items()), strict=True):
        assert warning.startswith(f"warning: metric '{name}' of the package {name}-metric ({name}_metric:Broken) ")
        assert f"cannot be used: {fault}. Update or uninstall the package" in warning
    log = tmp_path / "bot.jsonl"
    log.write_text('{"response": "why?"}\n')
    assert "question_share" in dialogauge(packages, "score", log, "--metrics", "question_share,length").stdout


def test_the_code_of_the_page_is_what_it_says():
    page = (PLUG_IN.parents[1] / "docs" / "plug-ins.md").read_text(encoding="utf-8")
    names = {}
    for code in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        exec(compile(code, "plug-ins.md", "exec"), names)
    asked = [names["metric"], names["exclaims"]]
    assert [metric(Turn("0", "why?!")) for metric in asked] == [1, 1]
    assert metrics.PLUG_INS.faults("question_share", names["QuestionShare"]) == []
    assert readers.PLUG_INS.faults("qa", names["QA"]) == []
    assert encoders.plug_ins().faults("letters", names["Letters"]) == []
    assert names["Letters"]("3").pooled(["abba"]).vectors.tolist() == [[2.0, 2.0, 0.0]]
