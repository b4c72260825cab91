"""The page behind real sockets: what is damaged, slow, large or too much harms no one."""

import http.client
import socket
import stat
import threading
import time
from contextlib import suppress

import pytest

from dialogauge.errors import InputError
from dialogauge.people.page import server as server_module
from dialogauge.people.page.server import RatingServer
from tests.people.page.studies import Browser, action, html, study


@pytest.fixture
def running(tmp_path, monkeypatch):
    made = []

    def run(patience=20.0, connections=256):
        monkeypatch.setattr(server_module, "PATIENCE", patience)
        monkeypatch.setattr(server_module, "MOST_CONNECTIONS", connections)
        found = study(tmp_path, practice=())
        server = RatingServer(found)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        made.append((server, found))
        return server, list(found.links.raters.values())

    yield run
    for server, found in made:
        server.shutdown()
        server.server_close()
        found.close()


def said(server, sent: bytes, timeout: float = 5) -> bytes:
    """All that the server answers until it hangs up."""
    with socket.create_connection(server.server_address[:2], timeout) as connection:
        connection.sendall(sent)
        found = b""
        while part := connection.recv(65536):
            found += part
        return found


def request(server, line: str, *headers: str, body: str = "") -> bytes:
    host = f"Host: localhost:{server.server_port}"
    return "\r\n".join([line, host, *headers, "", body]).encode()


def test_a_page_over_a_connection_that_stays(running):
    server, (token, _) = running()
    connection = http.client.HTTPConnection("localhost", server.server_port, timeout=5)
    for _ in range(3):
        connection.request("GET", f"/r/{token}")
        response = connection.getresponse()
        assert response.status == 200
        assert b"I agree" in response.read()
        assert "server" not in {name.lower() for name in response.headers}
    connection.request("HEAD", f"/r/{token}")
    response = connection.getresponse()
    assert int(response.headers["Content-Length"]) > 1000
    assert response.read() == b""
    connection.request("GET", "/asset/page.css")
    assert connection.getresponse().read().startswith(b":root")
    connection.close()


@pytest.mark.parametrize(
    ("line", "headers", "status"),
    [
        ("POST / HTTP/1.1", ["Content-Length: 16385"], 413),
        ("POST / HTTP/1.1", ["Content-Length: 99999999999999999999"], 413),
        ("POST / HTTP/1.1", [], 411),
        ("POST / HTTP/1.1", ["Content-Length: -1"], 411),
        ("POST / HTTP/1.1", ["Content-Length: +4"], 411),
        ("POST / HTTP/1.1", ["Content-Length: 4", "Content-Length: 5"], 411),
        ("POST / HTTP/1.1", ["Transfer-Encoding: chunked"], 411),
        ("POST / HTTP/1.1", ["Content-Length: 4", "Transfer-Encoding: chunked"], 411),
        ("GET / HTTP/1.1", ["Content-Length: 4"], 400),
        ("GET / HTTP/1.1", ["Transfer-Encoding: chunked"], 400),
        ("GET / HTTP/1.1", ["Host: evil.example", "Connection: close"], 421),
        ("GET http://[ HTTP/1.1", ["Connection: close"], 404),
        ("DELETE / HTTP/1.1", [], 501),
        ("GET /" + "x" * 70_000 + " HTTP/1.1", [], 414),
        ("GET / HTTP/1.1", [f"X-{i}: y" for i in range(200)], 431),
        ("GET / HTTP/1.1", ["X: " + "y" * 70_000], 431),
    ],
)
def test_damaged_requests_are_refused_with_the_same_headers(running, line, headers, status):
    server, _ = running()
    found = said(server, request(server, line, *headers))
    assert found.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"Content-Security-Policy: default-src 'none'" in found
    assert found.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    "sent", [b"\r\n\r\n", b"GET /\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"GET / HTTP/9.9\r\n\r\n", b"\xff" * 9]
)
def test_what_is_no_request_gets_nothing_of_ours(running, sent, capsys):
    server, (token, _) = running(patience=0.3)
    assert b"I agree" not in said(server, sent)
    assert Browser(server.app, token, server.origin).get().status == 200
    assert capsys.readouterr() == ("", "")


def test_who_sends_slowly_is_cut_off(running):
    """A byte now and then would keep a thread for ever, were only the time between bytes limited."""
    server, _ = running(patience=0.5)
    with socket.create_connection(server.server_address[:2], 5) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        begun = time.monotonic()
        with suppress(OSError):
            while time.monotonic() - begun < 5:
                connection.sendall(b"X")
                time.sleep(0.05)
    assert 0.3 < time.monotonic() - begun < 3


def test_so_many_connections_and_no_more(running):
    server, (token, _) = running(connections=4)
    held = [socket.create_connection(server.server_address[:2], 5) for _ in range(40)]
    time.sleep(0.3)
    assert sum("process_request_thread" in thread.name for thread in threading.enumerate()) <= 4
    for connection in held:
        connection.close()
    time.sleep(0.2)
    assert b"I agree" in said(server, request(server, f"GET /r/{token} HTTP/1.1", "Connection: close"))


def test_a_form_that_is_cut_off_is_not_taken(running):
    server, (token, _) = running()
    one = Browser(server.app, token, server.origin)
    target = action(one.consent())
    head = [f"Origin: {server.origin}", "Content-Type: application/x-www-form-urlencoded", "Content-Length: 40"]
    with socket.create_connection(server.server_address[:2], 5) as connection:
        connection.sendall(request(server, f"POST {target} HTTP/1.1", *head, body="q0=4"))
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100) == b""
    assert "checked" not in html(one.get(target)).partition('class="keys"')[0]


def test_a_port_that_is_taken(running):
    server, _ = running()
    with pytest.raises(InputError, match=f"port {server.server_port} of 127.0.0.1 cannot be listened on"):
        RatingServer(server.app.study, port=server.server_port)


def test_other_machines_need_a_public_address(running):
    server, (token, _) = running()
    with pytest.raises(InputError, match="--public-url"):
        RatingServer(server.app.study, host="0.0.0.0")
    behind = RatingServer(server.app.study, public_url="https://rate.example.org")
    behind.server_close()
    assert behind.origin == "https://rate.example.org"
    assert "Item 1" in html(Browser(behind.app, token, behind.origin).consent())


def test_the_study_is_for_its_owner_alone(running):
    server, (token, _) = running()
    Browser(server.app, token, server.origin).consent()
    files = list(server.app.study.directory.iterdir())
    assert {path.name for path in files} >= {"study.sqlite", "study.sqlite-wal"}
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in files} == {0}
