"""The rating page under many raters at once: how soon it answers, and whether every answer is kept once.

    python -m benchmarks.rating [RATERS [ITEMS [SECONDS]]]

The program serves a study in a process of its own; each rater is a thread with a connection that stays open, who
consents, looks at every item for so many seconds on average (1, where people take about 20), and answers. Every fifth
form is sent twice at the same time, by a second connection, as an impatient double click does. In the end the export
must hold what every rater sent, once.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np
from tests.browser.pages import call
from tests.browser.rating.program import Rate, free_port

from dialogauge.tables import Cell, Header, Table, to_text

RATERS, ITEMS, SECONDS = 50, 20, 1.0
RATERS_PER_ITEM = 5
FORM = re.compile(r'<form method="post" action="([^"]+)" class="asked"')
BUBBLE = re.compile(r'<p class="bubble" dir="auto">([^<]*)</p>')
PLACE = re.compile(r'<p class="place">Item')


class Crowd:
    """What all raters sent and waited for."""

    def __init__(self) -> None:
        self.first_pages: list[float] = []
        self.pages: list[float] = []
        self.answers: list[float] = []
        self.sent: dict[str, dict[str, int]] = {}
        self.refused: Counter[int] = Counter()


class LoadRater(threading.Thread):
    def __init__(self, name: str, link: str, crowd: Crowd, seconds: float) -> None:
        super().__init__(daemon=True)
        parts = urlsplit(link)
        self.who, self.home, self.crowd, self.seconds = name, parts.path, crowd, seconds
        self.host, self.origin = parts.netloc, f"{parts.scheme}://{parts.netloc}"
        self.random = random.Random(name)
        self.connections = [HTTPConnection(self.host, timeout=60) for _ in range(2)]
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self._rate()
        except Exception as error:
            self.error = error

    def _rate(self) -> None:
        sent = self.crowd.sent.setdefault(self.who, {})
        _, place = self._ask("POST", f"{self.home}/consent", {"agree": "1"})
        times = self.crowd.first_pages
        while True:
            status, page = self._page(place, times)
            times = self.crowd.pages
            if status != 200 or not (found := FORM.search(page)):
                return
            action = found[1]
            time.sleep(self.random.expovariate(1 / self.seconds) if self.seconds else 0)
            value = self.random.randint(1, 5)
            place = self._answer(action, value, twice=self.random.random() < 0.2)
            if PLACE.search(page):
                sent[BUBBLE.findall(page)[-1]] = value
            else:
                place = self.home  # what practice explains is not waited for

    def _page(self, place: str, times: list[float]) -> tuple[int, str]:
        started = time.perf_counter()
        status, page = self._ask("GET", place)
        while status == 303:
            status, page = self._ask("GET", page)
        times.append(time.perf_counter() - started)
        return status, page

    def _answer(self, action: str, value: int, twice: bool) -> str:
        """Where the page goes on."""
        form = {"q0": str(value)}
        second = threading.Thread(target=self._ask, args=("POST", action, form, 1)) if twice else None
        started = time.perf_counter()
        if second:
            second.start()
        status, place = self._ask("POST", action, form)
        self.crowd.answers.append(time.perf_counter() - started)
        if second:
            second.join()
        if status != 303:
            raise RuntimeError(f"{status} for an answer")
        return place

    def _ask(self, method: str, path: str, form: dict[str, str] | None = None, line: int = 0) -> tuple[int, str]:
        """The status, and the page or, of a redirection, its target. A rater who is too fast waits, as told."""
        headers = {"Host": self.host}
        if form is not None:
            headers |= {"Origin": self.origin, "Content-Type": "application/x-www-form-urlencoded"}
        while True:
            connection = self.connections[line]
            try:
                connection.request(method, path, urlencode(form) if form else None, headers)
                response = connection.getresponse()
                body = response.read().decode()
            except ConnectionError:  # closed while idle: a browser asks again, too
                connection.close()
                continue
            if response.status not in (429, 503):
                return response.status, response.headers["Location"] if response.status == 303 else body
            self.crowd.refused[response.status] += 1
            time.sleep(0.2)


def main() -> None:
    given = [*map(float, sys.argv[1:]), *(RATERS, ITEMS, SECONDS)[len(sys.argv) - 1 :]]
    raters, items, seconds = int(given[0]), int(given[1]), given[2]
    with tempfile.TemporaryDirectory() as folder:
        crowd, wall, kept = _study(Path(folder), raters, items, seconds)
    expected = Counter((name, text, value) for name, sent in crowd.sent.items() for text, value in sent.items())
    found = Counter(kept)
    rows = [
        _row("the first page, all at the same moment, ms", crowd.first_pages),
        _row("a page, ms", crowd.pages),
        _row("an answer until it is on the disk, ms", crowd.answers),
    ]
    headers = [
        Header(f"{raters} raters at once", align="left"),
        *map(Header, ("n", "median", "99th percentile", "slowest")),
    ]
    asked = len(crowd.first_pages) + len(crowd.pages) + len(crowd.answers)
    busy = ", ".join(f"{count} times {status}" for status, count in crowd.refused.items()) or "none"
    notes = [
        f"{wall:.0f} s in all, {asked / wall:.0f} pages and answers a second, "
        f"{seconds:g} s to look at an item; refused and asked again: {busy}",
        f"answers sent {expected.total()}, in the export {found.total()}, lost {(expected - found).total()}, "
        f"doubled or changed {(found - expected).total()}",
    ]
    print(to_text(Table(headers, rows, notes)))
    if expected != found:
        sys.exit("answers were lost, doubled or changed")


def _row(name: str, seconds: list[float]) -> list[Cell]:
    times = 1000 * np.asarray(seconds)
    shown = (np.median(times), np.percentile(times, 99), times.max())
    return [Cell(name), Cell(str(len(times))), *(Cell(f"{value:.1f}") for value in shown)]


def _study(folder: Path, raters: int, items: int, seconds: float) -> tuple[Crowd, float, list[tuple[str, str, int]]]:
    contexts = raters * items // RATERS_PER_ITEM
    rows = (
        {"id": str(place), "context": [f"What is {place}?"], "response": f"It is number {place}.", "system": "s"}
        for place in range(contexts)
    )
    path, study = folder / "responses.jsonl", folder / "study"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    design = ("--raters", str(RATERS_PER_ITEM), "--people", str(raters), "--check-every", "0", "--repeat-every", "0")
    crowd = Crowd()
    with Rate(path, "--study", study, *design, "--port", str(free_port()), people=raters) as program:
        links = [(name, link) for name, link in program.links.items() if name != "organiser"]
        threads = [LoadRater(name, link, crowd, seconds) for name, link in links]
        started = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wall = time.perf_counter() - started
    if errors := [thread.error for thread in threads if thread.error]:
        raise RuntimeError(f"{len(errors)} raters broke off") from errors[0]
    call("rate", "--export", study, "--quiet")
    kept = []
    for line in (study / "ratings.jsonl").read_text(encoding="utf-8").splitlines():
        turn = json.loads(line)
        given = zip(turn.get("raters", {}).get("overall", []), turn.get("ratings", {}).get("overall", []), strict=True)
        kept += [(name, turn["response"], value) for name, value in given]
    return crowd, wall, kept


if __name__ == "__main__":
    main()
