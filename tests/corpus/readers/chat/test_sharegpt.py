import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialogauge.corpus import Turn, load
from tests.corpus.files import refusal, write, write_lines
from tests.corpus.samples_of_tools import texts

RECORDS = json.loads(texts()["sharegpt"])
KNOWN = ("Be kind.", "21 degrees")


@pytest.mark.parametrize("form", ["array", "lines"])
def test_turns(tmp_path, form):
    """What a tool gave is a fact of the reply, not of the user; its call is nobody's words."""
    if form == "array":
        path = write(tmp_path / "log.json", texts()["sharegpt"])
    else:
        path = write_lines(tmp_path / "log.json", *RECORDS)
    corpus = load(path)
    assert corpus.files[0].reader == "sharegpt"
    assert corpus.turns == [
        Turn("c1:1", "yes, 21 degrees", ("is it warm?",), system="log", dialogue="c1", facts=KNOWN),
        Turn(
            "c1:2",
            "é merci",
            ("is it warm?", "yes, 21 degrees"),
            system="log:user",
            dialogue="c1",
            facts=("Be kind.",),
        ),
        Turn("c2:1", "hello", ("hi",), system="m2", dialogue="c2"),
    ]
    assert corpus.users == {"log:user", "m2:user"}


def test_logs_with_roles_in_parquet(tmp_path):
    """LMSYS-Chat-1M and WildChat."""
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    rows = {"conversation_id": ["x", "y"], "model": ["m1", "m2"], "conversation": [said, said], "turn": [1, 1]}
    pq.write_table(pa.table(rows), tmp_path / "log.parquet")
    corpus = load(tmp_path / "log.parquet")
    assert corpus.files[0].reader == "sharegpt"
    assert corpus.turns == [
        Turn(f"{name}:1", "hello", ("hi",), system=model, dialogue=name, extra={"turn": 1})
        for name, model in (("x", "m1"), ("y", "m2"))
    ]


def test_a_system_prompt_beside_the_messages_names_no_system(tmp_path):
    """LLaMA-Factory's `system`."""
    said = [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hello"}]
    record = {"system": "You are a pirate.", "conversations": said}
    path = write_lines(tmp_path / "log.jsonl", record, {**record, "system": "", "model": "m1"})
    assert load(path).turns == [
        Turn("0:1", "hello", ("hi",), system="log", dialogue="log#0", facts=("You are a pirate.",)),
        Turn("0:1", "hello", ("hi",), system="m1", dialogue="log#0"),
    ]
    named = load(write_lines(tmp_path / "log.jsonl", {**record, "system": "m2"}), mapping={"system": "system"})
    assert [turn.system for turn in named] == ["m2"]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            {"conversations": 3},
            ":1: item 2: expected a list conversations or conversation or items, found the number 3",
        ),
        ({"id": 1}, ":1: item 2: expected a list conversations or conversation or items, found an object"),
        ({"conversations": [{"from": "human"}]}, ":1: item 2: conversations: expected a message with from and value"),
        ({"conversations": [3]}, ":1: item 2: conversations: expected a chat message with role and content, found the"),
        ({"conversations": [{"from": ["human"], "value": "a"}]}, ":1: item 2: conversations: expected a message with"),
    ],
)
def test_bad_records(tmp_path, record, message):
    path = write(tmp_path / "log.json", json.dumps([RECORDS[1], record]))
    assert refusal(path).startswith(message)
    assert len(load(path, skip_invalid=True)) == 1
