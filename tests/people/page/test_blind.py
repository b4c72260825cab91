"""Nothing that reaches a rater tells the system of a reply, or a check or a repeat from the other items."""

import json
import re

import pytest

from dialogauge.people.page.markup import ASSETS
from tests.people.page.studies import SYSTEMS, TOPICS, action, html, is_item

NAMES = re.compile("|".join([*SYSTEMS, "turn-id", "dialogue-id", "sqlite"]), re.IGNORECASE)
KINDS = re.compile("mismatch|attention|repeat|check(?!box|ed)", re.IGNORECASE)
TEXT = re.compile(r'(<p class="bubble" dir="auto">)[^<]*')
FORMS = {
    "turns": (("overall 1-5", "humour 0-100 n/a"), {}, {"q0": "4", "q1": "50"}),
    "pairs": ((), {"pairwise": True}, {"q0": "tie"}),
    "dialogues": (("overall 1-5",), {"unit": "dialogue"}, {"q0": "4"}),
}


@pytest.mark.parametrize("form", FORMS)
def test_everything_that_two_raters_are_sent(served, form):
    asked, settings, answer = FORMS[form]
    study, raters = served(*asked, contexts=10, check_every=4, repeat_every=5, practice=(), **settings)
    shapes, orders = set(), []
    for rater in raters:
        page, order = rater.consent(), []
        while is_item(page):
            order.append(action(page).rpartition("/")[2])
            seen = json.dumps([action(page), page.headers]) + html(page)
            assert not NAMES.search(seen)
            assert not KINDS.search(seen)
            plain = TEXT.sub(r"\1…", html(page)).replace(order[-1], "ID")
            plain = re.sub(
                r'Item \d+ of|value="\d+" aria-label|<a class="undo".*?</a>|<kbd>U</kbd> undo|, $', "", plain
            )
            shapes.add(re.sub(r"\W+", " ", plain.replace(rater.home, "")))
            page = rater.answer(page, **answer)
        orders.append(order)
    with study.store.reading() as db:
        kinds = dict(db.execute("SELECT kind, count(*) FROM assignment JOIN item ON item.id = item GROUP BY kind"))
        repeats = db.execute("SELECT count(*) FROM assignment WHERE repeat").fetchone()[0]
        items = {row[0]: row[1] for row in db.execute("SELECT public_id, item FROM assignment")}
    assert kinds["check"] >= 2
    assert repeats >= 2
    assert len(shapes) == 1, "checks and repeats look like any other item"
    assert len(set(orders[0]) & set(orders[1])) == 0, "an item has another name for each rater"
    assert [items[name] for name in orders[0]] != [items[name] for name in orders[1]], "in an order of their own"


def test_assets_and_refusals_tell_nothing(served):
    _, (one, _) = served()
    for name in ASSETS:
        assert not NAMES.search(one.ask("GET", f"/asset/{name}").body.decode())
    for target in ("/", "/nothing", f"{one.home}/item/{'A' * 16}", f"/o/{'A' * 32}"):
        found = one.ask("GET", target)
        assert not NAMES.search(html(found) + json.dumps(found.headers))
        assert not any(topic in html(found) for topic in TOPICS)
