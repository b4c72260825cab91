"""The key comes from the environment and goes nowhere but into the request."""

import os
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from dialogauge.endpoint.answers import Answers
from dialogauge.endpoint.chat import ChatRequest, EndpointError
from dialogauge.endpoint.connection import plain_url
from dialogauge.endpoint.endpoint import AskOptions, Endpoint
from dialogauge.errors import InputError
from tests.serving.scripted import Scripted, chat, error

KEY = "sk-very-secret-0123456789"
REQUEST = ChatRequest({"model": "m", "messages": []})
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "everyday.jsonl"


@pytest.fixture(autouse=True)
def own_environment(monkeypatch):
    for name in ("DIALOGAUGE_API_KEY", "OPENAI_API_KEY", "DIALOGAUGE_KEY_OVER_HTTP"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("environment", "sent"),
    [
        ({}, None),
        ({"OPENAI_API_KEY": "b"}, "Bearer b"),
        ({"DIALOGAUGE_API_KEY": "a", "OPENAI_API_KEY": "b"}, "Bearer a"),
        ({"DIALOGAUGE_API_KEY": "", "OPENAI_API_KEY": "b"}, None),
        ({"DIALOGAUGE_API_KEY": " a\n"}, "Bearer a"),
    ],
)
def test_which_key_is_sent(environment, sent, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with Scripted(chat("4")) as server:
        Endpoint(server.url, AskOptions(), Answers()).ask([REQUEST])
        assert server.requests[0].headers.get("authorization") == sent


def test_over_plain_http_it_goes_to_this_machine_alone(monkeypatch):
    far = Endpoint("http://192.0.2.1/v1", AskOptions(timeout=0.01), Answers())
    monkeypatch.setenv("DIALOGAUGE_API_KEY", KEY)
    with pytest.raises(InputError, match="a key would be sent over plain http") as told:
        far.ask([REQUEST])
    assert KEY not in str(told.value)
    assert far.sent.count == 0
    monkeypatch.setattr("dialogauge.endpoint.endpoint.ATTEMPTS", 1)
    monkeypatch.setenv("DIALOGAUGE_KEY_OVER_HTTP", "1")
    with pytest.raises(EndpointError):
        far.ask([REQUEST])
    assert far.sent.count == 1


def test_a_key_that_no_header_can_hold_is_not_shown(monkeypatch):
    monkeypatch.setenv("DIALOGAUGE_API_KEY", f"{KEY}\nx")
    with Scripted(chat("4")) as server, pytest.raises(InputError, match="no key can have") as told:
        Endpoint(server.url, AskOptions(), Answers()).ask([REQUEST])
    assert KEY not in "".join(traceback.format_exception(told.value))


@pytest.mark.parametrize(
    "reply", [error(401, f"wrong key {KEY}"), error(400, f"key {KEY}"), chat(f"your key is {KEY}")]
)
def test_an_endpoint_that_repeats_the_key_does_not_spread_it(reply, monkeypatch):
    monkeypatch.setenv("DIALOGAUGE_API_KEY", KEY)
    with Scripted(reply) as server:
        endpoint = Endpoint(server.url, AskOptions(), Answers())
        try:
            (answer,) = endpoint.ask([REQUEST], keep_refusals=True)
            told = answer.reason or answer.content
            assert KEY not in str(list(endpoint.answers.records(list(endpoint.used))))
        except EndpointError as failure:
            told = "".join(traceback.format_exception(failure))
        assert "[key]" in told
        assert KEY not in told


@pytest.mark.parametrize(
    "url",
    ["http://me:secret@host/v1", "https://host/v1?key=secret", "https://host/v1#secret", "host/v1", "ftp://host", ""],
)
def test_addresses_with_secrets_are_refused(url):
    with pytest.raises(InputError) as told:
        plain_url(url)
    assert "secret" not in str(told.value)


def test_one_spelling_of_an_address():
    wanted = "http://localhost:8000/v1"
    given = (wanted, f"{wanted}/", f"{wanted}/chat/completions", " http://LOCALHOST:8000/v1 ")
    assert {plain_url(url) for url in given} == {wanted}


def everything_in(folder):
    found = b""
    for path in folder.rglob("*"):
        if path.is_file():
            found += path.read_bytes()
            if path.suffix == ".sqlite":
                answers = Answers(path)
                keys = [key for (key,) in answers._db().execute("SELECT key FROM answers")]
                found += str(list(answers.records(keys))).encode()
    return found


@pytest.mark.parametrize("broken", [False, True], ids=["good", "failing"])
def test_the_key_is_in_no_output_cache_run_or_traceback(broken, tmp_path):
    def behave(asked):
        assert asked.headers["authorization"] == f"Bearer {KEY}"
        return error(500, f"not with {KEY}") if broken and asked.number > 2 else chat("4")

    with Scripted(behave) as server:
        call = [
            "score",
            str(EXAMPLES),
            "--metrics",
            f"judge[model=scripted,url={server.url}]",
            "--out",
            tmp_path / "run",
        ]
        program = (
            "import dialogauge.endpoint.endpoint as e; e.FIRST_WAIT = 0.001; from dialogauge.cli.main import main; "
        )
        done = subprocess.run(
            [sys.executable, "-X", "dev", "-c", f"{program}raise SystemExit(main())", *call, "--systems", "good"],
            env={**os.environ, "DIALOGAUGE_API_KEY": KEY, "DIALOGAUGE_CACHE": str(tmp_path / "cache")},
            capture_output=True,
        )
    assert done.returncode == (1 if broken else 0), done.stderr.decode()
    kept = everything_in(tmp_path)
    assert b"coherent" in kept or b"rate replies" in kept
    for place in (done.stdout, done.stderr, kept):
        assert KEY.encode() not in place
    if broken:
        assert b"500 not with [key] (given up after 6 attempts)" in done.stderr
        assert not (tmp_path / "run").exists()
