"""Who may come in: the Host that was asked for, where a form came from, its type and size, and how many at a time."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import ip_address
from urllib.parse import urlsplit

from dialogauge.errors import InputError, quote
from dialogauge.people.page.exchange import PageRequest

MOST_BODY = 16 * 1024
FORM = "application/x-www-form-urlencoded"
METHODS = ("GET", "HEAD", "POST")


class Refused(Exception):
    """An answer in place of a page: the status, and one sentence for people."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def check_public_url(host: str, public_url: str | None) -> str | None:
    """The origin that raters use, from --public-url. Elsewhere than on this machine it must be known, and encrypted:
    tokens stand in addresses."""
    if public_url is None:
        if not is_loopback(host):
            raise InputError(
                f"--host {host}: other machines could reach the page, without encryption. Leave it on localhost, "
                "behind a proxy that does TLS, and say --public-url https://…"
            )
        return None
    if (origin := _origin(public_url)) is None:
        raise InputError(
            f"--public-url: expected https:// and the name of a host, with no path (https://rate.example.org), found "
            f"{quote(public_url)}"
        )
    return origin


def _origin(url: str) -> str | None:
    """As browsers write it: in lower case, without the port that is understood. None where it is not fit to be one."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    encrypted = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host or ""))
    if not encrypted or not host or "@" in parts.netloc or parts.path not in ("", "/") or parts.query or parts.fragment:
        return None
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}" + (
        f":{port}" if port not in (None, {"https": 443, "http": 80}[parts.scheme]) else ""
    )


class Bucket:
    """So many at once, then so many a second."""

    def __init__(self, at_once: float, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.at_once, self.per_second, self._clock = at_once, per_second, clock
        self._left, self._seen = at_once, clock()

    def take(self) -> bool:
        now = self._clock()
        self._left = min(self.at_once, self._left + (now - self._seen) * self.per_second)
        self._seen = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class RequestPace:
    """A bucket for each key, of which the least used go: memory stays bounded whatever is asked."""

    def __init__(
        self, at_once: float, per_second: float, most: int = 4096, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._bucket = at_once, per_second, clock
        self._most, self._lock = most, threading.Lock()
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, key: str) -> bool:
        with self._lock:
            bucket = self._buckets.pop(key, None) or Bucket(*self._bucket)
            self._buckets[key] = bucket
            if len(self._buckets) > self._most:
                self._buckets.popitem(last=False)
            return bucket.take()


class PageGate:
    """`origins` are the addresses at which the page is known ("http://localhost:8765"): another Host is another site's
    name for this machine (DNS rebinding), another Origin another site's form."""

    def __init__(self, origins: tuple[str, ...]) -> None:
        self._origins = frozenset(origins)
        self._hosts = frozenset(urlsplit(origin).netloc for origin in origins)

    def check(self, request: PageRequest) -> None:
        if request.method not in METHODS:
            raise Refused(405, "This page is only read, or sent as a form.")
        if request.headers.get("host", "").lower() not in self._hosts:
            raise Refused(421, "This page is not served under that name. Open it by the link that was given to you.")
        if request.method == "POST":
            self._check_form(request)

    def _check_form(self, request: PageRequest) -> None:
        if len(request.body) > MOST_BODY:
            raise Refused(413, "That was too much to send.")
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
            raise Refused(415, "Answers are sent by the form of the page.")
        # Every browser of today tells the origin of a form.
        from_us = request.headers.get("origin", "").lower() in self._origins
        if not from_us or request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            raise Refused(403, "This form came from another site, and nothing was kept.")
