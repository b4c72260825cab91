"""Hostile texts are shown as texts, and other sites can make a rater's browser do nothing."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from dialogauge import load
from dialogauge.people.page import rater_pages
from dialogauge.people.rating.questions import RatingQuestion
from dialogauge.people.rating.settings import StudySettings
from dialogauge.people.rating.study import Study
from tests.browser.hostile_texts import MARKUP, TEXTS, turns, write_turns
from tests.browser.rating.conftest import running
from tests.browser.rating.person import Person

ROWS = turns()[: len(TEXTS)]
SIGNS = str.maketrans({"\x00": "␀", "\x07": "␇", "\x08": "␈", "\x1b": "␛"})
FOREIGN = (
    "script:not([src='/asset/keys.js']), style, iframe, object, embed, base, img, link:not([href^='/asset/']), "
    "[onerror], [onload], [onclick], [onfocus], [onmouseover], [srcdoc], [style], meta[http-equiv], a[href^=javascript]"
)
LOOK = """foreign => {
    const shown = [...document.querySelectorAll(".facts li, .bubble")], root = document.documentElement;
    return {
        texts: shown.map(it => it.textContent),
        bidi: [...new Set(shown.map(it => getComputedStyle(it).unicodeBidi))],
        foreign: document.querySelectorAll(foreign).length,
        ran: window.__ran ?? null,
        overflow: root.scrollWidth - root.clientWidth,
    };
}"""


@pytest.fixture
def hostile(tmp_path):
    """Every text as a system, id, context, reply and fact; some as title, instructions, question and labels."""
    corpus = load(write_turns(tmp_path / "hostile.jsonl", ROWS))
    question = RatingQuestion("so " + MARKUP[2], "likert", 1, 2, (MARKUP[0], MARKUP[5]), True, MARKUP[7])
    settings = StudySettings(
        questions=(question,),
        raters=1,
        people=1,
        check_every=0,
        repeat_every=0,
        practice=(),
        title=MARKUP[1],
        instructions="\n\n".join(["# " + MARKUP[3], *TEXTS]),
        id_parameter="PROLIFIC_PID",
    )
    with running(Study.create(tmp_path / "study", corpus, settings)) as server:
        yield server


def joined(server, page) -> str:
    """The address of a rater whose id in the marketplace is as bad as the rest."""
    page.get_by_role("button", name="I agree").click()
    expect(page.locator("form.asked")).to_be_visible()
    return page.url.partition("/item/")[0]


def addresses(server) -> list[tuple[str, list[str]]]:
    """Each item's public id with the texts that it shows."""
    with server.app.study.store.reading() as db:
        rows = db.execute("SELECT public_id, turns FROM assignment JOIN item ON item.id = item").fetchall()
    places = {public_id: ROWS[int(turns.strip("[]"))] for public_id, turns in rows}
    return [(name, [*row["facts"], *row["context"], row["response"]]) for name, row in places.items()]


def test_hostile_texts_are_shown_as_they_are_and_do_nothing(hostile, rater):
    study = hostile.app.study
    page = rater(hostile.origin, f"/join/{study.links.join}?PROLIFIC_PID=%3Cimg%20src=x%20onerror=alert(1)%3E")
    expect(page.locator("h1")).to_have_text(MARKUP[3])
    assert page.locator(FOREIGN).count() == 0
    home = joined(hostile, page)
    seen = 0
    for public_id, texts in addresses(hostile):
        page.goto(f"{home}/item/{public_id}")
        found = page.evaluate(LOOK, FOREIGN)
        assert found["texts"] == [text.translate(SIGNS) for text in texts]
        assert found["bidi"] == ["isolate"], "marks of direction stay within their text"
        assert (found["foreign"], found["ran"], found["overflow"] <= 0) == (0, None, True)
        seen += 1
    assert seen == len(TEXTS)
    expect(page.locator(".title")).to_have_text(MARKUP[1])
    expect(page.locator("legend")).to_have_text(MARKUP[7])
    expect(page.locator(".point")).to_have_text([MARKUP[0], MARKUP[5]])
    page.goto(f"{hostile.origin}/o/{study.links.organiser}")
    expect(page.get_by_role("region", name="Raters")).to_contain_text("(<img src=x onerror=alert(1)>)")
    expect(page.get_by_role("region", name="Agreement")).to_contain_text(MARKUP[2])
    assert page.locator(FOREIGN).count() == 0
    assert page.evaluate("window.__ran") is None


def test_even_unescaped_nothing_would_run(hostile, watched_rater, monkeypatch):
    """The policy by itself: texts as markup, which they never are."""
    monkeypatch.setattr(rater_pages, "text", lambda value: value)
    page, watch = watched_rater(hostile.origin, f"/join/{hostile.app.study.links.join}?PROLIFIC_PID=p")
    page.get_by_role("button", name="I agree").first.click()
    page.wait_for_url("**/item/**")
    home = page.url.partition("/item/")[0]
    for public_id, texts in addresses(hostile):
        if any(text in texts[-1] for text in MARKUP[:4]):
            page.goto(f"{home}/item/{public_id}")
            assert page.evaluate("window.__ran") is None
    assert any("Content Security Policy" in line for line in watch.noted)


@pytest.fixture
def other_site():
    """A page of someone else's, with the HTML that it is given."""
    shown = {"html": ""}

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            body = shown["html"].encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", shown
    server.shutdown()
    server.server_close()


def test_forms_and_frames_of_other_sites_are_refused(serve, rater, watched_rater, other_site):
    """Even of one that knows the rater's link."""
    study, origin, (path, _) = serve("overall 1-5", practice=())
    one = Person(rater(origin, path))
    one.agree()
    target = one.page.url
    address, shown = other_site
    page, _ = watched_rater(origin, path)
    for form in (
        f"<form method=post action='{target}'><input name=q0 value=5><button>Send</button></form>",
        f"<form method=post action='{target}' enctype=text/plain><input name=q0 value=5><button>Send</button></form>",
        f"<meta name=referrer content=no-referrer><form method=post action='{target}'><input name=q0 value=5>"
        "<button>Send</button></form>",
        f"<form method=post action='{origin}/o/{study.links.organiser}/pause'><button>Send</button></form>",
    ):
        shown["html"] = form
        page.goto(address)
        with page.expect_navigation() as navigation:
            page.get_by_role("button", name="Send").click()
        assert navigation.value.status in (403, 415)
    shown["html"] = f"<iframe src='{target}'></iframe>"
    page.goto(address)
    assert page.frames[1].locator("form").count() == 0
    sent = "{method: 'POST', mode: 'no-cors', body: new URLSearchParams({q0: '5'})}"
    for options in ("{}", sent):
        assert page.evaluate(f"url => fetch(url, {options}).catch(error => error.name)", target) == "TypeError"
    assert not study.paused
    with study.store.reading() as db:
        assert db.execute("SELECT count(*) FROM rating").fetchone()[0] == 0
    one.press("3", "Enter")
    one.goes_on("Item 1 of 9")
