"""The pytest plug-in, in pytest sessions of its own; those in this process are pytester's."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dialogauge

pytest_plugins = ["pytester"]

TESTS = """
import json
from pathlib import Path

def replies(words):
    return [
        {"context": [f"q{i}"], "response": " ".join(f"w{i + k}" for k in range(words)), "system": "bot"}
        | {"references": [" ".join(f"w{i + k}" for k in range(7))]}
        for i in range(30)
    ]

def test_replies(dialogauge_gate):
    result = dialogauge_gate(replies(int(Path("words").read_text())), "meteor,bleu:99", resamples=200)
    assert result.score("bot", "meteor").n == 30

def test_nothing_of_ours():
    pass
"""
WORSE = "now-1/bot is worse than test_bot-test_replies/bot under meteor"


def session(pytester, *arguments):
    """Without the plug-ins of others, which take a second to start."""
    others = [f"-pno:{name}" for name in ("hypothesispytest", "xdist", "anyio", "platformdirs", "cacheprovider")]
    return pytester.runpytest_inprocess(*others, *arguments)


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """pytester forgets what a session imports, and NumPy cannot be imported twice: all of it, before."""
    turns = [{"context": [f"q{i}"], "response": "yes", "references": ["yes"]} for i in range(3)]
    result, folder = dialogauge.evaluate(turns, "meteor,bleu", resamples=9), tmp_path_factory.mktemp("imported")
    dialogauge.compare_runs([result.save(folder / "a"), result.save(folder / "b")], resamples=9)


@pytest.fixture
def bot(pytester, imported):
    """A project with a baseline, whose bot says as many of seven words as a file says."""
    pytester.makepyfile(test_bot=TESTS)
    (pytester.path / "words").write_text("6")
    session(pytester, "--dialogauge-keep", "baselines").assert_outcomes(passed=2)
    return pytester


def test_what_got_worse_fails_and_says_why(bot):
    (bot.path / "words").write_text("3")
    done = session(bot, "--dialogauge-baseline", "baselines")
    done.assert_outcomes(passed=1, failed=1)
    # BLEU fell, too, and not by more than its margin.
    assert next(line for line in done.outlines if "is worse than" in line) == WORSE
    done.stdout.fnmatch_lines(["*Captured stdout*", "*metric*first*second*difference*"])


def test_what_did_not_passes(bot):
    bot.makeini("[pytest]\ndialogauge_baseline = baselines")
    session(bot).assert_outcomes(passed=2)
    # A run itself, as `dialogauge score --out` writes it, is a baseline for every test.
    run = bot.path / "baselines" / "test_bot-test_replies"
    session(bot, "--dialogauge-baseline", run).assert_outcomes(passed=2)


def test_runs_are_kept_in_place_of_those_before(bot):
    record = bot.path / "baselines" / "test_bot-test_replies" / "scores.json"
    before = json.loads(record.read_text())["scores"]
    (bot.path / "words").write_text("5")
    both = ("--dialogauge-baseline", "baselines", "--dialogauge-keep", "baselines")
    session(bot, *both).assert_outcomes(passed=1, failed=1)
    assert json.loads(record.read_text())["scores"] != before
    session(bot, "--dialogauge-baseline", "baselines").assert_outcomes(passed=2)


def test_without_a_baseline_it_is_skipped_with_a_reason_and_a_missing_run_is_an_error(bot):
    done = session(bot, "-rs")
    done.assert_outcomes(passed=1, skipped=1)
    done.stdout.fnmatch_lines(["*nothing to hold it against: pytest --dialogauge-keep DIR keeps this run*"])
    done = session(bot, "--dialogauge-baseline", "elsewhere")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(
        ["*InputError: *elsewhere: no run 'test_bot-test_replies' there; pytest --dialogauge-keep *"]
    )


LIMITS = """
import pytest
from dialogauge import InputError
from test_bot import replies

def test_limit(dialogauge_gate):
    dialogauge_gate(replies(3), "meteor", below="bleu=99", resamples=50)

def test_names(dialogauge_gate):
    with pytest.raises(InputError, match="a name of its own for each call in a test, found 'one' twice"):
        for _ in range(2):
            dialogauge_gate(replies(6), "meteor", name="one", resamples=50)

def test_names_stay_inside(dialogauge_gate):
    for name in ("../one", "a/b", "..", "/one"):
        with pytest.raises(InputError, match=f"expected a name of one folder, found '{name}'"):
            dialogauge_gate(replies(6), "meteor", name=name, resamples=50)

def test_other_names(dialogauge_gate):
    renamed = [{**turn, "system": "bot-2"} for turn in replies(3)] + [{**turn, "system": "lone"} for turn in replies(3)]
    dialogauge_gate(renamed, "meteor", name="test_bot-test_replies", against="bot=bot-2", resamples=200)
"""


def test_limits_need_no_baseline_and_systems_can_be_named(bot):
    bot.makepyfile(test_limits=LIMITS)
    done = session(bot, "test_limits.py::test_limit")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["bot scores * under bleu, below 99"])
    session(bot, "--dialogauge-keep", "k", "test_limits.py::test_names").assert_outcomes(passed=1)
    session(bot, "--dialogauge-keep", "k", "test_limits.py::test_names_stay_inside").assert_outcomes(passed=1)
    done = session(bot, "--dialogauge-baseline", "baselines", "test_limits.py::test_other_names")
    done.assert_outcomes(failed=1)
    assert "bot-2 is worse than bot under meteor" in done.outlines


def test_sessions_that_do_not_use_it_import_nothing_of_it(tmp_path):
    """In a process of its own, where no other test has imported anything."""
    (tmp_path / "test_plain.py").write_text(
        "import sys\n"
        "def test_plain(pytestconfig):\n"
        "    assert pytestconfig.pluginmanager.hasplugin('dialogauge')\n"
        "    ours = sorted(name for name in sys.modules if name.startswith('dialogauge'))\n"
        "    assert ours == ['dialogauge', 'dialogauge.hooks', 'dialogauge.hooks.pytest_plugin']\n"
        "    assert not {'numpy', 'pandas', 'torch', 'scipy'} & set(sys.modules)\n"
    )
    call = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_example_of_the_page(pytester, imported):
    root = Path(__file__).resolve().parents[2]
    code = re.search(r"(?ms)^```python\n(.*?)^```$", (root / "docs" / "integrations.md").read_text(encoding="utf-8"))
    pytester.makepyfile(test_page=code[1])
    (pytester.path / "examples").symlink_to(root / "examples")
    session(pytester, "--dialogauge-keep", "baselines").assert_outcomes(passed=1)
    session(pytester, "--dialogauge-baseline", "baselines").assert_outcomes(passed=1)
