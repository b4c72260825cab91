"""Processes that die, print, or lose their driver."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from dialogauge.engines.cores import usable_cores
from dialogauge.engines.processes import Processes
from dialogauge.errors import InputError, WorkFailed
from tests.engines import work

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 20.0
"""Seconds after which what should have happened has not."""


def alive(number: int) -> bool:
    """Whether a process is there, and is not merely waiting to be reaped."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def soon(holds) -> bool:
    end = time.monotonic() + PATIENCE
    while not (found := holds()) and time.monotonic() < end:
        time.sleep(0.05)
    return bool(found)


def numbers(folder: Path) -> list[int]:
    """The processes that said that they began."""
    return [int(path.name) for path in folder.iterdir()]


def test_a_worker_that_dies_is_replaced_and_its_item_done_again(tmp_path):
    with Processes(2) as engine:
        total = engine.fold(work.Killing(tmp_path, at=(2, 5)), range(7))
        assert total.text == "((((01)(23))(45))6)"
        assert engine.notes == ["2 workers died, and 2 parts were done again"]


@pytest.mark.parametrize(
    ("by", "how"), [(signal.SIGKILL, "was ended by SIGKILL"), (signal.SIGSEGV, "was ended by SIGSEGV")]
)
def test_an_item_that_kills_every_worker_is_named(tmp_path, by, how):
    with Processes(2) as engine, pytest.raises(WorkFailed, match=f"^item 3: 4 workers died at it; the last one {how}"):
        engine.fold(work.Killing(tmp_path, at=(3,), times=99, by=by), range(6))
    assert len(list(tmp_path.iterdir())) == 4


def test_what_is_killed_twice_is_cut():
    with Processes(2) as engine:
        assert engine.fold(work.Large(fits=4, killed=True), [(0, 3), (3, 10)]) == 45
        assert engine.notes == [
            "2 workers died, and 1 part was done again",
            "1 part needed more memory than there was, and was cut smaller",
        ]


def test_a_worker_that_dies_between_folds_is_replaced():
    with Processes(1) as engine:
        ((first, _),) = engine.fold(work.Processes(), [0])
        os.kill(first, signal.SIGKILL)
        assert soon(lambda: not alive(first))
        ((second, _),) = engine.fold(work.Processes(), [0])
        assert second != first
        assert engine.notes == []


def test_processes_are_kept_and_have_one_thread_each_or_all_of_them(monkeypatch):
    monkeypatch.setattr("dialogauge.engines.processes.count_gpus", lambda: 0)
    with Processes(2) as engine:
        one = engine.fold(work.Processes(), [0.2] * 4)
        assert dict(one).keys() >= dict(engine.fold(work.Processes(), [0.2] * 4)).keys()
        assert set(dict(one).values()) == {"1"}
        many = engine.fold(work.Processes(), [0.0] * 4, threads=True)
        assert set(many) == {(many[0][0], "2")}
        assert many[0] not in one
    assert not any(alive(number) for number, _ in one + many)


def test_one_process_for_each_gpu(monkeypatch):
    monkeypatch.setattr("dialogauge.engines.processes.count_gpus", lambda: 2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,7,8")
    seen = Processes(8)._environments(threads=True)
    assert [each["CUDA_VISIBLE_DEVICES"] for each in seen] == ["5", "7"]
    assert [each["OMP_NUM_THREADS"] for each in seen] == ["4", "4"]


def test_no_more_processes_than_items():
    with Processes(50) as engine:
        engine.fold(work.Processes(), [0.0, 0.0])
        assert len(engine.pools[False].processes) == 2


def test_what_work_prints_goes_to_stderr(capfd):
    with Processes(1) as engine:
        assert engine.fold(work.Printing(), range(3)) == 3
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err.count("an item") == captured.err.count("from below") == 3


def test_work_that_cannot_be_sent_is_refused():
    with Processes(2) as engine:
        with pytest.raises(InputError, match="cannot be sent to other processes .* no lambdas"):
            engine.fold(work.Unpicklable(), range(3))
        with pytest.raises(InputError, match="cannot be sent to other processes"):
            engine.fold(work.Floats(), [lambda: 0])
        with pytest.raises(InputError, match="what was measured cannot be sent to another process"):
            engine.fold(work.LambdaParts(), range(3))
        with pytest.raises(WorkFailed, match="^Unsendable: cannot be pickled$"):
            engine.fold(work.Raising("local"), range(3))


def test_an_error_that_is_a_defect_comes_with_where_it_was_raised():
    with Processes(1) as engine, pytest.raises(KeyError) as raised:
        engine.fold(work.Raising("key"), range(3))
    assert "work.py" in raised.value.__notes__[0]


def test_workers_that_cannot_start_are_told_once(monkeypatch, capfd):
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent)])
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with Processes(2) as engine, pytest.raises(WorkFailed, match="do not start: the last one ended with status 1"):
        engine.fold(work.Floats(), [1.0, 2.0])


SCRIPT = """
import sys
from pathlib import Path
from dialogauge.engines import make_engine
from tests.engines.work import Endless, Plain

class InTheScript(Plain):
    pass

if len(sys.argv) > 1:
    with make_engine(None, 2) as engine:
        engine.fold(Endless(Path(sys.argv[1])), range(4))
try:
    make_engine(None, 2).fold(InTheScript(), range(2))
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_worker_outlives_its_driver(tmp_path, by):
    """Even in the midst of an item."""
    began = tmp_path / "began"
    began.mkdir()
    call = [sys.executable, "-c", SCRIPT, str(began)]
    driver = subprocess.Popen(call, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert soon(lambda: len(numbers(began)) == 2)
        os.kill(driver.pid, by)
        driver.wait(PATIENCE)
        assert soon(lambda: not any(map(alive, numbers(began))))
    finally:
        for number in [driver.pid, *numbers(began)]:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        told = driver.communicate()[1]
    assert driver.returncode == -by
    assert told.count("Traceback") == (1 if by == signal.SIGINT else 0), told


def test_work_from_the_script_itself_is_refused_with_what_to_do():
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.startswith("InputError a worker cannot find what it is to do")
    assert "put it into a module" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(("limits", "cores"), [("150000 100000", 2), ("max 100000", 3), ("1000 100000", 1), ("", 3)])
def test_cores_of_a_control_group(monkeypatch, tmp_path, limits, cores):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 5}, raising=False)
    monkeypatch.setattr("dialogauge.engines.cores.CGROUPS", tmp_path)
    (tmp_path / "cpu.max").write_text(limits)
    assert usable_cores() == cores
