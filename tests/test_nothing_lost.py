"""Nothing acknowledged is lost: every call of every writer is made to fail once, files may grow no further, and many
write to one name at once."""

import errno
import json
import os
import re
import subprocess
import sys
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.evaluation import evaluate
from dialogauge.evaluation.kept.load_result import load_result
from dialogauge.figures import drawing
from dialogauge.files import remove_abandoned, whole_directory, whole_file
from dialogauge.learned.directory import CARD, read_model, write_model
from dialogauge.learned.training.checkpoint import Checkpoint
from tests.failing import failing, largest_file


def write_file(target, text, overwrite=True):
    with whole_file(target, overwrite) as file:
        file.write(text.encode() * 1000)


def read_file(target):
    text = target.read_text()
    assert text == text[:5] * 1000
    return text[:5]


def write_directory(target, text, overwrite=True):
    with whole_directory(target, overwrite) as new:
        for name in "ab":
            (new / name).write_text(text * 1000)


def read_directory(target):
    assert sorted(path.name for path in target.iterdir()) == ["a", "b"]
    first, second = (read_file(target / name) for name in "ab")
    assert first == second
    return first


def results():
    turns = [Turn(str(place), "yes indeed" * place, references=("yes",)) for place in range(1, 4)]
    return {text: evaluate(Corpus(turns), "length", resamples=10, seed=len(text)) for text in ("first", "second")}


RESULTS = results()


def write_run(target, text, overwrite=True):
    RESULTS["first" if text == "first" else "second"].save(target, overwrite=overwrite)


def read_run(target):
    return {5: "first", 6: "other"}[load_result(target).settings.seed]


def write_model_directory(target, text, overwrite=True):
    write_model(target, {"weights": np.zeros(99, np.float32)}, {"kind": text}, "# A model\n", overwrite)


def read_model_directory(target):
    return read_model(target, json.loads((target / CARD).read_text())["kind"]).card["kind"]


def write_checkpoint(target, text, overwrite=True):
    torch = pytest.importorskip("torch", reason="needs torch")
    Checkpoint(target, "key").write({"weights": torch.zeros(99)}, {"text": text})


def read_checkpoint(target):
    _, record = Checkpoint(target, "key").read()
    return record["text"]


def write_figure(target, text, overwrite=True):
    from matplotlib.figure import Figure

    def draw():
        figure = Figure(figsize=(1, 1))
        figure.gca().set_gid(text)
        return figure

    drawing.save(draw, target.with_suffix(".svg"))


def read_figure(target):
    drawn = target.with_suffix(".svg").read_text()
    assert drawn.endswith("</svg>\n")
    return re.search('id="(first|other)"', drawn)[1]


WRITERS = {
    "file": (write_file, read_file),
    "directory": (write_directory, read_directory),
    "run": (write_run, read_run),
    "model": (write_model_directory, read_model_directory),
    "checkpoint": (write_checkpoint, read_checkpoint),
    "figure": (write_figure, read_figure),
}
SLOWLY = [pytest.param(what, marks=pytest.mark.slow if what in ("run", "figure") else ()) for what in WRITERS]


@pytest.mark.parametrize("what", SLOWLY)
def test_every_call_of_every_writer_fails_once(what, tmp_path):
    write, read = WRITERS[what]
    target = tmp_path / "target"
    write(target, "first")
    number, acknowledged, failures = 0, "first", 0
    while number < 1000:
        number += 1
        text = "other" if acknowledged == "first" else "first"
        try:
            with failing(number) as reached:
                write(target, text)
        except (OSError, InputError):
            failures += 1
            remove_abandoned(tmp_path)  # as whoever writes there next does
            assert read(target) in {acknowledged, text}
        else:
            assert read(target) == text
        acknowledged = read(target)
        if not reached():
            break
    assert 5 < failures < number < 1000
    write(target, "first")
    assert [path.stem for path in tmp_path.iterdir()] == ["target"]


@pytest.mark.parametrize("what", WRITERS)
def test_what_was_there_is_kept_where_nothing_can_be_moved_any_more(what, tmp_path, monkeypatch):
    """Not even back: it stays where it was moved to, and comes back with the next that writes there."""
    write, read = WRITERS[what]
    target = tmp_path / "target"
    write(target, "first")
    rename, moved = os.rename, []

    def first_only(source, destination):
        if os.path.basename(destination) == "old":  # noqa: PTH119
            moved.append(destination)
            return rename(source, destination)
        raise OSError(errno.ENOTEMPTY if not moved else errno.EIO, "made to fail")

    monkeypatch.setattr(os, "rename", first_only)
    monkeypatch.setattr(os, "replace", first_only)
    with pytest.raises((OSError, InputError), match="made to fail"):
        write(target, "other")
    monkeypatch.undo()
    remove_abandoned(tmp_path)
    assert read(target) == "first"
    assert [path.stem for path in tmp_path.iterdir()] == ["target"]


@pytest.mark.parametrize("what", WRITERS)
def test_files_that_cannot_grow(what, tmp_path):
    """As on a disk that is full: from the first byte on to the last that is missing."""
    write, read = WRITERS[what]
    target = tmp_path / "target"
    write(target, "first")
    largest = max(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    for size in {0, 1, 100, largest // 2, largest - 1}:
        with pytest.raises((OSError, InputError), match="File too large"), largest_file(size):
            write(target, "other")
        assert read(target) == "first"
        assert [path.stem for path in tmp_path.iterdir()] == ["target"]


@pytest.mark.parametrize("overwrite", [True, False])
@pytest.mark.parametrize("what", ["file", "directory"])
def test_of_many_writers_exactly_one_succeeds(what, overwrite, tmp_path):
    """With `overwrite` all do, and the last one's is there."""
    write, read = WRITERS[what]
    for attempt in range(20):
        target = tmp_path / str(attempt)
        ready = threading.Barrier(6)
        done = []

        def work(text, target=target, ready=ready, done=done):
            ready.wait()
            with suppress(InputError):
                write(target, text, overwrite)
                done.append(text)

        threads = [threading.Thread(target=work, args=(f"text{number}",)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if overwrite:
            assert len(done) == 6
            assert read(target) in done
        else:
            assert done == [read(target)]
    assert all(path.name.isdigit() for path in tmp_path.iterdir())


WRITE = """
import sys, time
from pathlib import Path
from dialogauge.errors import InputError
from dialogauge.files import whole_directory
target, go, text = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
with whole_directory(target) as new:
    (new / "a").write_text(text)
    print("ready", flush=True)
    while not go.exists():
        time.sleep(0.001)
"""


def test_of_many_processes_exactly_one_succeeds(tmp_path):
    target, go = tmp_path / "run", tmp_path / "go"
    command = [sys.executable, "-c", WRITE, str(target), str(go)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    children = [subprocess.Popen([*command, f"text{number}"], **pipes) for number in range(4)]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    time.sleep(0.01)
    go.touch()
    said = [child.communicate()[1] for child in children]
    winners = [f"text{number}" for number, child in enumerate(children) if child.returncode == 0]
    assert winners == [(target / "a").read_text()]
    assert sum("is there already and was left as it is" in text for text in said) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["go", "run"]
