"""Finds in an agreement what a figure is asked to show, and puts it into words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dialogauge.agreement.points import Level, Points, Scope
from dialogauge.agreement.result import MEAN, Agreement, AgreementRow
from dialogauge.errors import InputError, unknown
from dialogauge.evaluation.digits import interval_text, value_text
from dialogauge.figures.drawing import fit, fit_all

COEFFICIENTS = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall"}
TURNED = "correlations are turned round where lower is better: more is better agreement"


def points_of(agreement: Agreement, levels: Sequence[Level], scope: Scope | None) -> Points:
    """The points of the scope, which is at one of these levels. Without one: of the first scope at the first of them,
    all systems rather than one."""
    found = [points for points in agreement.points if points.scope.level in levels]
    if scope is None:
        found = [points for points in found if points.scope.level == levels[0]]
        if not found:
            raise unknown("level", levels[0], {points.scope.level for points in agreement.points})
        return next((points for points in found if points.scope.system is None), found[0])
    for points in found:
        if points.scope == scope:
            return points
    raise unknown("scope", scope_name(scope), [scope_name(points.scope) for points in found])


def scope_name(scope: Scope) -> str:
    system = [] if scope.system is None else [scope.system]
    return " / ".join([scope.corpus, scope.dimension, scope.level, *system])


def metrics_of(points: Points, metrics: Sequence[str] | None) -> list[str]:
    """Those asked for, or all."""
    asked = points.metrics if metrics is None else [metrics] if isinstance(metrics, str) else list(metrics)
    for metric in asked:
        if metric not in points.metrics:
            raise unknown("metric", metric, points.metrics)
    if not asked:
        raise InputError(f"no metric to draw; there are: {', '.join(points.metrics) or 'none'}")
    return asked


def scopes_of(agreement: Agreement, level: Level) -> list[Scope]:
    """Scopes of all systems at this level: the corpora, then the means over them."""
    found = [scope for scope in agreement.scopes if scope.level == level and scope.system is None]
    if not found:
        raise unknown("level", level, {scope.level for scope in agreement.scopes if scope.system is None})
    return sorted(found, key=lambda scope: scope.corpus == MEAN)


def scope_labels(scopes: Sequence[Scope], longest: int) -> list[str]:
    """The corpus, over the dimension where the corpus has several."""
    corpora = list(dict.fromkeys(scope.corpus for scope in scopes))
    dimensions = list(dict.fromkeys(scope.dimension for scope in scopes))
    corpus_label = dict(zip(corpora, fit_all(corpora, longest), strict=True))
    dimension_label = dict(zip(dimensions, fit_all(dimensions, longest), strict=True))
    several = {corpus for corpus in corpora if sum(scope.corpus == corpus for scope in scopes) > 1}
    return [
        f"{corpus_label[scope.corpus]}\n{dimension_label[scope.dimension]}"
        if scope.corpus in several
        else corpus_label[scope.corpus]
        for scope in scopes
    ]


def rows_of(agreement: Agreement, scope: Scope) -> dict[str, AgreementRow]:
    """By metric."""
    return {row.metric: row for row in agreement.rows if row.scope == scope}


def check_coefficient(coefficient: str) -> None:
    if coefficient not in COEFFICIENTS:
        raise unknown("coefficient", coefficient, COEFFICIENTS)


def estimate(row: AgreementRow | None, coefficient: str) -> tuple[float | None, float | None, float | None]:
    """The correlation and its interval; None where there is none."""
    if row is None:
        return None, None, None
    value, low, high = (getattr(row, coefficient + part) for part in ("", "_low", "_high"))
    return value, low, high


def correlations_text(row: AgreementRow | None) -> str:
    """Both correlations with their intervals, for the corner of a panel."""
    return "\n".join(
        _correlation_text(sign, *estimate(row, name)) for sign, name in (("r", "pearson"), ("ρ", "spearman"))
    )


def scope_title(scope: Scope) -> str:
    """For a caption."""
    system = "" if scope.system is None else f", {fit(scope.system)}"
    return f"{fit(scope.corpus)}, {fit(scope.dimension)}{system}"


def interval_words(agreement: Agreement, level: Level) -> str:
    """For a caption: what was resampled for the intervals of correlations."""
    systems = " and systems" if level == "system" else ""
    return f"{100 * agreement.settings.confidence:.4g}% intervals over {agreement.unit}{systems}"


def turned_words(rows: Mapping[str, AgreementRow], metrics: Sequence[str]) -> str:
    """For a caption: that lower may be better."""
    return TURNED if any(rows[metric].higher_is_better is False for metric in metrics if metric in rows) else ""


def _correlation_text(sign: str, value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return f"{sign} undefined"
    shown = f"{value_text((value, low, high), 2)} {interval_text(low, high, 2)}".strip()
    return f"{sign} = {shown.replace('-', '−')}"
