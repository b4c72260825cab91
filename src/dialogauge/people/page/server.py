"""The rating page behind the standard library's server: a thread for each connection, of which there are so many."""

from __future__ import annotations

import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from dialogauge.errors import InputError
from dialogauge.people.page.app import RatingApp
from dialogauge.people.page.exchange import PageRequest, PageResponse, page
from dialogauge.people.page.gate import MOST_BODY, check_public_url, is_loopback
from dialogauge.people.page.rater_pages import message_page

if TYPE_CHECKING:
    from dialogauge.people.rating.study import Study

MOST_CONNECTIONS = 256
PATIENCE = 20.0
"""Seconds within which a connection must have sent a whole request; an idle one is closed after as many."""


class RatingServer(ThreadingHTTPServer):
    """`origin` is where raters find it: links are `{origin}/r/{token}`."""

    daemon_threads = True
    request_queue_size = 128
    allow_reuse_address = sys.platform != "win32"

    def __init__(self, study: Study, host: str = "localhost", port: int = 0, public_url: str | None = None) -> None:
        public = check_public_url(host, public_url)
        host = "127.0.0.1" if host == "localhost" else host.strip("[]")
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._waiting: dict[socket.socket, float] = {}
        self._lock = threading.Lock()
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise InputError(f"port {port} of {host} cannot be listened on: {error.strerror or error}") from None
        port = self.server_address[1]
        names = ["localhost", "127.0.0.1", "[::1]"] if is_loopback(host) else [f"[{host}]" if ":" in host else host]
        local = [f"http://{name}{'' if port == 80 else f':{port}'}" for name in names]
        self.origin = public or f"http://{'[::1]' if ':' in host else names[0]}:{port}"
        self.app = RatingApp(study, (*([public] if public else []), *local))

    def server_bind(self) -> None:
        """Without asking a name server what this machine is called."""
        socket.socket.setsockopt(self.socket, socket.SOL_SOCKET, socket.SO_REUSEADDR, int(self.allow_reuse_address))
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.is_asked(request)
            self._free.release()

    def waits(self, connection: socket.socket) -> None:
        """From now on the connection has `PATIENCE` to send a request."""
        with self._lock:
            self._waiting[connection] = time.monotonic() + PATIENCE

    def is_asked(self, connection: socket.socket) -> None:
        with self._lock:
            self._waiting.pop(connection, None)

    def service_actions(self) -> None:
        """Called twice a second: ends connections that wait for too long, however slowly they go on sending."""
        now = time.monotonic()
        with self._lock:
            late = [connection for connection, end in self._waiting.items() if end < now]
            for connection in late:
                del self._waiting[connection]
                _hang_up(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """A connection that broke is no news, and addresses hold tokens: nothing is said."""
        if not isinstance(sys.exception(), OSError):
            traceback.print_exc()


def serve(
    study: Study,
    host: str = "localhost",
    port: int = 0,
    public_url: str | None = None,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serves the study until the process is stopped; `announce` is told where, once raters can come."""
    with RatingServer(study, host, port, public_url) as server:
        if announce is not None:
            announce(server.origin)
        server.serve_forever()


class _Handler(BaseHTTPRequestHandler):
    server: RatingServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = PATIENCE

    def handle_one_request(self) -> None:
        self.server.waits(self.connection)
        super().handle_one_request()

    def do_GET(self) -> None:
        if self.headers.get("content-length", "0") != "0" or "transfer-encoding" in self.headers:
            self.send_error(400)
        else:
            self._answer(b"")

    do_HEAD = do_GET

    def do_POST(self) -> None:
        sizes = self.headers.get_all("content-length") or []
        if "transfer-encoding" in self.headers or len(sizes) != 1 or not (sizes[0].isascii() and sizes[0].isdigit()):
            self.send_error(411)
        elif len(sizes[0]) > 9 or int(sizes[0]) > MOST_BODY:
            self.send_error(413)
        else:
            body = self.rfile.read(int(sizes[0]))
            if len(body) < int(sizes[0]):
                self.close_connection = True  # cut off: no answer was asked for
            else:
                self._answer(body)

    def _answer(self, body: bytes) -> None:
        self.server.is_asked(self.connection)
        headers = {name.lower(): ", ".join(self.headers.get_all(name) or ()) for name in self.headers}
        self._send(self.server.app(PageRequest(self.command, self.path, headers, body, str(self.client_address[0]))))

    def _send(self, response: PageResponse) -> None:
        """In one packet where it fits. Says nothing of what serves it."""
        if self.request_version == "HTTP/0.9":
            return  # no browser asks so: it gets nothing
        self.send_response_only(response.status)
        self.send_header("Date", self.date_time_string())
        for name, value in response.headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        if self.command != "HEAD":
            self._headers_buffer.append(b"\r\n" + response.body)  # type: ignore[attr-defined]
            self.flush_headers()
        else:
            self.end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """What the standard library refuses, and what is not read to its end: the connection is over."""
        self.close_connection = True
        said = self.responses.get(code, ("Not possible",))[0]
        self.command = self.command or "GET"
        self._send(page(message_page(said, "This could not be understood."), code))

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged: addresses hold the raters' tokens."""


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
