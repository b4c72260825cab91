"""Kept runs that are not as we wrote them: an InputError that names the run; never a wait, or memory without end."""

import io
import json
import os
import shutil
import struct
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialogauge import files
from dialogauge.corpus import Corpus, Turn
from dialogauge.corpus.reading import parquet
from dialogauge.errors import InputError
from dialogauge.evaluation import compare_runs, evaluate
from dialogauge.evaluation.kept.batches import batches
from dialogauge.evaluation.kept.load_result import load_result


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    turns = [
        Turn(f"{i}", f"{text} answer {i}", (f"question {i}",), (f"full answer {i}",), system)
        for i in range(12)
        for system, text in (("a", "full"), ("b", "no such"))
    ]
    return evaluate(Corpus(turns), "bleu,distinct,length", resamples=10).save(tmp_path_factory.mktemp("runs") / "good")


@pytest.fixture
def run(good, tmp_path):
    return shutil.copytree(good, tmp_path / "run")


def refused(good, run, *said):
    for runs in ((good, run), (run, good)):
        with pytest.raises(InputError) as raised:
            compare_runs(runs, resamples=5)
        assert str(raised.value).startswith(f"{run}: ")
        for part in said:
            assert part in str(raised.value)


def rewrite(run, **changes):
    """measures.npz with some of its members as these bytes."""
    with zipfile.ZipFile(run / "measures.npz") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(run / "measures.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**members, **{f"0.{name}.npy": content for name, content in changes.items()}}.items():
            archive.writestr(name, content)


def declaring(shape, descr="<f8"):
    header = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(64)


def packed(array, pickled=False):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array), allow_pickle=pickled)
    return out.getvalue()


def test_a_whole_run(good, run):
    assert compare_runs([good, run], resamples=5).pairs


@pytest.mark.parametrize(
    "shape", ["(10**12,)", "(1000000000000,)", "(2**40, 2**40)", "(-1,)", "(1000000, 1000000)", "()"]
)
def test_arrays_that_declare_terabytes(good, run, shape):
    rewrite(run, rows=declaring(shape))
    refused(good, run, "is not a whole run: ")


def test_a_zip_file_that_declares_terabytes(good, run):
    """Its directory says that the first member has 2**32 - 2 bytes when unpacked."""
    content = bytearray((run / "measures.npz").read_bytes())
    place = content.rindex(b"PK\x01\x02")
    content[place + 24 : place + 28] = struct.pack("<I", 2**32 - 2)
    (run / "measures.npz").write_bytes(content)
    refused(good, run, "declares 4,294,967,294 bytes, more than it can hold")


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(24, "c16"),
        np.zeros(24, "M8[s]"),
        np.zeros(24, [("a", "i4"), ("b", "f8")]),
        np.array(["x"] * 24),
        np.array([b"x"] * 24),
        np.zeros((24, 2)),
        np.zeros(3),
        np.zeros(0),
        np.float64(1),
    ],
    ids=lambda array: f"{array.dtype} {array.shape}",
)
def test_odd_types_and_wrong_lengths(good, run, array):
    for name in ("rows", "units"):
        rewrite(run, **{name: packed(array)})
        refused(good, run, "is not a whole run: ")


def test_objects_are_not_unpickled(good, run):
    class Trap:
        def __reduce__(self):
            return os._exit, (3,)

    rewrite(run, rows=packed(np.array([Trap()], dtype=object), pickled=True))
    refused(good, run, "0.rows.npy holds object, expected numbers or texts")


@pytest.mark.parametrize("content", [b"", b"PK", b"garbage" * 50, b"PK\x05\x06" + bytes(18)])
def test_no_zip_file(good, run, content):
    (run / "measures.npz").write_bytes(content)
    refused(good, run, "is not a whole run: ")


def test_arrays_that_unpack_to_far_more_than_they_are(good, run, monkeypatch):
    """Zeros, which are packed a thousandfold."""
    monkeypatch.delenv(files.ANY_SIZE, raising=False)
    monkeypatch.setattr(files, "UNPACKED", 100_000)
    rewrite(run, more=packed(np.zeros(10**6)))
    refused(good, run, "measures.npz unpacks to more than 100 times its size, found 8,0", "DIALOGAUGE_ANY_SIZE=1")


def repeat(path, column, rows):
    """A file of a kept run whose first row stands there so often, with one long text in a column."""
    table = pq.read_table(path).slice(0, 1)
    place = table.schema.get_field_index(column)
    long = table.set_column(place, table.schema.field(place), pa.array(["x" * 50_000]))
    pq.write_table(pa.concat_tables([long] * rows), path, compression="zstd")


def test_ids_that_unpack_to_far_more_than_they_are(good, run, monkeypatch):
    monkeypatch.delenv(files.ANY_SIZE, raising=False)
    monkeypatch.setattr(files, "UNPACKED", 100_000)
    repeat(run / "turns.parquet", "id", 1000)
    with pytest.raises(InputError, match=r"turns.parquet unpacks to more than 100 times its size"):
        load_result(run)


def test_long_texts_are_held_a_few_at_a_time(run, monkeypatch):
    monkeypatch.setattr(parquet, "_BATCH_BYTES", 10**6)
    repeat(run / "texts.parquet", "response", 1000)
    with (run / "texts.parquet").open("rb") as file:
        assert {len(batch) for batch in batches(file)} <= set(range(21))


def test_an_encrypted_zip_file(good, run):
    content = bytearray((run / "measures.npz").read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    (run / "measures.npz").write_bytes(content)
    refused(good, run, "is encrypted, or packed in another way than ours")


@pytest.mark.parametrize("header", [b"\x93NUMPY\x09\x00", b"\x93NUMPY\x01\x00\xff\xff{", b"nonsense", b""])
def test_broken_headers(good, run, header):
    rewrite(run, units=header)
    refused(good, run, "is not a whole run: ")


@pytest.mark.parametrize(
    "content", ["", "[]", "null", "[" * 100_000, '{"a":' * 100_000, '{"schema": NaN}', "\ufeff{}", "{}", b"\xff\xfe"]
)
def test_run_json_that_is_none(good, run, content):
    (run / "run.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(good, run, "is not a whole run: ")


@pytest.mark.parametrize("field", ["unit", "systems", "samples", "files", "warnings", "compat", "schema"])
@pytest.mark.parametrize("value", [7, "x", ["x"], {"a": {}}, [[]], [{}], None, 10**300])
def test_fields_of_run_json(good, run, field, value):
    record = json.loads((run / "run.json").read_text())
    if record[field] == value or (field, value) in (("unit", "x"), ("systems", {"a": {}})):
        value = -1
    (run / "run.json").write_text(json.dumps({**record, field: value}))
    refused(good, run)
    del record[field]
    (run / "run.json").write_text(json.dumps(record))
    refused(good, run, "is not a whole run: ")


@pytest.mark.parametrize("name", ["run.json", "measures.npz"])
@pytest.mark.parametrize("other", ["pipe", "folder", "loop", "device", "nothing"])
def test_what_stands_in_place_of_a_file(good, run, name, other):
    path = run / name
    path.unlink()
    make = {
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "loop": lambda: path.symlink_to(path),
        "device": lambda: path.symlink_to("/dev/zero"),
        "nothing": lambda: None,
    }
    make[other]()
    refused(good, run, "is not a whole run: ")


def test_what_is_not_looked_at_may_be_damaged(good, run):
    """Tests go by what was measured; values by turn and scores are for people."""
    (run / "turns.parquet").write_bytes(b"PAR1 no longer")
    (run / "scores.json").unlink()
    os.mkfifo(run / "scores.json")
    assert compare_runs([good, run], resamples=5).pairs
