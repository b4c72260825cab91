"""Scores with their intervals, and the forms they can take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge import tables
from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import Caveat
from dialogauge.evaluation.citation import Citation, cite
from dialogauge.evaluation.forms import MetricForms, corpus_record, counted_scores, find
from dialogauge.evaluation.sample import Sample
from dialogauge.evaluation.score_table import column_signatures, intervals_in_words, score_table
from dialogauge.evaluation.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

    from dialogauge.evaluation.ranked_replies import Order, RankedReplies

SCHEMA = "dialogauge.scores/1"


@dataclass(frozen=True)
class Score:
    """One system's value of one metric. None where it is undefined."""

    system: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    higher_is_better: bool | None
    signature: str
    interval: str | None
    """How low and high were found: "bootstrap" or "jackknife"."""
    interval_of: str | None
    """What they are about: "expected" scores of samples of this size, "another_sample" of it, or the "population"."""
    units: int
    """How many independent dialogues, contexts or turns stand behind the value."""
    floor: float | None = None
    """What a distance would be if real and generated were exchangeable; None for metrics that are no distances."""
    p: float | None = None
    """The share of exchanges, the score itself included, that are as bad as the score."""
    needed: float | None = None
    """The score from which on real and generated would be called different."""
    floor_from: str | None = None
    """How the floor was found: by "swaps" of response and reference, or by "splits" of the real conversations ("splits
    alone" where p comes from them too)."""


@dataclass(frozen=True, repr=False)
class Result(MetricForms):
    """What `evaluate` gives. `columns` are the metrics that a table shows; `scores` also holds their parts.

    Printed, it is a table with what the reader must know below; a notebook shows the same.

    Examples:
        >>> import dialogauge
        >>> result = dialogauge.evaluate("examples/everyday.jsonl", "length,distinct.1")
        >>> result
        <Result: 3 systems, 2 metrics, 192 turns>
        >>> result.score("good", "length").n
        64
        >>> list(result.to_frame())[:5]  # one row for each score
        ['system', 'metric', 'value', 'low', 'high']
        >>> result.turns_to_frame().shape  # one row for each turn and metric with a value of single turns
        (192, 4)
    """

    scores: list[Score]
    columns: list[str]
    systems: dict[str, int]
    """Turns per system."""
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]
    settings: Settings
    unit: str
    """What was resampled: dialogues, contexts or turns."""
    samples: list[Sample]
    """What the metrics noted, turn by turn."""
    compat: str | None = None

    def score(self, system: str, metric: str) -> Score:
        """The score of one system under one metric; an `InputError` suggests names where there is none."""
        return find(self.scores, system=system, metric=metric)

    def contents(self) -> str:
        return counted_scores(self.systems, self.columns)

    def names(self) -> list[str]:
        return list(dict.fromkeys([*self.columns, *self.systems]))

    def to_records(self) -> list[dict[str, Any]]:
        """One per system and metric, parts included."""
        return [asdict(score) for score in self.scores]

    def turns_to_frame(self) -> pd.DataFrame:
        """One row per turn and metric that has per-turn values: id, system, metric, value."""
        import pandas as pd

        parts = [
            pd.DataFrame({"id": s.ids, "system": s.system, "metric": s.label, "value": s.values})
            for s in self.samples
            if s.values is not None
        ]
        return (
            pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["id", "system", "metric", "value"])
        )

    def to_dict(self) -> dict[str, Any]:
        """What `--format json` prints."""
        return {
            "schema": SCHEMA,
            "corpus": corpus_record(self.systems, self.files),
            "settings": {**asdict(self.settings), "unit": self.unit},
            "scores": self.to_records(),
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }

    def citation(self) -> Citation:
        """How the scores were computed, in words for a paper, with BibTeX."""
        return cite("Scores", column_signatures(self), [intervals_in_words(self)])

    def to_table(self, digits: int | None = None) -> tables.Table:
        return score_table(self, digits)

    def save(
        self,
        directory: str | Path,
        *,
        overwrite: bool = False,
        command: list[str] | None = None,
        ranked: Mapping[Order, Sequence[RankedReplies]] | None = None,
    ) -> Path:
        """Writes scores.json, turns.parquet and run.json, and `ranked` replies as worst.jsonl and best.jsonl; the
        directory is either whole or absent."""
        from dialogauge.evaluation.save import save_result

        return save_result(self, Path(directory), overwrite=overwrite, command=command, ranked=ranked or {})
