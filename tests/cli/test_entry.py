"""Ctrl-C, SIGTERM and SIGHUP: real processes, stopped at any moment, leave nothing half-written and no traceback."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

STOPPED = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.fixture(scope="module")
def conversations(tmp_path_factory):
    """Enough to write that a signal can come in the middle of it."""
    path = tmp_path_factory.mktemp("data") / "conversations.jsonl"
    lines = [{"dialogue": str(i), "context": [f"question {i}"], "response": f"answer {i}"} for i in range(3000)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def verbs(conversations, folder):
    """Calls that write, each with the name of what it writes."""
    score = ["score", conversations, "--metrics", "length,distinct", "--resamples", 10]
    return [
        ([*score, "--out", folder / "run"], "run"),
        (["perturb", conversations, "--kind", "noise", "--ratio", 1, "--out", folder / "out.jsonl"], "out.jsonl"),
        (["synthesize", "entailment", conversations, "--out", folder / "pairs.jsonl.gz"], "pairs.jsonl.gz"),
        ([*score, "--plot", folder / "scores.svg"], "scores.svg"),
    ]


def ended(process):
    """What the process said to its end, which comes soon."""
    try:
        return process.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def started(process):
    """Waits until Python itself is up and signals are ours, which shows in the process's mask of caught ones."""
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        caught = int(status.partition("SigCgt:")[2].split()[0], 16)
        if caught >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.001)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_stopped_at_any_moment(conversations, tmp_path):
    """From the first import to the last move into place."""
    random = Random(0)
    seen = set()
    for attempt in range(15):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        arguments, name = verbs(conversations, folder)[attempt % 4]
        number = list(STOPPED)[attempt % 3]
        command = [sys.executable, "-m", "dialogauge", *map(str, arguments)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            started(process)
            time.sleep(random.choice([0.02, 0.3, 1.5]) * random.random())
            process.send_signal(number)
            err = ended(process)
        assert "Traceback" not in err
        assert process.returncode in (STOPPED[number], -number, 0)
        if process.returncode == STOPPED[number]:
            assert err == "stopped\n" or err.endswith("\nstopped\n")
        assert {path.name for path in folder.iterdir()} <= {name}
        seen.add(process.returncode)
    assert seen & set(STOPPED.values())


WRITING = """
import os, sys, time
from pathlib import Path
sys.argv = ["dialogauge", "metrics"]
import dialogauge.cli.main
from dialogauge.files import whole_directory, whole_file

def write():
    folder = Path({folder!r})
    with whole_directory(folder / "run") as new, whole_file(folder / "file.gz", False) as file:
        (new / "a").write_text("half")
        file.write(b"half")
        print("ready", flush=True)
        {wait}

dialogauge.cli.main.main = write
from dialogauge.cli.entry import start
start()
"""
AT_WORK = {
    "in Python": "while True: time.sleep(0.01)",
    "outside of Python": "import ctypes; ctypes.CDLL(None).sleep(50)",
    "in a destructor": "Late = type('Late', (), {'__del__': lambda self: time.sleep(50)}); Late(); time.sleep(50)",
}


@pytest.mark.parametrize("number", STOPPED)
@pytest.mark.parametrize("place", AT_WORK)
def test_stopped_in_the_middle_of_writing(tmp_path, number, place):
    program = WRITING.format(folder=str(tmp_path), wait=AT_WORK[place])
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        assert len(list(tmp_path.iterdir())) == 2
        process.send_signal(number)
        err = ended(process)
    assert (process.returncode, err) == (STOPPED[number], "stopped\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", AT_WORK)
def test_stopped_where_nobody_listens_any_more(tmp_path, place):
    """The terminal that was closed, or the end of the pipe, is gone when the signal comes."""
    program = WRITING.format(folder=str(tmp_path), wait=AT_WORK[place])
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.stderr.close()
        process.send_signal(signal.SIGHUP)
        assert process.wait(timeout=60) == STOPPED[signal.SIGHUP]
    assert list(tmp_path.iterdir()) == []


SPOOLING = """
import os, sys, time
from dialogauge.corpus.reading.source import spooled_stdin
import dialogauge.cli.main

def read():
    with spooled_stdin():
        print("ready", flush=True)
        time.sleep(50)

dialogauge.cli.main.main = read
from dialogauge.cli.entry import start
start()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_what_was_piped_in_is_not_left_behind(tmp_path, number):
    """What a kill leaves goes with the next call that has something piped in."""
    for last in (number, signal.SIGTERM):
        with subprocess.Popen(
            [sys.executable, "-c", SPOOLING],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        ) as process:
            process.stdin.write("{}")
            process.stdin.close()
            assert process.stdout.readline() == "ready\n"
            assert len(list(tmp_path.iterdir())) == 1
            process.send_signal(last)
            process.wait(timeout=60)
    assert list(tmp_path.iterdir()) == []


def test_what_is_ignored_already_stays_ignored(tmp_path):
    """As under nohup."""
    program = WRITING.format(folder=str(tmp_path), wait="os.kill(os.getpid(), 1); time.sleep(0.5)")
    program = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + program
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file.gz", "run"]


def test_a_forked_child_ends_alone(tmp_path):
    """It shares the pipe on which its parent hears of signals."""
    wait = """
        child = os.fork()
        if not child:
            time.sleep(50)
            os._exit(1)
        time.sleep(0.2)
        os.kill(child, 15)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == 15
        time.sleep(3)
"""
    program = WRITING.format(folder=str(tmp_path), wait=wait.strip())
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
