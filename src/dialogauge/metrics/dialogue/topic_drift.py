"""Topic drift: how far a response is from how its dialogue began, and from what the system said last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

import numpy as np

from dialogauge.corpus.dialogues import dialogues, said_by_self
from dialogauge.corpus.turn import Turn
from dialogauge.encode.base import Encoder, Pool
from dialogauge.errors import Caveat, unknown
from dialogauge.metrics.base import UNSIGNED, Floats, Values
from dialogauge.metrics.dialogue.semantic import Seen, see
from dialogauge.metrics.encoding import (
    COVERAGE,
    EncoderMetric,
    PreparedEncoding,
    ReadMeans,
    layer_recipe,
    text_caveats,
    together,
)
from dialogauge.metrics.prepared import Sums
from dialogauge.stats.arrays import cosine

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders

OPENING, PREVIOUS, COMPARED, CUT = range(4)
"""A row: the drift from the opening; that from the previous turn (0 without one); whether there is one; whether a text
was too long."""


def drift(vector: Floats, other: Floats) -> float:
    """1 less the cosine: 0 for the same direction, 1 for nothing in common, 2 for the opposite."""
    return min(2.0, max(0.0, 1 - cosine(vector, other)))


@dataclass(frozen=True)
class Placed:
    """A turn with what it is held against; None where there is no such text."""

    response: str
    opening: str | None
    previous: str | None


def place(turns: Sequence[Turn]) -> list[Placed]:
    """Whole dialogues of a system. The opening is the first utterance that is known of a dialogue, and no turn's own
    response; the previous turn is the system's last one before, else what the context has of it."""
    placed: dict[int, Placed] = {}
    for places in dialogues(turns):
        opening, previous = None, None
        for number in places:
            turn = turns[number]
            opening = opening or next(filter(None, map(str.strip, turn.context)), None)
            earlier = previous or next(filter(None, map(str.strip, said_by_self(turn)[::-1])), None)
            response = turn.response.strip()
            placed[number] = Placed(response, opening, earlier)
            opening, previous = opening or response or None, response or None
    return [placed[number] for number in range(len(turns))]


@dataclass(frozen=True)
class TopicDrift(EncoderMetric[Floats, Sums], ReadMeans):
    """The mean over turns of the drift from the opening of the dialogue. A turn that is the opening, or has no words,
    has no value."""

    name = "topic_drift"
    title = "distance in meaning of a response from the opening of its dialogue"
    higher_is_better = None
    bounds = (0.0, 2.0)
    needs = (frozenset({"dialogue"}), frozenset({"context"}))
    parts = ("previous",)
    main = "opening"
    level = "dialogue"

    pool: Pool = field(default="mean", metadata=UNSIGNED)
    layer: int | None = field(default=None, metadata=UNSIGNED)

    def __post_init__(self) -> None:
        if self.pool not in get_args(Pool):
            raise unknown("pool of topic_drift", str(self.pool), get_args(Pool))

    def asked_of(self, encoders: Encoders) -> Encoder:
        found = encoders.get(self.encoder, self.dtype)
        found.expect(self.pool, pairs=False, layer=self.layer)
        return found

    def open(self, encoders: Encoders, known: None) -> PreparedDrift:
        return PreparedDrift(self, known, self.asked_of(encoders))

    def mean_of(self, part: str) -> int | None:
        return None if part == "previous" else OPENING

    def conclude(self, summary: Sums) -> Values:
        """That from the previous turn is the mean over turns that have one."""
        with np.errstate(invalid="ignore", divide="ignore"):
            previous = summary.total[..., PREVIOUS] / summary.total[..., COMPARED]
        return {"": super().conclude(summary)[""], "previous": previous}

    def caveats(self, summary: Sums) -> list[Caveat]:
        turns, compared = int(summary.n), int(summary.total[COMPARED])
        caveats = text_caveats(self.label, turns, float(summary.total[CUT]), 0.0)
        if compared < turns:
            message = f"{self.label}.previous: {turns - compared} of {turns} turns have no turn before them, and are"
            caveats.append(Caveat("missing_input", f"{message} left out of it"))
        return caveats


@dataclass(frozen=True)
class PreparedDrift(PreparedEncoding[Floats, Sums]):
    asked: TopicDrift

    def measure(self, turns: Sequence[Turn]) -> Floats:
        placed = place(turns)
        texts = [text for each in placed for text in (each.response, each.opening, each.previous) if text is not None]
        seen = see(self.encoder, texts, self.asked.pool, self.asked.layer)
        return np.array([_row(each, seen) for each in placed], dtype=np.float64).reshape(len(turns), CUT + 1 + COVERAGE)

    def recipe(self) -> dict[str, str]:
        return {**super().recipe(), "pool": self.asked.pool, **layer_recipe(self.asked.layer, self.encoder)}


def _row(each: Placed, seen: dict[str, Seen]) -> list[float]:
    read = [seen[text] for text in (each.response, each.opening, each.previous) if text is not None]
    response = seen[each.response]
    opening = None if each.opening is None else seen[each.opening]
    previous = None if each.previous is None else seen[each.previous]
    lost = response.coverage.illegible or (opening is not None and opening.coverage.illegible)
    value, before = (np.nan if lost else _drift(response, other) for other in (opening, previous))
    if previous is not None and previous.coverage.illegible:
        before = np.nan
    return [
        value,
        0.0 if np.isnan(before) else before,
        not np.isnan(before),
        any(text.cut for text in read),
        *together((text.coverage for text in read), lost),
    ]


def _drift(response: Seen, other: Seen | None) -> float:
    """NaN where there is no vector on a side."""
    if response.vector is None or other is None or other.vector is None:
        return np.nan
    return drift(response.vector, other.vector)
