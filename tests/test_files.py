"""Files and directories that are either whole or absent."""

import os
import signal
import subprocess
import sys

import pytest

from dialogauge.errors import InputError
from dialogauge.files import LOCK, check_writable, check_writable_file, remove_abandoned, whole_directory, whole_file


def test_what_is_written_is_moved_into_place(tmp_path):
    target = tmp_path / "deep" / "run"
    with whole_directory(target) as new:
        (new / "a.txt").write_text("a")
        assert not target.exists()
        assert list(new.parent.parent.iterdir()) == [new.parent]
        assert new.parent.name.startswith(".run.")
    assert (target / "a.txt").read_text() == "a"
    assert list(target.parent.iterdir()) == [target]


def test_what_was_there_is_replaced(tmp_path):
    for text in ("first", "second"):
        with whole_directory(tmp_path / "run", overwrite=True) as new:
            (new / f"{text}.txt").write_text(text)
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["second.txt"]
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_an_error_leaves_everything_as_it_was(tmp_path):
    with whole_directory(tmp_path / "run") as new:
        (new / "a.txt").write_text("first")

    def stop(name):
        with whole_directory(tmp_path / name) as new:
            (new / "a.txt").write_text("second")
            raise KeyboardInterrupt

    for name in ("run", "other"):
        with pytest.raises(KeyboardInterrupt):
            stop(name)
    assert (tmp_path / "run" / "a.txt").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def check(directory, overwrite=False):
    check_writable(directory, overwrite, ("a", "b"), "a thing")


def test_what_may_be_written_to(tmp_path):
    check(tmp_path / "new" / "deep")
    full = tmp_path / "full"
    full.mkdir()
    (full / "a").touch()
    with pytest.raises(InputError, match="is there already and was left as it is; .*--overwrite") as raised:
        check(full)
    assert raised.value.path == full
    check(full, overwrite=True)
    (full / "c").touch()
    with pytest.raises(InputError, match=r"holds more than a thing \('c'\) and is not overwritten"):
        check(full, overwrite=True)


@pytest.mark.parametrize("overwrite", [True, False])
def test_what_is_not_a_directory(tmp_path, overwrite):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    for name in ("file", "link", "dangling"):
        with pytest.raises(InputError, match="is there and is not a directory"):
            check(tmp_path / name, overwrite)
    with pytest.raises(InputError, match="a part of its path is a file"):
        check(tmp_path / "file" / "below" / "it", overwrite)


def test_at_most_three_names_are_listed(tmp_path):
    for name in "vwxyz":
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=r"\('v', 'w', 'x'\)"):
        check(tmp_path, overwrite=True)


def test_without_its_first_file_it_is_no_such_thing(tmp_path):
    (tmp_path / "b").write_text("someone's own")
    with pytest.raises(InputError, match="is not a thing \\(it has no a\\) and is not overwritten"):
        check_writable(tmp_path, True, ["a", "b"], "a thing")
    (tmp_path / "a").write_text("")
    check_writable(tmp_path, True, ["a", "b"], "a thing")


def killed(code, folder):
    """What a process that kills itself within `code` leaves."""
    program = f"""
import os
from pathlib import Path
from dialogauge.files import whole_directory, whole_file
folder = Path({str(folder)!r})
{code}
    os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -signal.SIGKILL
    return sorted(path.name for path in folder.iterdir())


def test_what_a_killed_process_left_is_removed_by_the_next_that_writes_there(tmp_path):
    runs, files = tmp_path / "runs", tmp_path / "files"
    left = killed("with whole_directory(folder / 'run') as new:\n    (new / 'a').touch()", runs)
    left += killed("with whole_file(folder / 'file', False) as file:\n    file.write(b'half')", files)
    assert [name[:5] for name in left] == [".run.", ".file"]
    for folder in (runs, files):
        with whole_file(folder / "mine", False) as file:
            file.write(b"whole")
        assert [path.name for path in folder.iterdir()] == ["mine"]


def test_killed_after_the_lock_was_removed_and_before_its_directory_was(tmp_path):
    (tmp_path / ".run.0123456789abcdef").mkdir()
    with whole_file(tmp_path / "other", overwrite=False) as file:
        file.write(b"a")
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_killed_between_the_two_moves_of_an_overwrite(tmp_path):
    with whole_directory(tmp_path / "run") as new:
        (new / "a").write_text("first")
    code = """
rename = Path.rename
def killed(self, target):
    rename(self, target)
    os.kill(os.getpid(), 9)
Path.rename = killed
with whole_directory(folder / 'run', overwrite=True) as new:
    (new / "a").write_text("second")
if False:"""
    (left,) = killed(code, tmp_path)
    assert left.startswith(".run.")
    remove_abandoned(tmp_path)
    assert (tmp_path / "run" / "a").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_interrupted_between_the_two_moves_of_an_overwrite(tmp_path, monkeypatch):
    """What was there had been moved away already; it was lost."""
    with whole_directory(tmp_path / "run") as new:
        (new / "a").write_text("first")
    rename = type(tmp_path).rename

    def interrupted(self, target):
        rename(self, target)
        monkeypatch.undo()
        raise KeyboardInterrupt

    def overwrite():
        with whole_directory(tmp_path / "run", overwrite=True) as new:
            (new / "a").write_text("second")
            monkeypatch.setattr(type(tmp_path), "rename", interrupted)

    with pytest.raises(KeyboardInterrupt):
        overwrite()
    assert (tmp_path / "run" / "a").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_what_is_being_written_is_not_taken_for_abandoned(tmp_path):
    with whole_directory(tmp_path / "run") as new, whole_directory(tmp_path / "other") as other:
        (other / "b").touch()
        (new / "a").touch()
        program = f"from pathlib import Path; from dialogauge.files import *; remove_abandoned(Path({str(tmp_path)!r}))"
        subprocess.run([sys.executable, "-c", program], check=True)
    assert (tmp_path / "run" / "a").exists()
    assert (tmp_path / "other" / "b").exists()


def test_only_what_is_ours_for_certain_is_removed(tmp_path):
    random = "0123456789abcdef"
    for name, inside in ((f".a.{random}", "new"), (f".b.{random}", "notes"), (".c.mine", LOCK), (f"d.{random}", LOCK)):
        (tmp_path / name).mkdir()
        (tmp_path / name / inside).touch()
    (tmp_path / f".b.{random}" / LOCK).touch()
    (tmp_path / f".e.{random}").symlink_to(tmp_path / ".c.mine")
    (tmp_path / f".f.{random}").touch()
    before = sorted(tmp_path.rglob("*"))
    remove_abandoned(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_pipe_in_place_of_a_lock_is_not_waited_for(tmp_path):
    (tmp_path / ".a.0123456789abcdef").mkdir()
    os.mkfifo(tmp_path / ".a.0123456789abcdef" / LOCK)
    remove_abandoned(tmp_path)


def test_a_name_that_no_file_can_have(tmp_path):
    path = tmp_path / "a\0b"
    for call in (
        lambda: check(path),
        lambda: check_writable_file(path, False),
        lambda: whole_file(path, True).__enter__(),
    ):
        with pytest.raises(InputError, match="no file can have this name"):
            call()
