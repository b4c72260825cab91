import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialogauge.corpus import Turn, load
from tests.corpus.files import refusal, write, write_lines
from tests.corpus.samples_of_tools import texts


def test_prompt_and_completion(tmp_path):
    corpus = load(write(tmp_path / "bot.jsonl", texts()["prompt_completion"]))
    assert corpus.files[0].reader == "prompt_completion"
    assert corpus.turns == [
        Turn("0", " blue", ("the sky is",), system="bot", extra={"label": True}),
        Turn("1", "hello", ("hé",), system="bot"),
    ]
    assert corpus.caveats == ()


def test_a_completion_with_tools_is_what_is_said_in_it(tmp_path):
    calls = [
        {"role": "assistant", "content": "let me look", "tool_calls": [{"id": "1"}]},
        {"role": "tool", "content": [{"type": "text", "text": "21 degrees"}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "warm"}]},
    ]
    prompt = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "warm?"}]
    (turn,) = load(write_lines(tmp_path / "bot.jsonl", {"prompt": prompt, "completion": calls, "model": "m"}))
    facts = ("Be kind.", "21 degrees")
    assert turn == Turn("0", "let me look\nwarm", ("warm?",), system="m", facts=facts)


def test_the_user_may_say_where_the_reply_is(tmp_path):
    path = write_lines(tmp_path / "bot.jsonl", {"prompt": "a", "completion": "b", "final": "c"})
    corpus = load(path, mapping={"response": "final"})
    assert corpus.files[0].reader == "jsonl"
    assert corpus.turns[0].response == "c"


def test_chosen_and_rejected(tmp_path):
    corpus = load(write(tmp_path / "pairs.jsonl", texts()["chosen_rejected"]))
    assert corpus.files[0].reader == "chosen_rejected"
    assert corpus.turns == [
        Turn("0", " blue", ("the sky is",), system="chosen", extra={"score": 8.0}),
        Turn("0", " green", ("the sky is",), system="rejected", extra={"score": 2.0}),
        Turn("1", "hello", ("hé",), system="chosen"),
        Turn("1", "what?", ("hé",), system="rejected"),
        Turn("2", "hello", ("hi",), system="chosen"),
        Turn("2", "go away", ("hi",), system="rejected"),
    ]


def test_chosen_and_rejected_in_parquet_without_a_prompt(tmp_path):
    sides = {
        side: [[{"role": "user", "content": "hi"}, {"role": "assistant", "content": side}]]
        for side in ("chosen", "rejected")
    }
    pq.write_table(pa.table({"prompt_id": ["p"], **sides}), tmp_path / "pairs.parquet")
    assert load(tmp_path / "pairs.parquet").turns == [
        Turn("p", side, ("hi",), system=side) for side in ("chosen", "rejected")
    ]


def test_a_prompt_of_another_name_beside_the_system_prompt(tmp_path):
    """Intel's orca_dpo_pairs."""
    path = write_lines(
        tmp_path / "p.jsonl",
        {"system": "Be kind.", "question": "hi", "chosen": "hello", "rejected": "what?"},
        {"system": "", "question": "bye", "chosen": "see you", "rejected": "no"},
    )
    corpus = load(path)
    assert corpus.turns == [
        Turn("0", "hello", ("hi",), system="chosen", facts=("Be kind.",)),
        Turn("0", "what?", ("hi",), system="rejected", facts=("Be kind.",)),
        Turn("1", "see you", ("bye",), system="chosen"),
        Turn("1", "no", ("bye",), system="rejected"),
    ]
    assert [caveat.code for caveat in corpus.caveats] == ["columns_understood"]


def test_the_user_may_say_what_was_asked(tmp_path):
    path = write_lines(tmp_path / "p.jsonl", {"prompt": "p", "asked": "hi", "chosen": "hello", "rejected": "what?"})
    assert [turn.context for turn in load(path, mapping={"context": "asked"})] == [("hi",), ("hi",)]
    assert [turn.context for turn in load(path)] == [("p",), ("p",)]


@pytest.mark.parametrize("form", ["from and value", "role and content"])
def test_one_message_a_side(tmp_path, form):
    """LLaMA-Factory's preference data, of which `conversations` are the prompt."""

    def message(role, said):
        user = role == "user"
        if form == "role and content":
            return {"role": role, "content": said}
        return {"from": "human" if user else "gpt", "value": said}

    asked = [message("user", "hi"), message("assistant", "hello"), message("user", "and?")]
    sides = {"chosen": message("assistant", "more"), "rejected": message("assistant", "no")}
    assert load(write_lines(tmp_path / "p.jsonl", {"conversations": asked, **sides})).turns == [
        Turn("0", "more", ("hi", "hello", "and?"), system="chosen"),
        Turn("0", "no", ("hi", "hello", "and?"), system="rejected"),
    ]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"prompt": "a", "chosen": "b", "rejected": None}, "rejected: expected text or a list of chat messages"),
        ({"prompt": "a", "chosen": [], "rejected": "b"}, "chosen: expected text or a list of chat messages"),
        (
            {"chosen": [{"role": "user", "content": "a"}], "rejected": "b"},
            "chosen: expected a conversation that ends with a reply",
        ),
        ({"prompt": {"a": 1}, "chosen": "b", "rejected": "c"}, "context: expected a list of strings or chat messages"),
    ],
)
def test_bad_pairs(tmp_path, record, message):
    good = {"prompt": "a", "chosen": "b", "rejected": "c"}
    assert refusal(write_lines(tmp_path / "p.jsonl", good, record)).startswith(f":2: {message}")
