"""Files that keep a format's shape and hold odd values in it, for fuzzing readers."""

from __future__ import annotations

import json
from random import Random
from typing import Any

_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 3, 2.5, 1e300, 10**400, float("nan"), float("inf")),
    *("", " ", "a", "é\u2028b", "N/A (none)", "[1, 2]", "[1, [", "NaN", "\ud800", "User:", "a\tb\nc", "x" * 500),
    *([], {}, [[]], [None], ["a", 1], {"a": None}, {"": {}}),
)
_PIECES = ("", " ", "a", "é", "\t", "\t\t", "|||", ",", '"', '""', "\r", "\ufeff", "__eou__", "1 ", "-0.5", "nan", "\0")


def generate(content: bytes, random: Random) -> bytes:
    """The content with values replaced, lost or doubled: of JSON anywhere inside, of other text line by line."""
    text = content.decode("utf-8", errors="replace")
    try:
        return json.dumps(_changed(json.loads(text), random), indent=random.choice([None, 1])).encode()
    except ValueError:
        lines = [_line(line, random) for line in text.split("\n")]
        if random.random() < 0.2:
            random.shuffle(lines)
        return "\n".join(lines).encode("utf-8", errors="replace")


def _line(line: str, random: Random) -> str:
    if random.random() < 0.7:
        return line
    try:
        return json.dumps(_changed(json.loads(line), random))
    except ValueError:
        place = random.randrange(len(line) + 1)
        pieces = "".join(random.choice(_PIECES) for _ in range(random.randint(0, 3)))
        return random.choice([line[:place] + pieces + line[place:], line[:place] + pieces, pieces, f"{line}\n{line}"])


def _changed(value: Any, random: Random, chance: float = 0.05) -> Any:
    if random.random() < chance:
        return random.choice(_VALUES)
    if isinstance(value, list):
        kept = [_changed(item, random, chance) for item in value if random.random() > chance]
        return kept * random.choice([1, 1, 1, 1, 2])
    if isinstance(value, dict):
        return {
            random.choice([key, key.upper(), "x"]) if random.random() < chance else key: _changed(item, random, chance)
            for key, item in value.items()
            if random.random() > chance
        }
    return value
