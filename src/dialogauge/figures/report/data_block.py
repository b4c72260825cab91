"""The turns of a page as JSON that no text in it can close: by column, every text and every context once, packed where
it is large."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dialogauge.stats.arrays import Floats

if TYPE_CHECKING:
    from dialogauge.figures.report.turns import ReportTurns

LARGEST_PLAIN = 5_000_000
"""Bytes of JSON that stand in the page as they are; more of them are packed."""
UNSAFE = re.compile("[<\u2028\u2029\ud800-\udfff]")
DIGITS = 6
"""Significant ones: enough to sort by, in half the room of all."""

MOST_DECIMALS = 9


def data_block(turns: ReportTurns) -> str:
    """The element that the page's script reads."""
    text = to_json(turns)
    data = text.encode("utf-8")
    if len(data) <= LARGEST_PLAIN:
        return f'<script type="application/json" id="turns">{text}</script>'
    packed = base64.b64encode(gzip.compress(data, compresslevel=6, mtime=0)).decode("ascii")
    return f'<script type="text/plain" id="turns" data-packed="gzip">{packed}</script>'


def to_json(turns: ReportTurns) -> str:
    """One object of columns. Names and texts of users are values in it and never keys. What could close the block, ends
    a line in old scripts or stands in no UTF-8 is escaped."""
    found = ", ".join(f"{json.dumps(name)}: {column}" for name, column in _columns(turns).items())
    return UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", f"{{{found}}}")


def decimals_of(values: Floats) -> int:
    """None for whole numbers; else as many as show three digits or four of the largest."""
    found = values[np.isfinite(values)]
    if not len(found) or np.all(found == np.round(found)):
        return 0
    return min(max(3 - round(math.log10(float(np.abs(found).max()))), 0), MOST_DECIMALS)


class Numbering:
    """Things in the order of their first appearance, each once."""

    def __init__(self) -> None:
        self.places: dict[Any, int] = {}

    def place(self, thing: Hashable) -> int:
        return self.places.setdefault(thing, len(self.places))

    def __len__(self) -> int:
        return len(self.places)


def _columns(turns: ReportTurns) -> dict[str, str]:
    """Each as JSON."""
    texts, groups, systems, corpora = Numbering(), Numbering(), Numbering(), Numbering()

    def group(utterances: tuple[str, ...]) -> int:
        return groups.place(tuple(map(texts.place, utterances)))

    group(())
    numbers = {
        "system": [systems.place(turn.system) for turn in turns.turns],
        "response": [texts.place(turn.response) for turn in turns.turns],
        "context": [group(turn.context) for turn in turns.turns],
        "references": [group(turn.references) for turn in turns.turns],
        "facts": [group(turn.facts) for turn in turns.turns],
        "corpus": [corpora.place(corpus) for corpus in turns.corpora],
    }
    return {
        "texts": _json(list(texts.places)),
        "groups": _json(list(groups.places)),
        "systems": _json(list(systems.places)),
        "corpora": _json(list(corpora.places)),
        "kept": _json(turns.texts),
        "ids": _json([turn.id for turn in turns.turns]),
        **{name: _json(column) for name, column in numbers.items()},
        "metrics": _list(_metrics(turns)),
        "ratings": _list(_ratings(turns)),
        "pushes": _list([_named(name, pushes) for name, pushes in turns.pushes.items()]),
        "flags": _json([{"name": name, "places": places} for name, places in turns.flags.items()]),
    }


def _metrics(turns: ReportTurns) -> list[str]:
    names = [metric.name for metric in turns.metrics]
    return [
        _named(
            metric.name,
            turns.values[metric.name],
            better={True: 1, False: -1, None: 0}[metric.higher_is_better],
            decimals=metric.decimals,
            whole=-1 if metric.part_of is None else names.index(metric.part_of),
        )
        for metric in turns.metrics
    ]


def _ratings(turns: ReportTurns) -> list[str]:
    """With what each rater gave, every list of it once; place -1 for a turn whose raters are not known one by one."""
    found = []
    for dimension, means in turns.ratings.items():
        given = Numbering()
        rated = [turn.ratings.get(dimension) for turn in turns.turns]
        places = [-1 if numbers is None else given.place(tuple(numbers)) for numbers in rated]
        found.append(_named(dimension, means, lists=list(given.places), given=places))
    return found


def _named(name: str, values: Floats, **more: Any) -> str:
    said = {"name": name, "decimals": decimals_of(values), **more}
    return f'{_json(said)[:-1]},"values":{_numbers(values)}}}'


def _list(items: Sequence[str]) -> str:
    return f"[{','.join(items)}]"


def _numbers(values: Floats) -> str:
    known = np.isfinite(values).tolist()
    return _list([f"{value:.{DIGITS}g}" if ok else "null" for value, ok in zip(values.tolist(), known, strict=True)])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
