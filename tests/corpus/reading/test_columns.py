import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialogauge.corpus import Turn, load
from dialogauge.corpus.reading.columns import OTHER_NAMES
from dialogauge.errors import InputError
from tests.corpus.files import refusal, write, write_lines

BOTS = "question,answer,model,target\nhi?,yes,a,no\nhi?,no,b,no\nso?,well,c,then\n"
TURNS = [
    Turn("0", "yes", ("hi?",), ("no",), "a"),
    Turn("0", "no", ("hi?",), ("no",), "b"),
    Turn("0", "well", ("so?",), ("then",), "c"),
]


def records():
    names, *rows = (line.split(",") for line in BOTS.splitlines())
    return [dict(zip(names, row, strict=True)) for row in rows]


def write_bots(folder, kind):
    path = folder / f"bots.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(records()), path)
        return path
    if kind == "jsonl":
        return write_lines(path, *records())
    return write(path, {"csv": BOTS, "tsv": BOTS.replace(",", "\t"), "json": json.dumps(records())}[kind])


@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_common_names_are_understood_and_said_once(tmp_path, kind):
    path = write_bots(tmp_path, kind)
    corpus = load(path)
    assert corpus.turns == TURNS
    taken = "context from 'question', response from 'answer', references from 'target', system from 'model'"
    (caveat,) = corpus.caveats
    assert (caveat.code, caveat.message) == (
        "columns_understood",
        f"{path}: taken {taken}; --map FIELD=COLUMN says otherwise",
    )


@pytest.mark.parametrize(("field", "name"), [(field, name) for field, names in OTHER_NAMES.items() for name in names])
def test_every_other_name_is_understood_in_any_case(tmp_path, field, name):
    record = {"response": "a", name.upper().replace("_", " "): "b"}
    if field == "response":
        del record["response"]
    (turn,) = load(write_lines(tmp_path / "a.jsonl", record))
    assert getattr(turn, field) == (("b",) if field in ("context", "references") else "b")
    assert not turn.extra


@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_what_the_user_maps_is_taken_and_needs_no_word(tmp_path, kind):
    mapping = {"response": "target", "references": "answer", "context": "question", "system": "model"}
    corpus = load(write_bots(tmp_path, kind), mapping=mapping)
    assert [(turn.response, turn.references) for turn in corpus] == [
        ("no", ("yes",)),
        ("no", ("no",)),
        ("then", ("well",)),
    ]
    assert corpus.systems == ("a", "b", "c")
    assert corpus.caveats == ()


def test_the_field_s_own_name_comes_first_and_what_is_not_taken_stays(tmp_path):
    given = {"response": "a", "answer": "b", "system": "s", "model": "m", "target": 0.5, "bot": 1}
    corpus = load(write_lines(tmp_path / "a.jsonl", given))
    assert corpus.turns == [Turn("0", "a", system="s", extra={"answer": "b", "model": "m", "target": 0.5, "bot": 1})]
    assert corpus.caveats == ()


def test_numbers_are_no_texts(tmp_path):
    """`column[name=target]` goes on to read them."""
    assert load(write(tmp_path / "a.csv", "response,target\na,0.5\n")).turns[0].extra == {"target": 0.5}
    (turn,) = load(write(tmp_path / "a.csv", "response,target\na,0.5\n"), mapping={"references": "target"})
    assert turn.references == ("0.5",)


def test_no_column_can_be_asked_for(tmp_path):
    corpus = load(write_lines(tmp_path / "a.jsonl", {"response": "a", "model": "m"}), mapping={"system": None})
    assert corpus.turns == [Turn("0", "a", system="a", extra={"model": "m"})]
    assert corpus.caveats == ()


def test_a_mapped_column_stands_before_that_of_the_field_s_name(tmp_path):
    path = write(tmp_path / "a.csv", "context,response,system,variant\nhi,a,s,v\n")
    assert load(path, mapping={"system": "variant"}).turns == [Turn("0", "a", ("hi",), system="v")]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_dimension_can_be_mapped(tmp_path, kind):
    rows = {"csv": "response,stars\na,4\n", "jsonl": '{"response": "a", "stars": 4}\n'}
    (turn,) = load(write(tmp_path / f"a.{kind}", rows[kind]), mapping={"ratings.overall": "stars"})
    assert (dict(turn.ratings), dict(turn.extra)) == ({"overall": (4.0,)}, {})


def test_two_names_for_one_field_are_asked_about(tmp_path):
    path = write(tmp_path / "a.csv", "response,model,bot\na,b,c\n")
    asked = "'model', 'bot'; say --map system=model or --map system=bot"
    assert refusal(path) == f":2: system: expected one column that holds it, found {asked}"
    assert load(path, mapping={"system": "bot"}).systems == ("c",)


@pytest.mark.parametrize(
    ("content", "mapping", "message"),
    [
        ("response,x\na,b\n", {"system": "y"}, ":1: --map system=y: expected such a column, found 'response', 'x'"),
        ("text,x\na,b\n", {"response": "y"}, ":1: --map response=y: expected such a column, found 'text', 'x'"),
        ('{"response": "a"}\n', {"system": "y"}, ": --map system=y: expected such a field, found it in no record"),
        (
            "a __eou__ b __eou__\n",
            {"system": "y"},
            ": --map: files of the format 'dailydialog' have no columns to name",
        ),
    ],
)
def test_what_is_mapped_must_be_there(tmp_path, content, mapping, message):
    assert refusal(write(tmp_path / "a.csv", content), mapping=mapping) == message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '{"prompt": "a", "final text": "b"}\n',
            "response: expected text, found no such field (the fields are 'prompt', 'final text'); "
            "where another holds it, name it: --map 'response=final text,context=prompt'",
        ),
        (
            "Model Answer,content\na,b\n",
            "expected a column 'response', found 'Model Answer', 'content'; "
            "where another holds it, name it: --map 'response=Model Answer'",
        ),
        (
            '{"contents": "b"}\n',
            "response: expected text, found no such field (the fields are 'contents'); "
            "where another holds it, name it: --map response=contents",
        ),
        (
            "response,rating\na,4\n",
            "unknown field 'rating'; did you mean 'ratings'? --map ratings.overall=rating takes its numbers.",
        ),
    ],
)
def test_what_is_advised_can_be_pasted(tmp_path, content, message):
    """The columns go by their names in the file, and where none is the response that comes before any misspelling."""
    assert refusal(write(tmp_path / "a.csv", content)) == f":1: {message}"


def test_fields_that_turns_do_not_have_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"unknown field 'sistem'; did you mean system\?"):
        load(write(tmp_path / "a.csv", "response\na\n"), mapping={"sistem": "x"})


@pytest.mark.parametrize("turns", [6, 30])
def test_an_unused_column_that_may_name_the_system_is_said(tmp_path, turns):
    rows = "".join(f"answer {row},{'abc'[row % 3]},note {row}\n" for row in range(turns))
    path = write(tmp_path / "bots.csv", "response,variant,note\n" + rows)
    (caveat,) = load(path).caveats
    assert caveat.code == "unused_column"
    assert caveat.message.endswith("the column 'variant' has few different texts: is it --map system=variant?")
    assert load(path, mapping={"system": "variant"}).caveats == load(path, mapping={"system": None}).caveats == ()


def test_equal_ids_of_systems_that_are_not_named_are_answered_with_the_column(tmp_path):
    rows = "".join(f"{row // 2 if row > 9 else row + 50},a,{'ab'[row % 2]}\n" for row in range(20))
    path = write(tmp_path / "bots.csv", "id,response,variant\n" + rows)
    assert refusal(path).endswith("ids must differ; if a column tells systems apart, name it: --map system=variant")
    assert load(path, mapping={"system": "variant"}).systems == ("a", "b")


def test_one_model_in_two_files_is_asked_about(tmp_path):
    files = [write_lines(tmp_path / f"{week}.jsonl", {"response": week, "model": "m"}) for week in ("last", "this")]
    with pytest.raises(InputError, match=r"say --map system=model if it is one system, --map system= to name systems"):
        load(files)
    assert load(files, mapping={"system": None}).systems == ("last", "this")
    assert [(turn.id, turn.system) for turn in load(files, mapping={"system": "model"})] == [("0", "m"), ("1", "m")]


def test_chat_logs_name_their_model_and_conversation(tmp_path):
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    path = write_lines(tmp_path / "log.jsonl", {"conversation_id": 7, "model": "m", "messages": said})
    assert load(path).turns == [Turn("7:1", "hello", ("hi",), system="m", dialogue="7")]
    path = write_lines(tmp_path / "log.jsonl", {"session_id": 7, "id": "x", "messages": said})
    assert [(turn.dialogue, dict(turn.extra)) for turn in load(path)] == [("x", {"session_id": 7})]
