import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialogauge.corpus import load
from dialogauge.corpus.readers.registry import READERS, choose
from tests.corpus import samples_of_tools
from tests.corpus.files import refusal, write
from tests.corpus.samples import samples

FORMATS = {
    "jsonl": '{"response": "a"}\n',
    "csv": "context,response\na,b\n",
    "tsv": "context\tresponse\na\tb\n",
    "fbd": '{"src": "a", "refs": ["b"], "hyps": ["c"], "human_scores": [[1]]}\n',
    "conversations": '{"utterances": ["a", "b"]}\n',
    "pairwise": '{"id": 1, "a": {"system": "s", "response": "x"}, "b": {"system": "t", "response": "y"}}\n',
    "dailydialog": "a __eou__ b __eou__\n",
    "parlai": "1 a\tb\n",
    "entailment": "a\tb\nc\nd\n" * 2,
    "usr": '[{"context": "a", "responses": [{"response": "b", "model": "c"}]}]',
    "fed": '[\n{"context": "a", "response": "b", "annotations": {}}\n]\n',
    "conture": '[ {"dialog_id": 1, "turns": [{"user": "a", "chatbot": "b"}]} ]',
    "json": '[\n {"context": ["a"],\n  "response": "b"}\n]\n',
    "bert_ruber": "query,response,human_score,Ruber_Unref_Score,CTX_Unref_Score\na,b,1,2,3\na,c,1,2,3\n",
    **samples_of_tools.texts(),
}


@pytest.mark.parametrize("reader", FORMATS)
@pytest.mark.parametrize("name", ["data", "data.txt", "data.csv", "data.jsonl.gz"])
def test_the_content_decides_not_the_extension(tmp_path, reader, name):
    path = write(tmp_path / name, FORMATS[reader])
    assert choose(path)[0].name == reader
    assert load(path).files[0].reader == reader
    assert load(path, reader=reader) == load(path)


def test_parquet(tmp_path):
    pq.write_table(pa.table({"response": ["a"]}), tmp_path / "data.csv")
    assert choose(tmp_path / "data.csv")[0].name == "parquet"


def test_parallel(tmp_path):
    path = write(tmp_path / "src.txt", "plain text\n")
    assert refusal(path).startswith(":1: no reader recognises")
    write(tmp_path / "tgt.txt", "plain text\n")
    assert choose(path)[0].name == "parallel"


def test_every_reader_is_tried():
    assert {*FORMATS, "dataset", "parquet", "parallel", "grade", "text"} == set(READERS)


def test_directories(tmp_path):
    found = samples()
    for reader in ("grade", "text"):
        path = found[reader].write(tmp_path / reader)
        assert choose(path)[0].name == reader
        assert load(path) == load(path, reader=reader)


def test_a_directory_is_not_taken_for_a_parallel_file(tmp_path):
    (tmp_path / "src-a").mkdir()
    (tmp_path / "tgt-a").write_text("a")
    assert refusal(tmp_path / "src-a").startswith(": is a directory; ")


@pytest.mark.parametrize(
    ("content", "reader"),
    [
        ('{"messages": [{"role": "user", "content": "a"}]}\n', "conversations"),
        ('{"response": "a", "messages": []}\n', "jsonl"),
        ('{"response": "a __eou__ b"}\n', "jsonl"),
        ('{"broken\n{"utterances": ["a", "b"]}\n', "conversations"),
        ('{"broken\n', "jsonl"),
        ("1 your persona: i read.\n2 a\tb\n", "parlai"),
        ("1 a\tb\n2 c\td\n3 e\tf\n4 g\th\n", "parlai"),
        ("1 tea\tor two ?\ntwo\none\n" * 2, "entailment"),
        ("a\tb\nc\nd\te\n" + "a\tb\nc\nd\n" * 5, "entailment"),
        ("context\tresponse\n" + "a\tb\n" * 9, "tsv"),
        ('[{"context": "a", "response": "b __eou__", "annotations": {}}]', "fed"),
        ('[{"context": "a", "annotations": {}}]', "fed"),
        ('[{"context": "a", "response": "b"}]', "json"),
        ('[{"Response": "a", "id": 1}]', "json"),
        ('[{"responses": ["a"]}]', "json"),
        ('[{"context": "a", "responses": [], "response": "b"}]', "usr"),
        ('[{"response": "a", "turns": [], "dialog_id": 1}]', "conture"),
        ('[{"response": "%s"}]' % ("x" * 200_000), "json"),
        ("query,response,human_score,CTX_Unref_Score\na,b,1,2\n", "csv"),
        ("1 partner's persona: i read.\n2 a\tb\n", "parlai"),
        ("\n\nresponse\na\n", "csv"),
        ('"response","id"\n"a",1\n', "csv"),
        ("Responses,id\na,1\n", "csv"),
        ('{"id": "%s", "src": "a", "hyps": ["b"]}\n' % ("x" * 100_000), "fbd"),
        ('{"response": "%s"}\n{"utterances": []}\n' % ("x" * 100_000), "jsonl"),
        ("caf\xe9 __eou__ b\n".encode("latin-1"), "dailydialog"),
    ],
)
def test_near_the_borders(tmp_path, content, reader):
    assert choose(write(tmp_path / "a", content))[0].name == reader


def test_nothing_fits(tmp_path):
    path = write(tmp_path / "a.txt", "\nplain \x1b[31mtext\u202e\n")
    assert refusal(path) == (
        ":2: no reader recognises a file that begins 'plain \\x1b[31mtext\\u202e'; name one with --reader: "
        + ", ".join(READERS)
    )


def test_lines_that_end_in_carriage_returns_alone(tmp_path):
    path = write(tmp_path / "a.csv", "id,response,system\r1,hallo du,A\r")
    convert = "if lines end in carriage returns alone, as on old Macs, convert them: tr '\\r' '\\n' < FILE > NEW"
    assert refusal(path) == (
        f":1: no reader recognises a file that begins 'id,response,system\\r1,hallo du,A'; {convert}"
    )
    assert refusal(path, reader="csv") == (
        f":1: not a valid table: a carriage return stands outside quotation marks; {convert}"
    )
    converted = write(tmp_path / "b.csv", path.read_bytes().replace(b"\r", b"\n"))
    assert [turn.response for turn in load(converted)] == ["hallo du"]


def test_a_json_array_of_something_else(tmp_path):
    path = write(tmp_path / "a.json", '[\n{"text": "a"}\n]\n')
    assert refusal(path).startswith(":1: expected a column 'response', found 'text'; where another holds it, name it: ")


def test_a_chat_as_an_array_of_messages(tmp_path):
    path = write(tmp_path / "a.json", '[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]')
    assert refusal(path) == (
        ":1: expected records, found one conversation, a list of chat messages; "
        "jq -c '{messages: .}' FILE | dialogauge score -"
    )


def test_a_dataset_whose_columns_are_not_known(tmp_path):
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table({"asked": ["a"], "said": ["b"]}), tmp_path / "data" / "train-00000-of-00001.parquet")
    assert refusal(tmp_path).startswith(": expected a column 'response', found 'asked', 'said'; where another holds it")
    assert load(tmp_path, mapping={"response": "said"}).turns[0].response == "b"


def test_a_forced_reader_says_what_it_expected(tmp_path):
    path = write(tmp_path / "a.txt", "plain text\n")
    assert refusal(path, reader="jsonl").startswith(":1: not valid JSON: ")
    assert refusal(path, reader="fbd").startswith(":1: not valid JSON: ")
    assert refusal(path, reader="csv").startswith(":1: expected a column 'response', found 'plain text'; ")
    assert refusal(path, reader="dailydialog").startswith(":1: expected utterances that end in __eou__")
    assert refusal(path, reader="parlai").startswith(":1: expected a line that begins with its number")


GOOD = '{"context": ["x"], "response": "c"}\n'


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ('{"response": "a", "latency": NaN}', "NaN is not a JSON number; write null where there is none"),
        ('{"response": "a", "latency": [-Infinity]}', "-Infinity is not a JSON number"),
        ('{"response": "a", "latency": 1e400}', "the number '1e400' is too large"),
        ('{"response": "a",}', ""),
        ('{"response": "a"},', "Extra data at column 18"),
        ('{"response": "a b', "Unterminated string"),
        ('{"response": "b", "context": ["a"', ""),
        ('{"response":', "Expecting value at column 13"),
        ('{"response": "a", "response": "b"}', "the field 'response' stands twice in one object"),
        ('{"response": "a", "x": %s' % ("[" * 100_000), ""),
    ],
)
def test_a_broken_first_line_of_json_lines_is_named(tmp_path, broken, message):
    path = write(tmp_path / "a", f"{broken}\n{GOOD}{GOOD}")
    assert refusal(path).startswith(f":1: not valid JSON: {message}")
    assert refusal(write(tmp_path / "alone", f"{broken}\n")).startswith(f":1: not valid JSON: {message}")
    corpus = load(path, skip_invalid=True)
    assert [turn.response for turn in corpus] == ["c", "c"]
    assert "1 line left out (line 1: not valid JSON: " in corpus.caveats[0].message


@pytest.mark.parametrize(
    "document",
    [
        '{"data": [\n{"response": "a"}\n]}\n',
        '{"data": [\n{"response": "a"},\n{"response": "b"}\n]}\n',
        '{"data":\n{"response": "a"}\n}\n',
        '{\n"data": null, "n": NaN\n}\n',
        '{"n": 1\n, "data": [\n]}\n',
        '{"n": 1, \n"data": [tru\n]}\n',
    ],
)
def test_a_document_over_lines_is_not_taken_for_json_lines(tmp_path, document):
    assert "found one JSON object with the keys " in refusal(write(tmp_path / "a", document))
