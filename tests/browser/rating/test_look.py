"""Every page for those who see, hear or touch it: axe-core, a phone's width, the dark, other directions."""

import re

import pytest
from playwright.sync_api import Page, expect

from dialogauge import Corpus, Turn
from dialogauge.people.rating.questions import parse_questions
from dialogauge.people.rating.settings import StudySettings
from dialogauge.people.rating.study import Study
from tests.browser.axe import violations
from tests.browser.rating.conftest import running
from tests.browser.rating.person import Person

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
ASKED = (
    "coherence 1-5",
    "overall 0-100 (awful | perfect) n/a: How good is the reply, all in all?",
    "fluent yes/no n/a",
    "humour 0-10",
    "style 1-4 (not at all in keeping | a little out of place | mostly in keeping | entirely in keeping)",
)


def overflow(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def small_targets(page: Page) -> list[str]:
    """What can be pressed and is smaller than 24 by 24 pixels (WCAG 2.2, 2.5.8), links within sentences aside."""
    return page.locator("label.choice, button, a.primary, input[type=range], .number input").evaluate_all(
        "all => all.filter(it => it.offsetWidth < 24 || it.offsetHeight < 24).map(it => it.outerHTML.slice(0, 80))"
    )


@pytest.mark.parametrize("options", [{}, PHONE, {"color_scheme": "dark"}], ids=["light", "phone", "dark"])
def test_all_pages_of_a_study(serve, watched_rater, options):
    study, origin, (path, other) = serve(*ASKED, contexts=1, check_every=0, completion_url="https://example.org/{code}")
    page, watch = watched_rater(origin, path, **options)

    def is_fine(title: str, *, axe: bool = not options) -> None:
        """By axe-core, which takes half a second, where the page is of another kind than those before."""
        expect(page).to_have_title(re.compile(title))
        if axe:
            assert violations(page, grave_only=False) == []
        assert overflow(page) <= 0
        assert small_targets(page) == []

    is_fine("Rating replies")
    page.get_by_role("button", name="I agree").click()
    is_fine("Practice 1 of 2", axe=False)
    page.get_by_role("button", name="Next").click()
    is_fine("Not saved: Practice 1", axe=True)
    for number in range(4):
        for place, value in enumerate(("4", None, "1", "7", "2")):
            if value:
                page.locator(f"[name=q{place}][value='{value}']").check()
        page.get_by_role("spinbutton").fill("80")
        page.get_by_role("button", name="Next").click()
        if number < 2:
            expect(page.locator(".explained")).to_be_visible()
            is_fine("Practice", axe=number == 0)
            page.get_by_role("link", name="Continue").click()
        is_fine(["Practice 2", "Item 1", "Item 2", "All answered"][number], axe=number == 3 and not options)
    page.get_by_role("button", name="Finish").click()
    is_fine("Thank you")
    page.goto(f"{origin}/o/{study.links.organiser}")
    is_fine("organiser", axe=True)
    page.get_by_role("button", name="Pause the study").click()
    expect(page.get_by_role("status")).to_contain_text("Paused")
    page.goto(f"{origin}{other}")
    page.get_by_role("button", name="I agree").click()
    is_fine("The study is paused", axe=False)
    page.goto(f"{origin}/nothing")
    is_fine("There is no such page")
    assert all("422" in line or "404" in line for line in watch.noted)


@pytest.mark.parametrize("options", [{}, PHONE], ids=["wide", "phone"])
def test_pairs_from_right_to_left_and_long(tmp_path, rater, options):
    """Arabic on both sides, and a conversation that is longer than any screen."""
    said = ("مرحبا، كيف حالك اليوم؟", "أنا بخير، شكرا جزيلا لك!") * 20
    corpus = Corpus(
        [
            Turn("1", reply, said, (), system)
            for system, reply in (("a", "نعم، من فضلك (2 ملاعق)."), ("b", "لا " * 400 + "w" * 300))
        ]
    )
    asked = parse_questions(["overall: أي رد أفضل؟"], pairwise=True)
    settings = StudySettings(questions=asked, pairwise=True, raters=1, people=1, check_every=0, practice=())
    with running(Study.create(tmp_path / "study", corpus, settings)) as server:
        one = Person(rater(server.origin, f"/r/{next(iter(server.app.study.links.raters.values()))}", **options))
        one.agree()
        page = one.page
        assert violations(page, grave_only=False) == []
        assert overflow(page) <= 0
        assert {
            bubble.evaluate("it => getComputedStyle(it).direction") for bubble in page.locator(".bubble").all()
        } == {"rtl"}
        assert page.locator("legend").evaluate("it => getComputedStyle(it).direction") == "rtl"
        a, b = (page.locator(".side").nth(place).bounding_box() for place in (0, 1))
        assert (a["y"] == b["y"]) == (not options), "side by side where there is room"
        if not options:
            page.mouse.wheel(0, 3000)
            expect(page.get_by_role("button", name="Next")).to_be_in_viewport()
        page.get_by_label("About equal").check()
        page.get_by_role("button", name="Next").click()
        expect(page).to_have_title("All answered")


def test_what_is_focused_is_seen_and_comes_in_order(serve, rater):
    _, origin, (path, _) = serve("coherence 1-5", "fluent yes/no n/a", practice=())
    one = Person(rater(origin, path))
    one.agree()
    order = []
    for _ in range(4):
        one.press("Tab")
        order.append(one.page.evaluate("document.activeElement.name || document.activeElement.textContent"))
        ring = "(document.activeElement.closest('.choice') || document.activeElement)"
        assert one.page.evaluate(f"getComputedStyle({ring}).outlineStyle") == "solid"
    assert order[:3] == ["q0", "q1", "Next"]
    one.page.emulate_media(forced_colors="active")
    assert violations(one.page, grave_only=False) == []
