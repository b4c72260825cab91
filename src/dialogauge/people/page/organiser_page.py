"""What the organiser sees, by a secret link of their own: how far the study is, who rates how, whether they agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialogauge.people.page.markup import document, text
from dialogauge.tables import counted

if TYPE_CHECKING:
    from dialogauge.people.rating.overview import DimensionAgreement, Overview
    from dialogauge.people.rating.trust import RaterSummary

STATES = {
    "invited": "not here yet",
    "reading": "reads the instructions",
    "rating": "rating",
    "finished": "finished",
    "released": "place given on",
}
RATERS = ("Rater", "State", "Answers", "Median time", "Checks failed", "Repeats changed", "Too fast", "Trusted")
AGREEMENT = ("Question", "Items with two or more", "Ratings", "α ordinal", "α interval", "Raters for .8")
MORE_AGREEMENT = (*AGREEMENT, "Trusted: α ordinal", "α interval")
NONE = "–"


def organiser_page(view: Overview, here: str) -> str:
    """Texts of items are not on it, nor is anything that tells how a system does: the organiser may rate, too."""
    untrusted = sum(not rater.trusted for rater in view.raters)
    return document(
        f"{view.title}: organiser",
        f"""<h1 dir="auto">{text(view.title)}</h1>
{_state(view, here)}
{_tiles(view)}
<section><h2 id="agreement">Agreement so far</h2>
{_agreement(view)}
<p class="aside">Krippendorff's alpha: 1 is perfect, 0 what chance gives; {NONE} where too few items have two ratings
that differ. Raters for .8: how many an item takes until their mean has that reliability (Spearman-Brown).</p>
</section>
<section><h2 id="raters">Raters</h2>
{_table("raters", RATERS, [_rater(rater) for rater in view.raters], left=(1, 7))}
<p class="aside">{_trust(untrusted)} Nothing is deleted: what failed is marked in the export.</p>
</section>""",
        top=f'<header class="top"><p class="title">Organiser</p><p><a href="{here}">Look again</a></p></header>\n',
        kind="organiser",
    )


def _state(view: Overview, here: str) -> str:
    now = "<strong>Paused.</strong> Raters see that they may come back later." if view.paused else "Raters can rate."
    what, said = ("resume", "Go on") if view.paused else ("pause", "Pause the study")
    return (
        f'<p class="state" role="status">{now}</p>\n'
        f'<form method="post" action="{here}/{what}" class="actions"><button>{said}</button></form>'
    )


def _tiles(view: Overview) -> str:
    people = len(view.raters)
    tiles = [
        ("Ratings", f"{view.done} of {view.planned}", _share(view.done, view.planned)),
        (
            "Items with all ratings",
            f"{view.complete} of {view.items}",
            f"{counted(view.raters_per_item, 'rater')} each",
        ),
        ("Raters finished", f"{view.finished} of {people}", f"{view.started} began"),
        ("Median time of an item", _seconds(view.median_seconds), ""),
    ]
    inside = "".join(
        f"<div><dt>{name}</dt><dd>{value}{f'<small>{more}</small>' if more else ''}</dd></div>"
        for name, value, more in tiles
    )
    return f'<dl class="tiles">{inside}</dl>'


def _agreement(view: Overview) -> str:
    differ = view.trusted_agreement != view.agreement
    rows = [_dimension(found) for found in view.agreement]
    if differ:
        for row, found in zip(rows, view.trusted_agreement, strict=True):
            row += [_number(found.ordinal), _number(found.interval)]
    return _table("agreement", MORE_AGREEMENT if differ else AGREEMENT, rows)


def _dimension(found: DimensionAgreement) -> list[str]:
    skipped = f" and {found.not_applicable} N/A" if found.not_applicable else ""
    return [
        f"<bdi>{text(found.dimension)}</bdi>",
        str(found.items),
        f"{found.ratings}{skipped}",
        _number(found.ordinal),
        _number(found.interval),
        NONE if found.raters_needed is None else str(found.raters_needed),
    ]


def _rater(rater: RaterSummary) -> list[str]:
    trusted = "yes" if rater.trusted else f'<span class="flagged">no</span>: {text("; ".join(rater.reasons))}'
    known = f" <bdi>({text(rater.rater.external)})</bdi>" if rater.rater.external else ""
    return [
        f"<bdi>{text(rater.name)}</bdi>{known}",
        STATES.get(rater.state, text(rater.state)),
        f"{rater.done} of {rater.total}",
        _seconds(rater.median_seconds),
        f"{rater.failed} of {rater.checks}",
        f"{rater.inconsistent} of {rater.repeats}",
        str(rater.fast),
        trusted if rater.done or not rater.trusted else NONE,
    ]


def _table(heading: str, heads: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = ()) -> str:
    """Below the heading of that id. Cells are HTML already. A wide one scrolls, by the keyboard, too."""
    sides = [' class="left"' if place in left else "" for place in range(len(heads))]
    head = "".join(f'<th scope="col"{side}>{text(said)}</th>' for side, said in zip(sides, heads, strict=True))
    body = "\n".join(
        f'<tr><th scope="row">{row[0]}</th>'
        f"{''.join(f'<td{side}>{cell}</td>' for side, cell in zip(sides[1:], row[1:], strict=True))}</tr>"
        for row in rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"
    return f'<div class="scroll" role="region" tabindex="0" aria-labelledby="{heading}">{table}</div>'


def _trust(untrusted: int) -> str:
    return "All raters are trusted so far." if not untrusted else f"{counted(untrusted, 'rater')} not trusted."


def _share(done: int, planned: int) -> str:
    return f"{done / planned:.0%}" if planned else ""


def _seconds(seconds: float | None) -> str:
    return NONE if seconds is None else f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}".replace("-", "−")
