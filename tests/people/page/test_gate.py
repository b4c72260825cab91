"""Who may come in, and how often."""

import pytest

from dialogauge.errors import InputError
from dialogauge.people.page.exchange import PageRequest
from dialogauge.people.page.gate import MOST_BODY, Bucket, PageGate, Refused, RequestPace, check_public_url, is_loopback

OURS = ("https://rate.example.org", "http://localhost:8765")
FORM = {
    "host": "localhost:8765",
    "origin": "http://localhost:8765",
    "content-type": "application/x-www-form-urlencoded",
    "sec-fetch-site": "same-origin",
}


def status(method: str = "POST", body: bytes = b"q0=4", **changed: str | None) -> int:
    """200 where the gate lets a request through."""
    headers = {**FORM, **{name.replace("_", "-"): value for name, value in changed.items()}}
    try:
        PageGate(OURS).check(
            PageRequest(method, "/", {name: value for name, value in headers.items() if value is not None}, body)
        )
    except Refused as refused:
        return refused.status
    return 200


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, 200),
        ({"sec_fetch_site": None}, 200),
        ({"host": "LOCALHOST:8765"}, 200),
        ({"host": "rate.example.org", "origin": "https://rate.example.org"}, 200),
        ({"content_type": "application/x-www-form-urlencoded; charset=utf-8"}, 200),
        ({"host": None}, 421),
        ({"host": "evil.example:8765"}, 421),
        ({"host": "localhost"}, 421),
        ({"host": "localhost:8765, evil.example"}, 421),
        ({"origin": None}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "http://localhost:8766"}, 403),
        ({"origin": "https://localhost:8765"}, 403),
        ({"origin": "http://rate.example.org"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"sec_fetch_site": "none"}, 403),
        ({"content_type": "text/plain"}, 415),
        ({"content_type": "multipart/form-data; boundary=x"}, 415),
        ({"content_type": "application/json"}, 415),
        ({"content_type": None}, 415),
        ({"body": b"x" * MOST_BODY}, 200),
        ({"body": b"x" * (MOST_BODY + 1)}, 413),
        ({"method": "PUT"}, 405),
        ({"method": "OPTIONS"}, 405),
        ({"method": "TRACE"}, 405),
    ],
)
def test_forms(changed, expected):
    assert status(**changed) == expected


def test_pages_may_be_asked_for_from_anywhere_but_not_under_another_name():
    """A link in a letter, or a marketplace's: another site. Another name for this machine: DNS rebinding."""
    for site in ("cross-site", "none", None):
        assert status("GET", sec_fetch_site=site, origin=None) == 200
        assert status("HEAD", sec_fetch_site=site, origin=None) == 200
    assert status("GET", host="evil.example") == 421


def test_so_many_at_once_then_so_many_a_second():
    now = [0.0]
    bucket = Bucket(3, 2, lambda: now[0])
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    now[0] = 0.5  # one more by now
    assert [bucket.take() for _ in range(2)] == [True, False]
    now[0] = 100.0  # never more than three
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]


def test_one_who_is_too_fast_slows_no_one_else():
    pace = RequestPace(1, 0, most=2, clock=lambda: 0.0)
    assert [pace.take("a"), pace.take("a"), pace.take("b")] == [True, False, True]
    pace.take("c")  # memory is bounded: the one who was seen longest ago is forgotten
    assert len(pace._buckets) == 2


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"])
def test_this_machine(host):
    assert is_loopback(host)
    assert check_public_url(host, None) is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "localhost.example.org"])
def test_other_machines_only_behind_a_proxy_with_tls(host):
    with pytest.raises(InputError, match="--public-url"):
        check_public_url(host, None)
    assert check_public_url(host, "https://Rate.example.org/") == "https://rate.example.org"


@pytest.mark.parametrize(
    "url",
    [
        "http://rate.example.org",
        "rate.example.org",
        "https://",
        "https://x/y",
        "https://x?y",
        "ftp://x",
        "",
        "https://a@b",
        "https://x:y",
        "https://[x",
    ],
)
def test_a_public_url_is_encrypted_and_has_no_path(url):
    with pytest.raises(InputError, match="expected https"):
        check_public_url("localhost", url)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://rate.example.org:443/", "https://rate.example.org"),
        ("HTTPS://RATE.example.org:8443", "https://rate.example.org:8443"),
        ("http://localhost:80", "http://localhost"),
        ("http://[::1]:9000", "http://[::1]:9000"),
    ],
)
def test_a_public_url_as_browsers_write_it(url, origin):
    assert check_public_url("0.0.0.0", url) == origin


def test_those_who_guess_links_are_slowed_down_and_raters_are_not(served):
    _, (one, _) = served()
    guessed = [one.ask("GET", f"/r/{'x' * 32}").status for _ in range(60)]
    assert set(guessed) == {404, 429}
    assert guessed[-1] == 429
    assert one.get().status == 200


def test_a_rater_who_is_too_fast_is_told_to_wait(served):
    _, (one, other) = served()
    found = [one.ask("GET", one.home) for _ in range(60)]
    assert found[-1].status == 429
    assert found[-1].headers["Retry-After"]
    assert other.get().status == 200
