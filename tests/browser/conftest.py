"""One Chromium for all tests of a process, and pages that may do nothing but be shown."""

import os

import pytest

from tests.browser import chromium
from tests.browser.pages import EXAMPLES, page_of, word_vectors
from tests.browser.watch import Watch
from tests.shared import annotation


@pytest.fixture(scope="session")
def chromium_browser():
    if os.environ.get(chromium.WITHOUT) == "1":
        pytest.skip(f"{chromium.WITHOUT}=1: HTML pages are not looked at in a browser")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**chromium.find().launch_options())
        yield browser
        browser.close()


@pytest.fixture
def watched(chromium_browser):
    """Opens files without failing on what they do: `watched(path, **options)` gives the page and what was noted."""
    contexts = []

    def open_file(path, **options):
        context = chromium_browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        contexts.append(context)
        context.set_default_timeout(5_000)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        watch, page = Watch(context), context.new_page()
        watch.home = path.as_uri()
        page.goto(path.as_uri())
        return page, watch

    yield open_file
    for context in contexts:
        context.close()


@pytest.fixture
def open_page(watched):
    """Opens a file as a page; the test fails if the page asks for anything, tells an error or opens a dialog."""
    watches = []

    def open_file(path, **options):
        page, watch = watched(path, **options)
        watches.append((page, watch))
        return page

    yield open_file
    for page, watch in watches:
        assert watch.noted == []
        assert page.evaluate("window.__ran") is None


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="session")
def scored_page(pages):
    """Three systems to the same contexts, with a distance, of which single replies can push."""
    metrics = f"bleu,rouge_l,distinct,length,fbd[encoder={word_vectors(pages)},pool=mean,context=0]"
    return page_of(pages / "scored.html", "score", EXAMPLES / "everyday.jsonl", "--metrics", metrics)


@pytest.fixture(scope="session")
def compared_page(pages):
    return page_of(pages / "compared.html", "compare", EXAMPLES / "everyday.jsonl", "--metrics", "bleu,length,distinct")


@pytest.fixture(scope="session")
def rated_page(pages):
    """With ratings of people."""
    metrics, rated = "bleu,rouge_l,length", EXAMPLES / "rated.jsonl"
    return page_of(pages / "rated.html", "correlate", rated, "--metrics", metrics, "--dimension", "all")


@pytest.fixture(scope="session")
def real_page(pages):
    """Of a published corpus."""
    return page_of(pages / "real.html", "correlate", annotation("convai2"), "--metrics", "bleu,length")
