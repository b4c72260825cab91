"""Model directories: whole or absent when written, and never trusted when read."""

import json
import pickle
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from dialogauge.errors import InputError
from dialogauge.learned.directory import CARD, README, WEIGHTS, encoder_name, read_model, write_model
from dialogauge.learned.ruber.model import open_ruber
from tests.learned.small import change_card, sign, write_ruber

ARRAYS = {"a": np.arange(3, dtype=np.float32)}
ADVICE = "copy the model again or train it anew"


def flip(directory, place=-5):
    content = bytearray((directory / WEIGHTS).read_bytes())
    content[place] ^= 1
    (directory / WEIGHTS).write_bytes(content)


def truncate(directory):
    content = (directory / WEIGHTS).read_bytes()
    (directory / WEIGHTS).write_bytes(content[: len(content) // 2])


def rewrite(directory, change):
    """Weights that the card vouches for, and that are not what they should be."""
    from safetensors.numpy import load, save

    weights = load((directory / WEIGHTS).read_bytes())
    change(weights)
    (directory / WEIGHTS).write_bytes(save(weights))
    sign(directory)


def put(name, value):
    def change(weights):
        weights[name] = value

    return lambda directory: rewrite(directory, change)


def spoiled(value):
    def change(weights):
        weights["1.bilinear"] = weights["1.bilinear"].copy()
        weights["1.bilinear"][2, 3] = value

    return lambda directory: rewrite(directory, change)


def signed(content):
    def change(directory):
        (directory / WEIGHTS).write_bytes(content)
        sign(directory)

    return change


def forget(directory, name):
    content = json.loads((directory / CARD).read_text())
    del content["network"][name]
    (directory / CARD).write_text(json.dumps(content))


def card(**sections):
    return lambda directory: change_card(directory, **sections)


def text(content):
    return lambda directory: (directory / CARD).write_bytes(content)


DAMAGE = {
    "no card": (lambda directory: (directory / CARD).unlink(), "it has no card.json"),
    "no weights": (lambda directory: (directory / WEIGHTS).unlink(), "it has no model.safetensors"),
    "a flipped bit": (flip, "changed or damaged"),
    "a flipped bit in the header": (lambda directory: flip(directory, 20), "changed or damaged"),
    "weights cut off": (truncate, "changed or damaged"),
    "no weights in the file": (signed(b""), "cannot be read as safetensors"),
    "weights cut off and vouched for": (
        lambda directory: (truncate(directory), sign(directory)),
        "cannot be read as safetensors",
    ),
    "a header that says too much": (signed(b"\xff" * 8 + b"{}"), "cannot be read as safetensors"),
    "a card that is not JSON": (text(b"kind: ruber\n"), "not valid JSON"),
    "a card that is not UTF-8": (text(b'{"schema": "caf\xe9"}'), "UTF-8"),
    "an empty card": (text(b""), "not valid JSON"),
    "a card that is a list": (text(b"[]"), "expected a JSON object"),
    "a card with NaN": (text(b'{"schema": NaN}'), "NaN"),
    "a card nested deeply": (text(b"[" * 100_000), "nested too deeply"),
    "another schema": (card(schema="dialogauge.model/2"), "expected a model card of the schema dialogauge.model/1"),
    "no schema": (card(schema=None), "schema dialogauge.model/1"),
    "another kind": (card(kind="esim"), "expected a model of the kind 'ruber', found .*esim"),
    "no hash": (lambda directory: change_card(directory, weights=None), "changed or damaged"),
    "a hash that is a list": (card(weights=[]), "changed or damaged"),
    "no network": (card(network=None), "has no 'network'"),
    "a network that is a list": (card(network=[]), "has no 'network'"),
    "no encoder": (card(encoder=None), "has no 'encoder'"),
    "another width": (card(network={"width": 6}), "weights are of another network"),
    "no width": (card(network={"width": None}), "width"),
    "an absurd width": (card(network={"width": 10**12}), "another network|width"),
    "a beyond absurd width": (card(network={"width": 10**200}), "another network|width"),
    "fewer members": (card(network={"members": 1}), "weights are of another network"),
    "more members": (card(network={"members": 3}), "weights are of another network"),
    "absurdly many members": (card(network={"members": 10**12}), "1000000000000 networks"),
    "no members": (card(network={"members": 0}), "expected a whole number above 0, found 0"),
    "members that are text": (card(network={"members": "2"}), "expected a whole number above 0, found '2'"),
    "members that are true": (card(network={"members": True}), "expected a whole number above 0, found True"),
    "no context": (card(network={"context": 0}), "expected a whole number above 0"),
    "another sentence": (card(network={"sentence": "rnn"}), "weights are of another network"),
    "another network": (card(network={"network": "towers"}), "weights are of another network"),
    "an unknown network": (card(network={"network": "rubber"}), "did you mean ruber"),
    "a layer more": (card(network={"layers": [2, 1]}), "weights are of another network"),
    "absurdly many layers": (card(network={"width": 2**16, "layers": [0] * 2**16}), "another network|layers"),
    "no layers": (lambda directory: forget(directory, "layers"), "its card cannot be used: 'layers'"),
    "layers that are null": (card(network={"layers": None}), "its card cannot be used"),
    "layers that are text": (card(network={"layers": "63"}), "layers: expected whole numbers"),
    "layers below 0": (card(network={"layers": [-1]}), "layers: expected whole numbers"),
    "many layers below 0": (card(network={"layers": [-1] * 999}), "layers: expected whole numbers"),
    "an unknown sentence": (card(network={"sentence": "meen"}), "did you mean mean"),
    "a sentence that is a list": (card(network={"sentence": ["mean"]}), "sentence"),
    "a dropout beyond 1": (card(network={"dropout": 7}), "dropout"),
    "a weight that is NaN": (spoiled(np.nan), "1.bilinear holds numbers that are not finite"),
    "a weight that is infinite": (spoiled(np.inf), "1.bilinear holds numbers that are not finite"),
    "whole numbers for weights": (put("0.bilinear", np.ones((5, 5), np.int32)), "0.bilinear"),
    "a weight too many": (put("0.more", np.ones(1, np.float32)), r"0.more is \(1,\)"),
    "a weight of another shape": (put("0.bilinear", np.ones((5, 4), np.float32)), r"0.bilinear is \(5, 4\)"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found_and_named(model, name):
    damage, message = DAMAGE[name]
    damage(model)
    with pytest.raises(InputError, match=message) as raised:
        open_ruber(model)
    assert str(raised.value).startswith(str(model))
    assert len(str(raised.value)) < len(str(model)) + 400


@pytest.mark.parametrize(
    "name",
    [
        "no card",
        "a flipped bit",
        "an empty card",
        "a card that is not UTF-8",
        "no weights in the file",
        "no network",
        "no members",
        "another width",
        "absurdly many members",
        "a weight that is NaN",
    ],
)
def test_who_meets_damage_is_told_what_to_do(model, name):
    DAMAGE[name][0](model)
    with pytest.raises(InputError) as raised:
        open_ruber(model)
    assert raised.value.message.endswith(f"; {ADVICE}")


def test_what_is_no_model_directory(tmp_path):
    foreign = tmp_path / "bert"
    foreign.mkdir()
    for name in ("config.json", "tokenizer.json", WEIGHTS):
        (foreign / name).write_text("{}")
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    for path in (foreign, tmp_path / "file", tmp_path / "absent", tmp_path / "empty", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match="no model") as raised:
            open_ruber(path)
        assert str(raised.value).startswith(f"{path}: ")
        assert CARD in str(raised.value)


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "~no-such-user-of-this-machine/model"])
def test_a_name_that_no_directory_has(name):
    with pytest.raises(InputError, match="no model"):
        open_ruber(name)


def test_the_home_directory_may_be_abbreviated(pristine, monkeypatch):
    monkeypatch.setenv("HOME", str(pristine.parent))
    assert open_ruber(f"~/{pristine.name}").identity == open_ruber(pristine).identity


class Trap:
    """Unpickled, it writes a file."""

    def __init__(self, sentinel):
        self.sentinel = sentinel

    def __reduce__(self):
        return Path.write_text, (self.sentinel, "executed")


def test_nothing_in_a_directory_is_executed(model, vectors, tmp_path):
    from dialogauge.encode.encoders import Encoders

    sentinel = tmp_path / "sentinel"
    trap = pickle.dumps(Trap(sentinel))
    code = f"open({str(sentinel)!r}, 'w').close()"
    for name in ("pytorch_model.bin", "model.pt", "model.pkl", "card.pkl", f"{WEIGHTS}.pkl"):
        (model / name).write_bytes(trap)
    for name in ("__init__.py", "modeling.py", "conftest.py", "card.py", "ruber.py"):
        (model / name).write_text(code)
    evil = f"__import__('os').system('touch {sentinel}')"
    change_card(model, encoder={"trust_remote_code": True, "auto_map": "modeling.Model"}, code=evil, auto_map=evil)
    opened = open_ruber(model)
    opened.relatedness(Encoders().get(vectors), [["tea"]], ["milk"])
    change_card(model, network={"sentence": evil})
    with pytest.raises(InputError, match="unknown sentence"):
        open_ruber(model)
    change_card(model, network={"sentence": "mean"}, encoder={"name": evil})
    with pytest.raises(InputError, match="no encoder"):
        Encoders().get(encoder_name(open_ruber(model).saved))
    (model / WEIGHTS).write_bytes(trap)
    sign(model)
    with pytest.raises(InputError, match="cannot be read as safetensors"):
        open_ruber(model)
    assert not sentinel.exists()
    pickle.loads(trap)  # The trap does work.
    assert sentinel.exists()


def test_what_is_written(tmp_path):
    target = tmp_path / "deep" / "model"
    assert write_model(target, ARRAYS, {"kind": "test", "size": 3}, "# Read me\n") == target
    assert sorted(path.name for path in target.iterdir()) == sorted([WEIGHTS, CARD, README])
    assert [path.name for path in target.parent.iterdir()] == ["model"]
    read = read_model(target, "test")
    assert read.card["size"] == 3
    assert read.card["schema"] == "dialogauge.model/1"
    assert read.card["weights"]["bytes"] == (target / WEIGHTS).stat().st_size
    np.testing.assert_array_equal(read.weights["a"], ARRAYS["a"])
    assert re.fullmatch("model@[0-9a-f]{8}", read.identity)
    assert (target / README).read_text() == "# Read me\n"


def test_the_identity_follows_all_that_decides_numbers(pristine, vectors, tmp_path):
    changed = {
        "weights": {"seed": 5},
        "context": {"context": 2},
        "ranges": {"normalisation": {"unreferenced": {"low": 0.25, "high": 1.0}}},
    }
    names = [open_ruber(pristine).identity]
    for folder, options in changed.items():
        made = write_ruber(tmp_path / folder / "small-ruber", vectors, members=2, **options)
        names.append(open_ruber(made).identity)
    assert {name.split("@")[0] for name in names} == {"small-ruber"}
    assert len(set(names)) == 4


def test_the_identity_follows_nothing_else(model):
    before = open_ruber(model).identity
    change_card(model, curves=[1, 2], encoder={"name": "elsewhere"})
    assert open_ruber(model).identity == before


@pytest.mark.parametrize("name", [".", "", "/", "a,b", "a[b", "a]b", "a,b/model"])
def test_names_that_no_metric_can_be_given(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="cannot be named as a metric's model"):
        write_model(Path(name), ARRAYS, {"kind": "test"}, "", overwrite=True)
    assert list(tmp_path.iterdir()) == []


def test_a_model_is_kept_unless_overwrite(tmp_path):
    target = write_model(tmp_path / "model", ARRAYS, {"kind": "test"}, "first")
    with pytest.raises(InputError, match="is there already and was left as it is"):
        write_model(target, ARRAYS, {"kind": "test"}, "second")
    assert (target / README).read_text() == "first"
    write_model(target, ARRAYS, {"kind": "test"}, "second", overwrite=True)
    assert (target / README).read_text() == "second"
    (target / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds more than a model \('notes.txt'\)"):
        write_model(target, ARRAYS, {"kind": "test"}, "third", overwrite=True)
    assert (target / README).read_text() == "second"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_half_a_model_is_never_there(tmp_path, monkeypatch):
    target = write_model(tmp_path / "model", ARRAYS, {"kind": "test"}, "first")
    before = {path.name: path.read_bytes() for path in target.iterdir()}
    plain = Path.write_text

    def fail(path, *arguments, **options):
        if path.name == README:
            raise OSError(28, "No space left on device")
        return plain(path, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", fail)
    for name in ("model", "new"):
        with pytest.raises(OSError, match="No space"):
            write_model(tmp_path / name, {"b": np.zeros(2, np.float32)}, {"kind": "test"}, "second", overwrite=True)
    assert {path.name: path.read_bytes() for path in target.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_an_array_in_any_layout_is_written_as_it_reads(tmp_path):
    transposed = np.arange(6, dtype=np.float32).reshape(2, 3).T
    read = read_model(write_model(tmp_path / "model", {"a": transposed}, {"kind": "test"}, ""), "test")
    np.testing.assert_array_equal(read.weights["a"], transposed)


def test_the_readme_is_for_people_alone(model):
    (model / README).unlink()
    assert open_ruber(model).members == 2


def test_numbers_that_are_undefined_become_null(tmp_path):
    target = write_model(tmp_path / "model", ARRAYS, {"kind": "test", "low": float("nan")}, "")
    assert json.loads((target / CARD).read_text())["low"] is None


def test_a_model_may_be_moved_and_renamed(pristine, tmp_path):
    moved = shutil.copytree(pristine, tmp_path / "other-name")
    assert open_ruber(moved).identity == f"other-name@{open_ruber(pristine).identity.split('@')[1]}"


def test_someone_elses_card_is_not_overwritten(tmp_path):
    from dialogauge.learned.directory import check_model_writable

    (tmp_path / "card.json").write_text('{"schema": "other"}')
    with pytest.raises(InputError, match="is not a model of ours and is not overwritten"):
        check_model_writable(tmp_path, overwrite=True)


def test_an_encoder_that_only_a_card_names_is_not_asked_of_the_hub(model, monkeypatch):
    """Whoever made the card would learn who uses the model; what it names is quoted where it is told."""
    from dialogauge.encode.encoders import Encoders
    from dialogauge.learned.directory import find_encoder

    asked = []
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr("dialogauge.encode.find._from_hub", asked.append)
    change_card(model, encoder={"name": "attacker/repo; rm -rf ~"})
    with pytest.raises(InputError, match="not on the hub, since a file names it; to get it: hf download 'attacker"):
        find_encoder(open_ruber(model).saved, None, Encoders(cache=None))
    assert not asked
    with pytest.raises(InputError, match="and on the hub"):
        find_encoder(open_ruber(model).saved, "typed/name", Encoders(cache=None))
    assert asked == ["typed/name"]
