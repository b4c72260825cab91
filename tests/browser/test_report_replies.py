"""The replies of a page: search, sort, filter, views, one reply with its context, and all replies side by side."""

import re

import pytest
from playwright.sync_api import expect

from dialogauge import evaluate, load
from tests.browser.pages import EXAMPLES
from tests.browser.view import Replies

TURNS = load(EXAMPLES / "everyday.jsonl").turns
RATED = load(EXAMPLES / "rated.jsonl").turns


@pytest.fixture
def replies(open_page, scored_page):
    return Replies(open_page(scored_page))


@pytest.fixture
def rated(open_page, rated_page):
    return Replies(open_page(rated_page))


@pytest.fixture(scope="module")
def bleu():
    """Sentence BLEU of every turn, by system and id."""
    frame = evaluate(str(EXAMPLES / "everyday.jsonl"), "bleu", resamples=10).turns_to_frame()
    return {(row.system, row.id): row.value for row in frame.itertuples()}


def said(*words: str) -> list[str]:
    """The replies of turns that have all the words somewhere, in the order of the file."""
    found = []
    for turn in TURNS:
        texts = " ".join([turn.id, turn.response, *turn.context, *turn.references]).lower()
        if all(word in texts for word in words):
            found.append(turn.response)
    return found


def test_all_replies_are_there_in_the_order_of_the_file(replies):
    expect(replies.count).to_have_text("192 replies.")
    expect(replies.list).to_have_attribute("aria-rowcount", "193")
    assert replies.texts()[:10] == [turn.response for turn in TURNS[:10]]


def test_search_looks_into_replies_contexts_and_references(replies):
    expected = said("leeks")
    assert 0 < len(expected) < 12
    replies.search.fill("LEEKS")
    expect(replies.count).to_have_text(f"{len(expected)} of 192 replies.")
    assert replies.texts() == expected
    expect(replies.rows.first.locator("mark").first).to_have_text("leeks")


def test_search_in_replies_alone(replies):
    replies.page.locator("#replies-where").select_option(label="replies")
    replies.search.fill("leeks")
    expected = [turn.response for turn in TURNS if "leeks" in turn.response.lower()]
    expect(replies.count).to_have_text(f"{len(expected)} of 192 replies.")
    assert replies.texts() == expected


def test_a_search_that_finds_nothing_says_so_and_can_be_taken_back(replies):
    replies.search.fill("no one says this")
    expect(replies.page.get_by_text("No reply is like this.")).to_be_visible()
    replies.page.locator(".replies-empty").get_by_role("button").click()
    expect(replies.count).to_have_text("192 replies.")
    expect(replies.search).to_have_value("")


def test_what_is_searched_for_is_no_pattern(replies):
    replies.search.fill(".*(")
    expect(replies.count).to_have_text("0 of 192 replies.")


def test_a_head_sorts_and_turns_the_order_around(replies, bleu):
    replies.sort("bleu")
    expect(replies.head("bleu")).to_have_attribute("aria-sort", "descending")
    best = max(TURNS, key=lambda turn: bleu[turn.system, turn.id])
    assert replies.texts()[0] == best.response
    values = replies.numbers("bleu")
    assert values == sorted(values, reverse=True)
    assert values[0] == pytest.approx(bleu[best.system, best.id], rel=0.01)
    replies.sort("bleu")
    expect(replies.head("bleu")).to_have_attribute("aria-sort", "ascending")
    values = replies.numbers("bleu")
    assert values == sorted(values)


def test_one_system_alone(replies):
    replies.page.get_by_text("Filters", exact=True).click()
    replies.page.locator("#replies-systems").get_by_role("button", name="dull").click()
    expect(replies.count).to_have_text("64 of 192 replies.")
    assert replies.texts()[:5] == [turn.response for turn in TURNS if turn.system == "dull"][:5]
    expect(replies.page.locator("#replies-active")).to_have_text("1 chosen")


def test_values_within_bounds(replies, bleu):
    replies.page.get_by_text("Filters", exact=True).click()
    value = replies.page.locator("#replies-value")
    value.get_by_label("Metric").select_option(label="bleu ↑")
    value.get_by_label("Lowest value").fill("20")
    value.get_by_label("Highest value").fill("40")
    expected = [turn.response for turn in TURNS if 20 <= bleu[turn.system, turn.id] <= 40]
    assert 0 < len(expected) < 30
    expect(replies.count).to_have_text(f"{len(expected)} of 192 replies.")
    assert replies.texts()[:5] == expected[:5]


def test_ratings_within_bounds(rated):
    rated.page.get_by_text("Filters", exact=True).click()
    rating = rated.page.locator("#replies-rating")
    rating.get_by_label("Dimension").select_option(label="overall")
    rating.get_by_label("Lowest rating").fill("4.5")
    expected = [turn.response for turn in RATED if sum(turn.ratings["overall"]) / 3 >= 4.5]
    expect(rated.count).to_have_text(f"{len(expected)} of 80 replies.")
    assert rated.texts()[:5] == expected[:5]


def test_best_worst_and_most_disputed(rated):
    rated.page.get_by_role("button", name="Best").click()
    expect(rated.page.locator("#replies-view")).to_have_text("Best first, by bleu.")
    rated.page.get_by_role("button", name="Worst").click()
    expect(rated.page.locator("#replies-view")).to_have_text("Worst first, by bleu.")
    rated.page.locator("#replies-by").select_option(label="overall")
    for view, first in (("worst", 1.0), ("best", 5.0)):
        rated.page.locator(f"[data-view={view}]").click()
        assert rated.numbers("overall")[0] == first
    rated.page.get_by_role("button", name="Most disputed").click()
    expect(rated.page.locator("#replies-view")).to_contain_text("people (overall) differ most")


def test_what_pushes_a_distance(replies):
    replies.page.get_by_role("button", name=re.compile("Push .* most")).click()
    expect(replies.page.locator("#replies-view")).to_contain_text("would fall without the reply")
    name = replies.list.get_by_role("columnheader").filter(has_text="fbd").inner_text()
    values = replies.numbers(re.sub(r" [↑↓]$", "", name))
    assert values == sorted(values, reverse=True)
    assert values[0] > 0


def test_one_reply_with_its_context_numbers_and_reference(replies, bleu):
    turn = TURNS[0]
    reply = replies.open_first()
    assert reply.locator(".chat li").all_inner_texts()[:-1] == list(turn.context)
    expect(reply.locator(".chat-reply")).to_contain_text(turn.response)
    expect(reply.locator(".reply-texts")).to_have_text(turn.references[0])
    row = reply.get_by_role("row").filter(has=replies.page.get_by_role("rowheader", name="bleu"))
    shown = float(row.get_by_role("cell").first.inner_text())
    assert shown == pytest.approx(bleu[turn.system, turn.id], rel=0.02)


def test_all_systems_side_by_side(replies):
    reply = replies.open_first()
    others = [turn for turn in TURNS if turn.context == TURNS[0].context]
    assert reply.locator(".reply-card-text").all_inner_texts() == [turn.response for turn in others]
    reply.get_by_role("button", name=f"Open the reply of {others[1].system}").click()
    expect(reply.locator(".chat-reply")).to_contain_text(others[1].response)


def test_keys_open_a_reply_step_on_and_give_the_focus_back(replies):
    keys = replies.page.keyboard
    replies.rows.first.focus()
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(replies.reply.locator(".chat-reply")).to_contain_text(TURNS[1].response)
    keys.press("ArrowRight")
    expect(replies.reply.locator(".chat-reply")).to_contain_text(TURNS[2].response)
    keys.press("Escape")
    expect(replies.reply).to_be_hidden()
    expect(replies.rows.filter(has_text=TURNS[2].response).first).to_be_focused()
    keys.press("End")
    expect(replies.rows.last).to_be_focused()
    expect(replies.rows.last).to_contain_text(TURNS[-1].response)


def test_the_address_holds_what_is_chosen(replies):
    replies.search.fill("leeks")
    expect(replies.count).to_contain_text(" of 192")
    replies.sort("bleu")
    expect(replies.page).to_have_url(re.compile("leeks.*sort="))
    chosen, again = replies.texts(), replies.page.url
    replies.page.goto("about:blank")
    replies.page.goto(again)
    expect(replies.search).to_have_value("leeks")
    assert replies.texts() == chosen


def test_points_against_people_show_their_replies(rated):
    canvas = rated.page.get_by_role("img", name=re.compile("overall against"))
    canvas.scroll_into_view_if_needed()
    canvas.focus()
    card = rated.page.locator(".scatter-card")
    rated.page.keyboard.press("ArrowUp")
    worst = min(sum(turn.ratings["overall"]) / 3 for turn in RATED)
    expect(card.locator(".scatter-numbers")).to_contain_text(f"overall {worst:.2f}")
    shown = card.locator(".replies-reply").inner_text()
    assert shown in {turn.response for turn in RATED if sum(turn.ratings["overall"]) / 3 == worst}
    rated.page.keyboard.press("Enter")
    expect(rated.reply.locator(".chat-reply")).to_contain_text(shown)
    rated.page.keyboard.press("Escape")
    expect(canvas).to_be_focused()


@pytest.mark.parametrize("touch", [False, True])
def test_a_point_under_the_pointer_or_finger_shows_its_reply(open_page, rated_page, touch):
    rated = Replies(open_page(rated_page, has_touch=touch))
    canvas = rated.page.locator("#scatter-canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    card, replies = rated.page.locator(".scatter-card .replies-reply"), {turn.response for turn in RATED}
    for share in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):  # along the middle of the plot, till a point is near
        spot = {"x": box["width"] * share, "y": box["height"] * share}
        canvas.tap(position=spot) if touch else canvas.hover(position=spot)
        if card.count():
            break
    assert card.inner_text() in replies


def test_systems_can_be_left_out_of_the_points(rated):
    legend = rated.page.get_by_role("group", name="Systems shown")
    expect(rated.page.get_by_role("img", name=re.compile("of 80 replies"))).to_be_visible()
    legend.get_by_role("button").first.click()
    expect(rated.page.get_by_role("img", name=re.compile("of 60 replies"))).to_be_visible()
