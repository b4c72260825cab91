"""Batches of a stream that end where dialogues end, for metrics that look at whole dialogues."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from dialogauge.corpus.turn import Turn, unit_key
from dialogauge.errors import InputError, quote
from dialogauge.metrics.base import AnyMetric

LONGEST = 200_000
"""A dialogue of a stream lies in memory as a whole: so many turns of all systems do."""


def stream_batches(turns: Iterable[Turn], size: int, whole_for: Collection[str] = ()) -> Iterator[list[Turn]]:
    """Batches of this size. Where metrics look at whole dialogues (`whole_for` has their labels), a batch goes on to
    the end of its last dialogue, and a dialogue that comes again in a later batch is refused."""
    passed: set[tuple[str, int]] = set()
    batch: list[Turn] = []
    for turn in turns:
        inside = bool(whole_for and batch) and turn.dialogue is not None and turn.dialogue == batch[-1].dialogue
        if len(batch) >= size and not inside:
            if whole_for:
                _pass(batch, passed, whole_for)
            yield batch
            batch = []
        batch.append(turn)
        if len(batch) > size + LONGEST:
            raise InputError(
                f"{', '.join(whole_for)}: expected dialogues of at most {LONGEST:,} turns, found a longer one: "
                f"{quote(str(turn.dialogue))}"
            )
    if batch:
        if whole_for:
            _pass(batch, passed, whole_for)
        yield batch


def refuse_scattered(turns: Iterable[Turn], size: int, whole_for: Collection[str]) -> None:
    """Before any work: refuses turns whose dialogues do not stand together, as `stream_batches` would."""
    for _ in stream_batches(turns, size, whole_for):
        pass


def _pass(batch: Sequence[Turn], passed: set[tuple[str, int]], whole_for: Collection[str]) -> None:
    """Notes the dialogues of a batch as passed; refuses one that had passed before."""
    found = {(turn.system, unit_key(turn)): turn for turn in batch if turn.dialogue is not None}
    for key, turn in found.items():
        if key in passed:
            raise InputError(
                f"{', '.join(whole_for)} looks at whole dialogues, and of so many turns those of a dialogue must stand "
                f"together; those of {quote(str(turn.dialogue))} of {quote(turn.system)} do not: sort the turns by "
                "dialogue, or leave it out"
            )
    passed.update(found)


def of_whole_dialogues(metrics: Iterable[AnyMetric]) -> list[str]:
    """The labels of those that look at whole dialogues."""
    return list(dict.fromkeys(metric.label for metric in metrics if metric.level == "dialogue"))
