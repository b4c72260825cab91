"""Answers are kept for good, whatever happens to the file."""

import sqlite3

import pytest

from dialogauge.endpoint.answers import Answers
from dialogauge.endpoint.chat import ChatAnswer, ChatRequest, EndpointError
from dialogauge.endpoint.endpoints import Endpoints

URL = "http://localhost/v1"
REQUEST = ChatRequest({"model": "m", "messages": [{"role": "user", "content": "grüß dich 😀"}]})
ANSWER = ChatAnswer(200, {"choices": [{"message": {"content": "4"}}], "model": "m"})


@pytest.fixture
def kept(tmp_path):
    answers = Answers(tmp_path / "folder" / "answers.sqlite")
    answers.put(URL, REQUEST, ANSWER)
    return answers


def test_an_answer_is_found_again_by_its_whole_request(kept):
    again = Answers(kept.path)
    assert again.get([REQUEST.key(URL)]) == {REQUEST.key(URL): ANSWER}
    others = [
        REQUEST.key("http://localhost:1/v1"),
        ChatRequest(REQUEST.body, 1).key(URL),
        ChatRequest({**REQUEST.body, "temperature": 1.0}).key(URL),
    ]
    assert again.get(others) == {}
    assert len({*others, REQUEST.key(URL)}) == 4


def test_of_two_answers_the_first_stays(kept):
    """As two processes give that asked at the same time: both then go on with the same."""
    other = ChatAnswer(200, {"choices": [{"message": {"content": "5"}}]})
    assert Answers(kept.path).put(URL, REQUEST, other) == ANSWER
    assert kept.get([REQUEST.key(URL)])[REQUEST.key(URL)] == ANSWER


def test_a_damaged_answer_is_dropped_and_said(kept):
    kept.close()
    with sqlite3.connect(kept.path) as db:
        (value,) = db.execute("SELECT value FROM answers").fetchone()
        db.execute("UPDATE answers SET value = ?", (value[:-1] + bytes([value[-1] ^ 1]),))
    db.close()
    assert kept.get([REQUEST.key(URL)]) == {}
    assert kept.problems == [f"damaged answers in {kept.path} were dropped and are asked for again"]
    kept.put(URL, REQUEST, ANSWER)
    assert kept.get([REQUEST.key(URL)])[REQUEST.key(URL)] == ANSWER


def test_a_damaged_file_is_an_error_and_is_left_as_it_is(kept):
    kept.close()
    kept.path.write_bytes(b"no database" * 1000)
    with pytest.raises(EndpointError, match=r"answers\.sqlite: the answers kept here cannot be read .*--no-cache"):
        Answers(kept.path).get([REQUEST.key(URL)])
    assert kept.path.read_bytes().startswith(b"no database")


def test_without_a_path_nothing_stays():
    answers = Answers()
    assert answers.get([b"x"]) == {}
    assert answers.path is None
    answers.put(URL, REQUEST, ANSWER)
    path = answers.path
    assert path.exists()
    answers.close()
    del answers
    assert not path.exists()


def test_what_a_run_used_can_be_played_again(kept):
    endpoints = Endpoints(folder=kept.path.parent)
    assert endpoints.get(URL + "/").ask([REQUEST]) == [ANSWER]
    records = list(endpoints.used())
    assert records == [
        {"url": URL, "sample": 0, "request": REQUEST.body, "status": 200, "answer": ANSWER.body},
    ]
    replayed = Endpoints.replayed(records)
    assert replayed.urls == [URL]
    assert replayed.get(URL).ask([REQUEST]) == [ANSWER]
