"""How a page looks and can be used: light and dark, phone, paper, keyboard, and what axe-core finds."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.chromium import AXE_SCRIPT
from tests.browser.view import Replies

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
PAGES = ("scored_page", "compared_page", "rated_page")


@pytest.fixture
def path(request):
    return request.getfixturevalue(request.param)


def ground(page) -> float:
    """How bright the page is, from 0 to 1."""
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / 3 / 255


def overflow(page) -> int:
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES, indirect=True)
def test_axe_finds_nothing_grave(open_page, path, scheme):
    if not AXE_SCRIPT.is_file():
        pytest.skip("axe-core comes with npm alone")
    page = open_page(path, color_scheme=scheme)
    replies = Replies(page)
    for summary in page.locator("summary:visible").all():
        summary.click()
    assert violations(page) == []
    for summary in page.locator("#replies details[open] > summary").all():
        summary.click()
    replies.open_first()
    assert violations(page) == []


def test_the_page_follows_the_system_till_a_theme_is_chosen(open_page, scored_page):
    page = open_page(scored_page, color_scheme="dark")
    assert ground(page) < 0.2
    page.emulate_media(color_scheme="light")
    assert ground(page) > 0.8
    theme = page.get_by_role("button", name="Theme")
    theme.click()
    theme.click()
    expect(theme).to_have_text("Theme: dark")
    assert ground(page) < 0.2


@pytest.mark.parametrize("path", [*PAGES, "real_page"], indirect=True)
def test_a_phone_has_no_sideways_scroll(open_page, path):
    page = open_page(path, **PHONE)
    replies = Replies(page)
    assert overflow(page) <= 0
    for summary in page.locator("summary:visible").all():
        summary.click()
    assert overflow(page) <= 0
    for summary in page.locator("#replies details[open] > summary").all():
        summary.click()
    replies.rows.first.tap()
    expect(replies.reply).to_be_visible()
    assert overflow(page) <= 0
    body = replies.reply.locator(".reply-body")
    assert body.evaluate("body => body.scrollWidth - body.clientWidth") <= 0


@pytest.mark.parametrize("path", PAGES, indirect=True)
def test_on_paper_controls_are_gone_and_replies_are_there(open_page, path):
    page = open_page(path, color_scheme="dark")
    replies = Replies(page)
    first = replies.texts()[0]
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert ground(page) > 0.95
    expect(replies.search).to_be_hidden()
    expect(page.get_by_role("button", name="Theme")).to_be_hidden()
    assert page.locator("button:visible").count() == 0
    expect(page.locator(".replies-print")).to_contain_text(first)
    assert len(page.pdf(format="A4")) > 10_000


def test_everything_can_be_reached_by_keys(open_page, scored_page):
    page = open_page(scored_page)
    replies = Replies(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="To the answer")).to_be_focused()
    seen = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.getAttribute('role') || ''"))
    assert {"theme", "replies-query", "replies-sort", "replies-direction", "row", "scatter-canvas"} <= seen
    expect(replies.reply).to_be_hidden()


def test_a_focus_can_be_seen(open_page, scored_page):
    page = open_page(scored_page)
    search = Replies(page).search
    before = search.evaluate("it => getComputedStyle(it).outlineStyle + getComputedStyle(it).boxShadow")
    search.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(search).to_be_focused()
    assert search.evaluate("it => getComputedStyle(it).outlineStyle + getComputedStyle(it).boxShadow") != before
