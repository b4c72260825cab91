"""The gauge: how good a reply is in its context, as the share of people's replies that it ranks above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat
from dialogauge.learned.gauge.model import PARTS, REPLY_WORDS, ReadyGauge, open_gauge
from dialogauge.metrics.base import UNSIGNED, Floats
from dialogauge.metrics.default_set import UNEQUAL
from dialogauge.metrics.encoding import COVERAGE, NAMED, PreparedReader, ReadMeans
from dialogauge.metrics.prepared import Sums
from dialogauge.text.words import visible

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders
    from dialogauge.learned.directory import SavedModel

CUT, SILENT, ALONE = range(len(PARTS), len(PARTS) + 3)
"""Columns after score and parts: whether a text was too long; whether the reply says nothing; whether what it says is
scored by its context alone."""


def percent(log_odds: Floats) -> Floats:
    """From log odds to a share from 0 to 100."""
    return np.asarray(100 / (1 + np.exp(-log_odds)))


def with_likeness(log_odds: Floats, likeness_odds: Floats, weight: float) -> Floats:
    """The log odds with those of the likeness to a reference; by themselves where there is none (NaN)."""
    return np.where(np.isnan(likeness_odds), log_odds, (1 - weight) * log_odds + weight * likeness_odds)


@dataclass(frozen=True)
class Gauge(ReadMeans):
    """The mean over turns of the share of people's replies, to contexts of the same kind, that a trained model ranks
    below the reply: 50 is a typical reply of people. A reply that says nothing has 0, counted; one that the encoder
    cannot read has no score."""

    name = "gauge"
    title = "how good a reply is in its context, learned from conversations and ratings"
    higher_is_better = True
    bounds = (0.0, 100.0)
    needs = (frozenset({"context"}),)
    parts = PARTS[1:]
    parts_explain = True

    with_references: bool = field(default=True, metadata={**UNSIGNED, "option": "references"})
    """Whether the likeness to references counts, where a turn has any."""
    model: str | None = field(default=None, metadata=NAMED)
    """A model directory, or "large"; None for the model that comes with dialogauge."""
    encoder: str | None = field(default=None, metadata={**NAMED, "of_run": False})
    """Where the model's encoder is found; None for the name the model has for it."""

    def open(self, encoders: Encoders, known: None) -> PreparedGauge:
        ready = open_gauge(self.model).ready(encoders, self.encoder)
        if self.with_references:
            ready.plain.expect("mean", pairs=False)
        return PreparedGauge(self, known, ready.tuned, ready)

    def caveats(self, summary: Sums) -> list[Caveat]:
        turns = int(summary.n)
        cut, silent, alone = summary.total[CUT : ALONE + 1].astype(int).tolist()
        caveats = []
        if cut:
            message = (
                f"{self.label}: {cut} of {turns} turns have a reply of more than {REPLY_WORDS} words, or more than "
                "the encoder takes; the rest is cut"
            )
            caveats.append(Caveat("cut_text", message))
        if silent:
            message = f"{self.label}: {silent} of {turns} replies say nothing, and score 0"
            caveats.append(Caveat("no_vectors", message))
        if 0 < alone < turns - silent:
            message = (
                f"{self.label}: {alone} of {turns} turns have no reference that can be read, and are scored by their "
                "contexts alone, which is not the same measure; references=false scores all of them so"
            )
            caveats.append(Caveat("some_references", message))
        return caveats

    def caveats_of_systems(self, summaries: Mapping[str, Sums], units: Mapping[str, int]) -> list[Caveat]:
        shares = {}
        for system, summary in summaries.items():
            silent, alone = summary.total[[SILENT, ALONE]]
            if summary.n > silent:
                shares[system] = 1 - alone / (summary.n - silent)
        if not shares or max(shares.values()) - min(shares.values()) <= UNEQUAL:
            return []
        counts = ", ".join(f"{100 * share:.0f} % of {system}" for system, share in shares.items())
        message = (
            f"{self.label}: references count in so many of the turns: {counts}. Differences between these systems come "
            "of that, too; references=false measures all of them alike"
        )
        return [Caveat("unequal_references", message)]


@dataclass(frozen=True)
class PreparedGauge(PreparedReader[Floats, Sums]):
    """A model with the encoder it was trained with."""

    asked: Gauge
    model: ReadyGauge

    @property
    def trained(self) -> SavedModel:
        return self.model.model.saved

    def measure(self, turns: Sequence[Turn]) -> Floats:
        rows = np.full((len(turns), ALONE + 1 + COVERAGE), np.nan)
        there = [place for place, turn in enumerate(turns) if any(map(visible, turn.context))]
        if there:
            rows[there] = self._scored([turns[place] for place in there])
        return rows

    def _scored(self, turns: Sequence[Turn]) -> Floats:
        """Rows of turns in whose context anything was said."""
        replies = [turn.response for turn in turns]
        found = self.model.gauged([turn.context for turn in turns], replies)
        calibration = self.model.model.calibration
        odds = np.column_stack([calibration.log_odds(part, found.logits[:, at]) for at, part in enumerate(PARTS)])
        cosines = self._likeness(turns)
        odds[:, 0] = with_likeness(odds[:, 0], calibration.likeness_odds(cosines), calibration.weight)
        silent = np.array([not visible(reply) for reply in replies])
        scores = np.where(silent[:, None], 0.0, percent(odds))
        scores[found.coverage[:, -1] > 0] = np.nan
        return np.column_stack([scores, found.cut, silent, np.isnan(cosines) & ~silent, found.coverage])

    def _likeness(self, turns: Sequence[Turn]) -> Floats:
        if not self.asked.with_references:
            return np.full(len(turns), np.nan)
        return self.model.likeness([turn.response for turn in turns], [turn.references for turn in turns])

    def recipe(self) -> dict[str, str]:
        weight = self.model.model.calibration.weight
        return {**self.model.recipe(), "refs": f"{weight:g}" if self.asked.with_references else "no"}
