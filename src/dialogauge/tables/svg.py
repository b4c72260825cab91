"""SVG as text. What is drawn carries its colours as attributes and needs no style: in a notebook, in a file of its own,
and under a policy that forbids style. A page may give the classes other colours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

from dialogauge.tables.html import RIGHT_TO_LEFT
from dialogauge.tables.table import printable, width

INK = "currentColor"
BEST, FLOOR = "#0072b2", "#d55e00"
"""Told apart without red or green (Okabe & Ito 2008)."""
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Noto Sans', sans-serif"
PER_LETTER = 0.56
"""How wide a letter is, about, in heights of its type."""
NONCHARACTERS = {0xFFFE: "\ufffd", 0xFFFF: "\ufffd"}
"""Which XML cannot hold."""


def element(tag: str, *inside: str, **attributes: str | float | None) -> str:
    """`text_anchor` is the attribute text-anchor, `class_` is class; None leaves an attribute out. What is `inside`
    is markup already."""
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{safe(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{given}>{''.join(inside)}</{tag}>" if inside else f"<{tag}{given}/>"


def safe(value: str | float) -> str:
    """Text as markup, and a length with as many digits as can be seen."""
    if isinstance(value, str):
        return escape(printable(value)).translate(NONCHARACTERS)
    return f"{round(value, 2) + 0.0:g}"


def spoken(text: str) -> str:
    """Words for who points at something or cannot see it, with names from right to left set apart (U+2068, U+2069)."""
    return RIGHT_TO_LEFT.sub("\u2068\\g<0>\u2069", safe(text))


def label(x: float, y: float, text: str, **attributes: str | float | None) -> str:
    return element("text", safe(text), x=x, y=y, **attributes)


def drawing(wide: float, high: float, title: str, description: str, *inside: str, class_: str = "chart") -> str:
    """A picture with its name, and in words what it shows."""
    named = [element("title", spoken(title)), element("desc", spoken(description))]
    return element(
        "svg",
        *named,
        *inside,
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        class_=class_,
        viewBox=f"0 0 {safe(wide)} {safe(high)}",
        width=wide,
        height=high,
        font_family=FONT,
        font_size=12,
        fill=INK,
    )


def text_width(text: str, size: float = 12) -> float:
    """About."""
    return PER_LETTER * size * width(text)


@dataclass(frozen=True)
class AxisScale:
    """Values on their way to places between two ends."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def around(cls, values: list[float], start: float, end: float) -> AxisScale:
        """From the least to the largest, with some room at both sides."""
        low, high = min(values, default=0.0), max(values, default=1.0)
        room = 0.04 * (high - low) or 0.5 * abs(high) or 0.5
        return cls(low - room, high + room, start, end)

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, most: int = 4) -> list[float]:
        """Round numbers between the ends."""
        rough = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(times * power for times in (1, 2, 2.5, 5, 10) if times * power >= rough * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [place * step for place in range(first, last + 1)]


def tick_labels(ticks: list[float]) -> list[str]:
    """As few decimals as tell them apart."""
    if any(ticks) and (max(map(abs, ticks)) >= 1e6 or max(map(abs, ticks)) < 1e-3):
        return [f"{tick:.3g}".replace("-", "−") for tick in ticks]
    for decimals in range(7):
        texts = [f"{round(tick, decimals) + 0.0:.{decimals}f}" for tick in ticks]
        if all(
            math.isclose(float(text), tick, rel_tol=1e-6, abs_tol=1e-9) for text, tick in zip(texts, ticks, strict=True)
        ):
            break
    return [text.replace("-", "−") for text in texts]
