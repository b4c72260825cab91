"""Hostile texts in every field are shown as text, and none does anything."""

import csv
import dataclasses
import html
import io

import pytest
from playwright.sync_api import expect

from dialogauge import Corpus, Turn, evaluate, write_report
from dialogauge.tables import printable
from tests.browser.hostile_texts import CHARACTERS, FORMULAS, HALF, HARM, MARKUP, NAMES, TEXTS, turns, write_turns
from tests.browser.pages import call, page_of
from tests.browser.view import Replies

FILE = f"<img src=x onerror={HARM}>\u202e'\"&.jsonl"
ROWS = turns()
OPTIONS = [text for text in TEXTS if not set("[],=/\n\r") & set(text) and len(text) < 100]
"""Those that can be written as an option of a metric; of what looks like a path, a page has the last part alone."""
SHOWN = "<style>*{display:none}</style>"
FOREIGN = (
    "script:not([type]):not(:last-of-type), iframe, object, embed, base, link, img, form:not(.replies-tools), "
    "[onerror], [onload], [onclick], [onfocus], [onmouseover], [srcdoc], meta[http-equiv=refresh], a[href^=javascript]"
)
"""What no page of ours has; a text that became markup would be among it."""


def escaped(text: str) -> str:
    """A system's name on the command line."""
    return text.replace("\\", "\\\\").replace(",", "\\,")


@pytest.fixture(scope="session")
def hostile(pages):
    return write_turns(pages / FILE, ROWS)


@pytest.fixture(scope="session")
def hostile_scores(pages, hostile):
    """Every text is a system's name and in every field of a turn, in the page of a kept run."""
    out = pages / "hostile"
    call("score", hostile, "--metrics", "length", "--resamples", "20", "--quiet", "--out", out)
    call("report", out, "--out", pages / "scores.html", "--quiet")
    return pages / "scores.html"


@pytest.fixture(scope="session")
def hostile_options(pages, hostile):
    """Texts are options of metrics, where they can be."""
    metrics = ",".join(["length", *(f"column[name=extra {text}]" for text in OPTIONS)])
    return page_of(pages / "options.html", "score", hostile, "--metrics", metrics, "--systems", "plain,constructor")


@pytest.fixture(scope="session")
def hostile_agreement(pages, hostile):
    """Every text is a dimension that people rated, and a rater's name."""
    ratings = io.StringIO()
    writer = csv.writer(ratings)
    writer.writerow(["id", "system", "rater", "dimension", "value"])
    for i, row in enumerate(ROWS):
        for k in range(3):
            writer.writerow([row["id"], row["system"], TEXTS[(i + k) % 5], "by name", (i * 7 + k) % 5])
    (pages / "ratings.csv").write_text(ratings.getvalue(), encoding="utf-8", newline="")
    more = ("--metrics", "length", "--dimension", "all", "--level", "turn", "--ratings", pages / "ratings.csv")
    return page_of(pages / "agreement.html", "correlate", hostile, *more)


@pytest.fixture(scope="session")
def hostile_pairs(pages):
    """Three hostile systems to the same contexts, called as hostile by --names."""
    rows = [
        {"id": str(i), "context": [f"{i} {text}"], "response": f"{text} {system} {'so ' * (i % 7)}", "system": system}
        for i, text in enumerate(TEXTS)
        for system in ("one", MARKUP[1], CHARACTERS[2])
    ]
    names = f"one={SHOWN}"
    path = write_turns(pages / "pairs.jsonl", rows)
    return page_of(pages / "pairs.html", "compare", path, "--metrics", "length,distinct", "--names", names)


@pytest.mark.parametrize("page", ["hostile_scores", "hostile_options", "hostile_agreement", "hostile_pairs"])
def test_nothing_becomes_markup_and_nothing_runs(open_page, request, page):
    """On opening, searching, opening replies, choosing and copying."""
    page = open_page(request.getfixturevalue(page))
    replies = Replies(page)
    expect(page.locator("style")).to_have_count(1)
    for summary in page.locator("summary:visible").all():
        summary.click()
    for text in (*MARKUP[:4], *NAMES[:2]):
        replies.search.fill(text)
    replies.search.fill("")
    for name in ("#replies-sort", "#replies-by", "#scatter-up", "#scatter-across"):
        if page.locator(name).is_visible():
            options = page.locator(name).locator("option").count()
            for place in range(0, options, max(options // 2, 1)):
                page.locator(name).select_option(index=place)
    for button in page.locator("[data-copy], [data-figure]").all():
        button.click()
    page.locator("#replies-sort").select_option("file")
    replies.open_first()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert page.locator(FOREIGN).count() == 0
    expect(page.locator("style")).to_have_count(1)
    assert page.title()


def test_every_text_of_a_turn_is_shown_as_it_is(open_page, hostile_scores):
    page = open_page(hostile_scores)
    replies = Replies(page)
    reply = replies.open_first()
    texts = """reply => ({
        name: [...reply.querySelectorAll('#reply-title bdi')].map(text => text.textContent),
        chat: [...reply.querySelectorAll('.chat li > bdi')].map(text => text.textContent),
        beside: [...reply.querySelectorAll('.reply-texts li')].map(text => text.textContent),
    })"""
    for place, row in enumerate(ROWS[: len(TEXTS)]):
        if place:
            page.keyboard.press("ArrowRight")
        shown = reply.evaluate(texts)
        assert shown["name"] == [row["system"], row["id"]]
        assert shown["chat"] == [*row["context"], row["response"]]
        assert shown["beside"] == [*row["facts"], *row["references"]]


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("hostile_scores", [FILE, *TEXTS]),
        ("hostile_options", [f"column[name=extra {option}]" for option in OPTIONS]),
        ("hostile_agreement", [f"how {text}" for text in TEXTS]),
    ],
)
def test_names_of_files_systems_metrics_and_dimensions_are_shown(open_page, request, page, names):
    shown = open_page(request.getfixturevalue(page)).locator("main").text_content()
    assert [name for name in names if printable(name)[:60] not in shown] == []


def test_a_name_that_was_given_is_shown(open_page, hostile_pairs):
    page = open_page(hostile_pairs)
    expect(page.locator("main")).to_contain_text(SHOWN)
    expect(Replies(page).rows.first).to_contain_text(SHOWN)


def test_marks_of_direction_move_nothing_around_them(open_page, hostile_scores):
    """A text that turns its line around stays within its own element: numbers after it are where they belong."""
    replies = Replies(open_page(hostile_scores))
    for text in CHARACTERS[1:3]:
        replies.search.fill(text)
        expect(replies.rows.first).to_contain_text(text)
        expect(replies.count).to_contain_text("2 of")
        style = "getComputedStyle(it).unicodeBidi"
        styles = replies.look(f"rows => rows.flatMap(row => [...row.querySelectorAll('bdi')].map(it => {style}))")
        assert styles
        assert set(styles) <= {"isolate", "plaintext"}
    outside = """[...document.querySelectorAll('body *:not(script)')].filter(it => !it.closest('bdi, option, input'))
        .flatMap(it => [...it.childNodes]).filter(it => it.nodeType === 3).map(it => it.data).join('')"""
    assert not set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067") & set(replies.page.evaluate(outside))


def test_words_without_an_end_break(open_page, hostile_scores):
    page = open_page(hostile_scores)
    replies = Replies(page)
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    replies.search.fill("w" * 100)
    expect(replies.count).to_contain_text("2 of")
    body = replies.open_first().locator(".reply-body")
    assert body.evaluate("body => body.scrollWidth - body.clientWidth") <= 0


def guarded(text):
    return printable(f"'{text}" if text.startswith(("=", "+", "-", "@")) else text)


def test_csv_holds_names_as_the_command_line_prints_them(open_page, pages, hostile, hostile_scores):
    """What a spreadsheet would take for a formula stands behind an apostrophe."""
    page = open_page(hostile_scores)
    with page.expect_download() as download:
        page.locator('[data-save="scores.csv"]').click()
    saved = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8"))))
    assert {row["system"] for row in saved} == {"plain", *map(guarded, TEXTS)}
    assert {f"'{formula}" for formula in FORMULAS} <= {row["system"] for row in saved}


def test_half_a_pair_of_surrogates_from_python(open_page, tmp_path):
    """No file can hold one; a string of Python can, and UTF-8 cannot."""
    made = [Turn(f"{i}", f"{HALF} {i}", (HALF,), (HALF,), system) for i in range(4) for system in ("plain", HALF)]
    write_report(evaluate(Corpus(made), "length", resamples=10), tmp_path / "page.html")
    assert (tmp_path / "page.html").read_bytes().decode("utf-8")
    reply = Replies(open_page(tmp_path / "page.html")).open_first()
    expect(reply.locator(".chat-reply")).to_contain_text("lone")


def test_control_without_escaping_it_runs(watched, hostile_scores, tmp_path):
    """The same page with its texts as markup and without its policy."""
    page = hostile_scores.read_text(encoding="utf-8").replace("Content-Security-Policy", "X-None")
    path = tmp_path / "page.html"
    path.write_text(html.unescape(page), encoding="utf-8")
    page, watch = watched(path)
    assert page.evaluate("window.__ran") or watch.noted


def test_every_field_of_a_turn_is_in_the_corpus_of_this_test():
    fields = {field.name for field in dataclasses.fields(Turn)} - {"extra", "dialogue", "numbered"}
    assert fields <= set(ROWS[0])
