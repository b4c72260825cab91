"""How well metrics agree with people, as a table and as a forest plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialogauge.agreement.points import COUNTED, Scope
from dialogauge.evaluation.digits import fixed, interval_text, value_text
from dialogauge.evaluation.result import short_p
from dialogauge.tables import Cell, Header, Table
from dialogauge.tables.forest import ForestPanel, ForestRow

if TYPE_CHECKING:
    from dialogauge.agreement.result import Agreement, AgreementRow, Ceiling, Contrast

DECIMALS = 3
NONE = Cell("")


def agreement_table(agreement: Agreement, decimals: int = DECIMALS) -> Table:
    shown = _leading_columns(agreement)
    people = bool(agreement.ceilings)
    headers = [Header(name, align="left") for name in (*shown, "metric")]
    names = (
        "Pearson",
        "Spearman",
        "Kendall",
        "accuracy",
        "cosine",
        *(("alpha", "split-half", "ceiling") if people else ()),
    )
    headers += [Header("n"), *(Header(name) for name in names)]
    rows = []
    for scope in agreement.scopes:
        lead = [Cell(str(getattr(scope, name) or "all")) for name in shown]
        mine = [row for row in agreement.rows if row.scope == scope]
        rows += [[*lead, *_metric_cells(row, len(mine) > 1, decimals), *([NONE] * 3 if people else [])] for row in mine]
        ceiling = agreement.ceiling(scope)
        if ceiling:
            rows.append([*lead, *_people_cells(ceiling, decimals)])
    return Table(headers, rows, _notes(agreement), "agreement")


def scope_in_words(scope: Scope) -> str:
    """ "mine, overall, turns"."""
    return ", ".join(filter(None, (scope.corpus, scope.dimension, scope.system, COUNTED[scope.level])))


def interval_and_p(low: float | None, high: float | None, p: float | None, decimals: int = DECIMALS) -> str:
    interval = interval_text(low, high, decimals)
    probability = "" if p is None else f"p={short_p(p)}".replace("=<", "<")
    return f"{interval} {probability}".strip()


def _leading_columns(agreement: Agreement) -> list[str]:
    """Those in which rows differ."""
    names = ("corpus", "level", "dimension", "system")
    return [name for name in names if len({getattr(scope, name) for scope in agreement.scopes}) > 1]


def _metric_cells(row: AgreementRow, contested: bool, decimals: int) -> list[Cell]:
    return [
        Cell(row.metric),
        Cell(str(row.n)),
        _correlation(row, "pearson", contested and row.pearson_top, decimals),
        _correlation(row, "spearman", contested and row.spearman_top, decimals),
        Cell(fixed(row.kendall, decimals)),
        Cell(fixed(row.pairwise_accuracy, decimals)),
        Cell(fixed(row.cosine, decimals)),
    ]


def _correlation(row: AgreementRow, name: str, best: bool, decimals: int) -> Cell:
    value, low, high, p = (getattr(row, field) for field in (name, f"{name}_low", f"{name}_high", f"{name}_p"))
    return Cell(value_text((value, low, high), decimals), interval_and_p(low, high, p, decimals), best)


def _people_cells(ceiling: Ceiling, decimals: int) -> list[Cell]:
    fewest, most = ceiling.fewest_raters, ceiling.most_raters
    raters = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    numbers = (
        ceiling.pearson,
        ceiling.spearman,
        None,
        None,
        None,
        ceiling.alpha,
        ceiling.split_half,
        ceiling.reachable,
    )
    cells = [
        NONE if value is None and place in (2, 3, 4) else Cell(fixed(value, decimals))
        for place, value in enumerate(numbers)
    ]
    return [Cell(f"(one of {raters} raters)"), Cell(str(ceiling.n) if ceiling.level == "turn" else ""), *cells]


def _notes(agreement: Agreement) -> list[str]:
    settings = agreement.settings
    scopes = agreement.scopes
    one = {name: {getattr(scope, name) for scope in scopes} for name in ("corpus", "level", "dimension")}
    lead = ", ".join(str(next(iter(values))) for values in one.values() if len(values) == 1)
    confidence = f"{100 * settings.confidence:.4g}%"
    how = f"{settings.resamples} resamples, seed {settings.seed}"
    notes = [lead] if lead else []
    if one["level"] - {"system"}:
        notes.append(
            f"[low, high] of turns and dialogues: {confidence} interval, bootstrap over {agreement.unit} ({how})"
        )
    if "system" in one["level"]:
        notes.append(
            f"[low, high] of systems: {confidence} interval, bootstrap over {agreement.unit} and systems ({how}),"
            " no narrower than Fisher's"
        )
    notes.append("p: the share of permutations of the ratings in which the correlation is as far from 0")
    notes.append("correlations are oriented: below 0 a metric points the wrong way")
    if any(len([row for row in agreement.rows if row.scope == scope]) > 1 for scope in scopes):
        notes.append(
            "marked: the best, and all that no permutation test shows to be worse (at p < 0.05 after Holm's correction)"
        )
    if any(row.corpus == "mean" for row in agreement.rows):
        notes.append("mean: over corpora, which are taken as they are and as independent; n counts them")
    if agreement.ceilings:
        notes.append(
            "(one of k raters): one rater against the mean of the others; alpha: Krippendorff's, of turns; split-half:"
            " reliability of the mean rating; ceiling: its root, which a metric would reach that knew people's mean"
        )
    notes += _needed(agreement, scopes)
    signatures = dict.fromkeys(row.signature for row in agreement.rows)
    return [*notes, *(f"signature: {signature}" for signature in signatures)]


def _missing(contrast: Contrast, n: int) -> bool:
    """Whether more points than there are would tell the two apart."""
    return contrast.better is None and contrast.needed is not None and contrast.needed > n


def _needed(agreement: Agreement, scopes: Sequence[Scope]) -> list[str]:
    """What it would take to tell the two best metrics of each scope apart."""
    found = []
    for scope in scopes:
        ranked = sorted(
            (row for row in agreement.rows if row.scope == scope and row.spearman is not None),
            key=lambda row: -(row.spearman or 0.0),
        )
        if len(ranked) < 2:
            continue
        pair = {ranked[0].metric, ranked[1].metric}
        for contrast in agreement.contrasts:
            same = contrast.scope == scope and contrast.coefficient == "spearman"
            if same and {contrast.first, contrast.second} == pair and _missing(contrast, ranked[0].n):
                where = ", ".join(filter(None, (scope.corpus, scope.dimension, scope.system)))
                both = " from ".join(row.metric for row in ranked[:2])
                needed = f"about {contrast.needed:,} {COUNTED[scope.level]}"
                found.append(f"to tell the two best by Spearman apart, {both} ({where}): {needed}")
    return found


def agreement_panel(agreement: Agreement, scope: Scope) -> ForestPanel:
    mine = [row for row in agreement.rows if row.scope == scope]
    rows = []
    for row in mine:
        estimate = (row.spearman, row.spearman_low, row.spearman_high)
        beside = interval_and_p(row.spearman_low, row.spearman_high, row.spearman_p)
        said = f"{row.metric}: {value_text(estimate, DECIMALS)} {beside}".strip()
        top = len(mine) > 1 and row.spearman_top
        rows.append(ForestRow(row.metric, *estimate, value_text(estimate, 2), said, top))
    people = agreement.ceiling(scope)
    reached = {"one rater": people.spearman, "ceiling": people.reachable} if people else {}
    marks = {name: value for name, value in reached.items() if value is not None}
    direction = f"Spearman with people's ratings ↑, {mine[0].n} {COUNTED[scope.level]}"
    key = [f"line: {100 * agreement.settings.confidence:.4g}% interval"]
    key += ["diamond: no metric is shown to agree better"] if any(row.best for row in rows) else []
    key += ["dashed: one rater with the others, and what a metric would reach that knew people's mean"] if marks else []
    return ForestPanel(scope_in_words(scope), direction, rows, marks, tuple(key), zero=True)
