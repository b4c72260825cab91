"""Ratings kept apart from the responses."""

import decimal
import gzip
import hashlib
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialogauge.corpus import Corpus, SourceFile, Turn, load
from dialogauge.corpus.ratings import Rating, join_ratings, read_ratings
from dialogauge.errors import Caveat, InputError
from tests.corpus.files import write, write_lines

ROWS = [
    ("7", "x", "ann", "fluent", 4),
    ("7", "x", "bob", "fluent", 2.5),
    ("7", "x", "ann", "overall", None),
    ("8", "y", "ann", "fluent", "N/A (too short)"),
]
RATINGS = [
    ("7", "x", "ann", "fluent", 4.0),
    ("7", "x", "bob", "fluent", 2.5),
    ("7", "x", "ann", "overall", None),
    ("8", "y", "ann", "fluent", None),
]
NAMES = ("id", "system", "rater", "dimension", "value")
TURNS = [Turn("0", "a", system="x"), Turn("0", "b", system="y"), Turn("1", "c", system="x", ratings={"own": (3.0,)})]


def as_table(delimiter):
    rows = [NAMES, *ROWS]
    return "".join(delimiter.join("" if cell is None else str(cell) for cell in row) + "\n" for row in rows)


def as_lines():
    return "".join(json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in ROWS)


def as_parquet(path, columns):
    pq.write_table(pa.table(columns), path)
    return path


def bare(ratings):
    return [(r.id, r.system, r.rater, r.dimension, r.value) for r in ratings]


def refused(call, *arguments):
    with pytest.raises(InputError) as caught:
        call(*arguments)
    assert str(caught.value).isprintable()
    return str(caught.value)


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize(
    ("content", "first"), [(as_table(","), 2), (as_table("\t"), 2), (as_lines(), 1), ("\ufeff" + as_table(","), 2)]
)
def test_text_files(tmp_path, content, first, ending):
    ratings = read_ratings(write(tmp_path / f"ratings{ending}", content))
    assert bare(ratings) == RATINGS
    assert [rating.line for rating in ratings] == [first, first + 1, first + 2, first + 3]


@pytest.mark.parametrize("compressed", [False, True])
def test_parquet(tmp_path, compressed):
    columns = {
        "id": [7, 8],
        "rater": ["ann", None],
        "value": [decimal.Decimal("2.5"), None],
        "blob": [b"\xff", b""],
    }
    path = as_parquet(tmp_path / "a", columns)
    if compressed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert read_ratings(str(path)) == [
        Rating("7", None, "ann", "overall", 2.5, 1),
        Rating("8", None, None, "overall", None, 2),
    ]


def test_only_id_and_value_are_needed(tmp_path):
    path = write(tmp_path / "a.csv", ",id,value,seconds\n0,7,4,12\n1,7, ,12\n")
    assert bare(read_ratings(path)) == [("7", None, None, "overall", 4.0), ("7", None, None, "overall", None)]


@pytest.mark.parametrize("cell", ["", " ", "null", "NULL", "none", "None", "nan", "NaN", "NA", "n/a", "N/A"])
def test_what_a_table_writes_for_no_rating(tmp_path, cell):
    path = write(tmp_path / "a.csv", f"id,value\n1,4\n2,{cell}\n")
    assert [rating.value for rating in read_ratings(path)] == [4.0, None]
    wide = write(tmp_path / "b.csv", f"id,rater_1,rater_2\n1,4,{cell}\n")
    assert [rating.value for rating in read_ratings(wide)] == [4.0, None]
    own = write(tmp_path / "c.csv", f"response,ratings.d,ratings.e\nx,4,{cell}\n")
    assert load(own).turns[0].ratings == {"d": (4.0,)}
    raters = write(tmp_path / "d.csv", f"response,rater_1,rater_2\nx,4,{cell}\n")
    assert load(raters).turns[0].ratings == {"overall": (4.0, None)}


def test_empty_text_is_no_rating(tmp_path):
    path = write_lines(tmp_path / "a", {"id": 1, "value": ""}, {"id": 1, "value": None}, {"id": 1, "value": "n/a"})
    assert [rating.value for rating in read_ratings(path)] == [None, None, None]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,value\n1,good\n", ":2: rating 'overall': expected a number, null or \"N/A\", found the text 'good'"),
        ("id,value\n1,inf\n", ":2: rating 'overall': expected a number, null or \"N/A\", found the text 'inf'"),
        ("id,value\n1,true\n", ":2: rating 'overall': expected a number, null or \"N/A\", found the text 'true'"),
        ("id,value\n1\n", ":2: expected 2 columns, found 1"),
        ("id,value\n,3\n", ":2: id: expected text or a whole number, found none"),
        ("id,rating\n1,3\n", ":1: expected a column 'value', found 'id', 'rating'"),
        ("name,value\n1,3\n", ":1: expected a column 'id', found 'name', 'value'"),
        ("id,value,value\n1,3,4\n", ":1: expected columns of different names, found 'value' twice"),
        ("id,value,raters\n1,3,ann\n", ":1: unknown field 'raters'; did you mean 'rater'?"),
        ('id,value\n"1,3\n', ":2: not a valid table: unexpected end of data; is a quotation mark missing?"),
        (
            "id,value\r1,3\r",
            ":1: not a valid table: a carriage return stands outside quotation marks; if lines end in carriage returns"
            " alone, as on old Macs, convert them: tr '\\r' '\\n' < FILE > NEW",
        ),
        ("id,value\n", ": expected ratings, found none"),
        ("", ": expected ratings, found none"),
        (b"id,value\n\xff,3\n", ":2: expected UTF-8 text, found byte 0xff at position 1 of the line"),
        (
            "id,rater,value\n1,ann,3\n\n1,bob,3\n1,ann,3\n",
            ":5: the rating 'overall' of id '1' and no system by rater 'ann' stands already in line 2",
        ),
        ('{"id": 1, "value": true}\n', ":1: rating 'overall': expected a number, null or \"N/A\", found true"),
        ('{"id": 1, "value": NaN}\n', ":1: not valid JSON: NaN is not a JSON number; write null where there is none"),
        ('{"id": 1, "value": "4"}\n', ":1: rating 'overall': expected a number, null or \"N/A\", found the text '4'"),
        ('{"id": 1, "value": 4}\n{"id": 1}\n', ":2: expected a field 'value', found 'id'"),
        ('{"id": null, "value": 4}\n', ":1: id: expected text or a whole number, found none"),
        ('{"id": 1, "value": 4, "System": 3}\n', ":1: unknown field 'System'; did you mean 'system'?"),
    ],
)
def test_bad_files(tmp_path, content, message):
    path = write(tmp_path / "a", content)
    assert refused(read_ratings, path) == f"{path}{message}"


def test_a_near_miss_beside_the_column_itself_is_left_out(tmp_path):
    assert bare(read_ratings(write(tmp_path / "a", "id,value,values\n1,3,9\n"))) == [("1", None, None, "overall", 3.0)]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_parquet_refuses_what_is_not_finite(tmp_path, value):
    path = as_parquet(tmp_path / "a", {"id": [1, 2], "value": [3.0, value]})
    expected = f"rating 'overall': expected a number, null or \"N/A\", found the number {value}"
    assert refused(read_ratings, path) == f"{path}:2: {expected}"


def test_bad_parquet(tmp_path):
    path = as_parquet(tmp_path / "a", {"id": [1], "rating": [3]})
    assert refused(read_ratings, path) == f"{path}: expected a column 'value', found 'id', 'rating'"
    path.write_bytes(path.read_bytes()[:-20])
    assert refused(read_ratings, path).startswith(f"{path}: expected a Parquet file, found: ")


def test_no_file(tmp_path):
    assert refused(read_ratings, tmp_path) == f"{tmp_path}: is a directory; expected a file of ratings"
    missing = tmp_path / "a"
    assert refused(join_ratings, Corpus(TURNS), [missing]) == f"{missing}: no such file"


def test_joined_turns_have_a_number_per_rater_in_order_of_appearance(tmp_path):
    rows = [
        "1,x,bob,d,1",
        "0,x,ann,d,2",
        "0,x,bob,d,3",
        "0,y,ann,d,",
        "0,y,bob,d,4",
        "0,y,eve,other,N/A",
        "1,x,eve,d,5",
    ]
    path = write(tmp_path / "a.csv", "\n".join(["id,system,rater,dimension,value", *rows, ""]))
    before = Corpus(list(TURNS), (SourceFile("t", "0", "jsonl"),), (Caveat("c", "m"),))
    after = join_ratings(before, [path])
    assert [turn.ratings for turn in after] == [{"d": (3.0, 2.0)}, {"d": (4.0, None)}, {"own": (3.0,), "d": (1.0, 5.0)}]
    assert [(turn.id, turn.response, turn.system) for turn in after] == [
        ("0", "a", "x"),
        ("0", "b", "y"),
        ("1", "c", "x"),
    ]
    assert after.files == (
        *before.files,
        SourceFile(str(path), hashlib.sha256(path.read_bytes()).hexdigest(), "ratings"),
    )
    assert after.caveats == before.caveats
    assert before.turns == TURNS


def test_every_record_without_a_rater_is_a_rater(tmp_path):
    path = write(tmp_path / "a", "id,system,value\n0,x,2\n0,y,1\n0,x,2\n")
    assert [turn.ratings.get("overall") for turn in join_ratings(Corpus(TURNS), [path])] == [(2.0, 2.0), (1.0,), None]


def test_a_rater_of_two_files_is_one(tmp_path):
    one = write(tmp_path / "a", "id,system,rater,value\n0,x,ann,1\n0,x,bob,2\n")
    two = write(tmp_path / "b", "id,system,rater,value\n0,y,bob,3\n0,y,ann,4\n")
    after = join_ratings(Corpus(TURNS), [one, str(two)])
    assert [turn.ratings.get("overall") for turn in after] == [(1.0, 2.0), (4.0, 3.0), None]
    assert [file.path for file in after.files] == [str(one), str(two)]


def test_the_same_rating_in_two_files(tmp_path):
    # Once with the system and once without: the turn is the same.
    one = write(tmp_path / "a", "id,system,rater,value\n1,x,ann,1\n")
    two = write(tmp_path / "b", "id,rater,value\n1,bob,3\n1,ann,1\n")
    message = f"{two}:3: the rating 'overall' of id '1' and no system by rater 'ann' stands already at {one}:2"
    assert refused(join_ratings, Corpus(TURNS), [one, two]) == message


def test_the_same_file_twice(tmp_path):
    one = write(tmp_path / "a", "id,value\n1,1\n")
    two = write(tmp_path / "b", one.read_bytes())
    message = f"{two}: expected different files of ratings, found the content of {one} again"
    assert refused(join_ratings, Corpus(TURNS), [one, two]) == message


def test_a_turn_with_ratings_of_its_own(tmp_path):
    path = write(tmp_path / "a", "id,dimension,value\n1,other,1\n1,own,1\n")
    whose = "the turn with id '1' and system 'x' has ratings of 'own' of its own"
    assert refused(join_ratings, Corpus(TURNS), [path]) == f"{path}:3: {whose}; take them out of one of the files"


def test_ratings_that_match_no_turn_are_counted(tmp_path):
    one = write(tmp_path / "a", "id,system,value\n1,z,1\n1,x,2\n9,x,3\n")
    two = write(tmp_path / "b", "id,value\n1,4\n0,5\n")
    after = join_ratings(Corpus(TURNS), [one, two])
    assert [turn.ratings.get("overall") for turn in after] == [None, None, (2.0, 4.0)]
    first = f"{one}: 2 of 3 ratings match no turn; the first, in line 2, has id '1' and system 'z'"
    second = f"{two}: 1 of 2 ratings match no turn; the first, in line 3, has id '0' and no system"
    hint = " (this id stands 2 times in the corpus: the rating must name its system)"
    assert after.caveats == (Caveat("unmatched_ratings", first), Caveat("unmatched_ratings", second + hint))


def test_no_rating_matches(tmp_path):
    path = write(tmp_path / "a", "id,system,value\nt0,x,1\n")
    expected = "expected ratings of the corpus's turns, found none: the first rating has id 't0' and system 'x'"
    assert (
        refused(join_ratings, Corpus(TURNS), [path])
        == f"{path}:2: {expected}, the first turn has id '0' and system 'x'"
    )
    assert refused(join_ratings, Corpus([]), [path]) == f"{path}:2: {expected}, the corpus has no turns"


def test_no_rating_matches_for_want_of_a_system(tmp_path):
    path = write(tmp_path / "a", "id,value\n0,1\n")
    hint = "(this id stands 2 times in the corpus: the rating must name its system)"
    assert refused(join_ratings, Corpus(TURNS), [path]).endswith(hint)


def test_no_files_change_nothing():
    corpus = Corpus(TURNS)
    assert join_ratings(corpus, []) is corpus


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_column_per_rater(tmp_path, form):
    if form == "csv":
        path = write(
            tmp_path / "wide.csv", "id,system,rater_1,rater_2,kind_rater_1,kind_rater_2\n0,x,4,5,,1\n0,y,2,,3,3\n"
        )
    else:
        columns = {"id": ["0", "0"], "system": ["x", "y"], "rater_1": [4, 2], "rater_2": [5, None]}
        kind = {"kind_rater_1": [None, 3], "kind_rater_2": [1, 3]}
        path = as_parquet(tmp_path / "wide.parquet", {**columns, **kind})
    joined = join_ratings(Corpus(TURNS[:2]), [path])
    assert [dict(turn.ratings) for turn in joined] == [
        {"overall": (4.0, 5.0), "kind": (None, 1.0)},
        {"overall": (2.0, None), "kind": (3.0, 3.0)},
    ]


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_a_column_per_dimension(tmp_path, form):
    rows = [("0", "x", "ann", 4, None), ("0", "x", "bob", 5, 2), ("0", "y", "ann", 3, 1.5)]
    names = ("id", "system", "rater", "ratings.overall", "ratings.kind")
    records = [dict(zip(names, row, strict=True)) for row in rows]
    if form == "csv":
        cells = [",".join("" if cell is None else str(cell) for cell in row) for row in (names, *rows)]
        path = write(tmp_path / "wide", "\n".join(cells) + "\n")
    elif form == "parquet":
        path = as_parquet(tmp_path / "wide", {name: [record[name] for record in records] for name in names})
    else:
        path = write_lines(tmp_path / "wide", *records)
    assert [dict(turn.ratings) for turn in join_ratings(Corpus(TURNS[:2]), [path])] == [
        {"overall": (4.0, 5.0), "kind": (None, 2.0)},
        {"overall": (3.0,), "kind": (1.5,)},
    ]


def test_a_near_miss_beside_columns_of_dimensions(tmp_path):
    path = write(tmp_path / "a", "id,raters,ratings.kind\n0,ann,4\n")
    assert refused(read_ratings, path) == f"{path}:1: unknown field 'raters'; did you mean 'rater'?"
