import pytest

from dialogauge.errors import InputError
from dialogauge.learned.training.checkpoint import Checkpoint, key_of
from tests.learned.small import torch

TENSORS = {"a": torch.arange(300, dtype=torch.float32), "b.c": torch.tensor(7.0)}


@pytest.fixture
def checkpoint(tmp_path):
    written = Checkpoint(tmp_path / "deep" / "0.safetensors", "key")
    written.write(TENSORS, {"epochs": [{"loss": 0.1}]})
    return written


def test_what_is_written_is_read_again(checkpoint):
    tensors, record = checkpoint.read()
    assert tensors.keys() == TENSORS.keys()
    assert all(torch.equal(tensors[name], TENSORS[name]) for name in TENSORS)
    assert record == {"epochs": [{"loss": 0.1}]}
    assert [path.name for path in checkpoint.path.parent.iterdir()] == ["0.safetensors"]


def test_the_last_one_counts(checkpoint):
    checkpoint.write({"a": torch.zeros(1)}, {"epochs": []})
    tensors, record = checkpoint.read()
    assert (list(tensors), record) == (["a"], {"epochs": []})


def test_nothing_was_written(tmp_path):
    assert Checkpoint(tmp_path / "none", "key").read() is None


def test_numbers_come_back_to_the_last_bit(checkpoint):
    value = 0.1 + 0.2
    checkpoint.write({"a": torch.tensor([1e-45, 3.4e38])}, {"loss": value})
    tensors, record = checkpoint.read()
    assert record["loss"] == value
    assert tensors["a"].tolist() == torch.tensor([1e-45, 3.4e38]).tolist()


def test_of_other_data_or_another_recipe(checkpoint):
    with pytest.raises(InputError, match="other data or another recipe; delete it to begin anew") as raised:
        Checkpoint(checkpoint.path, "other").read()
    assert raised.value.path == checkpoint.path


def test_keys():
    settings = {"recipe": {"rate": 0.1, "seed": 0}, "data": [1, 2]}
    assert key_of(settings) == key_of({"data": [1, 2], "recipe": {"seed": 0, "rate": 0.1}})
    for other in ({**settings, "data": [2, 1]}, {**settings, "recipe": {"rate": 0.1, "seed": 1}}):
        assert key_of(other) != key_of(settings)


def changed(content, name):
    return {
        "empty": b"",
        "cut off": content[: len(content) // 2],
        "text": b"hello",
        "a flipped bit among the numbers": content[:-5] + bytes([content[-5] ^ 1]) + content[-4:],
        "a flipped bit in the record": content.replace(rb"\"loss\": 0.1", rb"\"loss\": 0.3"),
        "another name of a tensor": content.replace(b'"b.c"', b'"b.d"'),
        "an absurd header": b"\xff" * 8 + content[8:],
        "no record": content.replace(b"dialogauge", b"dialogauga"),
        "a record that is no JSON": content.replace(rb"\"key\"", rb"'key\""),
        "a record without a key": content.replace(rb"\"key\"", rb"\"kex\""),
    }[name]


@pytest.mark.parametrize(
    "name",
    [
        "empty",
        "cut off",
        "text",
        "a flipped bit among the numbers",
        "a flipped bit in the record",
        "another name of a tensor",
        "an absurd header",
        "no record",
        "a record that is no JSON",
        "a record without a key",
    ],
)
def test_damage(checkpoint, name):
    before = checkpoint.path.read_bytes()
    content = changed(before, name)
    assert content != before
    checkpoint.path.write_bytes(content)
    with pytest.raises(InputError, match="damaged.*delete it to begin anew") as raised:
        checkpoint.read()
    assert raised.value.path == checkpoint.path


def test_a_write_that_fails_leaves_the_old_one(checkpoint, monkeypatch):
    def fail(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(InputError, match="cannot be written: No space left on device") as raised:
        checkpoint.write({"a": torch.zeros(1)}, {"epochs": []})
    assert raised.value.path == checkpoint.path
    assert [path.name for path in checkpoint.path.parent.iterdir()] == [checkpoint.path.name]
    assert checkpoint.read()[1] == {"epochs": [{"loss": 0.1}]}


def test_links_are_not_followed(checkpoint, tmp_path):
    """Neither in its own place nor where other programs, and we at first, put what is half written."""
    content = checkpoint.path.read_bytes()
    (tmp_path / "mine").write_text("years of work")
    folder = checkpoint.path.parent
    for name in ("0.safetensors.partial", "0.safetensors.tmp", ".0.safetensors"):
        (folder / name).symlink_to(tmp_path / "mine")
    checkpoint.write(TENSORS, {"epochs": []})
    checkpoint.path.rename(tmp_path / "moved")
    checkpoint.path.symlink_to(tmp_path / "moved")
    moved = (tmp_path / "moved").read_bytes()
    with pytest.raises(InputError, match="is there and is not a plain file"):
        checkpoint.write(TENSORS, {"epochs": [{"loss": 0.5}]})
    assert content != moved == (tmp_path / "moved").read_bytes()
    assert (tmp_path / "mine").read_text() == "years of work"
    assert not list(folder.glob(".*.*.*"))


def test_removed_with_its_folder_if_nothing_else_is_in_it(checkpoint):
    assert [path.name for path in checkpoint.path.parent.iterdir()] == ["0.safetensors"]
    checkpoint.remove()
    assert not checkpoint.path.parent.exists()
    checkpoint.remove()  # a second time it has nothing to do


def test_nothing_else_is_removed(checkpoint):
    other = Checkpoint(checkpoint.path.with_name("1.safetensors"), "key")
    other.write(TENSORS, {})
    (checkpoint.path.parent / "thesis.tex").write_text("years of work")
    checkpoint.remove()
    assert sorted(path.name for path in checkpoint.path.parent.iterdir()) == ["1.safetensors", "thesis.tex"]
    assert other.read() is not None
