"""What a response is held against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dialogauge.models.shape import RuberKind


class Query(NamedTuple):
    text: str
    previous: str = ""
    """The utterance before it, where it is looked at by itself."""


def query_of(context: Sequence[str], utterances: int, network: RuberKind) -> Query:
    """The last utterances: joined by one space for RUBER's network; the last one and the one before it apart for
    towers."""
    if network == "ruber":
        return Query(" ".join(context[-utterances:]).strip())
    last, previous = (*reversed(context[-2:]), "", "")[:2]
    return Query(last.strip(), previous.strip() if utterances > 1 else "")
