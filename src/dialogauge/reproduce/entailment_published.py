"""The numbers of the entailment paper (Dziri et al. 2019), to be set beside ours. They are listed in
`entailment_published.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dialogauge.errors import Caveat
from dialogauge.reproduce.published import Source

PAPER = "Dziri et al. 2019"
GONE = (
    "the paper's judgements of Reddit and OpenSubtitles are no longer to be had: GRADE (coherence), FED (Relevant) and"
    " ConTurE (overall impression), as far as they are there, stand in for them, and the numbers need not agree"
)
"""What every table and figure says."""


@dataclass(frozen=True)
class EntailmentTable:
    source: Source
    corpora: tuple[str, ...]
    """The paper's."""
    rows: Mapping[str, tuple[float, ...]]
    """One number for each of its corpora, as printed."""


@cache
def entailment_table2() -> EntailmentTable:
    """Accuracies, by the paper's names of its models."""
    return _table("table2")


@cache
def entailment_table3() -> EntailmentTable:
    """Correlations by metric and embedding, as `ss_h1/use`: SS with the last utterance, SS with the last two (h2),
    and the three metrics of word vectors."""
    return _table("table3")


def gone() -> Caveat:
    return Caveat("other_corpora", GONE)


def _table(name: str) -> EntailmentTable:
    import tomllib

    listed: dict[str, Any] = tomllib.loads(
        Path(__file__).with_name("entailment_published.toml").read_text(encoding="utf-8")
    )
    table = listed[name]
    source = Source(table["paper"], table["number"], table["caption"])
    return EntailmentTable(
        source, tuple(listed["corpora"]), {row: tuple(numbers) for row, numbers in table["rows"].items()}
    )
