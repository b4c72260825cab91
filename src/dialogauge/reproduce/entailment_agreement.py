"""How far rows of the entailment paper's table 3 agree with people on one corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dialogauge.agreement import Agreement, correlate
from dialogauge.errors import Caveat
from dialogauge.evaluation.merge_caveats import number_free
from dialogauge.reproduce.entailment_corpora import RatedCorpus
from dialogauge.reproduce.entailment_rows import TableRow
from dialogauge.tables import counted

SAID = ("known_fault", "unpaired")
"""Caveats of correlations that are no news here: those of the files come with them, and systems are not compared."""


def agreement_of(rows: Sequence[TableRow], rated: RatedCorpus, options: Mapping[str, Any]) -> Agreement:
    metrics = [row.metric for row in rows if row.metric]
    return correlate({rated.name: rated.corpus}, metrics, level="turn", dimension=rated.scale.dimension, **options)


def rows_together(rows: Sequence[TableRow], rated: RatedCorpus) -> list[list[TableRow]]:
    """Rows that stand on the same turns: what needs a second last utterance is apart where some turns have none."""
    able = [row for row in rows if row.can_score(rated.corpus)]
    if all(len(turn.context) > 1 for turn in rated.turns):
        return [able] if able else []
    parts = [[row for row in able if row.looks_back_two == back] for back in (False, True)]
    return [part for part in parts if part]


def remarks_of(agreement: Agreement, rated: RatedCorpus) -> list[Caveat]:
    """With the corpus's name. What is said alike of several metrics, but for numbers, is said of the first."""
    alike: dict[tuple[str, str], list[str]] = {}
    for caveat in agreement.caveats:
        if caveat.code not in SAID:
            message = caveat.message.removeprefix(f"{rated.name}, {rated.scale.dimension}: ")
            message = message.removeprefix(f"{rated.name}: ")
            metric = next((name for name in agreement.metrics if message.startswith(f"{name}: ")), "")
            alike.setdefault((caveat.code, number_free(message.removeprefix(metric))), []).append(message)
    caveats = []
    for (code, _), (first, *others) in alike.items():
        more = f" (the like: {counted(len(others), 'other metric')})" if others else ""
        caveats.append(Caveat(code, f"{rated.title}: {first}{more}"))
    return caveats
