"""dialogauge perturb: what it writes is what can be read, and nothing is overwritten unasked."""

import gzip
import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from dialogauge.cli.main import main
from dialogauge.corpus import Turn, load
from dialogauge.studies.perturb import KINDS, perturb
from tests.corpus.files import write_lines
from tests.corpus.test_round_trip import TURNS, record
from tests.shared import annotation

ROOT = Path(__file__).resolve().parents[2]
THOROUGH = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def call(kind="permute", ratio=0.2, out="-", *more):
    return ("--kind", kind, "--ratio", ratio, "--out", out, *more)


def test_what_is_written_is_what_is_read(dialogauge, responses, tmp_path):
    out = tmp_path / "new" / "worse.jsonl"
    done = dialogauge("perturb", responses, *call("noise", 0.2, out, "--seed", 5))
    assert done == (0, "", "10 of 50 turns changed, 40 left as they were\n")
    assert load(out).turns == perturb(load(responses), "noise", 0.2, seed=5).turns
    assert list(out.parent.iterdir()) == [out]
    assert dialogauge("score", out, "--metrics", "bleu").code == 0


@THOROUGH
@given(turns=TURNS)
def test_every_field_of_unchanged_turns_comes_back(tmp_path, turns):
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    write_lines(source, *map(record, turns))
    assert main(["perturb", str(source), *map(str, call("noise", 0, out)), "--overwrite"]) == 0
    assert load(out).turns == turns


@THOROUGH
@given(turns=TURNS)
def test_changed_turns_come_back(tmp_path, turns):
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    write_lines(source, *map(record, turns))
    assert main(["perturb", str(source), *map(str, call("permute", 1, out)), "--overwrite"]) == 0
    assert load(out).turns == perturb(load(source), "permute", 1).turns


def test_missing_is_absent(dialogauge, tmp_path):
    source = write_lines(tmp_path / "in.jsonl", {"response": ""})
    assert json.loads(dialogauge("perturb", source, *call()).out) == {"id": "0", "response": "", "system": "in"}


def test_gzip_by_name(dialogauge, responses, tmp_path):
    plain, packed, again = (tmp_path / name for name in ("a.jsonl", "a.jsonl.gz", "b.jsonl.gz"))
    for out in (plain, packed, again):
        assert dialogauge("perturb", responses, *call(out=out)).code == 0
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert packed.read_bytes() == again.read_bytes()
    assert load(packed).turns == load(plain).turns


def test_stdout_has_nothing_but_turns(dialogauge, responses, tmp_path):
    done = dialogauge("perturb", responses, *call())
    assert done.err == "10 of 50 turns changed, 40 left as they were\n"
    assert (tmp_path / "x.jsonl").write_text(done.out, encoding="utf-8")
    assert load(tmp_path / "x.jsonl").turns == perturb(load(responses), "permute", 0.2).turns


def test_stdout_that_is_not_utf8_loses_nothing(tmp_path):
    source = write_lines(tmp_path / "in.jsonl", {"response": "好 👍\u202e\u009b", "id": "é"})
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "dialogauge", "perturb", str(source), *map(str, call(ratio=0))]
    done = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert json.loads(done.stdout)["response"] == "好 👍\u202e\u009b"
    # Text stays readable; what could harm a terminal is an escape.
    assert "好 👍\\u202e\\u009b" in done.stdout.decode("utf-8")


def test_references(dialogauge, responses, tmp_path):
    out = tmp_path / "real.jsonl"
    done = dialogauge("perturb", responses, *call("mismatch", 1, out, "--of", "references"))
    assert done.err == "25 of 25 turns changed, 0 left as they were\n"
    real = load(out)
    assert real.systems == ("reference",)
    assert real.turns == perturb(load(responses), "mismatch", 1, of="reference").turns
    assert all(turn.response not in turn.references for turn in real)


def test_systems(dialogauge, responses, tmp_path):
    out = tmp_path / "b.jsonl"
    done = dialogauge("perturb", responses, *call("truncate", 1, out, "--systems", "b"))
    assert (done.code, load(out).systems) == (0, ("b",))
    done = dialogauge("perturb", responses, *call("truncate", 1, tmp_path / "c.jsonl", "--systems", "c"))
    assert (done.code, done.err) == (2, "unknown system 'c'; known: a, b\n")


def test_unchanged_turns_are_told(dialogauge, tmp_path):
    source = write_lines(tmp_path / "in.jsonl", {"response": "one two"}, {"response": "one"}, {"response": ""})
    done = dialogauge("perturb", source, *call(ratio=1))
    warning, counts = done.err.splitlines()
    assert warning == "warning: permute: 2 of 3 chosen turns unchanged: the response has fewer than two different words"
    assert counts == "1 of 3 turns changed, 2 left as they were"


def test_known_faults_are_told(dialogauge, tmp_path):
    path = annotation("dailyz")
    done = dialogauge("perturb", path, *call("noise", 0.3, tmp_path / "x.jsonl"))
    assert f"warning: {path} is fbd-dailyz: s07 gives random responses: all 100 were said" in done.err
    assert done.err.endswith("240 of 800 turns changed, 560 left as they were\n")


def test_other_readers_and_invalid_lines(dialogauge, tmp_path):
    source = write_lines(tmp_path / "in.jsonl", {"response": "one two"}, "{", {"response": "three four"})
    done = dialogauge("perturb", source, *call())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"{source}:2: not valid JSON")
    done = dialogauge("perturb", source, *call(ratio=1), "--skip-invalid")
    assert (done.code, len(done.out.splitlines())) == (0, 2)
    assert "1 line left out" in done.err
    assert dialogauge("perturb", source, *call(), "--reader", "jsnl").err.startswith("unknown reader 'jsnl'")


# Where it writes


def test_an_existing_file_is_left_unless_told(dialogauge, responses, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("mine")
    done = dialogauge("perturb", responses, *call(out=out))
    assert done.code == 2
    assert done.err == (f"{out}: is there already and was left as it is; choose another name or pass --overwrite\n")
    assert out.read_text() == "mine"
    assert dialogauge("perturb", responses, *call(out=out), "--overwrite").code == 0
    assert len(load(out)) == 50


def test_the_input_may_be_overwritten(dialogauge, responses):
    expected = perturb(load(responses), "permute", 0.2).turns
    assert dialogauge("perturb", responses, *call(out=responses), "--overwrite").code == 0
    assert load(responses).turns == expected


def test_only_plain_files_are_overwritten(dialogauge, responses, tmp_path):
    (tmp_path / "link").symlink_to(responses)
    (tmp_path / "folder").mkdir()
    for name in ("link", "folder"):
        done = dialogauge("perturb", responses, *call(out=tmp_path / name), "--overwrite")
        assert done.code == 2
        assert "is there and is not a plain file" in done.err
    done = dialogauge("perturb", responses, *call(out=responses / "x.jsonl"))
    assert done.code == 2
    assert "a part of its path is a file" in done.err


def test_where_writing_fails_nothing_is_left(dialogauge, responses, tmp_path, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    out = tmp_path / "new" / "out.jsonl"
    monkeypatch.setattr("os.fsync", full)
    done = dialogauge("perturb", responses, *call(out=out))
    assert (done.code, done.err) == (1, f"{out}: No space left on device\n")
    assert list(out.parent.iterdir()) == []


def test_the_file_has_the_usual_permissions(dialogauge, responses, tmp_path):
    ordinary = tmp_path / "ordinary"
    ordinary.touch()
    dialogauge("perturb", responses, *call(out=tmp_path / "out.jsonl"))
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (ordinary, tmp_path / "out.jsonl")]
    assert modes[0] == modes[1]


# The call


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (call("nosie"), "unknown perturbation 'nosie'; did you mean noise"),
        (call("noise", 30), "ratio: expected a number from 0 to 1, found 30.0"),
        (call("noise", "nan"), "ratio: expected a number from 0 to 1, found nan"),
        (call("noise", 0.3, "-", "--seed", -1), "seed: expected a whole number from 0 to 9e+18, found -1"),
        (call("noise", "much"), "usage: dialogauge perturb"),
        (call("noise", 0.3, "-", "--of", "facts"), "usage: dialogauge perturb"),
        (call("noise")[2:], "usage: dialogauge perturb"),
    ],
)
def test_wrong_calls(dialogauge, arguments, message):
    # The file is not there: a wrong call is refused before anything is read.
    done = dialogauge("perturb", "nowhere.jsonl", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(message)


def test_no_references(dialogauge, tmp_path):
    source = write_lines(tmp_path / "in.jsonl", {"response": "one two"})
    done = dialogauge("perturb", source, *call(ratio=1), "--of", "references")
    assert (done.code, done.out, done.err) == (2, "", "expected turns with references, found none\n")


def test_help_names_every_kind(dialogauge):
    shown = dialogauge("perturb", "--help").out
    assert {line.split()[0] for line in shown.splitlines() if re.match(r"  \w+   +\w", line)} >= set(KINDS)


def test_a_turn_that_json_cannot_hold(dialogauge, responses, monkeypatch):
    monkeypatch.setattr(
        "dialogauge.studies.perturb.replace", lambda *_, **__: Turn("7", "x", extra={"score": float("nan")})
    )
    done = dialogauge("perturb", responses, *call())
    assert done.code == 2
    assert "turn '7' of 'system' cannot be written as JSON" in done.err


def test_the_page_shows_what_comes_out():
    page = (ROOT / "docs" / "perturbations.md").read_text(encoding="utf-8")
    kinds = page.partition("## The kinds\n")[2].partition("\n## ")[0]
    shown = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", kinds, re.MULTILINE))
    corpus = load(ROOT / "examples" / "everyday.jsonl").select(["good"])
    assert shown == {kind: perturb(corpus, kind, 1).turns[0].response for kind in KINDS}
