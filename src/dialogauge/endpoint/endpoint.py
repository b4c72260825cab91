"""Asks an endpoint many things at once, each once."""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dialogauge.endpoint.answers import Answers, kept_answers
from dialogauge.endpoint.chat import ChatAnswer, ChatRequest, EndpointError
from dialogauge.endpoint.connection import Connection, Trouble, plain_url, refuse_plain_key
from dialogauge.endpoint.pace import Pace
from dialogauge.errors import InputError
from dialogauge.progress import progress_bar
from dialogauge.tables import counted

ATTEMPTS = 6
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
PATIENCE = 600.0
"""The longest pause that an endpoint may ask for, in seconds."""


@dataclass
class Sent:
    """What was sent so far."""

    count: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def take(self, most: int | None) -> bool:
        """Whether one more may be sent; it then counts."""
        with self._lock:
            if most is not None and self.count >= most:
                return False
            self.count += 1
            return True


@dataclass(frozen=True)
class AskOptions:
    """How a run may ask."""

    offline: bool = False
    """Whether only kept answers count, and nothing is asked."""
    max_requests: int | None = None
    """The most that are sent in a run, repeated attempts included."""
    concurrency: int = 16
    """The most that are under way at once."""
    timeout: float = 120.0
    """Seconds for one attempt."""
    dry_run: bool = False
    """Whether what would be asked is only counted."""
    progress: bool = False
    sent: Sent = field(default_factory=Sent, compare=False)
    """Of all that ask with these options."""


class Endpoint:
    """One address. Answers come from those that are kept, and are kept as they come.

    endpoint = Endpoint("http://localhost:8000/v1")
    answers = endpoint.ask([ChatRequest({"model": "m", "messages": [{"role": "user", "content": "hi"}]})])
    answers[0].content
    """

    def __init__(
        self,
        url: str,
        options: AskOptions | None = None,
        answers: Answers | None = None,
    ) -> None:
        self.url = plain_url(url)
        self.options = options or AskOptions()
        self.answers = kept_answers() if answers is None else answers
        self.sent = self.options.sent
        self.used: dict[bytes, None] = {}
        """The keys of all answers that were given, in the order asked for."""
        self.failed = 0
        """Requests that came to nothing and could be repeated."""
        self.trouble = ""
        """Why the last of them did."""
        self._pace = Pace(self.options.concurrency)

    def ask(self, requests: Iterable[ChatRequest], *, keep_refusals: bool = False) -> list[ChatAnswer]:
        """The answers in the order of the requests; the same request is sent once. A request that the endpoint finds
        wrong has an answer too (`ChatAnswer.refused`), which is kept only with `keep_refusals`.

        EndpointError where one cannot be had: what was answered till then is kept.
        """
        asked = list(requests)
        keys = [request.key(self.url) for request in asked]
        by_key = dict(zip(keys, asked, strict=True))
        found = self.answers.get(list(by_key))
        missing = [request for key, request in by_key.items() if key not in found]
        if missing and self.options.offline:
            raise self._offline(len(missing))
        if missing:
            found |= _Fetching(self, missing, keep_refusals).run()
        self.used |= dict.fromkeys(key for key in by_key)
        return [found[key] for key in keys]

    def fetch(self, requests: Iterable[ChatRequest]) -> None:
        """Asks for all that is not kept, and keeps it, refusals too; none of the answers is held in memory."""
        missing = self.missing(requests)
        if missing and self.options.offline:
            raise self._offline(len(missing))
        if missing:
            _Fetching(self, missing, keep_refusals=True, hold=False).run()

    def missing(self, requests: Iterable[ChatRequest]) -> list[ChatRequest]:
        """Those whose answers are not kept, each once."""
        by_key = {request.key(self.url): request for request in requests}
        missing = self.answers.missing(by_key)
        return [request for key, request in by_key.items() if key in missing]

    def keep(self, request: ChatRequest, answer: ChatAnswer) -> None:
        """For good."""
        self.answers.put(self.url, request, answer)

    def _offline(self, missing: int) -> InputError:
        return InputError(
            f"{self.url}: {counted(missing, 'answer')} {'is' if missing == 1 else 'are'} not kept, and with --offline "
            "nothing is asked"
        )


class _Spent(Exception):
    """No more requests may be sent."""


class _Fetching:
    """Some requests, sent by several threads."""

    def __init__(
        self, endpoint: Endpoint, requests: Sequence[ChatRequest], keep_refusals: bool, hold: bool = True
    ) -> None:
        refuse_plain_key(endpoint.url)
        self.endpoint = endpoint
        self.keep_refusals = keep_refusals
        self._hold = hold
        self._answered = 0
        self._waiting = deque(requests)
        self._total = len(requests)
        self._found: dict[bytes, ChatAnswer] = {}
        self._stop = threading.Event()
        self._failure: Exception | str | None = None
        self._lock = threading.Lock()

    def run(self) -> dict[bytes, ChatAnswer]:
        options = self.endpoint.options
        workers = [
            threading.Thread(target=self._work, daemon=True) for _ in range(min(options.concurrency, self._total))
        ]
        try:
            with progress_bar(total=self._total, description="asking", shown=options.progress, unit="request") as bar:
                for worker in workers:
                    worker.start()
                while any(worker.is_alive() for worker in workers):
                    next(worker for worker in workers if worker.is_alive()).join(0.2)
                    bar.update(self._answered - bar.n)
        finally:
            self._stop.set()
        # Requests that were under way when none was left may have failed since.
        failure = self._limit() if isinstance(self._failure, _Spent) else self._failure
        if isinstance(failure, str):
            raise EndpointError(f"{self.endpoint.url}: {failure}. {self._left()}")
        if failure is not None:
            raise failure
        return self._found

    def _work(self) -> None:
        options = self.endpoint.options
        connection = Connection(self.endpoint.url, options.timeout)
        try:
            while not self._stop.is_set():
                try:
                    request = self._waiting.popleft()
                except IndexError:
                    return
                answer = self._answer(connection, request)
                if answer is None:
                    return
                if self.keep_refusals or not answer.refused:
                    answer = self.endpoint.answers.put(self.endpoint.url, request, answer)
                with self._lock:
                    self._answered += 1
                    if self._hold:
                        self._found[request.key(self.endpoint.url)] = answer
        except Exception as error:
            self._fail(error)
        finally:
            connection.close()

    def _answer(self, connection: Connection, request: ChatRequest) -> ChatAnswer | None:
        """None where all is to stop."""
        pace, body = self.endpoint._pace, request.sent
        for attempt in range(1, ATTEMPTS + 1):
            began = pace.enter(self._stop)
            if began is None:
                return None
            if not self.endpoint.sent.take(self.endpoint.options.max_requests):
                pace.failed(began, crowded=False)
                self._fail(_Spent())
                return None
            try:
                answer = connection.post(body)
            except Trouble as trouble:
                self._note(trouble)
                last = attempt == ATTEMPTS or (trouble.after or 0.0) > PATIENCE
                pace.failed(began, trouble.crowded, 0.0 if last else trouble.after or 0.0)
                if last:
                    self._fail(self._given_up(trouble, attempt))
                    return None
                if trouble.after is None:
                    self._stop.wait(min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1)) * random.uniform(0.5, 1.0))
            except BaseException:
                pace.failed(began, crowded=False)
                raise
            else:
                pace.answered()
                return answer
        return None

    def _note(self, trouble: Trouble) -> None:
        with self._lock:
            self.endpoint.failed += 1
            self.endpoint.trouble = str(trouble)

    def _fail(self, error: Exception | str) -> None:
        """The first failure counts; requests that are under way may still be answered, and are kept."""
        with self._lock:
            self._failure = self._failure or error
        self._stop.set()

    def _given_up(self, trouble: Trouble, attempts: int) -> str:
        wanted = f"; it asks to wait {trouble.after:.0f} s" if (trouble.after or 0.0) > PATIENCE else ""
        return f"{trouble}{wanted} (given up after {counted(attempts, 'attempt')})"

    def _limit(self) -> str:
        most, failed = self.endpoint.options.max_requests or 0, self.endpoint.failed
        why = f". {failed} of them failed, the last one: {self.endpoint.trouble}" if failed else ""
        return f"{counted(most, 'request')} sent, no more with --max-requests {most}{why}"

    def _left(self) -> str:
        return (
            f"{self._answered} of the {self._total} answers asked for so far came and are kept: the same command asks "
            "for the others alone"
        )
