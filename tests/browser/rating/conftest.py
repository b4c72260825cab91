"""Raters in a real browser, who may ask nothing of anyone but the server."""

import threading
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from dialogauge.people.page.server import RatingServer
from tests.browser.watch import Watch
from tests.people.page.studies import study

expect.set_options(timeout=15_000)  # every page comes from a server that shares the machine with other tests


class WatchOfOrigin(Watch):
    """Requests to the server itself are no news."""

    def _request(self, request):
        if not request.url.startswith(f"{self.home}/"):
            super()._request(request)


@contextmanager
def running(found):
    """The study behind a server in a thread."""
    server = RatingServer(found)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        found.close()


@pytest.fixture
def watched_rater(chromium_browser):
    """Opens an address of a server: `watched_rater(origin, path, **options)` gives the page and what was noted."""
    contexts = []

    def open_address(origin, path, **options):
        context = chromium_browser.new_context(**{"viewport": {"width": 1200, "height": 800}, **options})
        contexts.append(context)
        context.set_default_timeout(10_000)
        watch, page = WatchOfOrigin(context), context.new_page()
        watch.home = origin
        page.goto(f"{origin}{path}")
        return page, watch

    yield open_address
    for context in contexts:
        context.close()


@pytest.fixture
def rater(watched_rater):
    """The same; the test fails if a page tells an error, opens a dialog or asks for anything elsewhere."""
    watches = []

    def open_address(origin, path, **options):
        page, watch = watched_rater(origin, path, **options)
        watches.append(watch)
        return page

    yield open_address
    for watch in watches:
        assert watch.noted == []


@pytest.fixture
def serve(tmp_path):
    """A study of some settings behind a server, and the paths of its raters."""
    stack = []

    def start(*asked, **settings):
        found = study(tmp_path, *asked, **settings)
        manager = running(found)
        server = manager.__enter__()
        stack.append(manager)
        return found, server.origin, [f"/r/{token}" for token in found.links.raters.values()]

    yield start
    for manager in stack:
        manager.__exit__(None, None, None)
