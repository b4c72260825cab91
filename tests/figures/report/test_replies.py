"""What stands in the page before its script runs, and what the script may not hold."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from dialogauge.corpus import Turn
from dialogauge.figures.report.replies import SCRIPT, STYLE, people_section, replies_section
from dialogauge.figures.report.turns import ReportTurns, TurnMetric


def some(metrics: int = 2, ratings: int = 0, texts: bool = True) -> ReportTurns:
    turns = [Turn("<i>1</i>", "<b>hi</b>", system="<u>s</u>"), Turn("2", "ho", system="<u>s</u>")]
    values = {f"<m>{i}": np.array([1.0, 2.0]) for i in range(metrics)}
    given = {f"<r>{i}": np.array([1.0, 2.0]) for i in range(ratings)}
    return ReportTurns(turns, [TurnMetric(name, True, 1) for name in values], values, given, texts=texts)


class Outline(HTMLParser):
    """Ids, attributes and whether every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in ("input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("turns", [some(), some(ratings=1), some(metrics=1), some(texts=False), some(0)])
def test_the_skeleton_is_whole_and_every_id_stands_once(turns):
    page = Outline(people_section(turns) + replies_section(turns))
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    assert not {name for name in page.attributes if name == "style" or name.startswith("on")}


def test_every_id_that_the_script_looks_for_is_there():
    looked_for = set(re.findall(r'(?:byId|getElementById|makeChips|makeRange)\("([a-z-]+)"', SCRIPT))
    assert len(looked_for) > 20
    page = Outline(people_section(some(ratings=1)) + replies_section(some(ratings=1)))
    assert looked_for - set(page.ids) == {"turns"}


def test_no_text_of_a_user_stands_in_the_skeleton():
    turns = some(ratings=1)
    assert not re.search("<(i|b|u|m|r)>", people_section(turns) + replies_section(turns))


def test_points_are_against_people_or_else_another_metric():
    assert 'id="scatter"' in people_section(some(ratings=1))
    assert 'id="scatter"' not in replies_section(some(ratings=1))
    assert people_section(some()) == ""
    assert 'id="scatter"' in replies_section(some())
    assert 'id="scatter"' not in replies_section(some(metrics=1))
    assert people_section(some(metrics=0, ratings=1)) == ""


def test_where_texts_are_missing_the_page_says_why():
    assert "were not kept" in replies_section(some(texts=False))
    assert "were not kept" not in replies_section(some())


@pytest.mark.parametrize(
    "word", ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("]
)
def test_texts_become_text_alone(word):
    assert word not in SCRIPT


def test_script_and_style_close_nothing_and_ask_for_nothing():
    for text in (SCRIPT, STYLE):
        assert "</" not in text
        assert "<!--" not in text
        assert not re.search(r"https?:|url\(|@import|fetch\(|XMLHttpRequest", text)
