"""Small studies, and one who asks for pages as a browser does, without one."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from dialogauge import Corpus, Turn
from dialogauge.people.page.app import RatingApp
from dialogauge.people.page.exchange import PageRequest, PageResponse
from dialogauge.people.rating.questions import parse_questions
from dialogauge.people.rating.settings import StudySettings
from dialogauge.people.rating.study import Study

ORIGIN = "http://localhost:8765"
SYSTEMS = ("zephyr-large", "quokka_v2")
TOPICS = ("sea", "tea", "rain", "snow", "bread", "music", "trains", "chess", "stars", "paint")


def turns(contexts: int = 4, systems: tuple[str, ...] = SYSTEMS) -> Corpus:
    """Names and ids that stand nowhere in the texts."""
    return Corpus(
        [
            Turn(
                f"turn-id-{place}",
                f"{said} about {topic}, as you asked me to.",
                (f"Hello, number {place}!", f"Tell me something about {topic}."),
                (f"A real answer about {topic} and nothing else.",),
                system,
                dialogue=f"dialogue-id-{place}",
            )
            for place, topic in enumerate(TOPICS[:contexts])
            for system, said in zip(systems, ("Here is a story", "Well, I know little", "Why"), strict=False)
        ]
    )


def study(folder: Path, *asked: str, contexts: int = 4, **settings: Any) -> Study:
    """Two raters for each item and two people, unless told otherwise; no repeats: short lists lack the room."""
    pairwise = settings.get("pairwise", False)
    given = {"raters": 2, "people": 2, "repeat_every": 0, "time_floor": 0.0, **settings}
    questions = parse_questions(asked, pairwise=pairwise)
    return Study.create(folder / "study", turns(contexts), StudySettings(questions=questions, **given))


class Browser:
    """Asks the app and follows where it sends."""

    def __init__(self, app: RatingApp, token: str = "", origin: str = ORIGIN) -> None:
        self.app, self.origin, self.home = app, origin, f"/r/{token}"
        self.host = origin.partition("//")[2]

    def ask(self, method: str, target: str, body: bytes = b"", **headers: str) -> PageResponse:
        sent = {"host": self.host, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return self.app(PageRequest(method, target, sent, body, "127.0.0.1"))

    def get(self, target: str = "") -> PageResponse:
        response = self.ask("GET", target or self.home)
        return self.get(response.headers["Location"]) if response.status == 303 else response

    def post(self, target: str, follow: bool = True, **form: str) -> PageResponse:
        sent = {"content_type": "application/x-www-form-urlencoded", "origin": self.origin}
        response = self.ask("POST", target, urlencode(form).encode(), **sent, sec_fetch_site="same-origin")
        return self.get(response.headers["Location"]) if follow and response.status == 303 else response

    def consent(self) -> PageResponse:
        return self.post(f"{self.home}/consent", agree="1")

    def answer(self, page: PageResponse, **form: str) -> PageResponse:
        """Answers the item on the page, and goes on, past what practice explains, too."""
        after = self.post(action(page), **(form or {"q0": "4"}))
        return self.get() if 'class="explained"' in html(after) else after


def html(response: PageResponse) -> str:
    return response.body.decode("utf-8")


def words(response: PageResponse) -> str:
    """What a person reads."""
    shown = re.sub(r"<[^>]*>", " ", html(response).partition("<body")[2])
    return " ".join(unescape(shown).split())


def action(response: PageResponse) -> str:
    """Where the form of the page goes."""
    found = re.search(r'<form method="post" action="([^"]+)"', html(response))
    assert found, words(response)
    return found[1]


def is_item(response: PageResponse) -> bool:
    return 'class="asked"' in html(response)
