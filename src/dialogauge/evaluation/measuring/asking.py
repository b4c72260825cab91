"""What a run asks endpoints: all of it at once, before it is measured; or only counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dialogauge.corpus.corpus import Corpus
from dialogauge.endpoint.chat import EndpointError
from dialogauge.errors import InputError
from dialogauge.metrics.prepared import AnyPrepared
from dialogauge.tables import counted

if TYPE_CHECKING:
    from dialogauge.endpoint.chat import ChatRequest
    from dialogauge.endpoint.endpoint import Endpoint

BATCH = 20_000
"""Turns whose requests are in memory at once."""


def ask_ahead(metrics: Iterable[AnyPrepared], corpus: Corpus) -> None:
    """Asks for all answers that are not kept, of all systems together: many requests under way, one progress bar.
    Where nothing may be asked, says how many of all answers are missing."""
    metrics = [ready for ready in metrics if ready.asked.asks_endpoints]
    lacking: dict[str, int] = {}
    for endpoint, requests in planned(metrics, corpus):
        if endpoint.options.offline:
            lacking[endpoint.url] = lacking.get(endpoint.url, 0) + len(endpoint.missing(requests))
        else:
            with _telling_what_is_missing(endpoint, metrics, corpus):
                endpoint.fetch(requests)
    for url, missing in lacking.items():
        if missing:
            raise InputError(
                f"{url}: {missing:,} answers are not kept, and with --offline nothing is asked; without it the same "
                "command asks for them"
            )


@contextmanager
def _telling_what_is_missing(endpoint: Endpoint, metrics: Sequence[AnyPrepared], corpus: Corpus) -> Iterator[None]:
    """Systems are asked about one by one: where a limit ends a run, all that is missing is counted."""
    try:
        yield
    except EndpointError as error:
        if endpoint.options.max_requests is None:
            raise
        missing = sum(len(each.missing(requests)) for each, requests in planned(metrics, corpus))
        raise EndpointError(f"{error}. {counted(missing, 'answer')} missing for all of this corpus") from error


def planned(metrics: Iterable[AnyPrepared], corpus: Corpus) -> Iterator[tuple[Endpoint, list[ChatRequest]]]:
    """What metrics want to know of endpoints about a corpus. Dialogues stay whole: a system's turns go together, unless
    they are too many."""
    for ready in metrics:
        for turns in corpus.by_system.values():
            usable = [turn for turn in turns if ready.usable(turn)]
            size = BATCH if ready.asked.level == "turn" else max(1, len(usable))
            for start in range(0, len(usable), size):
                asked = ready.asks(usable[start : start + size])
                if asked is not None:
                    yield asked
