"""A page of 100,000 turns: small enough to pass on, and all of them within reach."""

import pytest
from playwright.sync_api import expect

from tests.browser.many import LAST_WORD, write_many
from tests.browser.pages import page_of
from tests.browser.view import Replies

COUNT = 100_000


@pytest.mark.slow
def test_a_hundred_thousand_turns_can_be_searched_and_scrolled_through(open_page, tmp_path):
    corpus = write_many(tmp_path / "many.jsonl", COUNT)
    path = page_of(tmp_path / "page.html", "score", corpus, "--metrics", "bleu,rouge_l,length,distinct")
    assert path.stat().st_size < 30_000_000
    replies = Replies(open_page(path))
    expect(replies.count).to_have_text("100,000 replies.")
    replies.rows.first.focus()
    replies.page.keyboard.press("End")
    expect(replies.rows.last).to_contain_text(LAST_WORD)
    replies.search.fill(LAST_WORD)
    expect(replies.count).to_have_text("1 of 100,000 replies.")
    expect(replies.rows).to_have_count(1)
    replies.search.fill("")
    replies.sort("length")
    expect(replies.head("length")).to_have_attribute("aria-sort", "descending")
    values = replies.numbers("length")
    assert values == sorted(values, reverse=True)
    assert replies.rows.count() < 100  # only those in sight are in the page
