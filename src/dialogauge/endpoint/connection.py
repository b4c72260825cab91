"""One attempt to ask: a POST with a time limit for all of it, and what its outcome means. The key is read from the
environment for each request, goes into its header, and nowhere else."""

from __future__ import annotations

import email.utils
import http.client
import io
import ipaddress
import json
import os
import socket
import ssl
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

from dialogauge import __version__
from dialogauge.endpoint.chat import ChatAnswer, EndpointError, is_chat
from dialogauge.errors import InputError, quote

KEYS = ("DIALOGAUGE_API_KEY", "OPENAI_API_KEY")
PLAIN = "DIALOGAUGE_KEY_OVER_HTTP"
PATH = "/chat/completions"
LARGEST = 1 << 24
"""Bytes of an answer."""
AGAIN = {408, 409, 425, 429}
"""Statuses beside 5xx that may be better next time."""
WRONG = {400, 413, 422}
"""What the endpoint finds wrong with the request."""
SHORTEST_KEY = 6
"""Characters below which it is no secret: some local endpoints want any word at all."""
LONGEST = 300
"""Characters of an endpoint's words that are repeated in ours."""


class Trouble(Exception):
    """An attempt that failed and may be repeated. `crowded`: whether fewer requests at once may help."""

    def __init__(self, reason: str, *, after: float | None = None, crowded: bool = False) -> None:
        super().__init__(reason)
        self.after = after
        self.crowded = crowded


def parse_url(url: str) -> SplitResult:
    """The address of an endpoint; whatever could hold a secret is refused, since addresses are kept and printed."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        port, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(
            f"url: expected the address of an endpoint, such as http://localhost:8000/v1, found {quote(url)}"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise InputError(
            f"url: expected an address without user name, password, ? and #, at {parts.hostname}"
            f"{'' if port is None else f':{port}'}; the key comes from ${KEYS[0]}"
        )
    return parts


def plain_url(url: str) -> str:
    """The one spelling of an address, under which answers are kept."""
    parts = parse_url(url.strip())
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.removesuffix(PATH).rstrip('/')}"


def api_key() -> str | None:
    """The first of the variables that is set; none is sent where that is empty."""
    name = next((name for name in KEYS if name in os.environ), None)
    key = os.environ[name].strip() if name else ""
    if not key:
        return None
    if not key.isascii() or not key.isprintable() or " " in key:
        raise InputError(f"${name} holds characters that no key can have; it is not shown here")
    return key


def refuse_plain_key(url: str) -> None:
    """A key goes over plain http to this machine alone."""
    parts = parse_url(url)
    if parts.scheme == "https" or api_key() is None or _is_loopback(parts.hostname or "") or os.environ.get(PLAIN):
        return
    raise InputError(
        f"{url}: a key would be sent over plain http, where others can read it; take https, unset ${KEYS[0]} and "
        f"${KEYS[1]} (or set the first to nothing) where the endpoint needs none, or set ${PLAIN}=1"
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


@dataclass
class Connection:
    """To one endpoint, for one thread; kept open between requests."""

    url: str
    timeout: float
    """Seconds that an attempt may take, from sending to the last byte."""

    def __post_init__(self) -> None:
        self._parts = parse_url(self.url)
        self._http: http.client.HTTPConnection | None = None
        self._end = 0.0

    def post(self, body: bytes) -> ChatAnswer:
        """The answer, or a refusal of the request itself; Trouble where another attempt may help; EndpointError where
        none can."""
        refuse_plain_key(self.url)
        key = api_key()
        headers = {"Content-Type": "application/json", "User-Agent": f"dialogauge/{__version__}"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        self._end = time.monotonic() + self.timeout
        reused = self._http is not None
        try:
            status, waits, raw = self._exchange(body, headers)
        except TimeoutError:
            self.close()
            raise Trouble(f"no answer within {self.timeout:g} s", crowded=True) from None
        except ssl.SSLCertVerificationError as error:
            self.close()
            raise EndpointError(f"{self.url}: its certificate is not valid: {error.verify_message}") from None
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Trouble(_said(error), after=0.0 if reused else None) from None
        text = raw.decode("utf-8", "replace")
        if key and len(key) >= SHORTEST_KEY:  # one that an endpoint repeats goes no further
            text = text.replace(key, "[key]")
        return self._understood(status, waits, text)

    def close(self) -> None:
        if self._http is not None:
            self._http.close()
            self._http = None

    def _exchange(self, body: bytes, headers: dict[str, str]) -> tuple[int, float | None, bytes]:
        if self._http is None:
            self._http = self._opened()
        self._http.request("POST", self._parts.path.rstrip("/") + PATH, body, headers)
        response = self._http.getresponse()
        raw = response.read(LARGEST)
        if response.length:
            raise http.client.IncompleteRead(raw, response.length)
        if response.will_close or not response.isclosed():
            self.close()
        return response.status, _seconds(response.getheader("Retry-After")), raw

    def _opened(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        opened = kind(host, port, timeout=self.timeout)
        opened.connect()
        opened.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        opened.sock = _TimedSocket(opened.sock, self)
        return opened

    def _understood(self, status: int, waits: float | None, text: str) -> ChatAnswer:
        if status == 200:
            try:
                body = json.loads(text)
            except ValueError:
                raise Trouble("answered with something that is not JSON") from None
            if not is_chat(body):
                raise Trouble("answered with JSON that has no choices[0].message: not /v1/chat/completions?")
            return ChatAnswer(200, body)
        said = _message(text)
        if status in WRONG:
            return ChatAnswer(status, {"refusal": said})
        if status in AGAIN or status >= 500:
            raise Trouble(f"{status} {said}".strip(), after=waits, crowded=True)
        hint = ""
        if status in (401, 403):
            hint = f"; the key comes from ${KEYS[0]}, else ${KEYS[1]}" + ("" if api_key() else ": neither is set")
        elif 300 <= status < 400:
            hint = "; redirects are not followed: give the address it leads to"
        elif status == 404:
            hint = "; is the address that of the API (…/v1), and the model's name right?"
        raise EndpointError(f"{self.url}: {status} {said}".rstrip() + hint)


class _TimedSocket:
    """A socket that is done when the attempt's time is: http.client's own limit is for each piece alone."""

    def __init__(self, plain: socket.socket, attempt: Connection) -> None:
        self._plain = plain
        self._attempt = attempt

    def sendall(self, data: Any) -> None:
        self._plain.settimeout(self._left())
        self._plain.sendall(data)

    def makefile(self, *_: Any, **__: Any) -> io.BufferedReader:
        return io.BufferedReader(_TimedReader(self), 1 << 16)

    def recv_into(self, buffer: Any) -> int:
        self._plain.settimeout(self._left())
        return self._plain.recv_into(buffer)

    def close(self) -> None:
        self._plain.close()

    def _left(self) -> float:
        left = self._attempt._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


class _TimedReader(io.RawIOBase):
    def __init__(self, timed: _TimedSocket) -> None:
        self._timed = timed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._timed.recv_into(buffer)


def _seconds(text: str | None) -> float | None:
    """Retry-After, as seconds or as a date."""
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _message(text: str) -> str:
    """What an endpoint says of an error: its JSON's `error.message`, `error`, `message` or `detail`, else all of it."""
    said: Any = text
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    if isinstance(body, dict):
        error = body.get("error")
        said = error.get("message") if isinstance(error, dict) else error
        said = said or body.get("message") or body.get("detail") or text
    flat = " ".join(str(said).split())
    return flat if len(flat) <= LONGEST else flat[:LONGEST] + "…"


def _said(error: Exception) -> str:
    if isinstance(error, http.client.IncompleteRead):
        return "the answer was cut off"
    if isinstance(error, http.client.RemoteDisconnected | ConnectionResetError | BrokenPipeError):
        return "the connection was closed without an answer"
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there"
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
