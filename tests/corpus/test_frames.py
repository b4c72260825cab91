"""What Python programs have in memory is read as the same data in a file is."""

import io
import json
from datetime import date

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dialogauge
from dialogauge import Corpus, InputError, Turn
from dialogauge.corpus.frames import as_corpus, as_source

NAN = float("nan")
ROWS = [
    {
        "id": f"{number}",
        "context": ["hi", "how are you?"][: 1 + number % 2],
        "response": response,
        "references": [["fine, and you?", "great"], ["good"], None][number % 3],
        "system": system,
        "ratings": {"overall": [4.0, None], "fluency": [1.0 + number, 2.0]},
        "dialogue": None if number else "d1",
        "seconds": None if number % 2 else 1.5,
    }
    for system in ("a", "b")
    for number, response in enumerate([f"fine and {system}", "great", "", "good I think"])
]
FORMS = {
    "dicts": list,
    "generator": iter,
    "pandas": pd.DataFrame,
    "pandas_index": lambda rows: pd.DataFrame(rows).set_index("id"),
    "pandas_nan": lambda rows: pd.DataFrame(rows).map(lambda value: NAN if value is None else value),
    "pandas_arrays": lambda rows: pd.DataFrame([{**row, "context": np.array(row["context"])} for row in rows]),
    "pandas_columns": lambda rows: pd.DataFrame(
        [
            {key: value for key, value in row.items() if key != "ratings"}
            | {f"ratings.{dimension}": given for dimension, given in row["ratings"].items()}
            for row in rows
        ]
    ),
    "polars": pl.DataFrame,
    "dataset": datasets.Dataset.from_list,
    "dataset_of_indices": lambda rows: datasets.Dataset.from_list(rows[::-1]).select(range(len(rows) - 1, -1, -1)),
    "dataset_stream": lambda rows: datasets.Dataset.from_list(rows).to_iterable_dataset(),
    "arrow": pa.Table.from_pylist,
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    return path


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_same_turns_as_from_a_file(form, path):
    assert as_corpus(form(ROWS)).turns == dialogauge.load(path).turns


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_same_scores_as_from_a_file(form, path):
    scores = dialogauge.evaluate(dialogauge.load(path), "bleu,distinct", resamples=20)
    found = dialogauge.evaluate(form(ROWS), "bleu,distinct", resamples=20)
    assert found.scores == scores.scores
    assert found.caveats == scores.caveats
    assert found.to_dict()["corpus"]["files"] == []


def test_turns_paths_and_streams(path):
    turns = dialogauge.load(path).turns
    scores = dialogauge.evaluate(dialogauge.load(path), "bleu", resamples=20)
    for given in (turns, tuple(turns), str(path), path, [path], dialogauge.stream(path), [*turns[:3], *ROWS[3:]]):
        assert dialogauge.evaluate(given, "bleu", resamples=20).scores == scores.scores
    assert dialogauge.evaluate(str(path), "bleu", resamples=20).to_json() == scores.to_json()


def test_other_verbs_take_the_same(path):
    corpus, frame = dialogauge.load(path), pd.DataFrame(ROWS)
    assert (
        dialogauge.compare(frame, "length", resamples=20).pairs
        == dialogauge.compare(corpus, "length", resamples=20).pairs
    )
    assert (
        dialogauge.sensitivity(ROWS, "length", kinds="repeat", ratios=[1], resamples=20).points
        == dialogauge.sensitivity(corpus, "length", kinds="repeat", ratios=[1], resamples=20).points
    )
    rows = dialogauge.correlate({"mine": corpus}, "length", resamples=20).rows
    for given in ({"mine": frame}, {"mine": ROWS}, {"mine": str(path)}):
        assert dialogauge.correlate(given, "length", resamples=20).rows == rows


def test_a_list_of_records_is_one_corpus_and_a_list_of_anything_else_several(path, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text(path.read_text())

    def corpora(given):
        return list(dict.fromkeys(row.corpus for row in dialogauge.correlate(given, "length", resamples=20).rows))

    assert corpora(ROWS) == ["corpus"]
    assert corpora(dialogauge.load(path).turns) == ["corpus"]
    assert corpora([path, other]) == ["rows", "other"]
    assert corpora([ROWS, pd.DataFrame(ROWS)]) == ["corpus", "corpus (2)"]
    assert corpora(corpus for corpus in [dialogauge.load(path), dialogauge.load(other)]) == ["rows", "other"]


def test_real_conversations_are_taken_likewise(path):
    """Refused by a metric that looks at none, which shows that they were read."""
    with pytest.raises(InputError, match="none of the metrics takes any: bleu"):
        dialogauge.evaluate(ROWS, "bleu", real=pd.DataFrame(ROWS))


def test_missing_is_absent():
    frame = pd.DataFrame(
        {
            "response": ["a", "b", "c", "d"],
            "id": [1, 2, 7, NAN],
            "references": ["x", NAN, None, pd.NA],
            "ratings.good": [1, NAN, None, 3],
            "when": pd.to_datetime(["2026-01-02", None, None, None]),
            "counts": pd.array([1, None, 3, 4], dtype="Int64"),
            "thumbnail": [b"\x00", b"\x00", b"\x00", b"\x00"],
        }
    )
    corpus = Corpus.from_frame(frame)
    assert [turn.id for turn in corpus] == ["1", "2", "7", "3"]
    assert [turn.references for turn in corpus] == [("x",), (), (), ()]
    assert [dict(turn.ratings) for turn in corpus] == [{"good": (1.0,)}, {}, {}, {"good": (3.0,)}]
    assert [dict(turn.extra) for turn in corpus] == [
        {"when": "2026-01-02 00:00:00", "counts": 1},
        {},
        {"counts": 3},
        {"counts": 4},
    ]


def test_values_become_what_json_would_hold():
    record = {
        "response": np.str_("a"),
        "id": np.int64(7),
        "context": ("hi", "there"),
        "ratings": {"good": np.array([1, np.nan], dtype=np.float32)},
        "day": date(2026, 1, 2),
    }
    (turn,) = Corpus.from_records([record], system="mine")
    assert turn == Turn("7", "a", ("hi", "there"), (), "mine", {"good": (1.0, None)}, extra={"day": "2026-01-02"})


def test_chat_messages_in_columns():
    said = [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}]
    for form in (pd.DataFrame, pl.DataFrame, datasets.Dataset.from_list, list):
        (turn,) = as_corpus(form([{"messages": said, "response": "hello"}]))
        assert (turn.context, turn.facts) == (("hi",), ("be kind",))


def test_columns_of_other_names():
    records = [{"text": "a", "model": "s1", "variant": "x"}, {"text": "b", "model": "s2", "variant": "y"}]
    corpus = Corpus.from_frame(pl.DataFrame(records), mapping={"response": "text"})
    assert [(turn.system, turn.response) for turn in corpus] == [("s1", "a"), ("s2", "b")]
    (caveat,) = corpus.caveats
    assert caveat.message == "records: taken system from 'model'; mapping FIELD=COLUMN says otherwise"
    assert Corpus.from_records(records, mapping={"response": "text", "system": "variant"}).systems == ("x", "y")
    with pytest.raises(
        InputError, match="^mapping response=txt: expected such a column, found 'text', 'model', 'variant'"
    ):
        Corpus.from_frame(pd.DataFrame(records), mapping={"response": "txt"})


def test_numbered_columns_are_named_by_their_numbers():
    assert [turn.response for turn in Corpus.from_frame(pd.DataFrame([["x", "a"]]), mapping={"response": 1})] == ["a"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mapping": None}, 'mapping: expected a dict such as {"response": "text"}, found null'),
        ({"mapping": ["response"]}, "mapping: expected a dict .*, found a list of 1 string"),
        (
            {"mapping": {"references": ["x", "y"]}},
            "mapping references: expected the name of a column, found a list",
        ),
        ({"mapping": {3: "x"}}, "unknown field 3; known: context"),
        ({"system": 3}, "system: expected a name, found the number 3"),
        ({"system": " "}, "system: expected a name, found the text ' '"),
    ],
)
def test_wrong_options_of_from_frame(options, message):
    with pytest.raises(InputError, match=message):
        Corpus.from_frame(pd.DataFrame([{"response": "a", "x": "b"}]), **options)


def test_lists_that_a_table_spells_as_json_are_lists(tmp_path):
    """A CSV file gives the same turns through pandas or polars, or as the Parquet file that pandas makes of it."""
    row = {"response": "a", "context": '["hi", "you"]', "references": '["b", "c"]', "ratings": '{"good": [1, 2]}'}
    path = tmp_path / "rows.csv"
    pd.DataFrame([row]).to_csv(path, index=False)
    frame = pd.read_csv(path)
    frame.to_parquet(tmp_path / "rows.parquet")
    (turn,) = dialogauge.load(path)
    assert turn.references == ("b", "c")
    for found in (as_corpus(frame), as_corpus(pl.read_csv(path)), dialogauge.load(tmp_path / "rows.parquet")):
        assert [(each.context, each.references, each.ratings) for each in found] == [
            (turn.context, turn.references, turn.ratings)
        ]


def test_texts_that_only_look_like_lists_stay_texts():
    frame = pd.DataFrame({"response": ["a", "b"], "context": ["[laughs] hi", '{"task": "greet"}']})
    assert [turn.context for turn in as_corpus(frame)] == [("[laughs] hi",), ('{"task": "greet"}',)]
    with pytest.raises(InputError, match="row 1: references: expected text or JSON, found a list that is not JSON"):
        as_corpus(pd.DataFrame({"response": ["a"], "references": ["['b', 'c']"]}))
    (turn,) = as_corpus([{"response": "a", "context": '["hi"]'}])
    assert turn.context == ('["hi"]',)


def test_a_dataset_is_seen_through_its_transform():
    dataset = datasets.Dataset.from_list([{"text": "a"}]).with_transform(lambda _: {"response": ["b c"]})
    assert [turn.response for turn in as_corpus(dataset)] == ["b c"]


def test_what_cannot_be_read_is_left_out_and_counted_where_asked():
    corpus = Corpus.from_records([{"response": "a"}, {"response": 3}, 4], skip_invalid=True)
    assert [turn.response for turn in corpus] == ["a"]
    assert corpus.caveats[0].code == "skipped_lines"
    assert corpus.caveats[0].message == (
        "records: 2 rows left out (row 2: response: expected text, found the number 3; "
        "row 3: expected a dict or a Turn, found int)"
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            None,
            "expected a Corpus, a path or several, a list of dicts or Turns, a pandas DataFrame, or what gives Arrow",
        ),
        (3, "Hugging Face Dataset\\); found int"),
        ({"response": "a"}, "; found dict"),
        (b"a.jsonl", "; found bytes"),
        (io.StringIO('{"response": "a"}'), "; found StringIO"),
        (np.array("a"), "; found ndarray"),
        (pd.DataFrame, "; found type"),
        (pd.DataFrame(), "^expected a column 'response', found none; "),
        (pa.table({"response": ["a"], "when": pa.array([2**62], pa.timestamp("us"))}), "^expected values that Python"),
        ([3], "; found list of int"),
        ([None, {"response": "a"}], "; found list of NoneType"),
        ([[{"response": "a"}]], "; found list of list"),
        ([Corpus([])], "; found list of Corpus"),
        (pl.DataFrame({"response": ["a"]}).lazy(), "; found LazyFrame"),
        (datasets.DatasetDict({"test": datasets.Dataset.from_list(ROWS)}), "; found DatasetDict"),
        (pl.Series(["a"]), "^expected a table, found Series"),
        (["a.jsonl", {"response": "a"}], "^expected paths alone, found dict among them"),
        ("nowhere.jsonl", "nowhere.jsonl: no such file"),
        ([], "^expected turns, found none"),
        (pd.DataFrame({"response": []}), "^expected turns, found none"),
        (
            pd.DataFrame({"text": ["a"]}),
            "^expected a column 'response', found 'text'; .* name it: mapping response=text",
        ),
        (pd.DataFrame([["a", "b"]], columns=["response", "response"]), "^expected columns of different names"),
        (pd.DataFrame({"response": ["a", None]}), "^row 2: response: expected text, found null"),
        ([{"response": "a"}, 3], "^row 2: expected a dict or a Turn, found int"),
        ([{"response": "a"}, {"respnse": "a"}], "^row 2: unknown field 'respnse'; did you mean 'response'?"),
        ([{"response": "a", "context": {"x"}}], "^row 1: context: expected a list of strings or chat messages"),
        ([{"response": "a", "n": float("inf")}], "^row 1: expected finite numbers"),
        ([{"response": "a", "ratings": {"x": 10**400}}], "^row 1: expected numbers below 1e308"),
        ([{"response": "\ud800"}], "^row 1: half of a surrogate pair"),
        (
            [{"response": "a", "id": 1}] * 2,
            "^row 2: id '1' of system 'system' stands already at row 1; ids must differ",
        ),
        ([Turn("1", "a"), Turn("1", "b")], "^row 2: id '1' of system 'system' stands already at row 1"),
        (
            [Turn("1", "a"), {"response": "b"}],
            "^row 2: has no id, and the one made of its position, '1', stands already at row 1; give all turns of"
            " system 'system' an id, or none$",
        ),
        (
            pd.DataFrame({"response": ["a", "b"], "id": ["1", None]}),
            "^row 2: has no id, and the one made of its position, '1', stands already at row 1",
        ),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        dialogauge.evaluate(given, "length")


@pytest.mark.parametrize(
    "given", [None, 3, pd.DataFrame(ROWS), pl.DataFrame(ROWS), ROWS], ids=lambda given: type(given)
)
def test_what_is_in_memory_is_not_loaded(given):
    with pytest.raises(InputError, match="^expected a path or several, found .*; Corpus.from_records and"):
        dialogauge.load(given)


def test_a_record_within_itself():
    record = {"response": "a"}
    record["extra"] = record
    with pytest.raises(InputError, match="row 1: nested too deeply"):
        as_corpus([record])


def test_frames_and_records_are_not_mixed_up():
    with pytest.raises(InputError, match="expected a list of dicts or Turns, found DataFrame"):
        Corpus.from_records(pd.DataFrame(ROWS))
    with pytest.raises(InputError, match="expected a data frame of pandas or polars, .*, found list"):
        Corpus.from_frame(ROWS)


def test_a_corpus_is_taken_as_it_is():
    corpus = Corpus([Turn("1", "a")])
    assert as_source(corpus) is as_corpus(corpus) is corpus
