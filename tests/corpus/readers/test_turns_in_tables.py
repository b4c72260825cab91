import csv
import datetime
import decimal
import gzip
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialogauge.corpus import Turn, load
from tests.corpus.files import refusal, write

HEADER = [
    "id",
    "context",
    "response",
    "references",
    "system",
    "ratings.overall",
    "ratings",
    "facts",
    "extra",
    "n",
]
ROWS = [
    ["7", '["hi", "so?"]', "a, b\nc", "one", "x", "[4, null]", '{"d": 2}', '["f"]', '{"k": 1}', "0.5"],
    ["8", "[laughs] hi", "", "", "x", "3", "", "", "", "007"],
    ["9", "", '"quoted"', '["p", "q"]', "x", "N/A", "", "", "", " 7.5e-06\n"],
]
TURNS = [
    Turn(
        "7",
        "a, b\nc",
        ("hi", "so?"),
        ("one",),
        "x",
        {"d": (2.0,), "overall": (4.0, None)},
        facts=("f",),
        extra={"k": 1, "n": 0.5},
    ),
    Turn("8", "", ("[laughs] hi",), (), "x", {"overall": (3.0,)}, extra={"n": "007"}),
    Turn("9", '"quoted"', (), ("p", "q"), "x", extra={"n": 7.5e-06}),
]


def table(rows, delimiter=",", ends="\r\n"):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=ends).writerows(rows)
    return text.getvalue()


@pytest.mark.parametrize("delimiter", ["\t", ",", ";"])
@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_all_columns(tmp_path, delimiter, packed, ends, mark):
    kind = "tsv" if delimiter == "\t" else "csv"
    path = write(tmp_path / f"a.{kind}{packed}", mark + table([HEADER, *ROWS], delimiter, ends))
    corpus = load(path)
    assert corpus.turns == TURNS
    assert corpus.files[0].reader == kind


def test_semicolons_in_tables_with_commas_are_text(tmp_path):
    (turn,) = load(write(tmp_path / "a.csv", 'context,response\n"a; b; c",d; e; f\n')).turns
    assert turn == Turn("0", "d; e; f", ("a; b; c",), system="a")


def test_semicolons_between_the_columns_of_other_forms(tmp_path):
    rows = [["prompt", "chosen", "rejected"], ["hi, you", "fine, thanks", "no"]]
    found = load(write(tmp_path / "a.csv", table(rows, ";")))
    assert [(turn.system, turn.context, turn.response) for turn in found.turns] == [
        ("chosen", ("hi, you",), "fine, thanks"),
        ("rejected", ("hi, you",), "no"),
    ]


def test_line_breaks_inside_a_cell_stay_as_they_are(tmp_path):
    path = write(tmp_path / "a.csv", 'response\n"a\r\nb\rc\n\nd"\n\n""\n')
    assert [turn.response for turn in load(path)] == ["a\r\nb\rc\n\nd", ""]


def test_the_index_that_pandas_writes_is_left_out(tmp_path):
    (turn,) = load(write(tmp_path / "a.csv", ",response\n0,a\n"))
    assert turn == Turn("0", "a", system="a")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("response,x\na,1\nb\n", ":3: expected 2 columns, found 1"),
        ("response,x\na,1\n\nb,2,3\n", ":4: expected 2 columns, found 3"),
        ('response,x\n"a\nb",1\nc\n', ":4: expected 2 columns, found 1"),
        ("response,x,x\n", ":1: expected columns of different names, found 'x' twice"),
        ("response,refrences\na,b\n", ":1: unknown field 'refrences'; did you mean 'references'?"),
        ("Response,x\na,b\n", ":1: unknown field 'Response'; did you mean 'response'?"),
        ('response\na\n"b\nc\n', ":3: not a valid table: unexpected end of data"),
        ('response\n"a"b\n', ":2: not a valid table: ',' expected after '\"'"),
        ("response\na\rb\n", ":2: not a valid table: a carriage return stands outside quotation marks; if lines end"),
        ("response\n", ": expected turns, found none"),
        (
            "response,ratings.d\na,good\n",
            ":2: rating 'd': expected a number, null or \"N/A\", found the text 'good'",
        ),
        ("response,ratings\na,4\n", ':2: ratings: expected an object such as {"overall": 4}, found the text'),
        ("response,ratings,ratings.d\na,4,4\n", ":2: ratings: expected either one column or columns"),
        ("response,extra\na,b\n", ":2: extra: expected an object, found the text 'b'"),
        (
            "response,references\na,\"['b', 'c']\"\n",
            ":2: references: expected text or JSON, found a list that is not JSON: \"['b', 'c']\"",
        ),
        (
            'response,references\na,"[[""b""], [""c""]]"\n',
            ":2: references: expected a list of strings, found a l",
        ),
    ],
)
def test_bad_tables(tmp_path, content, message):
    assert refusal(write(tmp_path / "a.csv", content)).startswith(message)


def test_no_response_column(tmp_path):
    path = write(tmp_path / "a.csv", "query,words\na,b\n")
    assert refusal(path).startswith(":1: expected a column 'response', found 'query', 'words'; where another holds it")
    assert refusal(path, reader="csv") == refusal(path)


def test_null_characters_are_text(tmp_path):
    assert [turn.response for turn in load(write(tmp_path / "a.csv", "response\na\0b\n"))] == ["a\0b"]


def test_bad_rows_are_left_out(tmp_path):
    path = write(tmp_path / "a.csv", b'response,x\na,1\nb\n"c"d,3\n\xff,4\ne,5\n')
    corpus = load(path, skip_invalid=True)
    assert [(turn.id, turn.response) for turn in corpus] == [("0", "a"), ("4", "e")]
    assert corpus.caveats[0].message.startswith(f"{path}: 3 lines left out (line 3: expected 2 columns, found 1; ")


@pytest.mark.parametrize("header", [b"response,\xff\n", b'response,"x"y\n'])
def test_a_bad_header_cannot_be_left_out(tmp_path, header):
    assert refusal(write(tmp_path / "a.csv", header + b"response,b\n"), reader="csv", skip_invalid=True)[:3] == ":1:"


def test_chat_messages_in_a_cell(tmp_path):
    said = '"[{""role"": ""system"", ""content"": ""s""}, {""role"": ""user"", ""content"": ""hi""}]"'
    path = write(tmp_path / "a.csv", f"response,context,messages\nb,,{said}\nc,so?,3\nd,,3\n")
    assert load(path).turns == [
        Turn("0", "b", ("hi",), system="a", facts=("s",)),
        Turn("1", "c", ("so?",), system="a", extra={"messages": 3}),
        Turn("2", "d", system="a", extra={"messages": 3}),
    ]


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
def test_all_columns_of_parquet(tmp_path, compressed):
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
def test_bad_parquet_tables(tmp_path, columns, message):
    assert refusal(save(tmp_path / "a.parquet", columns)).startswith(message)


def test_bad_rows_of_parquet_are_left_out(tmp_path):
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


def test_a_long_cell_is_read(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("response\n" + "a" * 1_000_000 + "\n")
    (turn,) = load(path)
    assert len(turn.response) == 1_000_000
