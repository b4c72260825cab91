"""A study's ratings as JSON lines that every verb reads: the turns as they came, with what people gave them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat
from dialogauge.people.rating.answers import AssignedItem, StudyState, read_state
from dialogauge.people.rating.planning import turn_of
from dialogauge.people.rating.questions import Value
from dialogauge.people.rating.store import Store
from dialogauge.people.rating.trust import summarise_raters
from dialogauge.tables import counted, printable

CHOSEN = ("probability", "stratum")
"""What `plan --choose` says of a turn: it stands beside the fields of a turn, as it came."""


def export_lines(store: Store) -> tuple[Iterator[str], list[Caveat]]:
    """One line for every turn of the study in the order of its file, rated or not; of pairs, for every pair. With them
    what the reader must know.

    `ratings` has a number for each person who rated the turn, None where the question did not apply; `raters` their
    names in the same order, `trusted` whether to trust each. Attention checks, practice and repeats are no ratings of
    a turn, and are left out."""
    state = read_state(store)
    with store.reading() as db:
        turns = [turn_of(text) for (text,) in db.execute("SELECT record FROM turn ORDER BY id")]
    trust = _Trust(state)
    if state.settings.pairwise:
        lines = _pairs(state, turns, trust)
    else:
        lines = _turns(state, turns, trust)
    return (printable(json.dumps(line, ensure_ascii=False, allow_nan=False)) for line in lines), caveats(state, trust)


class _Trust:
    """Which answers can be trusted, and what raters are called."""

    def __init__(self, state: StudyState) -> None:
        summaries = summarise_raters(state)
        self.names = {summary.rater.id: summary.name for summary in summaries}
        self._raters = {summary.rater.id for summary in summaries if summary.trusted}

    def holds(self, answer: AssignedItem) -> bool:
        return answer.rater in self._raters and not answer.fast

    def fields(self, ratings: Sequence[AssignedItem], dimensions: Sequence[str], prefix: str = "") -> dict[str, Any]:
        """Who rated, and whether to trust each, by dimension."""
        if not ratings:
            return {}
        names = [self.names[answer.rater] for answer in ratings]
        held = [self.holds(answer) for answer in ratings]
        return {
            f"{prefix}raters": dict.fromkeys(dimensions, names),
            f"{prefix}trusted": dict.fromkeys(dimensions, held),
        }


def caveats(state: StudyState, trust: _Trust) -> list[Caveat]:
    """What is missing, and what failed."""
    found = []
    wanted = len(state.of_item) * state.settings.raters
    given = [answer for ratings in state.of_item.values() for answer in ratings]
    if len(given) < wanted:
        message = f"the study is not done: {len(given):,} of {counted(wanted, 'rating')} are there"
        found.append(Caveat("unfinished_study", message))
    if failed := sum(not trust.holds(answer) for answer in given):
        message = f"{counted(failed, 'rating')} of {len(given):,} failed the study's checks; --trusted leaves them out"
        found.append(Caveat("untrusted_ratings", message))
    return found


def _turns(state: StudyState, turns: Sequence[Turn], trust: _Trust) -> Iterator[dict[str, Any]]:
    dimensions = [question.dimension for question in state.settings.questions]
    whole = state.settings.unit == "dialogue"
    rated = {place: item.id for item in state.items.values() if item.kind == "rated" for place in item.turns}
    for place, turn in enumerate(turns):
        ratings = state.of_item[rated[place]] if place in rated else []
        given = _given(ratings, dimensions)
        extra = dict(turn.extra)
        if whole:
            ours = {"dialogue_ratings": given, **trust.fields(ratings, dimensions, "dialogue_")} if given else {}
            own: Mapping[str, Any] = turn.ratings
        else:
            ours = trust.fields(ratings, dimensions)
            own = {**turn.ratings, **given}
        for name, value in ours.items():
            ours[name] = {**_mapping(extra.pop(name, None)), **value}
        line = {**_texts(turn), "system": turn.system, "ratings": _plain(own), "dialogue": turn.dialogue}
        line |= {name: extra.pop(name) for name in CHOSEN if name in extra}
        yield _present({**line, "facts": turn.facts, **ours, "extra": extra})


def _pairs(state: StudyState, turns: Sequence[Turn], trust: _Trust) -> Iterator[dict[str, Any]]:
    dimensions = [question.dimension for question in state.settings.questions]
    for id, ratings in state.of_item.items():
        a, b = (turns[place] for place in state.items[id].turns)
        line: dict[str, Any] = {"id": a.id, "context": a.context, "dialogue": a.dialogue, "facts": a.facts}
        line |= {"a": _side(a), "b": _side(b), "preferences": _given(ratings, dimensions)}
        chosen = {name: a.extra[name] for name in CHOSEN if name in a.extra}
        yield _present({**line, **trust.fields(ratings, dimensions), **chosen})


def _side(turn: Turn) -> dict[str, Any]:
    extra = {name: value for name, value in turn.extra.items() if name not in CHOSEN}
    own = {"references": turn.references, "ratings": _plain(turn.ratings), "extra": extra}
    return {"system": turn.system, "response": turn.response, **{name: value for name, value in own.items() if value}}


def _texts(turn: Turn) -> dict[str, Any]:
    return {"id": turn.id, "context": turn.context, "response": turn.response, "references": turn.references}


def _given(ratings: Sequence[AssignedItem], dimensions: Sequence[str]) -> dict[str, list[Value]]:
    if not ratings:
        return {}
    return {name: [_whole(answer.values.get(name)) for answer in ratings] for name in dimensions}


def _plain(ratings: Mapping[str, Sequence[Value]]) -> dict[str, list[Value]]:
    return {dimension: [_whole(value) for value in values] for dimension, values in ratings.items()}


def _whole(value: Value) -> Value:
    """4, not 4.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _present(line: Mapping[str, Any]) -> dict[str, Any]:
    """Missing is absent; a response may be empty."""
    return {name: value for name, value in line.items() if name == "response" or value not in (None, (), {}, [])}
