"""What there is to correlate: for each corpus, the levels and dimensions that it has of those asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dialogauge.agreement.points import Level, Scope
from dialogauge.agreement.ratings import choose_dimensions, known_dimensions, ratings_of
from dialogauge.corpus.corpus import Corpus
from dialogauge.errors import Caveat, InputError, unknown

DEFAULT_LEVELS: tuple[Level, ...] = ("turn", "system")
FEWEST = 3
"""Points without which a correlation says nothing."""


def find_scopes(
    corpora: Mapping[str, Corpus], levels: Sequence[Level] | None, dimensions: Sequence[str] | None
) -> tuple[dict[str, list[Scope]], list[Caveat]]:
    """By corpus, found before anything is scored. What some corpora or levels lack is said; refused is what all of them
    lack, and a dimension that none has."""
    _refuse_unknown(corpora, levels or DEFAULT_LEVELS, dimensions)
    found: dict[str, list[Scope]] = {}
    lacking: list[str] = []
    for name, corpus in corpora.items():
        found[name] = []
        for level in levels or DEFAULT_LEVELS:
            chosen = choose_dimensions(corpus, level, dimensions)
            if not chosen:
                lacking.append(f"{name}: no such ratings at {level} level")
            for dimension in chosen:
                lack = _lack(corpus, dimension, level)
                if lack is None:
                    found[name].append(Scope(name, dimension, level))
                elif levels:
                    lacking.append(f"{name}, {dimension}: {lack}")
    if not any(found.values()):
        raise InputError("; ".join(lacking) or "no turn has ratings at turn level; ask for the dialogue level")
    return found, [Caveat("nothing_there", message) for message in lacking]


def _refuse_unknown(corpora: Mapping[str, Corpus], levels: Sequence[Level], dimensions: Sequence[str] | None) -> None:
    """A dimension that no corpus has at any of the levels."""
    if dimensions is None:
        return
    known = dict.fromkeys(
        name for corpus in corpora.values() for level in levels for name in known_dimensions(corpus, level)
    )
    for wanted in dimensions:
        if wanted.casefold() not in {"all", *(name.casefold() for name in known)}:
            raise unknown("dimension", wanted, known)


def _lack(corpus: Corpus, dimension: str, level: Level) -> str | None:
    """What is missing for this level; None where nothing is."""
    rated = [turn for turn in corpus if ratings_of(turn, dimension, level)]
    systems = len({turn.system for turn in rated})
    if level == "system" and systems < FEWEST:
        return f"the system level needs {FEWEST} rated systems or more, found {systems}"
    if level == "dialogue" and all(turn.dialogue is None for turn in rated):
        return "the dialogue level needs turns with a `dialogue`, and none has any"
    return None
