"""Replies with ratings as tools and questionnaires give them: Label Studio, xDial-Eval, a column per rater, a row per
rating."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialogauge.corpus import Turn, load
from tests.corpus.files import refusal, write
from tests.corpus.samples_of_tools import texts

TEXTS = texts()


def loaded(tmp_path, reader):
    corpus = load(write(tmp_path / "data.txt", TEXTS[reader]))
    assert corpus.files[0].reader == reader
    return corpus.turns


def test_label_studio(tmp_path):
    """Two annotators, of whom the second gave no choice; a third cancelled."""
    assert loaded(tmp_path, "label_studio") == [
        Turn("7", "hello", ("hi é",), system="m1", ratings={"fluent": (4.0, 2.0), "kind": (2.0, None)}),
        Turn("8", "what?", ("hi",), system="m1"),
    ]


def test_label_studio_without_a_reply(tmp_path):
    path = write(tmp_path / "data.json", json.dumps([{"id": 1, "data": {"image": "a.png"}, "annotations": []}]))
    assert (
        refusal(path)
        == ":1: item 1: data: expected a reply or a dialogue, found 'image'; --map response=NAME names the reply"
    )


def test_label_studio_min(tmp_path):
    """Two annotations of one task are one turn; the second gave no choice, and what it wrote is no rating."""
    assert loaded(tmp_path, "label_studio_min") == [
        Turn("7", "hello", ("hi é",), system="m1", ratings={"fluent": (4.0, 2.0), "kind": (2.0, None)}),
        Turn("8", "what?", ("hi",), system="m1", ratings={"fluent": 1.0}),
    ]


def annotation(**fields):
    about = {"annotation_id": 1, "created_at": "c", "updated_at": "u", "lead_time": 1.0}
    return {**fields, "annotator": fields.get("annotator", 1), **about}


def test_label_studio_min_with_raters_in_order_of_appearance(tmp_path):
    """Raters 1 and 2 in every turn, whoever finished first. Numbers, one of a list, and one choice alone."""
    rows = [
        annotation(response="a", id=1, kind=3),
        {**annotation(response="b", id=2, kind=[{"number": 5}]), "annotator": 2},
        {**annotation(response="a", id=1, kind={"choices": ["4"]}), "annotator": 2},
        annotation(response="b", id=2, kind="nan"),
    ]
    corpus = load(write(tmp_path / "data.json", json.dumps(rows)))
    assert [(turn.id, dict(turn.ratings)) for turn in corpus] == [
        ("1", {"kind": (3.0, 4.0)}),
        ("2", {"kind": (None, 5.0)}),
    ]


def test_label_studio_min_of_data_with_an_id(tmp_path):
    """The task's id then stands where the data's did: a number or a text after it may be data."""
    row = annotation(id=1, response="42", speed=3, kind="2", fluent=[{"rating": 4}])
    (turn,) = load(write(tmp_path / "data.json", json.dumps([row])))
    assert (turn.response, turn.ratings, turn.extra) == ("42", {"fluent": (4.0,)}, {"speed": 3, "kind": "2"})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"response": "b"}, ":1: item 2: id '1': expected the reply that it has in line 1, found another"),
        ({"ratings": {"kind": 1}}, ":1: item 2: ratings: expected those of annotators, found some in the data"),
        ({"response": 4}, ":1: item 2: response: expected text, found the number 4"),
    ],
)
def test_bad_annotations_of_label_studio_min(tmp_path, changes, message):
    rows = [annotation(response="a", id=1, kind=3), annotation(**{"response": "a", **changes, "id": 1, "kind": 4})]
    assert refusal(write(tmp_path / "data.json", json.dumps(rows))) == message


@pytest.mark.parametrize("missing", ["id", "annotator", "annotation_id", "lead_time"])
def test_what_only_resembles_label_studio_min(tmp_path, missing):
    row = annotation(response="a", id=1, kind=3)
    del row[missing]
    assert load(write(tmp_path / "data.json", json.dumps([row]))).files[0].reader == "json"


def test_xdial(tmp_path):
    assert loaded(tmp_path, "xdial") == [
        Turn("0", "how are you?", ("hi", "hello"), system="en", ratings={"overall": 4.5}),
        Turn("0", "你好吗?", ("你好", "您好"), system="zh", ratings={"overall": 4.5}),
        Turn("1", "é", ("what?",), system="en"),
        Turn("1", "啊", ("什么?",), system="zh"),
    ]


def test_dialogues_of_xdial(tmp_path):
    path = write(tmp_path / "dial.csv", 'en_dial,zh_dial,ratings\n"hi\nhello\nbye","你好\n您好",3\n')
    rated = {"dialogue_ratings": {"overall": 3}}
    assert load(path).turns == [
        Turn("0", "bye", ("hi", "hello"), system="en", dialogue="0", extra=rated),
        Turn("0", "您好", ("你好",), system="zh", dialogue="0", extra=rated),
    ]


RATED = [
    ("hello é", "m1", {"overall": (4.0, 5.0), "fluent": (3.0, None)}),
    ("what?", "m2", {"overall": (1.0, 2.0), "fluent": (2.0, 1.0)}),
]


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_a_column_per_rater(tmp_path, form):
    names, *rows = [line.split(",") for line in TEXTS["rater_columns"].split()[:1]] + [
        ["hi", "hello é", "m1", 4, 5, 3, None],
        ["hi", "what?", "m2", 1, 2, 2, 1],
    ]
    records = [dict(zip(names, row, strict=True)) for row in rows]
    path = tmp_path / "data"
    if form == "csv":
        write(path, TEXTS["rater_columns"])
    elif form == "parquet":
        pq.write_table(pa.Table.from_pylist(records), path)
    else:
        write(path, "".join(json.dumps(record) + "\n" for record in records))
    corpus = load(path)
    assert corpus.files[0].reader == "rater_columns"
    assert [(turn.response, turn.system, turn.ratings) for turn in corpus] == RATED
    assert corpus.turns[0].context == ("hi",)


def test_a_row_per_rating(tmp_path):
    assert loaded(tmp_path, "rating_rows") == [
        Turn("1", "hello é", ("hi",), system="m1", ratings={"kind": (5.0, 4.0), "fluent": 3.0}),
        Turn("2", "what?", ("hi",), system="m1", ratings={"kind": 1.0}),
    ]


def test_a_row_per_rating_without_ids(tmp_path):
    rows = "context,response,rater,score\nhi,a,x,1\nhi,a,y,2\nhi,b,x,3\nhi,b,y,N/A\n"
    corpus = load(write(tmp_path / "data.csv", rows))
    assert [(turn.id, turn.response, turn.ratings["overall"]) for turn in corpus] == [
        ("0", "a", (1.0, 2.0)),
        ("1", "b", (3.0, None)),
    ]
    twice = write(tmp_path / "twice.csv", rows + "hi,a,x,4\n")
    assert refusal(twice) == ":6: the rating 'overall' of this reply by 'x' stands already above"
    assert len(load(twice, skip_invalid=True)) == 2


def test_one_column_of_a_rater_is_a_number_like_others(tmp_path):
    (turn,) = load(write(tmp_path / "data.csv", "response,rater_1\na,4\n"))
    assert turn.extra == {"rater_1": 4}
