"""`score --shard`, `merge` and `--workers` as commands: stopped, without room, with bad lines; nothing half written, no
process left."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

START = """
import sys
from dialogauge.corpus.chunks import plan
from dialogauge.evaluation import measure
plan.CHUNK_BYTES, measure.ROWS_FIT = 3000, 50
from dialogauge.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
"""The command line with small chunks."""


def command(*arguments):
    return [sys.executable, "-c", START, *map(str, arguments)]


def done(*arguments, **options):
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=120, check=False, **options)


def test_shards_one_by_one_and_merged(files, tmp_path):
    for number in (1, 2):
        made = done("score", *files, "--metrics", "length", "--shard", f"{number}/2", "--out", tmp_path / f"s{number}")
        assert made.returncode == 0, made.stderr
        assert f"shard {number}/2, " in made.stdout
        assert "dialogauge merge DIR… --out RUN" in made.stderr
    merged = done("merge", tmp_path / "s2", tmp_path / "s1", "--out", tmp_path / "run", "--format", "json", "-q")
    whole = done("score", *files, "--metrics", "length", "--format", "json", "--quiet")
    assert json.loads(merged.stdout)["corpus"]["turns"] == json.loads(whole.stdout)["corpus"]["turns"] == 480
    assert (tmp_path / "run" / "scores.json").is_file()
    again = done("score", *files, "--metrics", "length", "--shard", "1/2", "--out", tmp_path / "s1")
    assert again.returncode == 2
    assert "is there already" in again.stderr
    scored = done("score", tmp_path / "s1")
    assert scored.returncode == 2
    assert "s1: is a shard of a run; `dialogauge merge DIR… --out RUN` puts all shards together" in scored.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--shard", "3/2", "--out", "x"], "expected i/n with i from 1 to n, as 2/7, found '3/2'"),
        (["--shard", "1/2"], "--shard 1/2 needs --out DIR"),
        (["--shard", "1/2", "--out", "x", "--html", "y.html"], "--html needs all turns: give it to `dialogauge merge`"),
        (["--shard", "1/2", "--out", "x", "--worst", "3"], "--worst needs all turns: leave out --shard"),
        (["--shard", "1/2", "--out", "x", "--fail-below", "bleu=1"], "--fail-below needs all turns: leave out"),
    ],
)
def test_what_makes_no_sense_of_a_shard_is_refused(files, options, message):
    found = done("score", *files, "--metrics", "length", *options)
    assert found.returncode == 2
    assert message in found.stderr


def test_a_bad_line_of_the_second_shard_is_named_as_in_the_whole_file(files, tmp_path):
    lines = files[1].read_text().splitlines()
    lines[100] = '{"response": 5}'
    files[1].write_text("\n".join(lines))
    arguments = ("score", *files, "--metrics", "length", "--out", tmp_path / "s", "--shard")
    found = [done(*arguments, f"{number}/3") for number in (1, 2, 3)]
    assert [each.returncode for each in found].count(2) >= 1
    assert any("b.jsonl:101: response: expected text" in each.stderr for each in found)


def test_a_full_disk_leaves_no_shard(files, tmp_path):
    def no_room():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    folder = tmp_path / "full"
    folder.mkdir()
    found = done("score", *files, "--metrics", "length", "--shard", "1/2", "--out", folder / "s", preexec_fn=no_room)
    assert found.returncode == 1
    assert "File too large" in found.stderr
    assert "Traceback" not in found.stderr
    assert list(folder.iterdir()) == []


def children_of(number):
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == number and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_no_process_and_no_directory(files, tmp_path, stop):
    (tmp_path / "out").mkdir()
    arguments = ["score", *files, "--metrics", "length,meteor", "--workers", "2", "--out", tmp_path / "out" / "run"]
    with subprocess.Popen(command(*arguments), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        end = time.monotonic() + 60
        while not (workers := children_of(process.pid)) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        assert workers, "no worker was seen"
        process.send_signal(stop)
        _, said = process.communicate(timeout=60)
    assert process.returncode != 0
    assert b"Traceback" not in said
    end = time.monotonic() + 30
    while any(alive(number) for number in workers) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(alive(number) for number in workers)
    assert not (tmp_path / "out" / "run").exists()


def alive(number):
    try:
        os.kill(number, 0)
        return "\nState:\tZ" not in Path(f"/proc/{number}/status").read_text()
    except (OSError, ProcessLookupError):
        return False
