"""Directories that are either whole or absent."""

import pytest

from dialogauge.errors import InputError
from dialogauge.files import check_writable, whole_directory


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
        with whole_directory(tmp_path / "run") as new:
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
