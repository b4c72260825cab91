"""What is wrong with a metric class that is not ours: all of it at once, before anything is measured."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, is_dataclass
from inspect import isabstract
from numbers import Real
from typing import Any, Literal, get_args, get_origin, get_type_hints

from dialogauge.metrics.base import GROUP_NAMES, AnyMetric, Metric, options

NAME = re.compile(r"[^\[\].,=|:/\s]+")
"""What a metric can be called: nothing that has a meaning in requests, signatures or paths."""
INPUTS = {"context", "references", "facts", "dialogue", "ratings", "extra", "real"}
"""What a turn may lack, and real conversations beside the corpus."""
TYPES = (bool, int, float, str)


def metric_faults(name: str, metric: Any) -> list[str]:
    """Everything that keeps a class from being the metric of this name."""
    if not (isinstance(metric, type) and issubclass(metric, Metric)):
        return ["it is no subclass of Metric"]
    faults = [] if _is_frozen(metric) else ["it is no frozen dataclass: decorate it with @dataclass(frozen=True)"]
    required = [name for name in ("name", "title", "higher_is_better", "bounds") if not hasattr(metric, name)]
    required += sorted(metric.__abstractmethods__) if isabstract(metric) else []
    if required:
        faults.append(f"it does not define {', '.join(required)}")
    for attribute, (right, expected) in ATTRIBUTES.items():
        value = getattr(metric, attribute, MISSING)
        # A property, or a field without a default, is looked at where it has a value: in `_faults_of_value`.
        if value is not MISSING and not isinstance(value, property) and not right(value):
            faults.append(f"{attribute}: expected {expected}, found {value!r}")
    if getattr(metric, "name", name) != name:
        faults.append(f"its name is {metric.name!r}, not {name!r}")
    return faults or _faults_of_options(metric) or _faults_of_value(metric)


def _is_frozen(cls: type[AnyMetric]) -> bool:
    """A subclass of a frozen dataclass is one; but fields of its own are no options unless it is decorated."""
    own = [kind for kind in vars(cls).get("__annotations__", {}).values() if "ClassVar" not in str(kind)]
    decorated = "__dataclass_params__" in vars(cls)
    return is_dataclass(cls) and cls.__dataclass_params__.frozen and (decorated or not own)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _are_bounds(value: Any) -> bool:
    numbers = isinstance(value, tuple) and len(value) == 2 and all(isinstance(end, Real) for end in value)
    return numbers and value[0] < value[1]


def _are_needs(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(need, set | frozenset) and need <= INPUTS for need in value)


def _are_texts(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, str) for item in value)


ATTRIBUTES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": (
        lambda value: isinstance(value, str) and NAME.fullmatch(value) is not None,
        "a text without spaces and any of []|.,=:/",
    ),
    "title": (_is_text, "a line on what it measures"),
    "higher_is_better": (lambda value: value is None or isinstance(value, bool), "True, False or None"),
    "bounds": (_are_bounds, "two numbers, the lower first"),
    "needs": (_are_needs, f"a tuple of sets of {', '.join(sorted(INPUTS))}"),
    "parts": (_are_texts, "a tuple of texts"),
    "citations": (_are_texts, "a tuple of texts"),
    "group": (lambda value: value is None or value in GROUP_NAMES, f"one of {', '.join(GROUP_NAMES)}"),
    "resampling": (lambda value: value in ("bootstrap", "jackknife"), '"bootstrap" or "jackknife"'),
}
"""What a metric says of itself: whether a value is right, and what is expected."""


def _faults_of_options(cls: type[AnyMetric]) -> list[str]:
    """Options come as text, so their types must be such as text can be turned into."""
    hints = get_type_hints(cls)
    return [
        f"option {name}: expected bool, int, float, str or a Literal, each also with None, found {hints[field.name]}"
        for name, field in options(cls).items()
        if not _from_text(hints[field.name])
    ]


def _from_text(kind: Any) -> bool:
    choices = get_args(kind)
    if type(None) in choices:
        (kind, *others) = (choice for choice in choices if choice is not type(None))
        return not others and _from_text(kind)
    return kind in TYPES or get_origin(kind) is Literal


def _faults_of_value(cls: type[AnyMetric]) -> list[str]:
    """What the metric with its defaults says of itself, where it has a default for every option."""
    if any(field.default is MISSING for field in options(cls).values()):
        return []
    metric = cls()
    found = {"bounds": metric.limits(""), "higher_is_better": metric.direction("")}
    if not isinstance(recipe := metric.recipe(), dict):
        return [f"recipe: expected a dict, found {recipe!r}"]
    metric.label, [(metric.limits(part), metric.direction(part)) for part in cls.parts]
    return [
        f"{name}: expected {ATTRIBUTES[name][1]}, found {value!r}"
        for name, value in found.items()
        if not ATTRIBUTES[name][0](value)
    ]
