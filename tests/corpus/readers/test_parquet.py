import datetime
import decimal
import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialogauge.corpus import Turn, load
from tests.corpus.files import refusal, write


def save(path, columns, **options):
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    pq.write_table(table, path, **options)
    return path


COLUMNS = {
    "id": [1.0, 2.0],
    "response": ["a", ""],
    "context": [["hi", "so?"], None],
    "references": [["b"], []],
    "system": ["x", "x"],
    "ratings": [{"d": [4.0, float("nan")]}, None],
    "ratings.overall": [3, None],
    "n": [0.5, float("nan")],
    "when": [datetime.datetime(2020, 1, 2), None],
    "price": [decimal.Decimal("1.5"), None],
    "blob": [b"\xff", b""],
}


@pytest.mark.parametrize("compressed", [False, True])
def test_all_columns(tmp_path, compressed):
    path = save(tmp_path / "a.parquet", COLUMNS)
    if compressed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    corpus = load(path)
    assert corpus.files[0].reader == "parquet"
    assert corpus.turns == [
        Turn(
            "1",
            "a",
            ("hi", "so?"),
            ("b",),
            "x",
            {"d": (4.0, None), "overall": (3.0,)},
            extra={"n": 0.5, "when": "2020-01-02 00:00:00", "price": 1.5},
        ),
        Turn("2", "", system="x"),
    ]


def test_a_map_is_an_object(tmp_path):
    ratings = pa.array([[("d", 2.0)], None], pa.map_(pa.string(), pa.float64()))
    path = save(tmp_path / "a.parquet", {"response": ["a", "b"], "ratings": ratings})
    assert [dict(turn.ratings) for turn in load(path)] == [{"d": (2.0,)}, {}]


def test_many_batches_and_row_groups(tmp_path):
    path = save(tmp_path / "a.parquet", {"response": [str(n) for n in range(5000)]}, row_group_size=700)
    assert [turn.response for turn in load(path)] == [str(n) for n in range(5000)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"response": ["a", None]}, ":2: response: expected text, found null"),
        ({"response": [b"a"]}, ":1: response: expected text, found a value of type bytes"),
        ({"words": ["a"]}, ": expected a column 'response', found 'words'"),
        ({"Response": ["a"]}, ": unknown field 'Response'; did you mean 'response'?"),
        ({"response": ["a"], "x": [float("inf")]}, ":1: expected finite numbers, found an infinite one"),
        (
            {"response": ["a"], "ratings.d": ["good"]},
            ":1: rating 'd': expected a number, null or \"N/A\", found",
        ),
        ({"response": pa.array([], pa.string())}, ": expected turns, found none"),
        (
            pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["response", "response"]),
            ": expected columns of different names, found 'response' twice",
        ),
    ],
)
def test_bad_tables(tmp_path, columns, message):
    assert refusal(save(tmp_path / "a.parquet", columns)).startswith(message)


def test_bad_rows_are_left_out(tmp_path):
    corpus = load(save(tmp_path / "a.parquet", {"response": ["a", None, "c"]}), skip_invalid=True)
    assert [(turn.id, turn.response) for turn in corpus] == [("0", "a"), ("2", "c")]
    assert "1 line left out" in corpus.caveats[0].message


@pytest.mark.parametrize("content", [b"PAR1", b"PAR1" + b"\xff" * 100 + b"PAR1", b"not parquet"])
def test_not_parquet(tmp_path, content):
    path = write(tmp_path / "a.parquet", content)
    assert refusal(path, reader="parquet").startswith(": expected a Parquet file, found: ")


def test_truncated(tmp_path):
    path = save(tmp_path / "a.parquet", {"response": ["a"] * 1000})
    path.write_bytes(path.read_bytes()[:-10])
    assert refusal(path).startswith(": expected a Parquet file, found: ")


def test_text_that_is_not_utf8(tmp_path):
    raw = pa.array([b"a", b"\xff"], pa.binary())
    table = pa.table({"response": pa.Array.from_buffers(pa.string(), 2, raw.buffers())})
    assert refusal(save(tmp_path / "a.parquet", table)).startswith(": expected a Parquet file, found: ")
