"""The endpoint that tests ask does what it is told, so that what they find is the client's doing."""

import http.client
import json
import threading
import time
import urllib.error
import urllib.request

import pytest

from tests.serving.scripted import Asked, Scripted, bad_json, chat, cut, delayed, error, hang, refuses, too_many


def ask(url: str, timeout: float = 5.0, **body: object) -> tuple[int, bytes, dict[str, str]]:
    body = {"messages": [{"role": "user", "content": "hi"}], **body}
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode(), {"X-Mine": "yes"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, answer.read(), dict(answer.headers)
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read(), dict(refused.headers)


def test_requests_are_counted_and_kept_with_their_headers():
    with Scripted(lambda asked: chat(str(asked.number))) as server:
        contents = [json.loads(ask(server.url)[1])["choices"][0]["message"]["content"] for _ in range(3)]
    assert contents == ["0", "1", "2"]
    assert [asked.headers["x-mine"] for asked in server.requests] == ["yes"] * 3
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.requests[0].text == "hi"


def test_logprobs_are_those_of_the_first_token():
    with Scripted(chat("4", logprobs={"4": -0.1, "5": -2.5})) as server:
        answer = json.loads(ask(server.url)[1])
    top = answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    assert [(entry["token"], entry["logprob"]) for entry in top] == [("4", -0.1), ("5", -2.5)]


def test_replies_in_a_list_go_to_requests_in_order_and_the_last_to_all_others():
    with Scripted([too_many("3"), error(500), bad_json(), chat()]) as server:
        statuses = [ask(server.url)[0] for _ in range(5)]
    assert statuses == [429, 500, 200, 200, 200]


def test_too_many_says_how_long_to_wait():
    with Scripted(too_many("3")) as server:
        assert ask(server.url)[2]["Retry-After"] == "3"


def test_a_hang_answers_nothing_and_does_not_keep_the_server_from_closing():
    with Scripted(hang()) as server, pytest.raises(TimeoutError):
        ask(server.url, timeout=0.2)
    assert len(server.requests) == 1


def test_a_cut_body_is_shorter_than_promised():
    with Scripted(cut()) as server, pytest.raises((http.client.IncompleteRead, ConnectionError)):
        ask(server.url)


def test_a_field_can_be_refused():
    with Scripted(refuses("logprobs", chat())) as server:
        assert ask(server.url, logprobs=True)[0] == 400
        assert ask(server.url)[0] == 200


def test_delays_run_side_by_side():
    def behave(asked: Asked):
        return delayed(0.2)

    with Scripted(behave) as server:
        began = time.monotonic()
        threads = [threading.Thread(target=ask, args=(server.url,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.monotonic() - began
    assert server.most_at_once > 1
    assert took < 8 * 0.2


def test_a_behaviour_that_fails_is_no_fault_of_the_client():
    def behave(asked: Asked):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"), Scripted(behave) as server:
        assert ask(server.url)[0] == 400
