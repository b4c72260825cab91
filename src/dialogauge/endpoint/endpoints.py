"""The endpoints of one run: all share what may be sent, and where answers are kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dialogauge.endpoint.answers import NAME, Answers
from dialogauge.endpoint.chat import ChatAnswer, ChatRequest
from dialogauge.endpoint.connection import plain_url
from dialogauge.endpoint.endpoint import AskOptions, Endpoint
from dialogauge.errors import Caveat


class Endpoints:
    """From addresses to endpoints. `folder` None: answers are kept in a temporary file, as long as the run."""

    def __init__(self, options: AskOptions | None = None, folder: Path | None = None) -> None:
        self.options = options or AskOptions()
        self._answers = Answers(None if folder is None else folder / NAME)
        self._open: dict[str, Endpoint] = {}

    def get(self, url: str) -> Endpoint:
        place = plain_url(url)
        if place not in self._open:
            self._open[place] = Endpoint(place, self.options, self._answers)
        return self._open[place]

    def used(self) -> Iterator[dict[str, Any]]:
        """Every answer that the run stands on, with its request, in the order in which they were wanted."""
        for endpoint in self._open.values():
            yield from self._answers.records(list(endpoint.used))

    @classmethod
    def replayed(cls, records: Iterable[Mapping[str, Any]]) -> Endpoints:
        """From what a kept run holds (`used`): nothing else is known, and nothing is asked."""
        endpoints = cls(AskOptions(offline=True))
        for record in records:
            request = ChatRequest(record["request"], record["sample"])
            endpoints.get(record["url"]).keep(request, ChatAnswer(record["status"], record["answer"]))
        return endpoints

    @property
    def urls(self) -> list[str]:
        return list(self._open)

    def caveats(self) -> list[Caveat]:
        return [Caveat("cache", problem) for problem in self._answers.problems]
