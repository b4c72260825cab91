"""A request and its answer, apart from any socket, and the headers that every answer has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""What a page may load and where its forms may go. Nothing inline runs; `connect-src` is none, so that our own script
cannot send anything either."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not no-referrer: a form's Origin would be "null" then, and refused.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "X-Robots-Tag": "noindex",
    "Cache-Control": "no-store",
}
MOST_FIELDS = 200


@dataclass(frozen=True)
class PageRequest:
    """`target` is the path with its query; names of headers are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    client: str = ""

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return _fields(urlsplit(self.target).query)

    @property
    def form(self) -> dict[str, str]:
        return _fields(self.body.decode("utf-8", "replace"))


@dataclass(frozen=True)
class PageResponse:
    status: int
    body: bytes = b""
    kind: str = "text/html; charset=utf-8"
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        return {**HEADERS, "Content-Type": self.kind, "Content-Length": str(len(self.body)), **self.more}


def page(html: str, status: int = 200, **more: str) -> PageResponse:
    return PageResponse(status, html.encode("utf-8"), more=more)


def see_other(path: str) -> PageResponse:
    """Where to go after a form: reloading the next page sends nothing again."""
    return PageResponse(303, more={"Location": path})


def _fields(encoded: str) -> dict[str, str]:
    """The last of each name; nothing where there are too many."""
    try:
        return dict(parse_qsl(encoded, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="replace"))
    except ValueError:
        return {}
