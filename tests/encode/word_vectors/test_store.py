import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dialogauge.encode.static import open_static
from dialogauge.encode.word_vectors import store
from dialogauge.errors import InputError
from tests.encode.vectors import THREE, write_glove


def test_converted_once_and_the_source_is_not_read_again(source, folder, monkeypatch):
    first = open_static(source, folder)

    def fail(*arguments):
        raise AssertionError("converted or hashed again")

    monkeypatch.setattr(store, "sha256", fail)
    monkeypatch.setattr(store, "convert", fail)
    again = open_static(str(source), folder)
    assert again.identity == first.identity
    assert again.vector("world").tolist() == [0, 2]
    assert not again._table.flags.writeable


def test_a_copy_elsewhere_uses_the_same_conversion(source, folder, tmp_path):
    open_static(source, folder)
    copy = tmp_path / "copy.txt"
    copy.write_text(THREE)
    assert open_static(copy, folder).vector("hello").tolist() == [1, 0]
    assert len([path for path in folder.iterdir() if path.is_dir()]) == 1


def test_a_changed_source_is_converted_anew(three, source, folder):
    source.write_text(THREE.replace("hello 1 0", "hello 7 7"))
    assert open_static(source, folder).vector("hello").tolist() == [7, 7]


def test_a_source_that_changes_while_it_is_read(source, folder, monkeypatch):
    convert = store.convert

    def meddling(*arguments):
        source.write_text(THREE + "more 1 1\n")
        return convert(*arguments)

    monkeypatch.setattr(store, "convert", meddling)
    with pytest.raises(InputError, match="was changed while it was read"):
        open_static(source, folder)
    assert [path.name for path in folder.iterdir() if path.is_dir()] == []


def test_the_cache_folder_is_the_default(source, tmp_path, monkeypatch):
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path / "cache"))
    open_static(source)
    assert list((tmp_path / "cache" / "vectors").glob("*/vectors.npy"))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def swap_shape(path: Path) -> None:
    np.save(path, np.zeros((1, 2), np.float32))


def change_type(path: Path) -> None:
    np.save(path, np.load(path).astype(np.float64))


def of_another_file(path: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | {"sha256": "0" * 64}))


DAMAGE = {
    "vectors.npy": [cut, swap_shape, change_type, Path.unlink, lambda path: path.write_bytes(b"")],
    "words.npy": [cut, swap_shape, Path.unlink, lambda path: path.write_bytes(b"\x93NUMPY")],
    "rows.npy": [cut, swap_shape, Path.unlink, lambda path: path.write_text("what?")],
    "about.json": [
        cut,
        of_another_file,
        Path.unlink,
        lambda path: path.write_text("[]"),
        lambda path: path.write_text("{}"),
    ],
}


@pytest.mark.parametrize(("name", "damage"), [(name, each) for name, many in DAMAGE.items() for each in many])
def test_a_damaged_conversion_is_made_again(three, source, folder, name, damage):
    whole = {path: path.read_bytes() for path in folder.glob("*/*")}
    damage(next(folder.glob(f"*/{name}")))
    assert open_static(source, folder).vector("world").tolist() == [0, 2]
    assert {path: path.read_bytes() for path in folder.glob("*/*")} == whole
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"sha256": 3}', '{"source": [], "sha256": "ab"}'])
def test_a_damaged_note_is_made_again(three, source, folder, content):
    (note,) = folder.glob("*.json")
    before = note.read_text()
    note.write_text(content)
    assert open_static(source, folder).vector("world").tolist() == [0, 2]
    assert note.read_text() == before


def test_another_process_is_first_to_put_its_own_in_place(source, folder, monkeypatch):
    rename = store._rename_unless_there

    def late(new, target):
        shutil.copytree(new, target)
        rename(new, target)

    monkeypatch.setattr(store, "_rename_unless_there", late)
    assert open_static(source, folder).vector("world").tolist() == [0, 2]
    assert not list(folder.glob(".*"))


def test_a_folder_that_cannot_be_made(source):
    with pytest.raises(InputError, match="cannot be kept here: Not a directory; choose another folder"):
        open_static(source, source / "below")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return write_glove(tmp_path_factory.mktemp("large") / "large.txt", 200_000, 100)


OPEN = """
import sys
from pathlib import Path
from dialogauge.encode.static import open_static
source, folder = map(Path, sys.argv[1:3])
"""


def child(program: str, *arguments: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", OPEN + program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_memory_does_not_grow_with_the_file(large, source, folder):
    """The vectors alone are 80 MB and the text 100 MB; the conversion holds blocks of 1 MB and 16 bytes a word."""
    if not Path("/proc/self/status").exists():
        pytest.skip("needs /proc to measure the peak of one process")
    program = """
def peak():
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024
open_static(Path(sys.argv[3]), folder)
before = peak()
encoder = open_static(source, folder)
assert len(encoder) == 200_000
print(peak() - before)
"""
    with child(program, large, folder, source) as process:
        grown = float(process.communicate()[0])
    assert grown < 45


def test_killed_while_converting(large, folder):
    with child("open_static(source, folder)", large, folder) as process:
        while not any(path.stat().st_size for path in folder.glob(".*/new/vectors.npy")):
            assert process.poll() is None
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
    (left,) = [path for path in folder.iterdir() if path.is_dir()]
    assert left.name.startswith(".")
    small = write_glove(folder.parent / "small.txt", 50, 4)
    assert len(open_static(small, folder)) == 50
    assert not left.exists()
    with child("print(len(open_static(source, folder)))", large, folder) as process:
        assert process.communicate()[0] == "200000\n"
    assert not list(folder.glob(".*"))


def test_two_processes_at_once(tmp_path, folder):
    path = write_glove(tmp_path / "both.txt", 20_000, 50)
    program = """
import time
from dialogauge.encode.word_vectors import store as vector_cache
plain = vector_cache.convert
def together(*arguments):
    plain(*arguments)
    while len(list(folder.glob(".*/new/about.json"))) < 2 and not list(folder.glob("*/about.json")):
        time.sleep(0.001)
vector_cache.convert = together
print(len(open_static(source, folder)), open_static(source, folder).vector("w19999").sum())
"""
    processes = [child(program, path, folder) for _ in range(2)]
    outputs = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert outputs[0] == outputs[1]
    assert outputs[0].startswith("20000 ")
    assert len(list(folder.iterdir())) == 2


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv")
@pytest.mark.parametrize("mode", [0o000, 0o444, 0o555])
def test_a_cache_that_may_not_be_written_to(source, tmp_path, mode):
    """By a process without root's right to write anywhere."""
    (tmp_path / "cache").mkdir(mode=mode)
    code = "import sys; from dialogauge.encode.static import open_static; print(open_static(sys.argv[1]).identity)"
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    environment = {**os.environ, "DIALOGAUGE_CACHE": str(tmp_path / "cache")}
    command = [*drop, sys.executable, "-c", code, str(source)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    (tmp_path / "cache").chmod(0o700)
    assert done.stdout.startswith("three@"), done.stderr
    assert not list((tmp_path / "cache").iterdir())
