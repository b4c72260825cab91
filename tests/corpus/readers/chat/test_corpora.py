"""Conversations of ConvoKit, of DSTC10 and DSTC11, and Hugging Face datasets on disk."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialogauge.corpus import Turn, load
from dialogauge.corpus.ratings import join_ratings
from tests.corpus.files import refusal, write
from tests.corpus.samples_of_tools import texts

TEXTS = texts()


@pytest.mark.parametrize("form", ["folder", "file"])
def test_convokit(tmp_path, form):
    """Two reply to the first; the last is answered by nobody."""
    folder = tmp_path / "talk"
    folder.mkdir()
    write(folder / "utterances.jsonl", TEXTS["convokit"])
    write(folder / "conversations.json", "{}")
    corpus = load(folder if form == "folder" else folder / "utterances.jsonl")
    assert corpus.files[0].reader == "convokit"
    system = "talk" if form == "folder" else "utterances"
    assert corpus.turns == [
        Turn("u1", "hello", ("hi é",), system=system, dialogue="u0", extra={"speaker": "bob"}),
        Turn("u2", "and you?", ("hi é", "hello"), system=system, dialogue="u0", extra={"speaker": "ann"}),
        Turn("u3", "hey", ("hi é",), system=system, dialogue="u0", extra={"speaker": "cid"}),
    ]
    assert "1 conversation of fewer than two utterances left out" in str(corpus.caveats)


def test_a_reply_to_nothing_and_a_circle(tmp_path):
    lost = {"id": "a", "speaker": "x", "conversation_id": "a", "reply_to": "b", "text": "hi"}
    path = write(tmp_path / "utterances.jsonl", json.dumps(lost))
    assert refusal(path) == ":1: reply_to: expected the id of an utterance, found 'b'"
    write(path, json.dumps(lost) + "\n" + json.dumps({**lost, "id": "b", "reply_to": "a"}))
    assert refusal(path) == ":1: expected at most 10,000 utterances before it, found more, or a circle"


def test_dstc(tmp_path):
    corpus = load(write(tmp_path / "SAMPLE_main.csv", TEXTS["dstc"]))
    asked, system = "Hello, how are you?", "SAMPLE_main"
    assert corpus.files[0].reader == "dstc"
    assert corpus.users == {"SAMPLE_main:user"}
    assert [(turn.id, turn.response, turn.context, turn.system, turn.dialogue) for turn in corpus] == [
        ("SAMPLE-000001-0001", "I am fine é", (asked,), system, "SAMPLE-000001"),
        ("SAMPLE-000001-0002", "good", (asked, "I am fine é"), f"{system}:user", "SAMPLE-000001"),
        ("SAMPLE-000002-0001", "Hey", ("Hi",), system, "SAMPLE-000002"),
    ]
    assert corpus.turns[0].extra == {"TRANSLATION": "estoy bien"}
    assert refusal(write(tmp_path / "a.csv", "UID,SID,SEG\n12,a,b\n")).startswith(":2: UID: expected CORPUS-DIALOGUE-")


def test_dstc_with_ratings_kept_apart(tmp_path):
    """The table of ratings names its turns by UID, here renamed to id; not every utterance is rated."""
    corpus = load(write(tmp_path / "SAMPLE_main.csv", TEXTS["dstc"]))
    header = "id,CID,SID,ratings.appropriateness,ratings.relevance"
    rows = ["SAMPLE-000001-0001,SAMPLE,Chatbot,4.5,3", "SAMPLE-000002-0001,SAMPLE,Chatbot,,2"]
    joined = join_ratings(corpus, [write(tmp_path / "ratings.csv", "\n".join([header, *rows]) + "\n")])
    assert [(turn.id, dict(turn.ratings)) for turn in joined] == [
        ("SAMPLE-000001-0001", {"appropriateness": (4.5,), "relevance": (3.0,)}),
        ("SAMPLE-000001-0002", {}),
        ("SAMPLE-000002-0001", {"relevance": (2.0,)}),
    ]
    assert joined.caveats == corpus.caveats


ROWS = [{"prompt": f"is it {n}?", "response": f"it is é {n}", "model": "m1", "score": n / 2} for n in range(4)]


def save_arrow(folder, rows):
    folder.mkdir(parents=True)
    table = pa.Table.from_pylist(rows)
    with (
        pa.OSFile(str(folder / "data-00000-of-00001.arrow"), "wb") as file,
        pa.ipc.new_stream(file, table.schema) as to,
    ):
        to.write_table(table)
    write(folder / "state.json", json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}))
    write(folder / "dataset_info.json", "{}")


@pytest.mark.parametrize("form", ["saved", "splits", "hub"])
def test_a_dataset_on_disk(tmp_path, form):
    """As `save_to_disk` writes one and several splits, and as the hub keeps it."""
    folder = tmp_path / "data"
    if form == "saved":
        save_arrow(folder, ROWS)
    elif form == "splits":
        for number, split in enumerate(("test", "train")):
            save_arrow(folder / split, ROWS[2 * number : 2 * number + 2])
        write(folder / "dataset_dict.json", json.dumps({"splits": ["test", "train"]}))
    else:
        (folder / "data").mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(ROWS), folder / "data" / "train-00000-of-00001.parquet")
    corpus = load(folder)
    assert {file.reader for file in corpus.files} == {"dataset"}
    assert corpus.turns == [
        Turn(str(n), f"it is é {n}", (f"is it {n}?",), system="m1", extra={"score": n / 2}) for n in range(4)
    ]
    mapped = load(folder, mapping={"response": "prompt", "context": None})
    assert mapped.turns[0].response == "is it 0?"
