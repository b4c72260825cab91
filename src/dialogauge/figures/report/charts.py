"""The figures of the report beside its forest plots: who beats whom, agreement at a glance, and the values of single
replies. Each carries its colours along, and can stand alone as an SVG file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from string import ascii_lowercase

import numpy as np

from dialogauge.agreement.points import COUNTED, Level, Scope
from dialogauge.agreement.result import Agreement
from dialogauge.evaluation.comparison import Comparison
from dialogauge.evaluation.digits import fixed, format_estimates
from dialogauge.evaluation.pairs import ALPHA, Pair
from dialogauge.evaluation.result import DIRECTION, decimals_of_scores
from dialogauge.stats.arrays import Floats
from dialogauge.tables import Cell, Header, Table
from dialogauge.tables.names import fit, fit_all
from dialogauge.tables.svg import BEST, FLOOR, INK, AxisScale, drawing, element, label, spoken, text_width, tick_labels

SIDE, TOP = 26.0, 62.0
"""Of a cell of a matrix, and above the first."""
NAMES = 130.0
LETTERS = 18
WIDE = 360.0
BINS = 24
STRONGEST = 0.72
"""The most colour that a cell of the heat map has: text stands on it."""
UP, DOWN = "M-5.5 4h11l-5.5-9z", "M-5.5-4h11l-5.5 9z"


def pair_matrix(comparison: Comparison, metric: str) -> str:
    """A cell for each system against each other, read from the row: ahead, behind, or not told apart."""
    systems = list(comparison.systems)
    both = {(p.first, p.second): p for q in comparison.pairs if q.metric == metric for p in (q, q.turned())}
    scores = [score for score in comparison.scores if score.metric == metric]
    decimals, direction = decimals_of_scores(scores), scores[0].higher_is_better
    names = fit_all(systems, LETTERS)
    letters = system_letters(len(systems))
    left = min(max(map(text_width, names)), NAMES) + 34
    parts = [
        label(0, 15, fit(metric, 40), font_weight=600, font_size=13),
        label(0, 32, DIRECTION[direction], font_size=11, class_="muted", fill_opacity=0.7),
    ]
    said = []
    for row, (system, name) in enumerate(zip(systems, names, strict=True)):
        y = TOP + SIDE * (row + 0.5)
        parts.append(label(0, y + 4, letters[row], font_weight=600))
        parts.append(label(24, y + 4, name))
        parts.append(label(left + SIDE * (row + 0.5), TOP - 8, letters[row], text_anchor="middle", font_weight=600))
        for column, other in enumerate(systems):
            pair = both.get((system, other))
            if pair is not None:
                words = pair_in_words(pair, decimals, comparison.unit, direction)
                said += [words] if row < column else []
                parts.append(_cell(left + SIDE * (column + 0.5), y, pair, direction, words))
    wide = left + SIDE * len(systems) + 2
    return drawing(wide, TOP + SIDE * len(systems) + 6, f"{metric}: pairs of systems", "; ".join(said), *parts)


def system_letters(count: int) -> list[str]:
    """As in tables that have letters beside scores."""
    return list(ascii_lowercase[:count]) if count <= len(ascii_lowercase) else [str(i + 1) for i in range(count)]


def pair_in_words(pair: Pair, decimals: int, unit: str, direction: bool | None) -> str:
    """ "good − dull: 0.386 [0.330, 0.440], p = 0.003 after Holm's correction, 64 contexts: good is better"."""
    ((value, interval),) = format_estimates([(pair.difference, pair.low, pair.high)], decimals)
    if pair.p_holm is None:
        return f"{pair.first} − {pair.second}: {value} {interval}, not tested".replace(" ,", ",")
    p = "p < 0.001" if pair.p_holm < 0.001 else f"p = {pair.p_holm:.3f}"
    size = f"{pair.units} {unit}" if pair.paired else f"{pair.first_units} and {pair.second_units} {unit}"
    if pair.better:
        verdict = f"{pair.better} is better"
    elif direction is None and pair.p_holm < ALPHA:
        verdict = "they differ"
    else:
        verdict = "not told apart"
    return f"{pair.first} − {pair.second}: {value} {interval}, {p} after Holm's correction, {size}: {verdict}"


def _cell(x: float, y: float, pair: Pair, direction: bool | None, words: str) -> str:
    """Shape says what colour says."""
    half = SIDE / 2 - 1.5
    box = {"x": x - half, "y": y - half, "width": 2 * half, "height": 2 * half, "rx": 4}
    where = f"translate({x:.2f} {y:.2f})"
    title = element("title", spoken(words))
    if pair.better == pair.first:
        mark = element("path", d=UP, transform=where, fill="#fff", class_="on-colour")
        return element("g", title, element("rect", **box, fill=BEST), mark)
    if pair.better:
        mark = element("path", d=DOWN, transform=where, fill="#fff", class_="on-colour")
        return element("g", title, element("rect", **box, fill="#b34a00"), mark)
    if pair.p_holm is None:
        return element(
            "g", title, element("rect", **box, fill_opacity=0.05), label(x, y + 4, "–", text_anchor="middle")
        )
    if direction is None and pair.p_holm < ALPHA:
        faint = element("rect", **box, fill_opacity=0.2)
        return element("g", title, faint, label(x, y + 4, "≠", text_anchor="middle", font_weight=600))
    dot = element("circle", cx=x, cy=y, r=2.5, fill_opacity=0.6)
    return element("g", title, element("rect", **box, fill_opacity=0.05), dot)


def heat_map(agreement: Agreement, level: Level, coefficient: str = "spearman") -> str:
    """Metrics by corpus and dimension; what people reach among themselves below."""
    scopes = [scope for scope in agreement.scopes if scope.level == level and scope.system is None]
    metrics = [metric for metric in agreement.metrics if any(r.metric == metric for r in agreement.rows)]
    values = {(row.metric, row.scope): getattr(row, coefficient) for row in agreement.rows}
    people = {scope: agreement.ceiling(scope) for scope in scopes}
    rows: list[tuple[str, list[float | None]]] = [(m, [values.get((m, scope)) for scope in scopes]) for m in metrics]
    if any(people.values()):
        rows.append(("one rater", [getattr(p, coefficient) if p else None for p in people.values()]))
        rows.append(("ceiling", [p.reachable if p else None for p in people.values()]))
    names = fit_all([name for name, _ in rows], 24)
    columns = [_column(scope, scopes) for scope in scopes]
    left = max(max(map(text_width, names)), 60.0) + 12
    tall = 0.72 * max(map(text_width, columns)) + 26
    wide, high = 56.0, 28.0
    parts = [label(0, 15, f"{coefficient.capitalize()}, by {level}", font_weight=600, font_size=13)]
    for place, text in enumerate(columns):
        x, y = left + wide * (place + 0.5), tall + 12
        parts.append(label(x, y, text, transform=f"rotate(-40 {x:.1f} {y:.1f})", font_size=11.5))
    top = tall + 20
    for place, ((name, found), shown) in enumerate(zip(rows, names, strict=True)):
        y = top + high * place + (8 if place >= len(metrics) else 0)
        parts.append(label(0, y + high / 2 + 4, shown, font_style="italic" if place >= len(metrics) else None))
        for column, value in enumerate(found):
            words = f"{name}, {columns[column]}: {fixed(value)}"
            parts.append(_heat(left + wide * column, y, wide, high, value, words))
    total = left + wide * len(scopes) + 0.75 * tall
    said = "; ".join(f"{name}: {', '.join(fixed(value, 2) for value in found)}" for name, found in rows)
    title = f"Agreement with people, {coefficient.capitalize()}, {COUNTED[level]}"
    return drawing(total, top + high * len(rows) + 14, title, f"{', '.join(columns)}. {said}", *parts)


def _heat(x: float, y: float, wide: float, high: float, value: float | None, words: str) -> str:
    strength = 0.0 if value is None else min(abs(value), 1.0) * STRONGEST
    box = {"x": x + 1, "y": y + 1, "width": wide - 2, "height": high - 2, "rx": 3}
    colour = FLOOR if value is not None and value < 0 else BEST
    return element(
        "g",
        element("title", spoken(words)),
        element("rect", **box, fill=colour, fill_opacity=strength),
        element("rect", **box, fill="none", stroke=INK, stroke_opacity=0.12),
        label(x + wide / 2, y + high / 2 + 4, fixed(value, 2).replace("-", "−"), text_anchor="middle"),
    )


def _column(scope: Scope, scopes: Sequence[Scope]) -> str:
    one_corpus = len({each.corpus for each in scopes}) == 1
    one_dimension = len({each.dimension for each in scopes}) == 1
    if one_corpus and not one_dimension:
        return fit(scope.dimension, 22)
    return fit(scope.corpus if one_dimension else f"{scope.corpus}, {scope.dimension}", 30)


def histograms(metric: str, values: Mapping[str, Floats]) -> tuple[str, Table] | None:
    """How the values of single replies spread, a row for each system, all on one axis; and the counts as a table."""
    known = {system: found[np.isfinite(found)] for system, found in values.items()}
    every = np.concatenate(list(known.values())) if known else np.array([])
    if not len(every):
        return None
    low, high = float(every.min()), float(every.max())
    if low == high:
        room = abs(low) / 2 or 0.5
        low, high = low - room, high + room
    edges = np.linspace(low, high, BINS + 1)
    counts = {system: np.histogram(found, edges)[0] for system, found in known.items()}
    return _histogram_figure(metric, known, counts, edges), _histogram_table(known, counts, edges)


def _histogram_figure(metric: str, known: Mapping[str, Floats], counts: Mapping[str, Floats], edges: Floats) -> str:
    names = fit_all(list(known), LETTERS)
    left, tall, top = min(max(map(text_width, names)), NAMES) + 14, 34.0, 30.0
    scale = AxisScale(float(edges[0]), float(edges[-1]), left, WIDE - 6)
    bottom = top + tall * len(known)
    parts = [label(0, 15, fit(metric, 40), font_weight=600, font_size=13)]
    ticks = scale.ticks()
    for tick, text in zip(ticks, tick_labels(ticks), strict=True):
        x = scale(tick)
        parts.append(element("line", x1=x, x2=x, y1=top, y2=bottom, stroke=INK, stroke_opacity=0.12))
        parts.append(
            label(x, bottom + 16, text, text_anchor="middle", font_size=10.5, class_="muted", fill_opacity=0.7)
        )
    said = []
    for row, ((system, found), name) in enumerate(zip(known.items(), names, strict=True)):
        base = top + tall * (row + 1) - 3
        words = _spread_in_words(system, found)
        said.append(words)
        shares = counts[system] / max(float(counts[system].max()), 1.0)
        path = "".join(
            f"M{scale(float(start)):.1f} {base:.1f}v{-share * (tall - 8):.1f}H{scale(float(end)) - 0.8:.1f}V{base:.1f}z"
            for share, start, end in zip(shares, edges[:-1], edges[1:], strict=True)
            if share
        )
        bars = [element("path", d=path, fill=BEST, fill_opacity=0.85, class_="bars")] if path else []
        if len(found):
            x = scale(float(np.median(found)))
            bars.append(element("line", x1=x, x2=x, y1=base + 2.5, y2=base - tall + 8, stroke=FLOOR, stroke_width=2))
        parts.append(
            element(
                "g",
                element("title", spoken(words)),
                element("rect", x=0, y=base - tall + 3, width=WIDE, height=tall, fill="none", pointer_events="all"),
                label(0, base - 6, name),
                *bars,
            )
        )
    return drawing(WIDE, bottom + 22, f"{metric}: values of single replies", "; ".join(said), *parts)


def _spread_in_words(system: str, found: Floats) -> str:
    if not len(found):
        return f"{system}: no values"
    quarters = ", ".join(f"{value:.3g}" for value in np.quantile(found, [0.25, 0.5, 0.75]))
    return f"{system}: {len(found)} replies from {found.min():.3g} to {found.max():.3g}, quartiles {quarters}"


def _histogram_table(known: Mapping[str, Floats], counts: Mapping[str, Floats], edges: Floats) -> Table:
    headers = [Header("from", align="left"), Header("to"), *(Header(system) for system in known)]
    rows = [
        [Cell(f"{start:.4g}"), Cell(f"{end:.4g}"), *(Cell(str(int(found[place]))) for found in counts.values())]
        for place, (start, end) in enumerate(pairwise(edges))
    ]
    median = [Cell(f"{np.median(found):.4g}" if len(found) else "–") for found in known.values()]
    return Table(headers, [*rows, [Cell("median"), Cell(""), *median]])
