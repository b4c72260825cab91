"""What can be put on a screen: turns, pairs of replies, whole dialogues, practice, and attention checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

import numpy as np

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.dialogues import dialogues
from dialogauge.corpus.turn import Turn, unit_of
from dialogauge.errors import Caveat, InputError, quote, unknown
from dialogauge.people.rating.settings import StudySettings
from dialogauge.studies.perturb import perturb
from dialogauge.tables import counted
from dialogauge.text.words import SPACED_WORD

Form = Literal["turn", "pair", "dialogue"]
MOST_CHECKS = 200
TELLING_WORDS = 4
"""Shorter replies fit many contexts: they make checks only where there are no others."""
_BETWEEN = "\x1f"


@dataclass(frozen=True)
class StudyItem:
    """One screen's content, whoever sees it. `turns` are places in the corpus; practice and checks have none."""

    kind: Literal["rated", "check", "practice"]
    form: Form
    context: tuple[str, ...]
    responses: tuple[str, ...]
    """One reply or two; of a dialogue none: all of it stands in `context`."""
    facts: tuple[str, ...] = ()
    turns: tuple[int, ...] = ()
    systems: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    """Items of one group show the same context."""
    expected: Mapping[str, Any] | None = None
    """Of a check: the dimension, and the most that an attentive rater gives, or the side that is not chosen."""
    feedback: str = ""

    @property
    def shown(self) -> dict[str, Any]:
        return {"context": self.context, "responses": self.responses, "facts": self.facts}


@dataclass(frozen=True)
class StudyItems:
    """All items of a study, with what its organiser must know of them."""

    rated: list[StudyItem]
    checks: list[StudyItem]
    practice: list[StudyItem]
    caveats: list[Caveat] = field(default_factory=list)

    @property
    def groups(self) -> list[list[int]]:
        """The places of the rated items of each context."""
        found: dict[tuple[str, ...], list[int]] = {}
        for place, item in enumerate(self.rated):
            found.setdefault(item.group, []).append(place)
        return list(found.values())


def make_items(corpus: Corpus, settings: StudySettings, rng: np.random.Generator) -> StudyItems:
    """Refuses turns that cannot be shown or that have ratings of the same name already."""
    if not settings.pairwise:  # preferences stand apart from ratings
        _refuse_rated(corpus, settings)
    caveats: list[Caveat] = []
    if settings.pairwise:
        rated = _pairs(corpus, settings.against, caveats)
    elif settings.unit == "dialogue":
        rated = _dialogues(corpus)
    else:
        rated = _turns(corpus)
    checks = _checks(corpus, settings, rng, caveats) if settings.check_every else []
    if checks and settings.doubtful_checks and not settings.pairwise:
        name = settings.checked_question.dimension
        message = f"attention checks take a mismatched reply for one that is rated low on {quote(name)}"
        caveats.append(Caveat("doubtful_checks", f"{message}; --check-on names another question, --check-every 0 none"))
    return StudyItems(rated, checks, _practice(settings), caveats)


def transcript(turns: Sequence[Turn]) -> tuple[str, ...]:
    """All that was said in the turns of a dialogue, each utterance once: contexts may hold everything before, the last
    few utterances, or nothing."""
    said: tuple[str, ...] = ()
    for turn in turns:
        whole = (*turn.context, turn.response)
        if whole[: len(said)] == said:
            said = whole
            continue
        overlap = next(
            n for n in range(min(len(said), len(turn.context)), -1, -1) if said[len(said) - n :] == whole[:n]
        )
        said += whole[overlap:]
    return said


def _refuse_rated(corpus: Corpus, settings: StudySettings) -> None:
    asked = {question.dimension for question in settings.questions}
    field = "dialogue_ratings" if settings.unit == "dialogue" else "ratings"
    for turn in corpus:
        have = turn.extra.get("dialogue_ratings") or {} if settings.unit == "dialogue" else turn.ratings
        if again := asked & set(have):
            name = min(again)
            raise InputError(
                f"turn {quote(turn.id)} of {quote(turn.system)} has {field} of {quote(name)} already, which the study "
                f'would be mixed up with; ask under another name, as --ask "{name}_new 1-5", or leave them out'
            )


def _turns(corpus: Corpus) -> list[StudyItem]:
    return [
        StudyItem(
            "rated", "turn", turn.context, (turn.response,), turn.facts, (place,), (turn.system,), _context_of(turn)
        )
        for place, turn in enumerate(corpus)
    ]


def _dialogues(corpus: Corpus) -> list[StudyItem]:
    items = []
    for places in dialogues(corpus.turns):
        turns = [corpus.turns[place] for place in places]
        first = turns[0]
        if first.dialogue is None:
            raise InputError(
                f"--unit dialogue: turn {quote(first.id)} of {quote(first.system)} belongs to no dialogue; give turns "
                "the field `dialogue`, or rate them one by one"
            )
        facts = tuple(dict.fromkeys(fact for turn in turns for fact in turn.facts))
        items.append(
            StudyItem("rated", "dialogue", transcript(turns), (), facts, tuple(places), (first.system,), unit_of(first))
        )
    return items


def _pairs(corpus: Corpus, against: str | None, caveats: list[Caveat]) -> list[StudyItem]:
    """Every two systems' replies to one context, the system that stands first in the corpus first. Pairs of equal texts
    are left out and counted."""
    if len(corpus.systems) < 2:
        raise InputError(f"--pairwise: expected two systems or more, found {len(corpus.systems)}")
    if against is not None and against not in corpus.systems:
        raise unknown("system", against, corpus.systems)
    ranks = {system: rank for rank, system in enumerate(corpus.systems)}
    answered: dict[tuple[str, ...], list[int]] = {}
    for place, turn in enumerate(corpus):
        answered.setdefault((turn.id, *turn.context), []).append(place)
    items, equal, alone = [], 0, 0
    for places in answered.values():
        places.sort(key=lambda place: ranks[corpus.turns[place].system])
        alone += len(places) == 1
        for pair in combinations(places, 2):
            a, b = (corpus.turns[place] for place in pair)
            if against is not None and against not in (a.system, b.system):
                continue
            if a.response == b.response:
                equal += 1
                continue
            replies, systems = (a.response, b.response), (a.system, b.system)
            items.append(StudyItem("rated", "pair", a.context, replies, a.facts, pair, systems, _context_of(a)))
    if equal:
        message = f"{counted(equal, 'pair')} of equal replies left out: win rates are of replies that differ"
        caveats.append(Caveat("equal_replies", message))
    if alone:
        caveats.append(Caveat("unpaired", f"{counted(alone, 'turn')} left out: no other system has its id and context"))
    if not items:
        raise InputError("--pairwise: no two systems have different replies to the same id and context")
    return items


def _context_of(turn: Turn) -> tuple[str, ...]:
    return ("context", *turn.context) if turn.context else ("id", turn.id)


def _checks(
    corpus: Corpus, settings: StudySettings, rng: np.random.Generator, caveats: list[Caveat]
) -> list[StudyItem]:
    """Mismatched replies: each is a real reply (a reference where there is one) to another context. Of every unit of
    dependent turns one context is taken, so that no reply comes from the same conversation."""
    by_unit: dict[tuple[str, str], list[Turn]] = {}
    for turn in corpus:
        by_unit.setdefault(unit_of(turn), []).append(turn)
    real = {}
    for turns in by_unit.values():
        turn = turns[int(rng.integers(len(turns)))]
        if settings.unit == "dialogue":
            turns = [other for other in turns if other.system == turn.system]
            real[f"{turn.system}\0{turn.dialogue}"] = _replies_of(transcript(turns)), transcript(turns), turn
        elif turn.context:
            real[f"{turn.system}\0{turn.id}"] = (turn.references or (turn.response,))[0], turn.context, turn
    telling = {name for name, (reply, _, _) in real.items() if len(SPACED_WORD.findall(reply)) >= TELLING_WORDS}
    names = [name for name in real if len(telling) < 2 or name in telling]
    bare = Corpus([Turn(name, real[name][0], real[name][1]) for name in names])
    changed = perturb(bare, "mismatch", 1.0, int(rng.integers(2**31))).turns if len(names) > 1 else []
    checks = []
    for turn in changed:
        reply, context, source = real[turn.id]
        said = {other.response for other in by_unit[unit_of(source)]} | set(source.references) | {reply}
        if turn.response not in said and turn.response.strip():
            checks.append(_check(settings, source, context, reply, turn.response))
    if not checks:
        message = "no attention checks: they need replies from two conversations or contexts at least, that differ"
        caveats.append(Caveat("no_checks", message))
    return [checks[place] for place in rng.permutation(len(checks))[:MOST_CHECKS]]


def _check(settings: StudySettings, source: Turn, context: tuple[str, ...], reply: str, wrong: str) -> StudyItem:
    question = settings.checked_question
    group = unit_of(source) if settings.unit == "dialogue" else _context_of(source)
    expected: dict[str, Any] = {"dimension": question.dimension}
    if settings.pairwise:
        expected["not"] = "b"
        return StudyItem("check", "pair", context, (reply, wrong), source.facts, group=group, expected=expected)
    expected["most"] = question.middle
    if settings.unit == "dialogue":
        return StudyItem(
            "check", "dialogue", _interleaved(context, wrong), (), source.facts, group=group, expected=expected
        )
    return StudyItem("check", "turn", context, (wrong,), source.facts, group=group, expected=expected)


def _replies_of(said: Sequence[str]) -> str:
    """What the system said in a dialogue: it has the last word, and speakers take turns."""
    return _BETWEEN.join(said[::-1][::2][::-1])


def _interleaved(said: Sequence[str], wrong: str) -> tuple[str, ...]:
    """The dialogue with another one's replies in place of the system's."""
    replies, mixed = wrong.split(_BETWEEN), list(said)
    for number, place in enumerate(range((len(said) - 1) % 2, len(said), 2)):
        mixed[place] = replies[number % len(replies)]
    return tuple(mixed)


_PRACTICE = (
    (
        ("Hi! I just came back from a week at the sea.", "Oh nice, how was the weather?"),
        "Mostly sunny, with one big storm on the last day.",
        "My keyboard has a hundred and four keys.",
    ),
    (
        ("Do you know a good place for lunch around here?",),
        "There is a small noodle place on the corner that I like a lot.",
        "I do not eat planets, thank you.",
    ),
)
_FITS = "The reply answers what was said before: most people rate it high."
_DOES_NOT_FIT = "The reply has nothing to do with what was said before: most people rate it low."
_ONE_FITS = (
    "One reply answers what was said, the other has nothing to do with it: most people choose the one that answers."
)


def _practice(settings: StudySettings) -> list[StudyItem]:
    """Those given; of pairs, two turns of one context and id are a pair. Else ours, in English."""
    if settings.practice is not None:
        given = Corpus(list(settings.practice))
        if not given.turns:
            return []
        made = (
            _pairs(given, None, [])
            if settings.pairwise
            else _dialogues(given)
            if settings.unit == "dialogue"
            else _turns(given)
        )
        return [
            StudyItem("practice", item.form, item.context, item.responses, item.facts, feedback=_explained(given, item))
            for item in made
        ]
    if settings.pairwise:
        return [StudyItem("practice", "pair", said, (good, bad), feedback=_ONE_FITS) for said, good, bad in _PRACTICE]
    (first, good, _), (second, _, bad) = _PRACTICE
    if settings.unit == "dialogue":
        shown = [((*first, good), _FITS.replace("reply", "last reply")), ((*second, bad), _DOES_NOT_FIT)]
        return [StudyItem("practice", "dialogue", said, (), feedback=told) for said, told in shown]
    return [
        StudyItem("practice", "turn", first, (good,), feedback=_FITS),
        StudyItem("practice", "turn", second, (bad,), feedback=_DOES_NOT_FIT),
    ]


def _explained(corpus: Corpus, item: StudyItem) -> str:
    """The field `feedback` of the practice turns."""
    told = (corpus.turns[place].extra.get("feedback") for place in item.turns)
    return " ".join(dict.fromkeys(text for text in told if isinstance(text, str)))
