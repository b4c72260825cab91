"""Every fault ends in the right answer or a clear error; nothing half is kept."""

import email.utils
import socket
import threading
import time

import pytest

from dialogauge.endpoint import endpoint as endpoint_module
from dialogauge.endpoint.answers import Answers
from dialogauge.endpoint.chat import ChatRequest, EndpointError
from dialogauge.endpoint.endpoint import AskOptions, Endpoint
from dialogauge.errors import InputError
from tests.serving.scripted import Scripted, bad_json, chat, cut, delayed, error, hang, too_many, wrong_schema

GOOD = chat("4")


def requests(count=1):
    return [
        ChatRequest({"model": "m", "messages": [{"role": "user", "content": f"number {place}"}]})
        for place in range(count)
    ]


def opened(server, **options):
    return Endpoint(server.url, AskOptions(**{"timeout": 0.5, **options}), Answers())


@pytest.fixture(autouse=True)
def without_long_waits(monkeypatch):
    monkeypatch.setattr(endpoint_module, "FIRST_WAIT", 0.01)


FAULTS = {
    "429": too_many("0.05"),
    "500": error(500),
    "503": error(503, Retry_After="0.05"),
    "hang": hang(),
    "cut": cut(),
    "cut after nothing": cut(after=0),
    "bad json": bad_json(),
    "wrong schema": wrong_schema(),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_after_a_fault_the_right_answer_is_kept(fault):
    with Scripted([fault, fault, GOOD]) as server:
        endpoint = opened(server)
        (answer,) = endpoint.ask(requests())
        assert answer.content == "4"
        assert len(server.requests) == endpoint.sent.count == 3
        assert endpoint.ask(requests())[0] == answer
        assert len(server.requests) == 3


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_that_stays_is_a_clear_error_and_nothing_is_kept(fault):
    with Scripted(fault) as server:
        endpoint = opened(server, timeout=0.1)
        with pytest.raises(EndpointError, match=r"given up after 6 attempts.*0 of the 1 answers") as told:
            endpoint.ask(requests())
        assert server.url in str(told.value)
        assert len(server.requests) == 6
        assert len(endpoint.answers) == 0


def test_what_was_answered_before_an_error_is_kept():
    with Scripted(lambda asked: error(500) if "number 7" in asked.text else GOOD) as server:
        endpoint = opened(server, concurrency=1)
        with pytest.raises(EndpointError, match="7 of the 10 answers asked for so far came and are kept"):
            endpoint.ask(requests(10))
        assert len(endpoint.answers) == 7
        before = len(server.requests)
        with pytest.raises(EndpointError):
            endpoint.ask(requests(10))
        asked = [request.text for request in server.requests[before:]]
        assert set(asked) <= {"number 7", "number 8", "number 9"}


def test_retry_after_holds_for_all_requests():
    with Scripted([too_many("0.4"), GOOD]) as server:
        opened(server, concurrency=3, timeout=5).ask(requests(3))
        times = sorted(request.at for request in server.requests)
        assert len(times) == 4
        assert times[-1] - times[0] >= 0.4


def test_retry_after_may_be_a_date(monkeypatch):
    monkeypatch.setattr(endpoint_module, "PATIENCE", 100)
    later = email.utils.formatdate(time.time() + 3600, usegmt=True)
    with (
        Scripted(too_many(later)) as server,
        pytest.raises(EndpointError, match=r"it asks to wait 3[56]\d\d s \(given up after 1 attempt\)"),
    ):
        opened(server).ask(requests())


@pytest.mark.parametrize(
    ("status", "says"),
    [(401, "neither is set"), (403, "the key comes from"), (404, "model's name"), (302, "redirects")],
)
def test_what_no_repetition_mends_is_told_at_once(status, says, monkeypatch):
    monkeypatch.delenv("DIALOGAUGE_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Scripted(error(status, "told so", Location="http://127.0.0.1:1/")) as server:
        with pytest.raises(EndpointError, match=f"{status} told so.*{says}"):
            opened(server).ask(requests())
        assert len(server.requests) == 1


def test_a_refused_request_is_an_answer_that_is_kept_only_where_asked_for():
    with Scripted(error(400, "too long")) as server:
        endpoint = opened(server)
        (answer,) = endpoint.ask(requests())
        assert (answer.refused, answer.reason, answer.content, answer.logprobs) == (True, "too long", None, [])
        assert len(endpoint.answers) == 0
        endpoint.ask(requests(), keep_refusals=True)
        assert endpoint.ask(requests())[0].reason == "too long"
        assert len(server.requests) == 2


def test_an_endpoint_that_is_not_there():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(EndpointError, match="nothing listens there"):
            Endpoint(url, AskOptions(), Answers()).ask(requests())


def test_the_time_limit_is_for_the_whole_answer(monkeypatch):
    """A server that sends a byte now and then never lets the limit of a single read pass."""
    monkeypatch.setattr(endpoint_module, "ATTEMPTS", 1)

    def drip(server):
        connection, _ = server.accept()
        with connection:
            for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b" " * 100:
                try:
                    connection.sendall(bytes([byte]))
                except OSError:
                    return
                time.sleep(0.05)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=drip, args=(server,), daemon=True).start()
        endpoint = Endpoint(f"http://127.0.0.1:{server.getsockname()[1]}/v1", AskOptions(timeout=0.4), Answers())
        began = time.monotonic()
        with pytest.raises(EndpointError, match=r"no answer within 0\.4 s"):
            endpoint.ask(requests())
        assert time.monotonic() - began < 2


def test_a_crowded_endpoint_is_asked_less_at_once():
    """It takes two at a time, and answers 429 to any more."""
    under_way, lock = set(), threading.Lock()

    def crowded(asked):
        with lock:
            if len(under_way) >= 2:
                return too_many("0.01")
            under_way.add(asked.number)
        time.sleep(0.005)
        with lock:
            under_way.discard(asked.number)
        return GOOD

    with Scripted(crowded) as server:
        endpoint = opened(server, concurrency=8, timeout=5)
        assert [answer.content for answer in endpoint.ask(requests(60))] == ["4"] * 60
        assert endpoint._pace.limit < 6
        assert len(server.requests) < 3 * 60


def test_no_more_are_under_way_than_allowed():
    with Scripted(delayed(0.02, GOOD)) as server:
        opened(server, concurrency=7).ask(requests(40))
        assert 4 <= server.most_at_once <= 7


def test_no_more_are_sent_than_allowed():
    with Scripted(GOOD) as server:
        endpoint = opened(server, max_requests=5, concurrency=3)
        with pytest.raises(EndpointError, match=r"5 requests sent, no more with --max-requests 5\. 5 of the 9 answers"):
            endpoint.ask(requests(9))
        assert len(server.requests) == 5
        assert len(endpoint.answers) == 5


def test_where_the_limit_ends_a_run_the_last_reason_of_failure_is_said():
    with Scripted(error(503)) as server:
        said = r"--max-requests 3\. 3 of them failed, the last one: 503 .*\. 0 of the 1 answers asked for so far"
        with pytest.raises(EndpointError, match=said):
            opened(server, max_requests=3).ask(requests())


def test_what_fails_after_the_limit_was_reached_is_said_too():
    with Scripted(delayed(0.1, error(503))) as server:  # the fourth request finds the limit meanwhile
        endpoint = opened(server, max_requests=3, timeout=5)
        with pytest.raises(EndpointError, match="3 of them failed, the last one: 503"):
            endpoint.ask(requests(4))
        assert len(server.requests) == 3


def test_offline_asks_nothing_and_says_how_many_are_missing():
    answers = Answers()
    with Scripted(GOOD) as server:
        Endpoint(server.url, AskOptions(), answers).ask(requests(2))
        offline = Endpoint(server.url, AskOptions(offline=True), answers)
        assert [answer.content for answer in offline.ask(requests(2))] == ["4", "4"]
        with pytest.raises(InputError, match="3 answers are not kept, and with --offline nothing is asked"):
            offline.ask(requests(5))
        assert len(server.requests) == 2


def test_the_same_request_is_sent_once_and_samples_are_others():
    with Scripted(lambda asked: chat(str(asked.number))) as server:
        endpoint = opened(server)
        first, again = endpoint.ask(requests() * 2)
        assert first == again
        body = requests()[0].body
        found = endpoint.ask([ChatRequest(body, sample) for sample in range(3)])
        assert found[0] == first
        assert {answer.content for answer in found} == {"0", "1", "2"}
        assert len({request.raw for request in server.requests}) == 1
