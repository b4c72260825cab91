"""Whether a judge prefers the systems of its own model's family."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from dialogauge.agreement.points import Points
from dialogauge.agreement.result import Agreement
from dialogauge.evaluation.digits import defined
from dialogauge.evaluation.options import Settings
from dialogauge.metrics.registry import Request
from dialogauge.stats.arrays import Floats
from dialogauge.stats.resampling import IntervalEstimate
from dialogauge.studies.audit_result import AuditFinding
from dialogauge.studies.unit_bootstrap import over_units


def own_family(request: Request, agreement: Agreement | None, settings: Settings) -> list[AuditFinding] | str:
    """By how many standard deviations the metric scores systems of its own family higher than others that people rate
    the same."""
    model = getattr(request.metric, "model", None)
    if not isinstance(model, str) or not model:
        return "the metric has no model with a name"
    own = family(model)
    if agreement is None:
        return "no turn is rated, and the quality of systems cannot be held"
    for points in agreement.points:
        if points.scope.level != "turn" or points.scope.system is not None:
            continue
        mine = np.array([family(system) == own for system in points.systems])
        if not mine.any() or mine.all():
            return f"no system is called {own}" if not mine.any() else f"every system is called {own}"
        estimate = _preference(points, request, mine, settings)
        value, low, high = map(defined, estimate)
        verdict = "undefined" if low is None or high is None else "none shown"
        if low is not None and low > 0:
            verdict = "prefers its own family"
        return [AuditFinding(request.name, "family", own, value, low, high, len(mine), 0.0, verdict)]
    return "no turn is rated that it has a value for"


def _preference(points: Points, request: Request, mine: Any, settings: Settings) -> IntervalEstimate:
    sign = -1.0 if request.metric.direction("") is False else 1.0
    values, people = sign * points.column(request.name), points.people
    values, people = ((each - each.mean()) / (each.std() or 1.0) for each in (values, people))
    columns = np.column_stack([np.ones(len(values)), people, mine.astype(float)])

    def coefficient(weights: Floats) -> Floats:
        """Of the family, in a regression on the rating and the family."""
        grams = np.einsum("rp,pi,pj->rij", weights, columns, columns)
        right = np.einsum("rp,pi,p->ri", weights, columns, values)
        return np.array([np.linalg.lstsq(g, r, rcond=None)[0][2] for g, r in zip(grams, right, strict=True)])

    return over_units(coefficient, points.units, settings)


def family(name: str) -> str:
    """`org/SmolLM2-135M-Instruct` is of the family smollm, `gpt-4o-mini` of gpt."""
    found = re.match(r"[a-z]+", name.rpartition("/")[2].casefold())
    return found[0] if found else name.casefold()
