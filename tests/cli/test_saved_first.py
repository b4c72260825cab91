"""What was to be kept is kept before anything is printed, and what cannot be kept is said before any work."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FILES = {"measures.npz", "run.json", "scores.json", "texts.parquet", "turns.parquet"}


def program(*arguments, **options):
    command = [sys.executable, "-m", "dialogauge", *map(str, arguments)]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, **options)


def score(responses, out):
    return ["score", responses, "--metrics", "length", "--resamples", "10", "-q", "--out", out]


def test_saved_in_spite_of_a_closed_pipe(responses, tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    done = program(*score(responses, tmp_path / "run"), stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")
    assert {path.name for path in (tmp_path / "run").iterdir()} == FILES


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_saved_in_spite_of_a_full_disk_behind_stdout(responses, tmp_path):
    with Path("/dev/full").open("w") as full:
        done = program(*score(responses, tmp_path / "run"), stdout=full)
    assert (done.returncode, done.stderr) == (1, "stdout: No space left on device\n")
    assert {path.name for path in (tmp_path / "run").iterdir()} == FILES


def test_a_closed_stdout_is_said_at_once(responses, tmp_path):
    command = " ".join([sys.executable, "-m", "dialogauge", *map(str, score(responses, tmp_path / "run")), ">&-"])
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "stdout: is closed, and results go there; > /dev/null throws them away\n"


def test_what_cannot_be_saved_is_printed(dialogauge, responses, tmp_path, monkeypatch):
    def full(*_arguments, **_options):
        raise OSError(28, "No space left on device", str(tmp_path / "run"))

    monkeypatch.setattr("dialogauge.evaluation.kept.save._write_turns", full)
    done = dialogauge(*score(responses, tmp_path / "run"))
    assert done.code == 1
    assert done.err == f"{tmp_path / 'run'}: No space left on device\n"
    assert "length" in done.out
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("verb", ["score", "correlate"])
@pytest.mark.parametrize("out", ["/proc/here/run", "name" * 60])
def test_an_out_that_cannot_be_made_is_refused_before_any_work(dialogauge, tmp_path, monkeypatch, verb, out):
    if out.startswith("/proc") and not Path("/proc/self").exists():
        pytest.skip("needs /proc")
    monkeypatch.chdir(tmp_path)
    done = dialogauge(verb, "missing.jsonl", "--metrics", "length", "--out", out)
    assert done.code == 2
    assert done.err.startswith(f"{out}: cannot be made in ")
    assert not list(tmp_path.iterdir())


def test_an_out_in_a_folder_that_may_not_be_written_to(dialogauge, responses, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    (tmp_path / "folder").mkdir(mode=0o555)
    done = dialogauge(*score(responses, tmp_path / "folder" / "run"))
    assert done.code == 2
    assert "Permission denied" in done.err


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "needs more memory than there is"),
        (type("PanicException", (BaseException,), {})("index out\nof bounds"), "gave up: index out of bounds"),
        (OSError(28, "No space left on device"), "stdout: No space left on device"),
    ],
)
def test_one_line_for_what_nobody_foresaw(dialogauge, responses, monkeypatch, error, said):
    def fails(*_arguments, **_options):
        raise error

    monkeypatch.setattr("dialogauge.evaluation.evaluate", fails)
    done = dialogauge("score", responses, "--metrics", "length")
    assert done.code == 1
    assert said in done.err
    assert done.err.count("\n") == 1
