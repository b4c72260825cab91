"""Someone who rates a whole study over HTTP, by the forms of its pages, as a browser sends them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from hashlib import blake2b
from html import unescape
from http.client import HTTPConnection
from urllib.parse import urlencode, urlsplit

from dialogauge import Corpus
from dialogauge.metrics.overlap.rouge_l import rouge_l

FORM = re.compile(r'<form method="post" action="([^"]+)"')
ITEM, PRACTICE_ANSWERED = 'class="asked"', 'class="explained"'
MOST_PAGES = 2000

Opinion = Callable[[str], int]
"""The rating of what a page shows, from its words."""


class ScriptedRater:
    """Opens the link, consents, and answers until there is nothing left to answer."""

    def __init__(self, link: str, opinion: Opinion) -> None:
        found = urlsplit(link)
        self.connection = HTTPConnection(found.hostname or "", found.port or 80, timeout=20)
        self.home, self.origin, self.opinion = found.path, f"{found.scheme}://{found.netloc}", opinion
        self.answers = 0

    def rate_all(self) -> str:
        """The words of the last page."""
        page = self._ask("GET", self.home)
        page = self._post(page, agree="1")
        for _ in range(MOST_PAGES):
            if PRACTICE_ANSWERED in page:
                page = self._ask("GET", self.home)
            elif ITEM in page:
                page = self._post(page, q0=str(self.opinion(words(page))))
                self.answers += 1
            elif FORM.search(page) and "finish" in FORM.search(page)[1]:  # type: ignore[index]
                page = self._post(page)
            else:
                self.connection.close()
                return words(page)
        raise AssertionError(f"no end after {MOST_PAGES} pages: {words(page)}")

    def _post(self, page: str, **form: str) -> str:
        action = FORM.search(page)
        assert action, words(page)
        return self._ask("POST", action[1], urlencode(form))

    def _ask(self, method: str, target: str, body: str = "") -> str:
        form = {"Origin": self.origin, "Content-Type": "application/x-www-form-urlencoded"}
        self.connection.request(method, target, body, form if method == "POST" else {})
        response = self.connection.getresponse()
        text = response.read().decode("utf-8")
        if response.status == 303:
            return self._ask("GET", response.headers["Location"])
        if response.status == 429:  # nobody rates that fast, and the server says so
            time.sleep(0.3)
            return self._ask(method, target, body)
        assert response.status == 200, f"{method} {target}: {response.status} {words(text)}"
        return text


def words(page: str) -> str:
    """What a person reads."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page.partition("<body")[2])).split())


def attentive(corpus: Corpus, name: str) -> Opinion:
    """Ratings from 1 to 5 of a person who knows the references: the nearer a reply is to one of them the better, with a
    whim that is the same for the same person and reply. 1 for a reply that no system gave to this context, as in an
    attention check."""
    known = [
        (" ".join(turn.response.split()), [" ".join(said.split()) for said in turn.context], turn)
        for turn in sorted(corpus, key=lambda turn: -len(turn.response))
    ]

    def opinion(shown: str) -> int:
        for response, context, turn in known:
            if response in shown and all(said in shown for said in context):
                digest = blake2b(f"{name} {context} {response}".encode(), digest_size=8).digest()
                whim = 6 * (sum(digest) / 255 / len(digest) - 0.5)
                return min(5, max(1, round(1.8 + 4 * rouge_l(turn.response, turn.references).f + whim)))
        return 1

    return opinion
