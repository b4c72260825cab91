"""Processes that use one cache at the same time, and processes that are killed in the middle of anything."""

import sys

import pytest

from dialogauge.encode.cache.cache import Cache
from tests.encode.cache.cached import MIB, made, on_disk, run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")

START = """
import os, random, signal, sys, time, traceback
from pathlib import Path
from dialogauge.encode.cache import cache, store
from dialogauge.encode.cache.cache import Cache
from tests.encode.cache.cached import MIB, made

folder = Path(sys.argv[1])

def fork(work, *arguments):
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work(*arguments)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)

def join(children):
    for child in children:
        assert os.waitpid(child, 0)[1] == 0, "a child failed"
"""


KILLED = """
store.USE_GRAIN = 0.0
entries = made(400)
keys = list(entries)

def work(seed):
    choose = random.Random(seed)
    cache = Cache(folder, limit=512 * 1024)
    found = cache.get(keys)
    assert found.items() <= entries.items(), "a wrong value"
    assert not cache.problems, cache.problems
    (folder.parent / "found").write_text(str(len(found)))
    os.kill(os.getppid(), signal.SIGUSR1)
    while True:
        some = choose.sample(keys, choose.randrange(1, 100))
        cache.put({key: entries[key] for key in some})
        cache.get(choose.sample(keys, 50))
        if choose.random() < 0.05:
            cache.clear()
        if choose.random() < 0.1:
            cache.close()

kept = 0
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
for seed in range(50):
    child = fork(work, seed)
    ready = signal.sigtimedwait([signal.SIGUSR1], 20)
    assert ready, os.waitpid(child, os.WNOHANG)
    kept += int((folder.parent / "found").read_text()) > 0
    time.sleep(random.Random(seed).random() * 0.05)
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL, "the child ended by itself"
print(kept)
"""


def test_killed_at_any_moment(tmp_path):
    folder = tmp_path / "cache"
    assert int(run(START + KILLED, folder)) > 25, "most of the killed processes left nothing: this tests little"
    with Cache(folder) as cache:
        found = cache.get(list(made(400)))
        assert found.items() <= made(400).items()
        cache.put(made(400))
        assert cache.get(list(made(400))) == made(400)
    assert cache.problems == []
    assert [path.name for path in folder.iterdir()] == ["vectors-1.sqlite"]


KILLED_AT_BIRTH = """
def work():
    with Cache(folder) as cache:
        cache.put(made(3))

for seed in range(40):
    child = fork(work)
    time.sleep(random.Random(seed).random() * 0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with Cache(folder) as cache:
        found = cache.get(list(made(3)))
        assert found in ({}, made(3)), found
        cache.put(made(3))
        assert cache.get(list(made(3))) == made(3)
    assert not cache.problems, (seed, cache.problems)
    for path in folder.iterdir():
        path.unlink()
"""


def test_killed_while_the_file_is_made(tmp_path):
    run(START + KILLED_AT_BIRTH, tmp_path)


TOGETHER = """
def work(number, start):
    time.sleep(max(0.0, start - time.monotonic()))
    shared, own = made(600), made(600, start=1000 * number)
    both = {**shared, **own}
    with Cache(folder) as cache:
        for place in range(0, 600, 60):
            cache.put(dict(list(shared.items())[place : place + 60]))
            cache.put(dict(list(own.items())[place : place + 60]))
            assert cache.get(list(both)).items() <= both.items()
        assert cache.get(list(both)) == both
    assert not cache.problems, cache.problems

start = time.monotonic() + 0.1
join([fork(work, number, start) for number in range(1, 5)])
"""


def test_four_processes_write_the_same_and_different_keys(tmp_path):
    run(START + TOGETHER, tmp_path / "cache")
    entries = {key: value for number in range(5) for key, value in made(600, start=1000 * number).items()}
    with Cache(tmp_path / "cache") as cache:
        assert cache.get(list(entries)) == entries
        assert cache.status().entries == len(entries)
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["vectors-1.sqlite"]


BOUNDED = """
def work(number):
    with Cache(folder, limit=2 * MIB) as cache:
        for round in range(15):
            new = made(200, start=10_000 * number + 200 * round)
            cache.put(new)
            assert cache.get(list(new)).items() <= new.items()
    assert not cache.problems, cache.problems

join([fork(work, number) for number in range(3)])
"""


def test_several_processes_evict(tmp_path):
    run(START + BOUNDED, tmp_path)
    with Cache(tmp_path, limit=2 * MIB) as cache:
        assert cache.status().entries > 500
        assert cache.status().bytes_in_use <= 2 * MIB
    assert on_disk(tmp_path) < 5 * MIB


BORN_TOGETHER = """
def work(number, start):
    time.sleep(max(0.0, start - time.monotonic()))
    with Cache(folder) as cache:
        found = cache.get(list(made(10)))
        assert found.items() <= made(10).items()
        cache.put(made(10, start=10 * number))
    assert not [problem for problem in cache.problems if "is damaged" not in problem], cache.problems

for damage in [None, b"not a database " * 10_000, None, bytes(100_000)] * 3:
    start = time.monotonic() + 0.03
    join([fork(work, number, start) for number in range(6)])
    with Cache(folder) as cache:
        assert cache.get(list(made(60))) == made(60)
        assert not cache.problems
    (file,) = folder.iterdir()
    if damage:
        file.write_bytes(damage)
    else:
        file.unlink()
"""


def test_processes_that_make_the_file_at_once(tmp_path):
    """The first one, and the next one after a damaged one."""
    run(START + BORN_TOGETHER, tmp_path)
