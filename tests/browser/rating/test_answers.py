"""One rating for each item, however it is sent; undo; what is wanting; sliders, pairs and sides."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.rating.person import Person


def agreed(page: Page) -> Person:
    person = Person(page)
    person.agree()
    return person


def kept(study) -> list[object]:
    with study.store.reading() as db:
        return [row[0] for row in db.execute("SELECT value FROM rating ORDER BY assignment, dimension")]


def events(study, what: str) -> int:
    with study.store.reading() as db:
        return int(db.execute("SELECT count(*) FROM event WHERE what = ?", (what,)).fetchone()[0])


@pytest.mark.parametrize("script", [True, False])
def test_double_click_back_reload_and_two_tabs_give_one_rating(serve, rater, script):
    study, origin, (path, _) = serve("overall 1-5", practice=())
    one = agreed(rater(origin, path, java_script_enabled=script))
    page, first = one.page, one.page.url
    other_tab = rater(origin, first.removeprefix(origin), java_script_enabled=script)
    page.get_by_label("4").check()
    page.get_by_role("button", name="Next").dblclick()
    expect(page.locator(".place")).to_have_text(re.compile("Item 2 of"))
    page.reload()
    expect(page.locator(".place")).to_have_text(re.compile("Item 2 of"))
    assert kept(study) == [4.0]
    other_tab.get_by_label("4").check()
    other_tab.get_by_role("button", name="Next").click()
    expect(other_tab.locator(".place")).to_have_text(re.compile("Item 2 of"))
    assert (kept(study), events(study, "answered")) == ([4.0], 1)
    page.goto(first)
    page.get_by_role("button", name="Save the change").click()
    page.wait_for_url(re.compile(r"/item/"))
    expect(page.locator(".place")).to_have_text(re.compile("Item 2 of"))
    page.go_back()
    page.go_back()
    expect(page.locator(".place")).to_have_text(re.compile("Item [12] of"))
    assert (kept(study), events(study, "answered"), events(study, "changed")) == ([4.0], 1, 0)


def test_undo_by_a_key_changes_the_answer_before(serve, rater):
    study, origin, (path, _) = serve("overall 1-5", practice=())
    one = agreed(rater(origin, path))
    said = one.said()
    one.press("5", "Enter")
    one.goes_on("Item 1 of 9")
    one.press("u")
    expect(one.page.get_by_role("button", name="Save the change")).to_be_visible()
    assert one.said() == said
    expect(one.page.get_by_label("5")).to_be_checked()
    assert kept(study) == [5.0]
    one.press("2", "Enter")
    one.goes_on("Item 1 of 9")
    assert kept(study) == [2.0]
    assert events(study, "changed") == 1


def test_enter_pressed_twice_sends_no_empty_form(serve, rater):
    study, origin, (path, _) = serve("overall 1-5", practice=())
    one = agreed(rater(origin, path))
    one.press("5", "Enter")
    one.goes_on("Item 1 of 9")
    one.press("Enter", "Enter", "4", "Enter")
    one.goes_on("Item 2 of 9")
    assert one.place() == "Item 3 of 9"
    assert sorted(kept(study)) == [4.0, 5.0]


def test_keys_can_be_switched_off(serve, rater):
    study, origin, (path, _) = serve("overall 1-5", practice=())
    one = agreed(rater(origin, path))
    switch = one.page.get_by_label("Keys")
    switch.uncheck()
    one.page.locator("body").click(position={"x": 2, "y": 2})
    one.press("5", "Enter")
    expect(one.page.locator("input:checked")).to_have_count(0)
    one.page.reload()
    expect(switch).not_to_be_checked()
    assert kept(study) == []


def test_what_is_wanting_is_said_where_it_is(serve, watched_rater):
    """With our keys, and with every answer that was given kept."""
    study, origin, (path, _) = serve("coherence 1-5", "overall 0-100: How good is it?", practice=())
    page, watch = watched_rater(origin, path)
    one = agreed(page)
    one.press("3")
    expect(page.get_by_role("slider", name="How good is it?")).to_be_focused()
    one.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("Not saved yet. Please answer: How good is it?")
    expect(page.get_by_role("alert").get_by_role("link")).to_be_focused()
    expect(page.get_by_label("3")).to_be_checked()
    assert kept(study) == [], "a slider that nobody touched is no answer"
    page.get_by_role("alert").get_by_role("link").click()
    page.get_by_role("slider").focus()
    one.press("ArrowRight", "ArrowRight", "Enter")
    one.goes_on("Item 1 of 9")
    assert kept(study) == [3.0, 52.0]
    assert all("422" in line for line in watch.noted), "the browser's word for it"


def test_a_slider_is_touched_by_a_click_where_it_stands(serve, rater):
    study, origin, (path, _) = serve("overall 0-100 n/a", practice=())
    one = agreed(rater(origin, path))
    slider, number, skip = (one.page.get_by_role(role) for role in ("slider", "spinbutton", "checkbox"))
    expect(number).to_have_value("")
    slider.click()
    expect(number).to_have_value("50")
    skip.first.check()
    expect(number).to_have_value("")
    number.fill("7")
    expect(skip.first).not_to_be_checked()
    expect(slider).to_have_value("7")
    number.press("Enter")
    one.goes_on("Item 1 of 9")
    assert kept(study) == [7.0]


def test_pairs_to_the_end_by_keyboard(serve, rater):
    """Who always takes the longer reply chooses A and B, and one system in the export."""
    study, origin, paths = serve("overall: Which is better?", pairwise=True, contexts=6, practice=(), check_every=0)
    sides = []
    for path in paths:
        one = agreed(rater(origin, path))
        while one.form.is_visible():
            *_, a, b = one.said()
            place = one.place()
            sides.append("a" if len(a) > len(b) else "b")
            one.press(sides[-1], "Enter")
            one.goes_on(place)
    assert set(sides) == {"a", "b"}
    assert abs(sides.count("a") - sides.count("b")) <= 2, "sides are balanced"
    lines, _ = study.export()
    for line in map(json.loads, lines):
        longer = "a" if len(line["a"]["response"]) > len(line["b"]["response"]) else "b"
        assert line["preferences"]["overall"] == [longer] * 2


def test_a_whole_conversation_on_one_screen(serve, rater):
    study, origin, (path, _) = serve("overall 1-5", "fluent yes/no n/a", unit="dialogue", practice=(), check_every=0)
    one = agreed(rater(origin, path))
    expect(one.page.locator("h2")).to_have_text("Rate the whole conversation")
    expect(one.page.locator(".caption")).to_have_text("Speaker to rate")
    one.press("5", "n", "Enter")
    one.goes_on("Item 1 of 8")
    one.press("1", "x", "Enter")
    one.goes_on("Item 2 of 8")
    assert sorted(map(str, kept(study))) == ["0.0", "1.0", "5.0", "None"]
