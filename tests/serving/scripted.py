"""An endpoint that does as it is told: OpenAI's /v1/chat/completions on localhost, for tests of clients.

    with Scripted(lambda asked: chat("4")) as server:
        ...                       # server.url is http://127.0.0.1:PORT/v1
    assert len(server.requests) == 3

The behaviour is a function of one request (`Asked`: its number from 0, headers, JSON body) that gives a `Reply`, or a
list of replies: request i gets the i-th, those after the last get the last. Every request is recorded, faults included.
"""

from __future__ import annotations

import dataclasses
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "scripted"


@dataclass(frozen=True)
class Asked:
    """One request as it arrived. `number` counts all requests from 0; header names are lower case."""

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    at: float

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.raw)
        return body

    @property
    def text(self) -> str:
        """The contents of all messages, one after the other."""
        return "\n".join(message["content"] for message in self.body["messages"])


@dataclass(frozen=True)
class Reply:
    """What goes back. `cut` closes the connection after that many bytes of the body; `hang` never answers."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: int | None = None
    hang: bool = False


Behaviour = Callable[[Asked], Reply]


def chat(
    content: str | None = "4",
    *,
    model: str = MODEL,
    logprobs: Mapping[str, float] | None = None,
    fingerprint: str | None = "fp_scripted",
    finish_reason: str = "stop",
    choices: int = 1,
) -> Reply:
    """A right answer. `logprobs` are the `top_logprobs` of its first token, by token; None leaves them out."""
    choice: dict[str, Any] = {"message": {"role": "assistant", "content": content}, "finish_reason": finish_reason}
    if logprobs is not None:
        top = [{"token": token, "logprob": value, "bytes": list(token.encode())} for token, value in logprobs.items()]
        choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
    answer = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "system_fingerprint": fingerprint,
        "choices": [{"index": index, **choice} for index in range(choices)],
        "usage": {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11},
    }
    return Reply(body=json.dumps(answer).encode(), headers={"Content-Type": "application/json"})


def error(status: int, message: str = "told to fail", **headers: str) -> Reply:
    """An error in OpenAI's form; headers with _ for -: `error(429, Retry_After="1")`."""
    body = json.dumps({"error": {"message": message, "type": "error", "code": status}}).encode()
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


def too_many(retry_after: str = "0.2") -> Reply:
    """429, with how long to wait: seconds, or a date."""
    return error(429, "slow down", Retry_After=retry_after)


def hang() -> Reply:
    """No answer at all, until the server closes."""
    return Reply(hang=True)


def cut(reply: Reply | None = None, after: int | None = None) -> Reply:
    """The headers promise the whole body; the connection closes after some bytes of it (half, unless told)."""
    whole = reply or chat()
    return dataclasses.replace(whole, cut=len(whole.body) // 2 if after is None else after)


def bad_json() -> Reply:
    """200, and a body that is no JSON."""
    return Reply(body=b'{"choices": [{"message": ')


def wrong_schema() -> Reply:
    """200, and JSON that is no answer of /v1/chat/completions."""
    return Reply(body=b'{"result": "4"}')


def delayed(seconds: float, reply: Reply | None = None) -> Reply:
    return dataclasses.replace(reply or chat(), delay=seconds)


def refuses(name: str, otherwise: Reply | Behaviour) -> Behaviour:
    """An endpoint that does not know a field of the request (`response_format`, `logprobs`) and answers it with 400."""

    def behave(asked: Asked) -> Reply:
        if name in asked.body:
            return error(400, f"unknown field: {name}")
        return otherwise(asked) if callable(otherwise) else otherwise

    return behave


class Scripted:
    """The server, open while in its `with`. Behaviours run in many threads; `requests` are in order of arrival."""

    def __init__(self, behaviour: Behaviour | Reply | Sequence[Reply], models: Sequence[str] = (MODEL,)) -> None:
        self._behaviour = behaviour
        self._models = models
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self.requests: list[Asked] = []
        """The POST requests; what is asked of /v1/models is in `others`."""
        self.others: list[Asked] = []
        self.failure: Exception | None = None
        """What a behaviour raised; it is raised again where the `with` ends."""
        self.most_at_once = 0
        self._at_once = 0

    def __enter__(self) -> Scripted:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.scripted = self
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        if self.failure is not None:
            raise self.failure

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [asked.body for asked in self.requests]

    def _record(self, method: str, path: str, headers: Mapping[str, str], raw: bytes) -> Asked:
        with self._lock:
            kept = self.requests if method == "POST" else self.others
            asked = Asked(len(kept), method, path, headers, raw, time.monotonic())
            kept.append(asked)
            return asked

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            yield
        finally:
            with self._lock:
                self._at_once -= 1

    def _reply(self, asked: Asked) -> Reply:
        if asked.method == "GET":
            models = [{"id": name, "object": "model", "owned_by": "tests"} for name in self._models]
            return Reply(body=json.dumps({"object": "list", "data": models}).encode())
        if isinstance(self._behaviour, Reply):
            return self._behaviour
        if callable(self._behaviour):
            try:
                return self._behaviour(asked)
            except Exception as failure:
                self.failure = failure
                return error(400, "the test's own behaviour failed")
        return self._behaviour[min(asked.number, len(self._behaviour) - 1)]

    def _wait(self, seconds: float | None) -> None:
        self._closing.wait(seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256
    scripted: Scripted

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        scripted = self.server.scripted
        asked = scripted._record(self.command, self.path, headers, raw)
        with scripted._counted():
            reply = scripted._reply(asked)
            if reply.hang:
                scripted._wait(None)
                self.close_connection = True
                return
            if reply.delay:
                scripted._wait(reply.delay)
            self._send(reply)

    def _send(self, reply: Reply) -> None:
        head = {"Content-Type": "application/json", **reply.headers, "Content-Length": str(len(reply.body))}
        self.send_response(reply.status)
        for name, value in head.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body if reply.cut is None else reply.body[: reply.cut])
        if reply.cut is not None:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr: tests look at it."""
