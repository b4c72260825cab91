"""Files that unpack to far more than they are, and lines without end, are refused before they fill the memory."""

import gzip
import json
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialogauge import InputError, files, load
from dialogauge.corpus.readers.arrow import dataset_rows
from dialogauge.corpus.reading import parquet, source
from dialogauge.corpus.reading.reader import Reading

LINE = json.dumps({"response": "yes " * 100}).encode() + b"\n"


@pytest.fixture(autouse=True)
def small_limits(monkeypatch):
    monkeypatch.setattr(files, "UNPACKED", 100_000)
    monkeypatch.setattr(source, "LONGEST_LINE", 50_000)
    monkeypatch.delenv(files.ANY_SIZE, raising=False)


@pytest.mark.parametrize("content", [LINE * 2000, b"[" + b" " * 10**6 + b'{"response": "a"}]'])
def test_gzip_bombs(tmp_path, monkeypatch, content):
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(InputError, match="unpacks to at most 100 times its size, found more than .*--any-size"):
        load(path)
    monkeypatch.setenv(files.ANY_SIZE, "1")
    assert load(path).turns


def packed_pages(path):
    """Texts that are all alike within, and packed."""
    texts = [str(number) + "x" * 50_000 for number in range(100)]
    write_table(path, {"response": texts}, compression="zstd", use_dictionary=False)


def numbered_texts(path):
    """One long text, which every row names by its number."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 2000, pa.int32()), pa.array(["x" * 40_000]))
    write_table(path, {"response": texts}, compression="none")


def write_table(path, columns, **options):
    pq.write_table(pa.table(columns), path, store_schema=False, **options)


@pytest.mark.parametrize("write", [packed_pages, numbered_texts])
def test_parquet_bombs(tmp_path, monkeypatch, write):
    path = tmp_path / "a.parquet"
    write(path)
    monkeypatch.setattr(files, "RATIO", 20)
    with pytest.raises(InputError, match=r"a.parquet: expected a file that unpacks to at most 20 .*--any-size"):
        load(path)
    monkeypatch.setenv(files.ANY_SIZE, "1")
    assert len(load(path).turns) >= 100


def test_no_batch_of_parquet_is_large(tmp_path, monkeypatch):
    """However few bytes on disk a row may take: it is told before rows are unpacked that a cell may be large."""
    path = tmp_path / "a.parquet"
    numbered_texts(path)
    monkeypatch.setattr(parquet, "_BATCH_BYTES", 2_000_000)
    monkeypatch.setenv(files.ANY_SIZE, "1")
    with parquet.parquet_file(path) as file:
        sizes = {len(rows) for rows in parquet.batches(file, path)}
    assert max(sizes) == 2_000_000 // 40_033


@pytest.mark.parametrize("compression", [None, "zstd"])
def test_a_packed_dataset(tmp_path, compression):
    table = pa.table({"text": ["x" * 40_000] * 100})
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(tmp_path / "data.arrow", table.schema, options=options) as writer:
        writer.write_table(table)
    (tmp_path / "state.json").write_text('{"_data_files": [{"filename": "data.arrow"}]}')
    rows = dataset_rows(Reading(tmp_path))
    if compression is None:
        assert len(list(rows)) == 100
    else:
        with pytest.raises(InputError, match=r"data.arrow: .* unpacks to at most 100 times its size"):
            list(rows)


def test_maps_with_keys_that_are_no_text(tmp_path):
    """A map comes as a list of pairs, which is no object."""
    keys = {"number": pa.int64(), "struct": pa.struct([("x", pa.int64())]), "list": pa.list_(pa.int64())}
    values = {"number": 1, "struct": {"x": 1}, "list": [1]}
    for column in ("extra", "ratings", "context", "notes", "response"):
        for name, kind in keys.items():
            path = tmp_path / f"{column}-{name}.parquet"
            held = pa.array([[(values[name], 2)]], pa.map_(kind, pa.int64()))
            pq.write_table(pa.table({"response": ["a"]} | {column: held}), path)
            with suppress(InputError):
                assert len(load(path).turns) == 1


def test_what_is_packed_as_text_is(tmp_path):
    lines = [json.dumps({"response": f"{number:x} {number**9}"}).encode() + b"\n" for number in range(5000)]
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(lines)))
    assert len(load(path).turns) == 5000


@pytest.mark.parametrize("before", [b"", LINE])
def test_lines_without_end(tmp_path, monkeypatch, before):
    path = tmp_path / "a.jsonl"
    path.write_bytes(before + json.dumps({"response": "a" * 100_000}).encode())
    with pytest.raises(InputError, match=r"a.jsonl:[12]: expected lines of at most 50,000 bytes.*--any-size"):
        load(path)
    monkeypatch.setenv(files.ANY_SIZE, "1")
    assert len(load(path).turns) == 1 + bool(before)


def test_the_flag_lifts_them(tmp_path, monkeypatch, capsys):
    from dialogauge.cli.main import main

    monkeypatch.setenv(files.ANY_SIZE, "")  # so that what the flag sets is undone
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(LINE * 2000))
    call = ["score", str(path), "--metrics", "length", "--resamples", "10", "-q"]
    assert main(call) == 2
    assert "--any-size reads it all the same" in capsys.readouterr().err
    assert main([*call, "--any-size"]) == 0
