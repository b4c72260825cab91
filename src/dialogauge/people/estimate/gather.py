"""All turns, and what people said of some: ratings in the turns' own file, in a study's export, as a list, or pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from dialogauge.corpus.corpus import Corpus, SourceFile
from dialogauge.corpus.frames import CorpusLike, as_corpus
from dialogauge.corpus.load import load
from dialogauge.corpus.rated_pairs import RatedPair, holds_rated_pairs, read_rated_pairs
from dialogauge.corpus.ratings import join_ratings
from dialogauge.corpus.readers.turns import header_of
from dialogauge.corpus.reading.columns import holds_responses
from dialogauge.corpus.reading.reader import FileHead
from dialogauge.corpus.reading.source import STDIN, refuse_missing, sha256_since, state_of
from dialogauge.corpus.trusted import trusted_only
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import InputError, quote
from dialogauge.people.estimate.samples import PROBABILITY

BY_DIMENSION = ("raters", "trusted", "dialogue_ratings", "dialogue_raters", "dialogue_trusted")
"""Fields of a study's export that say something for each dimension."""
Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


def gather(given: CorpusLike, ratings: Paths | None = None, *, trusted: bool = False) -> tuple[Corpus, list[RatedPair]]:
    """The turns with their ratings, and the pairs that people chose between. `ratings` are files with what people
    said; files of turns may be such of pairs themselves."""
    corpus = as_corpus(given)
    pairs = pairs_in(given, trusted=trusted) if isinstance(given, str | PathLike) or _are_paths(given) else []  # type: ignore[arg-type]
    lists = []
    for path in _listed(ratings):
        refuse_missing(path)
        if holds_rated_pairs(path):
            state = state_of(path)
            own, caveats = read_rated_pairs(path, trusted=trusted)
            file = SourceFile(str(path), sha256_since(path, state), "pairwise")
            corpus = replace(corpus, files=(*corpus.files, file), caveats=(*corpus.caveats, *caveats))
            corpus = _join_chances(corpus, [side for pair in own for side in (pair.a, pair.b)], path)
            pairs += own
        elif _holds_turns(path):
            corpus = _join_turns(corpus, path)
        else:
            lists.append(path)
    corpus = join_ratings(corpus, lists)
    if trusted and any(turn.ratings or turn.extra.get("dialogue_ratings") for turn in corpus):
        corpus = trusted_only(corpus)
    return corpus, pairs


def pairs_in(paths: Paths, *, trusted: bool = False, skip_invalid: bool = False) -> list[RatedPair]:
    """The pairs of those files that hold any; what else is to be said of them, reading their turns has said."""
    found = []
    for path in _listed(paths):
        if path != STDIN and holds_rated_pairs(path):
            found += read_rated_pairs(path, trusted=trusted, skip_invalid=skip_invalid)[0]
    return found


def _join_turns(corpus: Corpus, path: Path) -> Corpus:
    """The corpus with the ratings that stand with the turns of another file, such as a study's export, and with what
    else it says of them (`probability`, `trusted`)."""
    study = load(path)
    places = _refuse_other_replies(corpus, study.turns, path)
    turns = list(corpus.turns)
    for rated in study:
        if not rated.ratings and not rated.extra.get("dialogue_ratings"):
            continue
        own = turns[places[rated.system, rated.id]]
        for dimension in rated.ratings:
            if dimension in own.ratings and own.ratings[dimension] != rated.ratings[dimension]:
                whose = f"turn {quote(rated.id)} of {quote(rated.system)}"
                raise InputError(
                    f"{whose} has other ratings of {quote(dimension)} in the corpus; which are meant?", path
                )
        ratings = {**own.ratings, **rated.ratings} or NOTHING
        turns[places[rated.system, rated.id]] = replace(own, ratings=ratings, extra=_joined(own, rated, path))
    return replace(corpus, turns=turns, files=(*corpus.files, *study.files), caveats=(*corpus.caveats, *study.caveats))


def _join_chances(corpus: Corpus, sides: Sequence[Turn], path: Path) -> Corpus:
    """The corpus with how likely the turns of pairs were to be chosen."""
    places = _refuse_other_replies(corpus, sides, path)
    turns = list(corpus.turns)
    for side in sides:
        if PROBABILITY in side.extra:
            place = places[side.system, side.id]
            _refuse_other_chance(turns[place], side, path)
            turns[place] = replace(turns[place], extra={**turns[place].extra, PROBABILITY: side.extra[PROBABILITY]})
    return replace(corpus, turns=turns)


def _joined(own: Turn, rated: Turn, path: Path) -> dict[str, Any]:
    """What both say beside the ratings; what is said by dimension, of the dimensions of both."""
    _refuse_other_chance(own, rated, path)
    joined = {**own.extra, **rated.extra}
    for name in BY_DIMENSION:
        both = [turn.extra[name] for turn in (own, rated) if isinstance(turn.extra.get(name), Mapping)]
        if both:
            joined[name] = {dimension: value for each in both for dimension, value in each.items()}
    return joined


def _refuse_other_chance(own: Turn, rated: Turn, path: Path) -> None:
    known, said = (turn.extra.get(PROBABILITY) for turn in (own, rated))
    if known is not None and said is not None and known != said:
        whose = f"turn {quote(rated.id)} of {quote(rated.system)}"
        both = f"{whose} was chosen with probability {said}, elsewhere with {known}"
        raise InputError(f"{both}; estimate from those of one choice", path)


def _refuse_other_replies(corpus: Corpus, rated: Sequence[Turn], path: Path) -> dict[tuple[str, str], int]:
    """The places of the corpus's turns by system and id; refuses rated turns that it has not, or not with this text."""
    places = {(turn.system, turn.id): place for place, turn in enumerate(corpus.turns)}
    for turn in rated:
        whose = f"id {quote(turn.id)} of system {quote(turn.system)}"
        place = places.get((turn.system, turn.id))
        if place is None:
            raise InputError(f"{whose} was rated, and the corpus has no such turn; are these its responses?", path)
        if (known := corpus.turns[place].response) != turn.response:
            message = f"people rated the reply {quote(turn.response)}, the corpus has {quote(known)}"
            raise InputError(f"{whose}: {message}", path)
    return places


def _holds_turns(path: Path) -> bool:
    """Whether a file has turns, rather than a rating in each row."""
    if path.is_dir():
        return True
    head = FileHead.read(path)
    names: Any = head.record or head.item or header_of(head)
    return bool(holds_responses(names, {})) if names else "value" not in head.first_line


def _are_paths(given: Any) -> bool:
    return isinstance(given, list | tuple) and bool(given) and all(isinstance(each, str | PathLike) for each in given)


def _listed(paths: Paths | None) -> list[Path]:
    if paths is None:
        return []
    return [Path(paths)] if isinstance(paths, str | PathLike) else [Path(path) for path in paths]
