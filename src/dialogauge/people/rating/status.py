"""How a study stands, as a table for a terminal or a paper's draft."""

from __future__ import annotations

from dialogauge.people.rating.overview import Overview
from dialogauge.tables import Cell, Header, Table, counted

COLUMNS = ("rater", "state", "answers", "seconds", "checks failed", "repeats changed", "too fast", "trusted")


def status_table(view: Overview) -> Table:
    """One row for each rater; below it how far the study is, and how well people agree so far."""
    rows = [
        [
            Cell(rater.name if rater.rater.external is None else f"{rater.name} ({rater.rater.external})"),
            Cell(rater.state),
            Cell(f"{rater.done}/{rater.total}"),
            Cell("–" if rater.median_seconds is None else f"{rater.median_seconds:.1f}"),
            Cell(f"{rater.failed}/{rater.checks}"),
            Cell(f"{rater.inconsistent}/{rater.repeats}"),
            Cell(str(rater.fast)),
            Cell("yes" if rater.trusted else "; ".join(rater.reasons)),
        ]
        for rater in view.raters
    ]
    headers = [Header(name, align="left" if name in ("rater", "state", "trusted") else "right") for name in COLUMNS]
    return Table(headers, rows, _notes(view), "raters")


def _notes(view: Overview) -> list[str]:
    complete = f"{view.complete:,} of {counted(view.items, 'item')} have all {view.raters_per_item}"
    notes = [f"{view.done:,} of {counted(view.planned, 'rating')}; {complete}{'; paused' if view.paused else ''}"]
    for each in view.agreement:
        if each.interval is None or each.ordinal is None:
            notes.append(f"{each.dimension}: too few ratings for agreement so far")
            continue
        needed = f"{each.raters_needed} raters" if each.raters_needed else "no number of raters"
        found = f"Krippendorff's alpha {each.ordinal:.2f} (ordinal), {each.interval:.2f} (interval)"
        notes.append(
            f"{each.dimension}: {found} over {counted(each.items, 'item')}; {needed} would give means of reliability .8"
        )
    return notes
