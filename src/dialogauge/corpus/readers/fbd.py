"""The annotation files of the FBD paper (Xiang et al. 2021): JSON lines, one context per line, with the
responses of all systems and their mean ratings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dialogauge.corpus.known import KnownCorpus
from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.json import parse_object
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import InputError, describe
from dialogauge.tables import counted

_FIELDS = ("src", "refs", "hyps", "human_scores", "extra")


def sniff(head: FileHead) -> bool:
    return head.record is not None and "hyps" in head.record


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """Ids count lines from 0. Contexts keep their text as it is, blank or not. The files name neither systems nor
    dimensions: unless the file is a known one, systems are `s00`, `s01`, ..., a single dimension is `overall`,
    several are `d0`, `d1`, ..."""
    shape: tuple[int, int] | None = None
    for line, text in reading.lines():
        with reading.record(line):
            record = parse_object(text)
            responses, scores = _responses(record), record.get("human_scores")
            found_shape = len(responses), _dimensions(scores, len(responses))
            shape = shape or found_shape
            _refuse_change(shape, found_shape)
            turns = _turns(record, responses, scores, _Names(str(reading.position(reading.system)), reading.known))
            yield from ((line, turn) for turn in turns)


class _Names(NamedTuple):
    id: str
    known: KnownCorpus | None

    def system(self, place: int) -> str:
        return self.known.systems[place] if self.known else f"s{place:02d}"

    def dimensions(self, number: int) -> Sequence[str]:
        if self.known:
            return self.known.dimensions
        return ["overall"] if number == 1 else [f"d{place}" for place in range(number)]


def _responses(record: Mapping[str, Any]) -> list[str]:
    responses = record.get("hyps")
    if not isinstance(responses, list) or not responses or not all(isinstance(item, str) for item in responses):
        raise InputError(f"hyps: expected a list of strings, one per system, found {describe(responses)}")
    return responses


def _dimensions(scores: Any, systems: int) -> int:
    """How many dimensions are rated; 0 where there are no ratings."""
    if scores is None:
        return 0
    wanted = f"human_scores: expected {counted(systems, 'list')} of numbers, one per response"
    if not isinstance(scores, list) or not all(isinstance(row, list) for row in scores):
        raise InputError(f"{wanted}, found {describe(scores)}")
    if len(scores) != systems:
        raise InputError(f"{wanted}, found {counted(len(scores), 'list')}")
    lengths = {len(row) for row in scores}
    if len(lengths) > 1 or lengths == {0}:
        raise InputError(f"{wanted} and all of one length, found lengths {', '.join(map(str, sorted(lengths)))}")
    return lengths.pop()


def _refuse_change(expected: tuple[int, int], here: tuple[int, int]) -> None:
    if here[0] != expected[0]:
        raise InputError(f"hyps: expected {counted(expected[0], 'response')} as in the lines before, found {here[0]}")
    if here[1] != expected[1]:
        wanted = counted(expected[1], "dimension")
        raise InputError(f"human_scores: expected {wanted} as in the lines before, found {here[1]}")


def _turns(record: Mapping[str, Any], responses: list[str], scores: Any, names: _Names) -> list[Turn]:
    context = record.get("src")
    if not isinstance(context, str):
        raise InputError(f"src: expected text, found {describe(context)}")
    references = fields.references(record, "refs")
    extra = fields.extra(record, _FIELDS)
    return [
        Turn(
            id=names.id,
            response=response,
            context=(context,),
            references=references,
            system=names.system(system),
            ratings=_ratings(scores[system], names) if scores else NOTHING,
            extra=extra,
        )
        for system, response in enumerate(responses)
    ]


def _ratings(scores: list[Any], names: _Names) -> Mapping[str, tuple[float | None, ...]]:
    rated = dict(zip(names.dimensions(len(scores)), scores, strict=True))
    for dimension, score in rated.items():
        fields.rating(score, dimension)
    return fields.ratings(rated)


FBD = Reader("fbd", "an annotation file of the FBD paper", sniff, read)
