"""The caveats of many perturbed corpora as few, so that a reader sees each thing once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dialogauge.errors import Caveat

NUMBER = re.compile(r"(?<![\w.=])\d+(?:\.\d+)?(?![\w\]])")
"""A number that stands by itself, not as part of a name or as an option's value."""
PLURAL = re.compile(r"s\b")

Place = tuple[str, float]
"""A kind of perturbation and a ratio."""


def merge_caveats(base: Sequence[Caveat], perturbed: Mapping[Place, Sequence[Caveat]]) -> list[Caveat]:
    """The caveats of the corpus as it is, then those that only perturbed corpora have. Of these, such as differ in
    their numbers alone become one: that of the largest ratio of the first kind, with where it was found."""
    alike: dict[tuple[str, str], list[tuple[Place, Caveat]]] = {}
    for place, caveats in perturbed.items():
        for caveat in caveats:
            if caveat not in base:
                alike.setdefault((caveat.code, number_free(caveat.message)), []).append((place, caveat))
    return [*dict.fromkeys(base), *map(_one_for_all, alike.values())]


def number_free(message: str) -> str:
    """What is left of a message without its numbers: the same for messages that differ in nothing else."""
    return PLURAL.sub("", NUMBER.sub("#", message))


def _one_for_all(caveats: Sequence[tuple[Place, Caveat]]) -> Caveat:
    (kind, ratio), caveat = max(
        (pair for pair in caveats if pair[0][0] == caveats[0][0][0]), key=lambda pair: pair[0][1]
    )
    others = len({place for place, _ in caveats}) - 1
    more = f"; the like in {others} more of the perturbed corpora" if others else ""
    return Caveat(caveat.code, f"{caveat.message} ({kind} at ratio {ratio:g}{more})")
