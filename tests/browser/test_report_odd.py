"""Pages of odd corpora: they open as others do, on a phone too, with nothing that axe-core would call grave."""

import pytest
from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.chromium import AXE_SCRIPT
from tests.browser.hostile_texts import write_turns
from tests.browser.pages import EXAMPLES, page_of
from tests.browser.view import Replies

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
SCRIPTS = ("مرحبا كيف حالك", "אני בסדר תודה", "你好，今天天气很好", "😀 👩‍👩‍👧 🇩🇪", "नमस्ते आप कैसे हैं")
NOBODY = "Nobody but the two of us may read this."


def corpus(name: str) -> list[dict]:
    if name == "one turn":
        return [{"response": "hi", "context": ["hello"], "references": ["hi there"]}]
    if name == "one system, no context":
        return [{"response": f"all {'so ' * (i % 4)}well"} for i in range(30)]
    if name == "twenty systems":
        return [
            {"id": str(i), "context": [f"c{i}"], "response": f"well {'so ' * (i % (k + 2))}", "system": f"number {k}"}
            for i in range(25)
            for k in range(20)
        ]
    if name == "ten thousand words":
        long = "word " * 10_000
        return [{"id": str(i), "context": [long], "response": long if i else "short"} for i in range(3)]
    if name == "other scripts":
        return [
            {"id": str(i), "context": [text], "response": SCRIPTS[i - 1], "references": [text], "system": system}
            for i, text in enumerate(SCRIPTS)
            for system in ("ישן", "حديث")
        ]
    if name == "empty replies":
        return [{"response": "x y" if i % 2 else "", "references": ["x y"] if i % 3 else []} for i in range(12)]
    if name == "nothing but empty replies":
        return [{"response": ""} for _ in range(3)]
    return [{"response": "a b", "system": "a", "x": 1}, {"response": "c", "system": "b"}]  # of x, b has no value


@pytest.mark.parametrize(
    "name",
    [
        "one turn",
        "one system, no context",
        "twenty systems",
        "ten thousand words",
        "other scripts",
        "empty replies",
        "nothing but empty replies",
        "no value for one system",
    ],
)
def test_a_page_is_made_and_opens_on_a_phone(open_page, tmp_path, name):
    metrics = "length,column[name=x]" if name == "no value for one system" else "length,distinct"
    path = write_turns(tmp_path / "odd.jsonl", corpus(name))
    page = open_page(page_of(tmp_path / "page.html", "score", path, "--metrics", metrics), **PHONE)
    replies = Replies(page)
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    replies.open_first()
    if AXE_SCRIPT.is_file():
        assert violations(page) == []


def test_names_from_right_to_left_move_no_number(open_page, tmp_path):
    """In a sentence of the answer: "between A and B (0.0 [0.0, 0.0], p = 1.000)", whatever way A and B are written."""
    path = write_turns(tmp_path / "odd.jsonl", corpus("other scripts"))
    page = open_page(page_of(tmp_path / "page.html", "score", path, "--metrics", "bleu"))
    answer = page.locator(".answer")
    expect(answer).to_contain_text("ישן")
    places = answer.evaluate(
        """answer => {
            const walker = document.createTreeWalker(answer, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
                const at = walker.currentNode.data.indexOf("p = ");
                if (at < 0) continue;
                return [...Array(4).keys()].map(i => {
                    const range = document.createRange();
                    range.setStart(walker.currentNode, at + i);
                    range.setEnd(walker.currentNode, at + i + 1);
                    return range.getBoundingClientRect().left;
                });
            }
        }"""
    )
    assert places == sorted(places)
    assert answer.locator("bdi").all_text_contents()[:2] == ["ישן", "حديث"]


def test_no_texts_means_none(open_page, tmp_path):
    """The numbers stay, and the list says why there is nothing to read."""
    rows = [
        {"id": str(i), "context": [NOBODY], "response": NOBODY, "references": [NOBODY], "facts": [NOBODY]}
        for i in range(4)
    ]
    path = write_turns(tmp_path / "odd.jsonl", rows)
    path = page_of(tmp_path / "page.html", "score", path, "--metrics", "length,distinct", "--no-texts")
    assert NOBODY not in path.read_text(encoding="utf-8")
    page = open_page(path)
    replies = Replies(page)
    expect(replies.count).to_have_text("4 replies.")
    expect(page.locator("#replies")).to_contain_text("--no-texts")
    replies.sort("length")
    expect(replies.head("length")).to_have_attribute("aria-sort", "descending")


def test_a_page_of_the_examples_has_the_texts_that_no_texts_leaves_out(scored_page):
    first = (EXAMPLES / "everyday.jsonl").read_text(encoding="utf-8")
    assert "Could you check the numbers" in first
    assert "Could you check the numbers" in scored_page.read_text(encoding="utf-8")
