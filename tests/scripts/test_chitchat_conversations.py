"""The script that makes conversations of chitchat-dataset."""

import json
import runpy
from pathlib import Path

from dialogauge.corpus import load

SCRIPT = runpy.run_path(str(Path(__file__).resolve().parents[2] / "scripts" / "chitchat_conversations.py"))


def message(sender, text):
    return {"sender": sender, "text": text, "timestamp": "2018-01-01"}


def test_messages_in_a_row_are_one_utterance(tmp_path):
    dataset = {
        "b": {"messages": [[message("x", "hi "), message("x", "how  are\nyou?")], [message("y", "fine")]]},
        "alone": {"messages": [[message("x", "anyone?")], [message("x", "no")]]},
        "a": {"messages": [[message("x", "one")], [message("y", " ")], [message("x", "two")], [message("y", "three")]]},
    }
    found = list(SCRIPT["conversations"](dataset))
    assert found == [
        {"dialogue": "a", "utterances": ["one two", "three"]},
        {"dialogue": "b", "utterances": ["hi how are you?", "fine"]},
    ]
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in found))
    assert [(turn.context, turn.response) for turn in load(path)] == [
        (("one two",), "three"),
        (("hi how are you?",), "fine"),
    ]
