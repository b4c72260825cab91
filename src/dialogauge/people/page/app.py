"""The rating page as a function of a request: what is asked for, and what is answered."""

from __future__ import annotations

import re
import sqlite3
import sys
import traceback
from collections.abc import Mapping, Sequence

from dialogauge.people.page import rater_pages
from dialogauge.people.page.exchange import PageRequest, PageResponse, page, see_other
from dialogauge.people.page.gate import PageGate, Refused, RequestPace
from dialogauge.people.page.markup import ASSETS, asset
from dialogauge.people.page.organiser_page import organiser_page
from dialogauge.people.page.questions import read_form
from dialogauge.people.rating.study import Finished, Full, NoId, NotFound, Rater, Screen, Study

TOKEN = r"(?P<token>[A-Za-z0-9_-]{16,128})"
RATER = re.compile(rf"/r/{TOKEN}(?:/(?P<what>consent|finish|item)(?:/(?P<item>[A-Za-z0-9_-]{{1,64}}))?)?")
ORGANISER = re.compile(rf"/o/{TOKEN}(?:/(?P<what>pause|resume))?")
JOIN = re.compile(rf"/join/{TOKEN}")
BY_ITS_LINK = "Check that the link is whole: it must be opened just as it was given to you."


class RatingApp:
    """`app(request)` gives the response, and never raises. Called from many threads at once.

    Everyone is known by the token in the address alone: there are no cookies, so that no other site can make a
    browser act for its rater.
    """

    def __init__(self, study: Study, origins: tuple[str, ...]) -> None:
        self.study, self.gate = study, PageGate(origins)
        self._assets = {name: asset(name) for name in ASSETS}
        self._known = RequestPace(at_once=40, per_second=10)
        self._guessing = RequestPace(at_once=40, per_second=2)

    def __call__(self, request: PageRequest) -> PageResponse:
        try:
            self.gate.check(request)
            return self._respond(request)
        except Refused as refused:
            return _refusal(refused)
        except NotFound:  # released meanwhile
            return _refusal(_no_such_page())
        except sqlite3.OperationalError:
            return _refusal(Refused(503, "The study is busy. Please try again in a moment; nothing is lost."))
        except Exception:
            traceback.print_exc(file=sys.stderr)
            return _refusal(Refused(500, "Something went wrong here. Please tell the organiser; nothing is lost."))

    def _respond(self, request: PageRequest) -> PageResponse:
        try:
            path = request.path
        except ValueError:  # an address that is none
            raise _no_such_page() from None
        if path.startswith("/asset/"):
            return self._asset(path.removeprefix("/asset/"))
        if path == "/":
            return page(rater_pages.message_page("A rating study", BY_ITS_LINK))
        if found := RATER.fullmatch(path):
            return self._rater(request, found)
        if found := ORGANISER.fullmatch(path):
            return self._organiser(request, found["token"], found["what"])
        if found := JOIN.fullmatch(path):
            return self._join(request, found["token"])
        raise _no_such_page()

    def _asset(self, name: str) -> PageResponse:
        if name not in self._assets:
            raise _no_such_page()
        return PageResponse(
            200, self._assets[name], f"{ASSETS[name]}; charset=utf-8", {"Cache-Control": "max-age=3600"}
        )

    def _unknown(self, request: PageRequest) -> Refused:
        """The same for every token that is none; those who try many are slowed down, and no one else."""
        return _no_such_page() if self._guessing.take(request.client) else _too_fast()

    # Raters

    def _rater(self, request: PageRequest, found: re.Match[str]) -> PageResponse:
        rater = self.study.rater_by_token(found["token"])
        if rater is None:
            raise self._unknown(request)
        if not self._known.take(found["token"]):
            raise _too_fast()
        here, what, posted = f"/r/{found['token']}", found["what"], request.method == "POST"
        if (found["item"] is not None) != (what == "item"):
            raise _no_such_page()
        if rater.finished:
            return self._done(rater) if what is None else see_other(here)
        if rater.released:
            return self._said("This study is closed for you", "Nothing more can be kept. Thank you for what you rated.")
        if not rater.consented:
            return self._consent(request, rater, here, what)
        if posted:
            return self._posted(request, rater, here, what, found["item"])
        if self._waits(rater):
            return self._said("The study is paused", "Your answers are saved. Please come back later by the same link.")
        if what == "item":
            return page(self._item(rater, here, self._own(rater, found["item"])))
        if what:
            return see_other(here)
        onward = self._onward(rater, here)
        return see_other(onward) if onward != here else self._all_answered(rater, here)

    def _waits(self, rater: Rater) -> bool:
        """Whether the study is paused, and not over for this rater: who has rated everything gets the code."""
        if not self.study.paused:
            return False
        done, items = self.study.progress(rater)
        return done < items

    def _onward(self, rater: Rater, here: str) -> str:
        """Where the next item is; the rater's own page where there is none."""
        screen = self.study.next_assignment(rater)
        return f"{here}/item/{screen.public_id}" if screen else here

    def _posted(
        self, request: PageRequest, rater: Rater, here: str, what: str | None, item: str | None
    ) -> PageResponse:
        """What is on a rater's screen can be answered while the study is paused, too."""
        if item is not None:
            return self._answer(request, rater, here, item)
        if what == "finish" and self.study.next_assignment(rater) is None:
            self.study.finish(rater)
        return see_other(here)

    def _consent(self, request: PageRequest, rater: Rater, here: str, what: str | None) -> PageResponse:
        if request.method == "POST" and what == "consent" and "agree" in request.form:
            self.study.consent(rater)
        if request.method == "POST" or what:
            return see_other(here)
        items = self.study.progress(rater)[1]
        return page(rater_pages.consent_page(self.study.title, self.study.instructions, items, here))

    def _own(self, rater: Rater, public_id: str) -> Screen:
        """Items of others are as if they were not there."""
        screen = self.study.assignment(rater, public_id)
        if screen is None:
            raise _no_such_page()
        return screen

    def _item(
        self,
        rater: Rater,
        here: str,
        screen: Screen,
        sent: Mapping[str, str] | None = None,
        missing: Sequence[int] = (),
    ) -> str:
        before = self.study.previous(rater, screen.public_id)
        undo = f"{here}/item/{before.public_id}" if before else ""
        return rater_pages.item_page(self.study.title, screen, here, undo, sent, missing)

    def _answer(self, request: PageRequest, rater: Rater, here: str, public_id: str) -> PageResponse:
        """Goes on once the answer is on the disk. Sent twice, it is the same answer; sent again with another one, the
        answer changes."""
        screen = self._own(rater, public_id)
        answers, missing = read_form(screen.questions, request.form)
        if missing:
            return page(self._item(rater, here, screen, request.form, missing), 422)
        try:
            self.study.answer(rater, public_id, answers)
        except Finished:  # meanwhile, in another window
            return see_other(here)
        if screen.stage == "practice":
            return see_other(f"{here}/item/{public_id}")
        return see_other(here if self._waits(rater) else self._onward(rater, here))

    def _all_answered(self, rater: Rater, here: str) -> PageResponse:
        last = self.study.previous(rater)
        undo = f"{here}/item/{last.public_id}" if last else ""
        return page(rater_pages.all_answered_page(self.study.title, here, undo, self.study.progress(rater)[1]))

    def _done(self, rater: Rater) -> PageResponse:
        """The code, also for those who come back for it."""
        completion = self.study.finish(rater)
        return page(rater_pages.done_page(self.study.title, completion.code, completion.url))

    def _said(self, heading: str, *paragraphs: str, status: int = 200) -> PageResponse:
        return page(rater_pages.message_page(heading, *paragraphs, title=self.study.title), status)

    def _join(self, request: PageRequest, secret: str) -> PageResponse:
        """People from a marketplace are known by the id that it puts into the link: the same id is the same rater."""
        query = request.query
        who = query.get(self.study.settings.id_parameter or "", "")
        if not self._known.take(f"{secret} {who[:200]}"):
            raise _too_fast()
        try:
            return see_other(f"/r/{self.study.join(secret, query)}")
        except NotFound:
            raise self._unknown(request) from None
        except NoId:
            said = "Your id is missing from the link. Please open the study from the site where you found it."
            return self._said("Who are you?", said, status=400)
        except Full:
            return self._said("All places are taken", "Thank you for coming. There is nothing left to rate.")

    # The organiser

    def _organiser(self, request: PageRequest, token: str, what: str | None) -> PageResponse:
        if not self.study.organiser(token):
            raise self._unknown(request)
        if not self._known.take(token):
            raise _too_fast()
        here = f"/o/{token}"
        if request.method == "POST":
            if what == "pause":
                self.study.pause()
            elif what == "resume":
                self.study.resume()
            return see_other(here)
        if what:
            return see_other(here)
        return page(organiser_page(self.study.organiser_view(), here))


def _no_such_page() -> Refused:
    return Refused(404, BY_ITS_LINK)


def _too_fast() -> Refused:
    return Refused(429, "That was too fast. Please wait a few seconds.")


def _refusal(refused: Refused) -> PageResponse:
    heading = {404: "There is no such page", 429: "Too fast", 503: "One moment"}.get(refused.status, "Not possible")
    more = {"Retry-After": "5"} if refused.status in (429, 503) else {}
    return page(rater_pages.message_page(heading, refused.reason), refused.status, **more)
