import csv
import json

import pytest

from dialogauge import estimate
from dialogauge.corpus import load
from dialogauge.corpus.rated_pairs import holds_rated_pairs, read_rated_pairs
from tests.corpus.files import refusal, write, write_lines
from tests.corpus.samples_of_tools import texts

BATTLES = [json.loads(line) for line in texts()["arena"].splitlines()]


def test_turns(tmp_path):
    corpus = load(write(tmp_path / "arena.jsonl", texts()["arena"]))
    assert corpus.files[0].reader == "arena"
    replies = [(turn.system, turn.id, turn.response, turn.context) for turn in corpus if "user" not in turn.system]
    assert replies == [
        ("m1", "q1:1", "hello", ("hi",)),
        ("m1", "q1:3", "that is it", ("hi", "hello", "and?")),
        ("m2", "q1:1", "é?", ("hi",)),
        ("m2", "q1:3", "and what?", ("hi", "é?", "and?")),
        ("m2", "q2:1", "hey", ("hi",)),
        ("m3", "q2:1", "hm", ("hi",)),
    ]
    assert corpus.users == {"m1:user", "m2:user", "m3:user"}
    assert corpus.turns[0].extra == {"judge": "arena_user_1", "turn": 2}


def test_votes_are_preferences_of_the_last_replies(tmp_path):
    path = write(tmp_path / "arena.jsonl", texts()["arena"])
    assert holds_rated_pairs(path)
    pairs, caveats = read_rated_pairs(path)
    found = [(pair.a.system, pair.a.response, pair.b.response, pair.preferences) for pair in pairs]
    assert found == [
        ("m1", "that is it", "and what?", {"overall": ("a",)}),
        ("m2", "hey", "hm", {"overall": ("tie",)}),
    ]
    assert caveats == []


def test_votes_are_about_the_turn_that_is_named(tmp_path):
    """In MT-bench's human judgements both turns of a conversation are voted on, in lines of their own."""
    said = {f"conversation_{side}": [*asked("1", side), *asked("2", side.upper())] for side in "ab"}
    both = {"question_id": 81, "model_a": "m1", "model_b": "m2", **said}
    path = write_lines(
        tmp_path / "arena.jsonl",
        {**both, "turn": 1, "winner": "model_a", "judge": "ann"},
        {**both, "turn": 2, "winner": "model_b", "judge": "ann"},
        {**both, "turn": 2, "winner": "tie", "judge": "bob"},
    )
    pairs, _ = read_rated_pairs(path)
    assert [(pair.a.response, pair.b.response, pair.preferences["overall"]) for pair in pairs] == [
        ("a", "b", ("a",)),
        ("A", "B", ("b",)),
        ("A", "B", ("tie",)),
    ]
    # One turn each, though they stand in three lines: replies of a single character too.
    replies = [(turn.system, turn.id, turn.response) for turn in load(path) if "user" not in turn.system]
    assert replies == [("m1", "81:1", "a"), ("m1", "81:3", "A"), ("m2", "81:1", "b"), ("m2", "81:3", "B")]


def asked(question, reply):
    return [{"role": "user", "content": question}, {"role": "assistant", "content": reply}]


def test_estimate_makes_win_rates_of_battles(tmp_path):
    battles = [
        {**BATTLES[1], "question_id": number, "winner": "model_b" if number % 4 else "model_a"} for number in range(40)
    ]
    found = estimate(write_lines(tmp_path / "arena.jsonl", *battles), metrics="length")
    assert found.system("m3").value == pytest.approx(0.75)


def test_the_table_of_55k_battles(tmp_path):
    columns = "id,model_a,model_b,prompt,response_a,response_b,winner_model_a,winner_model_b,winner_tie"
    with (tmp_path / "train.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns.split(","))
        writer.writerow([7, "m1", "m2", '["hi", "so?"]', '["a", "b"]', '["c", null]', 0, 1, 0])
        writer.writerow([8, "m1", "m2", '["hi"]', '["a"]', '["c"]', 0, 0, 1])
    corpus = load(tmp_path / "train.csv")
    assert corpus.files[0].reader == "arena"
    replies = [(turn.system, turn.id, turn.response) for turn in corpus if "user" not in turn.system]
    assert replies == [
        *(("m1", "7:1", "a"), ("m1", "7:3", "b"), ("m2", "7:1", "c"), ("m2", "7:3", "")),
        *(("m1", "8:1", "a"), ("m2", "8:1", "c")),
    ]
    assert [pair.preferences["overall"] for pair in read_rated_pairs(tmp_path / "train.csv")[0]] == [("b",), ("tie",)]


def test_a_reply_in_several_battles_is_one_turn(tmp_path):
    again = {**BATTLES[1], "judge": "expert_2", "winner": "model_b"}
    path = write_lines(tmp_path / "arena.jsonl", BATTLES[1], again)
    assert [turn.response for turn in load(path)] == ["hey", "hm"]
    assert len(read_rated_pairs(path)[0]) == 2
    other = {**again, "conversation_b": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "no"}]}
    path = write_lines(tmp_path / "arena.jsonl", BATTLES[1], other)
    assert refusal(path) == ":2: id 'q2:1' of system 'm3': expected the reply 'hm', found 'no'"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"winner": "model_c"}, "winner: expected model_a, model_b or tie, found the text 'model_c'"),
        ({"winner": 1}, "winner: expected model_a, model_b or tie, found the number 1"),
        ({"model_b": "m2"}, "expected replies of two systems, found 'm2' twice"),
        ({"model_b": None}, "expected the names of two models, found a list"),
        ({"conversation_b": "hm"}, "conversation_b: expected a list of chat messages, found the text 'hm'"),
    ],
)
def test_bad_battles(tmp_path, changes, message):
    path = write_lines(tmp_path / "arena.jsonl", BATTLES[0], {**BATTLES[1], **changes})
    assert refusal(path).startswith(f":2: {message}")
