"""The response files of the entailment paper (Dziri et al. 2019): blocks of lines, without a mark between them.

A block is the context, its utterances separated by tabs; the true response; and one response per method.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.reading.source import decode, raw_lines
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError, quote
from dialogauge.tables import counted

_SMALLEST = 3
"""A context, a true response and one method."""


def sniff(head: FileHead) -> bool:
    """Tabs in the first line and then every so many lines, seldom elsewhere."""
    numbers = [number for number, line in head.lines if "\t" in line.strip()]
    size = _block(numbers)
    regular = sum((number - 1) % size == 0 for number in numbers) if size else 0
    return numbers[:1] == [1] and size >= _SMALLEST and regular > len(numbers) / 2


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """The file does not say how many methods there are: tabs do, since only contexts have them: a block is as
    long as most contexts are apart. Methods become `s00`, `s01`,
    ... in the order of their lines, ids count blocks from 0, the true response is the reference. Ratings
    are published apart from these files, as Python pickles, which are not read."""
    size = _size(reading)
    numbered = raw_lines(reading.path)
    position = 0
    while block := list(islice(numbered, size)):
        line = block[0][0]
        with reading.record(line):
            texts = [decode(raw, reading.path, number).strip() for number, raw in block]
            # Files may end in blank lines.
            if any(texts):
                turns = _turns(texts, size, position)
                yield from ((line + place, turn) for place, turn in enumerate(turns, start=2))
        position += 1


def _turns(texts: list[str], size: int, position: int) -> list[Turn]:
    if len(texts) < size:
        raise InputError(f"expected a block of {size} lines, found {counted(len(texts), 'line')}")
    context, truth, *responses = texts
    if not context:
        raise InputError("expected a context, found a blank line")
    odd = next((text for text in (truth, *responses) if "\t" in text), None)
    if odd is not None:
        raise InputError(f"expected tabs in the context only, found {quote(odd)}")
    utterances = tuple(text.strip() for text in context.split("\t"))
    references = (truth,) if truth else ()
    return [
        Turn(str(position), response, utterances, references, f"s{method:02d}")
        for method, response in enumerate(responses)
    ]


def _size(reading: Reading) -> int:
    """The lines of a block. The contexts stand at its multiples."""
    last = 0
    numbers = []
    for last, raw in raw_lines(reading.path):
        if b"\t" in raw.strip():
            numbers.append(last)
    if numbers[:1] != [1]:
        raise InputError("expected a context in the first line, its utterances separated by tabs", reading.path, 1)
    size = _block(numbers) or last
    if size < _SMALLEST:
        found = "tabs in most lines" if len(numbers) > 1 else counted(last, "line")
        raise InputError(f"expected blocks of a context, a true response and others; found {found}", reading.path)
    return size


def _block(numbers: Sequence[int]) -> int:
    """The size of a block, from the numbers of the lines that seem to be contexts; 0 if there is but one."""
    gaps = Counter(after - before for before, after in pairwise(numbers))
    return min(gaps, key=lambda gap: (-gaps[gap], gap), default=0)


ENTAILMENT = Reader("entailment", "a response file of the entailment paper, in blocks of lines", sniff, read)
