"""A real Ray cluster of two nodes: the same bits as here, whatever dies, and nothing left over."""

import os
import platform
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from dialogauge import evaluate
from dialogauge.cli.main import main
from dialogauge.engines import make_engine
from dialogauge.engines.here import Here
from dialogauge.engines.make import check_engine
from dialogauge.engines.ray_worker import RayWorker
from dialogauge.errors import InputError, MissingPackage, WorkFailed
from tests.engines import work
from tests.engines.test_fold import summed
from tests.engines.test_processes import ROOT, alive, numbers
from tests.engines.two_nodes import CORES, client_server, joined, two_nodes

PATIENCE = 120.0
"""Seconds: a worker that was about to start when its node went waits for that a while, and then ends."""


def soon(holds) -> bool:
    end = time.monotonic() + PATIENCE
    while not (found := holds()) and time.monotonic() < end:
        time.sleep(0.1)
    return bool(found)


@pytest.mark.parametrize("name", ["ray", "ray://host:10001"])
def test_without_ray_the_error_names_the_extra(monkeypatch, capsys, name):
    monkeypatch.setitem(sys.modules, "ray", None)
    wanted = r"the engine ray needs the package ray: pip install 'dialogauge\[ray\]'"
    for refused in (check_engine, lambda name: make_engine(name, 2), lambda name: evaluate([], "length", engine=name)):
        with pytest.raises(MissingPackage, match=wanted):
            refused(name)
    assert main(["score", str(ROOT / "examples" / "everyday.jsonl"), "--engine", name]) == 1
    assert "pip install 'dialogauge[ray]'" in capsys.readouterr().err


def test_an_address_that_is_none():
    with pytest.raises(InputError, match="expected ray, or ray://HOST:PORT"):
        check_engine("ray://")
    with pytest.raises(InputError, match="unknown engine 'spark'"):
        evaluate(str(ROOT / "examples" / "everyday.jsonl"), "length", engine="spark")
    with pytest.raises(InputError, match="unknown engine 'rai'; did you mean ray"):
        check_engine("rai")


@pytest.fixture
def engine(on_ray):
    with make_engine("ray", None) as engine:
        yield engine


@pytest.mark.scale
def test_sums_are_made_on_both_nodes_in_the_same_order(engine):
    for count in (1, 2, 3, 6, 7):
        assert engine.fold(work.Plain(), range(count)).text == summed(count)
    assert engine.fold(work.Slow(), range(6)).text == summed(6)
    floats = [random.Random(place).gauss(0, 10**8) for place in range(33)]
    assert engine.fold(work.Floats(), floats) == Here().fold(work.Floats(), floats) != sum(floats)
    assert engine.fold(work.Plain(), []) is None
    total = engine.fold(work.Arrays(), range(12))
    assert total.tobytes() == Here().fold(work.Arrays(), range(12)).tobytes()
    assert {actor.node for actor in engine.pool.actors} == set(engine.cluster.nodes())
    assert len(engine.pool.actors) == 2 * CORES
    assert engine.notes == []


@pytest.mark.scale
def test_asides_and_progress_are_the_driver_s(engine):
    asides, done = {}, []
    assert engine.fold(work.Asides(), range(10), aside=asides.__setitem__, done=done.append) == 45
    assert asides == {number: f"about {number}".encode() for number in range(0, 10, 2)}
    assert sorted(done) == list(range(10))


@pytest.mark.scale
def test_the_first_error_is_told_as_it_was(engine):
    done = []
    with pytest.raises(InputError) as raised:
        engine.fold(work.Bad((5, 6, 9)), range(10**4), done=done.append)
    expected = InputError("expected a turn, found nothing", "replies.jsonl", 5)
    assert (str(raised.value), vars(raised.value)) == (str(expected), vars(expected))
    assert set(done) >= set(range(5))
    assert len(done) < 5000
    with pytest.raises(InputError, match="^there are no weights$"):
        engine.fold(work.BadOpen(), range(5))
    with pytest.raises(KeyError, match="odd"):
        engine.fold(work.Raising("key"), range(3))
    assert engine.fold(work.Floats(), [1.5, 2.5]) == 4.0


@pytest.mark.scale
def test_what_needs_too_much_memory_is_cut_and_else_reported(engine):
    asides = []
    total = engine.fold(work.Large(fits=3), [(0, 10), (10, 12)], aside=lambda *each: asides.append(each))
    assert total == sum(range(12))
    assert [value for index, value in asides if index == 0] == [b"(0, 2)", b"(2, 5)", b"(5, 7)", b"(7, 10)"]
    assert engine.notes == ["3 parts needed more memory than there was, and were cut smaller"]
    with pytest.raises(WorkFailed, match="^numbers 0 to 1: needs more memory than there is, and cannot be cut"):
        engine.fold(work.Large(fits=0), [(0, 4)])


@pytest.mark.scale
def test_workers_that_are_killed_are_made_up_for(engine, tmp_path):
    total = engine.fold(work.Killing(tmp_path, at=(2, 5)), range(7))
    assert total.text == summed(7)
    assert engine.notes == ["2 workers died, and 2 parts were done again"]
    assert engine.fold(work.Large(fits=4, killed=True), [(0, 3), (3, 10)]) == 45
    poison = work.Killing(tmp_path, at=(1,), times=99)
    with pytest.raises(WorkFailed, match="^item 1: 4 workers died at it; the last one was killed or crashed$"):
        engine.fold(poison, range(3))


@pytest.mark.scale
def test_what_cannot_be_sent_is_refused(engine):
    with pytest.raises(InputError, match="cannot be sent to other processes .* no lambdas"):
        engine.fold(work.Unpicklable(), range(3))
    with pytest.raises(WorkFailed, match="^Unsendable: cannot be pickled$"):
        engine.fold(work.Raising("local"), range(3))


@pytest.mark.scale
def test_encoders_have_one_worker_on_each_node_with_its_threads(engine):
    many = engine.fold(work.Processes(), [0.5] * 6, threads=True)
    assert len({number for number, _ in many}) == 2
    assert {threads for _, threads in many} == {str(CORES)}
    assert {actor.node for actor in engine.pool.actors} == set(engine.cluster.nodes())
    one = engine.fold(work.Processes(), [0.0] * 4)
    assert {threads for _, threads in one} == {"1"}
    assert not {number for number, _ in one} & {number for number, _ in many}


@pytest.mark.scale
def test_a_node_that_dies_is_made_up_for():
    """With what was done there, and with sums that were kept there."""
    expected = Here().fold(work.Arrays(), range(24))
    told = []
    with two_nodes() as cluster, joined(cluster), make_engine("ray", None) as engine:

        def tell(index, _):
            told.append(index)
            if len(told) == 10:
                os.kill(cluster["raylets"][1], signal.SIGKILL)

        total = engine.fold(work.Arrays(), range(24), aside=tell)
        assert total.tobytes() == expected.tobytes()
        assert sorted(told) == list(range(24))
        assert list(engine.cluster.nodes()) == cluster["nodes"][:1]
        assert engine.notes
        assert engine.fold(work.Arrays(), range(3)).tobytes() == Here().fold(work.Arrays(), range(3)).tobytes()


@pytest.mark.scale
def test_a_driver_that_is_on_no_node_of_the_cluster(on_ray, tmp_path):
    with client_server(on_ray) as address, make_engine(address, None) as engine:
        total = engine.fold(work.Arrays(), range(12))
        assert total.tobytes() == Here().fold(work.Arrays(), range(12)).tobytes()
        assert {actor.node for actor in engine.pool.actors} == set(on_ray["nodes"])
        assert engine.fold(work.Killing(tmp_path, at=(2,)), range(7)).text == summed(7)
        assert engine.notes == ["1 worker died, and 1 part was done again"]


@pytest.mark.scale
def test_where_no_cluster_answers():
    with pytest.raises(InputError, match="^no Ray cluster can be used at ray://127.0.0.1:1: "):
        make_engine("ray://127.0.0.1:1", None)


def test_a_cache_is_never_that_of_another_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    RayWorker({"OMP_NUM_THREADS": "1"}, platform.node())
    assert os.environ["DIALOGAUGE_CACHE"] == str(tmp_path)
    RayWorker({}, "another machine")
    assert os.environ["DIALOGAUGE_CACHE"] == str(tmp_path / platform.node())


def marked(mark: str) -> list[int]:
    """Processes with this in their environment, which they have from the one that started them."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and mark.encode() in (folder / "environ").read_bytes() and alive(int(folder.name)):
                found.append(int(folder.name))
    return found


def listening(processes: list[int]) -> set[str]:
    """The addresses on which these accept connections, as `ss` shows them."""
    lines = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout.splitlines()
    return {
        line.split()[3].rpartition(":")[0] for line in lines if any(f"pid={number}," in line for number in processes)
    }


SCRIPT = """
import sys
from pathlib import Path
from dialogauge import evaluate
from dialogauge.cli.main import main
from dialogauge.engines import make_engine
from tests.engines.work import Endless
with make_engine("ray", 2) as engine:
    engine.fold(Endless(Path(sys.argv[1])), range(4))
"""


@pytest.mark.scale
@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_cluster_of_our_own_is_on_the_loopback_address_and_ends_with_its_driver(tmp_path, by):
    began, temporary = tmp_path / "began", tmp_path / "temporary"
    began.mkdir()
    mark = f"DIALOGAUGE_TEST={tmp_path}"
    environment = {**os.environ, "DIALOGAUGE_TEST": str(tmp_path)}
    environment.pop("RAY_ADDRESS", None)
    call = [sys.executable, "-c", SCRIPT, str(began)]
    driver = subprocess.Popen(call, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        assert soon(lambda: len(numbers(began)) == 2)
        ours = marked(mark)
        assert len(ours) >= 5
        assert {address.strip("[]").removeprefix("::ffff:") for address in listening(ours)} == {"127.0.0.1"}
        os.kill(driver.pid, by)
        driver.wait(PATIENCE)
        assert soon(lambda: not marked(mark)), [Path(f"/proc/{each}/cmdline").read_text() for each in marked(mark)]
    finally:
        for number in [driver.pid, *marked(mark)]:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        driver.communicate()
    assert driver.returncode == -by
    assert not temporary.exists()
