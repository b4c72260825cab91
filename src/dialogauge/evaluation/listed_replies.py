"""Replies that were picked out of a corpus for a number, with their texts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from dialogauge import tables
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.frames import CorpusLike, as_source
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError
from dialogauge.evaluation.digits import format_estimates
from dialogauge.evaluation.forms import MetricForms

SHOWN = 44
"""Characters of a text that the table shows."""

Picked = Mapping[str, Mapping[str, float]]
"""For each system the ids of replies, with the number that they were picked for."""


@dataclass(frozen=True)
class Reply:
    """One response in its setting, and the number for which it was picked."""

    system: str
    id: str
    value: float
    context: tuple[str, ...]
    response: str
    references: tuple[str, ...]

    @classmethod
    def from_turn(cls, turn: Turn, value: float) -> Reply:
        return cls(turn.system, turn.id, value, turn.context, turn.response, turn.references)


@dataclass(frozen=True, repr=False)
class ListedReplies(MetricForms):
    """Replies under a metric, system by system."""

    metric: str
    replies: list[Reply]
    shows_references: ClassVar[bool] = True

    @abstractmethod
    def number_header(self) -> tables.Header:
        """Of the column with the numbers."""

    @abstractmethod
    def label(self) -> str:
        """Of the table, for references to it."""

    @abstractmethod
    def notes(self) -> list[str]:
        """What stands below the table."""

    def contents(self) -> str:
        return f"{self.metric}, {tables.counted(len(self.replies), 'response')}"

    def names(self) -> list[str]:
        return list(dict.fromkeys([self.metric, *(reply.system for reply in self.replies)]))

    def to_records(self) -> list[dict[str, Any]]:
        return [asdict(reply) for reply in self.replies]

    def to_table(self, digits: int | None = None) -> tables.Table:
        headers = [
            tables.Header("system", align="left"),
            tables.Header("id", align="left"),
            self.number_header(),
            tables.Header("after", align="left"),
            tables.Header("response", align="left"),
        ]
        if self.shows_references:
            headers.append(tables.Header("reference", align="left", spare=True))
        numbers = format_estimates([(reply.value, None, None) for reply in self.replies], digits)
        rows = [_row(reply, number)[: len(headers)] for reply, (number, _) in zip(self.replies, numbers, strict=True)]
        return tables.Table(headers, rows, self.notes(), self.label())


def find_turns(picked: Iterable[Picked], corpus: CorpusLike) -> dict[tuple[str, str], Turn]:
    """The turns of those picked by system and id; the corpus is gone through once."""
    wanted = {(system, name) for systems in picked for system, values in systems.items() for name in values}
    source = as_source(corpus)
    turns = source if isinstance(source, Corpus) else source.turns()
    found: dict[tuple[str, str], Turn] = {}
    for turn in turns:
        place = (turn.system, turn.id)
        if place in wanted and found.setdefault(place, turn) is not turn:
            raise InputError(f"two turns of {turn.system!r} have the id {turn.id!r}, by which replies are told apart")
    if missing := wanted - found.keys():
        system, name = min(missing)
        raise InputError(f"the result is of another corpus: this one has no turn {name!r} of {system!r}")
    return found


def _row(reply: Reply, number: str) -> list[tables.Cell]:
    more = f"(+{len(reply.references) - 1})" if len(reply.references) > 1 else ""
    return [
        tables.Cell(reply.system),
        tables.Cell(reply.id),
        tables.Cell(number),
        tables.Cell(_end(reply.context[-1] if reply.context else "")),
        tables.Cell(_short(reply.response)),
        tables.Cell(_short(reply.references[0] if reply.references else ""), more),
    ]


def _short(text: str) -> str:
    return tables.cut(" ".join(text.split()), SHOWN)


def _end(text: str) -> str:
    """What the response answers stands at the end."""
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else "…" + text[1 - SHOWN :]
