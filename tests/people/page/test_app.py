"""Pages and forms as the app gives and takes them, without a socket."""

import re
import sqlite3

import pytest

from dialogauge.people.page.app import RatingApp
from dialogauge.people.page.exchange import HEADERS
from dialogauge.people.rating.study import Study
from tests.people.page.studies import ORIGIN, Browser, action, html, is_item, words


def ratings(study: Study) -> list[tuple[int, str, float | str | None]]:
    with study.store.reading() as db:
        return [tuple(row) for row in db.execute("SELECT * FROM rating")]


def events(study: Study, what: str) -> int:
    with study.store.reading() as db:
        return int(db.execute("SELECT count(*) FROM event WHERE what = ?", (what,)).fetchone()[0])


def to_the_end(browser: Browser, **form: str) -> tuple[int, object]:
    page, seen = browser.consent(), 0
    while is_item(page):
        page, seen = browser.answer(page, **form), seen + 1
        assert seen < 100
    return seen, page


def test_a_study_from_consent_to_the_code(served):
    study, (one, _) = served("overall 1-5", completion_url="https://example.org/done?cc={code}", completion_code="C0DE")
    first = one.get()
    assert "Rating replies" in words(first)
    assert not is_item(first)
    assert "Practice 1 of 2" in words(one.consent())
    seen, page = to_the_end(one)
    rater = study.rater_by_token(one.home.removeprefix("/r/"))
    assert seen == 2 + study.progress(rater)[1]
    assert "You have rated everything" in words(page)
    done = one.post(action(page))
    assert "C0DE" in words(done)
    assert 'href="https://example.org/done?cc=C0DE"' in html(done)
    assert words(one.get()) == words(done), "the code is there for those who come back"


def test_nothing_before_consent(served):
    study, (one, _) = served()
    item = study.next_assignment(study.rater_by_token(one.home.removeprefix("/r/")))
    address = f"{one.home}/item/{item.public_id}"
    assert not is_item(one.get(address))
    assert not is_item(one.post(address, q0="4"))
    assert not is_item(one.post(f"{one.home}/consent"))
    assert ratings(study) == []


def test_what_is_wanting_is_said_and_the_rest_is_kept(served):
    study, (one, _) = served("coherence 1-5", "overall 0-100 n/a: How good is it?", practice=())
    page = one.consent()
    again = one.post(action(page), q0="2")
    assert again.status == 422
    assert "Not saved yet. Please answer: How good is it?" in words(again)
    assert 'value="2" checked' in html(again)
    assert 'id="q1" aria-describedby="q1-wanting"' in html(again)
    assert ratings(study) == []
    for bad in ("101", "-1", "nan", "inf", "5e", "1.5", "", "1e400", "٣٤٥"):
        assert one.post(action(page), q0="2", q1=bad).status == 422, bad
    for bad in ("0", "6", "na", "a", "2.5"):
        assert one.post(action(page), q0=bad, q1="50").status == 422, bad
    assert "Item 2 of" in words(one.post(action(page), **{"q0": "2", "q1-skip": "1"}))
    assert [value for *_, value in ratings(study)] == [2.0, None]


def test_a_form_that_is_sent_twice_is_one_answer(served):
    study, (one, _) = served(practice=())
    page = one.consent()
    first, second = one.post(action(page), q0="4"), one.post(action(page), q0="4")
    assert words(first) == words(second)
    assert len(ratings(study)) == events(study, "answered") == 1
    assert events(study, "changed") == 0


def test_another_answer_to_the_same_item_replaces_it(served):
    study, (one, _) = served(practice=())
    page = one.consent()
    one.post(action(page), q0="4")
    one.post(action(page), q0="1")
    assert [value for *_, value in ratings(study)] == [1.0]
    assert events(study, "changed") == 1


def test_undo_leads_to_the_answer_before_as_it_was_given(served):
    study, (one, _) = served(practice=())
    first = one.consent()
    assert "undo" not in html(first)
    second = one.post(action(first), q0="4")
    before = re.search(r'<a class="undo" href="([^"]+)"', html(second))[1]
    assert before == action(first)
    again = one.get(before)
    assert 'value="4" checked' in html(again)
    assert "Save the change" in words(again)
    assert len(ratings(study)) == 1, "to look is not to undo"
    assert words(one.post(before, q0="2")) == words(second)
    assert [value for *_, value in ratings(study)] == [2.0]


def test_a_rater_meets_no_one_elses_items(served):
    study, (one, other) = served(practice=())
    mine, theirs = action(one.consent()), action(other.consent())
    public_id = theirs.rpartition("/")[2]
    stolen = f"{one.home}/item/{public_id}"
    assert one.get(stolen).status == 404
    assert one.post(stolen, q0="5").status == 404
    assert one.ask("GET", f"{one.home}/item/{'A' * 16}").status == 404
    assert ratings(study) == []
    assert one.post(mine, q0="5").status == 200


def test_after_the_end_nothing_changes(served):
    study, (one, _) = served(practice=())
    first = action(one.consent())
    one.post(f"{one.home}/finish")
    assert is_item(one.get()), "who has not answered everything cannot finish"
    _, page = to_the_end(one)
    one.post(action(page))
    before = ratings(study)
    assert "Thank you" in words(one.post(first, q0="1"))
    assert "Thank you" in words(one.get(first))
    assert ratings(study) == before


def test_practice_is_explained_and_can_be_done_again(served):
    _, (one, _) = served()
    page = one.consent()
    answered = one.post(action(page), q0="1")
    assert "most people rate it" in words(answered)
    assert 'value="1" checked' in html(answered)
    assert "most people rate it" in words(one.post(action(page), q0="5"))
    assert "Practice 2 of 2" in words(one.get())


def test_a_pause_keeps_what_is_on_the_screen(served):
    study, (one, _) = served(practice=())
    organiser = Browser(one.app)
    organiser.home = f"/o/{study.links.organiser}"
    page = one.consent()
    assert "Paused." in words(organiser.post(f"{organiser.home}/pause"))
    assert "The study is paused" in words(one.get())
    assert "The study is paused" in words(one.post(action(page), q0="4"))
    assert len(ratings(study)) == 1
    assert "Raters can rate." in words(organiser.post(f"{organiser.home}/resume"))
    assert "Item 2 of" in words(one.get())
    to_the_end(one)
    study.pause()
    assert "You have rated everything" in words(one.get()), "no one waits for a code"
    assert "Thank you" in words(one.post(f"{one.home}/finish"))


def test_a_place_that_was_given_on(served):
    study, (one, _) = served(practice=())
    page = one.consent()
    study.release(study.rater_by_token(one.home.removeprefix("/r/")).name)
    assert "closed for you" in words(one.get())
    assert "closed for you" in words(one.post(action(page), q0="4"))
    assert ratings(study) == []


def test_the_organisers_page(served):
    study, (one, other) = served("overall 1-5", "humour 1-5 n/a", practice=())
    organiser = Browser(one.app)
    organiser.home = f"/o/{study.links.organiser}"
    assert "not here yet" in words(organiser.get())
    to_the_end(one, q0="5", q1="na")
    to_the_end(other, q0="1", q1="3")
    shown = words(organiser.get())
    assert "16 of 16 100%" in shown
    assert "no : failed 1 of 1 attention checks" in shown
    assert "All raters are trusted" not in shown
    for secret in (one.home.removeprefix("/r/"), other.home.removeprefix("/r/")):
        assert organiser.get(f"/o/{secret}").status == 404, "hidden from raters"
        assert secret not in html(organiser.get())
    assert one.get(f"/r/{study.links.organiser}").status == 404


def test_people_from_a_marketplace(served):
    study, raters = served(id_parameter="PROLIFIC_PID", completion_code="C1")
    assert raters == []
    app = RatingApp(study, (ORIGIN,))
    browser = Browser(app)
    join = f"/join/{study.links.join}"
    asked = f"{join}?PROLIFIC_PID=p1&STUDY_ID=s&SESSION_ID=x"
    first, again = browser.ask("GET", asked), browser.ask("GET", asked)
    assert first.status == again.status == 303
    one, same = (Browser(app, found.headers["Location"].removeprefix("/r/")) for found in (first, again))
    assert "I agree" in words(one.get())
    page = one.consent()
    assert action(same.get()).rpartition("/")[2] == action(page).rpartition("/")[2]
    assert browser.ask("GET", f"{join}?PROLIFIC_PID=p2").status == 303
    assert "All places are taken" in words(browser.ask("GET", f"{join}?PROLIFIC_PID=p3"))
    assert browser.ask("GET", join).status == 400
    assert browser.ask("GET", f"{join}?PROLIFIC_PID=").status == 400
    wrong = [browser.ask("GET", f"/join/{'x' * 32}?PROLIFIC_PID=p1").status for _ in range(60)]
    assert (wrong[0], wrong[-1]) == (404, 429)
    assert browser.ask("GET", asked).status == 303, "who does not know the link cannot lock anyone out"
    assert "p1" in words(browser.get(f"/o/{study.links.organiser}"))


@pytest.mark.parametrize(
    "target",
    ["/r/", "/r/short", "/r", "/asset/../app.py", "/asset/%2e%2e/app.py", "/asset/", "/x", "//r//", "/r/x/item"],
)
def test_what_is_not_there(served, target):
    _, (one, _) = served()
    assert one.ask("GET", target).status == 404
    assert one.ask("GET", f"{one.home}{target}").status == 404


def test_every_answer_has_the_headers(served):
    study, (one, _) = served()
    for response in (
        one.get(),
        one.consent(),
        one.ask("GET", "/nothing"),
        one.ask("GET", "/asset/page.css"),
        one.ask("PUT", "/"),
        one.ask("GET", one.home),
        one.get(f"/o/{study.links.organiser}"),
    ):
        assert {name: response.headers[name] for name in HEADERS if name != "Cache-Control"}.items() <= HEADERS.items()
        assert "Set-Cookie" not in response.headers
        assert "unsafe" not in response.headers["Content-Security-Policy"]
    assert one.get().headers["Cache-Control"] == "no-store"


def test_a_busy_or_broken_store_says_so_and_hides_why(served, monkeypatch, capsys):
    _, (one, _) = served()

    def fails(error):
        def fail(*_):
            raise error

        return fail

    monkeypatch.setattr(Study, "rater_by_token", fails(sqlite3.OperationalError("database is locked")))
    busy = one.get()
    assert busy.status == 503
    assert busy.headers["Retry-After"]
    monkeypatch.setattr(Study, "rater_by_token", fails(RuntimeError("secret detail")))
    broken = one.get()
    assert broken.status == 500
    assert "secret detail" not in html(broken)
    assert "secret detail" in capsys.readouterr().err
