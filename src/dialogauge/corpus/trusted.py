"""Ratings that passed a study's checks, apart from those that did not: `rate --export` marks them, and keeps all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, InputError, quote
from dialogauge.tables import counted

TRUSTED, DIALOGUE_TRUSTED = "trusted", "dialogue_trusted"
"""The fields that say, for each rater of a dimension in the order of the ratings, whether to trust this rating."""
Given = TypeVar("Given")


def trusted_only(corpus: Corpus) -> Corpus:
    """The corpus without the ratings that are marked as not trusted: each is None, as if it had not been given.

    What was left out is counted in a caveat, and so are ratings that nothing is said of, which stay. Where nothing is
    said of any, an `InputError` is raised.
    """
    turns, marked, left, total, unknown = [], 0, 0, 0, 0
    for turn in corpus:
        changed = turn
        for field, given in (("ratings", turn.ratings), ("dialogue_ratings", turn.extra.get("dialogue_ratings") or {})):
            if not given:
                continue
            mark = TRUSTED if field == "ratings" else DIALOGUE_TRUSTED
            kept = trusted_values(given, turn.extra, mark, f"turn {quote(turn.id)} of {quote(turn.system)}")
            said = turn.extra.get(mark) or {}
            marked += sum(dimension in said for dimension in given)
            unknown += sum(_count(values) for dimension, values in given.items() if dimension not in said)
            lost = sum(_count(given[dimension]) - _count(kept[dimension]) for dimension in given)
            left += lost
            total += sum(map(_count, given.values()))
            if lost:
                changed = _with(changed, field, kept)
        turns.append(changed)
    if not marked:
        raise InputError(
            "--trusted: expected ratings with the field `trusted`, which `dialogauge rate --export` writes, found none"
        )
    if left == total:
        raise InputError(f"--trusted: none of the {counted(total, 'rating')} passed the study's checks")
    return replace(corpus, turns=turns, caveats=(*corpus.caveats, *_caveats(left, unknown)))


def trusted_values(
    given: Mapping[str, tuple[Given | None, ...]], extra: Mapping[str, Any], mark: str, whose: str
) -> dict[str, tuple[Given | None, ...]]:
    """What was given, by dimension, with None in place of what the field `mark` says is not to be trusted. Refuses a
    mark that is not one truth value for each rater."""
    marks = extra.get(mark) or {}
    kept = {}
    for dimension, values in given.items():
        trusted = marks.get(dimension) if isinstance(marks, Mapping) else marks
        if trusted is None:
            kept[dimension] = tuple(values)
            continue
        whole = isinstance(trusted, list | tuple) and all(isinstance(each, bool) for each in trusted)
        if not whole or len(trusted) != len(values):
            raise InputError(
                f"{whose}: {mark}: expected true or false for each of the {counted(len(values), 'rating')} of "
                f"{quote(dimension)}, found {trusted!r:.60}"
            )
        kept[dimension] = tuple(value if good else None for value, good in zip(values, trusted, strict=True))
    return kept


def untrusted_turns(turns: Iterable[Turn], dimension: str, of_dialogues: bool, whose: str) -> list[Caveat]:
    """What is to be said of ratings that count though they are marked as not trusted. Those of a dialogue as a whole
    stand with each of its turns, and are one."""
    given: dict[tuple[str, str, str | None], tuple[Sequence[Any], Any]] = {}
    for turn in turns:
        whole = turn.extra.get("dialogue_ratings") if of_dialogues else None
        ratings, mark, name = (whole, DIALOGUE_TRUSTED, turn.dialogue) if whole else (turn.ratings, TRUSTED, turn.id)
        given[turn.system, mark, name] = ratings.get(dimension, ()), turn.extra.get(mark)
    return untrusted_caveats(given.values(), dimension, whose, "rating")


def untrusted_caveats(
    given: Iterable[tuple[Sequence[Any], Any]], dimension: str, whose: str, what: str
) -> list[Caveat]:
    """The same of values with what the field `trusted` says of them. A field that is not one truth value for each rater
    is no mark."""
    failed = total = 0
    for values, said in given:
        total += _count(values)
        marks = said.get(dimension) if isinstance(said, Mapping) else said
        if isinstance(marks, list | tuple) and len(marks) == len(values):
            failed += sum(value is not None and mark is False for value, mark in zip(values, marks, strict=True))
    if not failed:
        return []
    message = f"{whose}: {failed} of {counted(total, what)} failed their study's checks and count here"
    return [Caveat("untrusted_kept", f"{message}; --trusted leaves them out")]


def _with(turn: Turn, field: str, kept: Mapping[str, tuple[float | None, ...]]) -> Turn:
    """Of dialogues, dimensions without any rating stay: where none is there, the turns' own ratings would stand for
    them."""
    if field == "ratings":
        return replace(turn, ratings=kept)
    return replace(turn, extra={**turn.extra, "dialogue_ratings": kept})


def _count(values: Sequence[Any]) -> int:
    return sum(value is not None for value in values)


def _caveats(left: int, unknown: int) -> list[Caveat]:
    caveats = [Caveat("untrusted_left_out", f"{counted(left, 'rating')} left out that failed the study's checks")]
    if unknown:
        message = f"of {counted(unknown, 'rating')} nothing is said on trust; they were kept"
        caveats.append(Caveat("trust_unknown", message))
    return caveats if left else caveats[1:]
