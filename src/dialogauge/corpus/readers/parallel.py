"""Parallel text files after OpenNMT's fashion: `src-*.txt`, `tgt-*.txt` and, if there is one, `per-*.txt`.

Line i of each belongs together: an utterance, the answer to it, and the persona of the one who answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from dialogauge.corpus.aligned import aligned
from dialogauge.corpus.conversation import Utterance, turns
from dialogauge.corpus.head import FileHead
from dialogauge.corpus.quote import quote
from dialogauge.corpus.reading import LocatedTurn, Reader, Reading
from dialogauge.errors import InputError

_PART = re.compile(r"(?<![A-Za-z])(src|tgt|per)(?![A-Za-z])")
_SEPARATOR = "</s>"


def sniff(head: FileHead) -> bool:
    """By its name, since such a file is any text; its partner must stand beside it. Target and persona files
    are recognised too, so that the reader can say which file to give."""
    return not head.is_directory and _sibling(head.path, "tgt" if _part(head.path) == "src" else "src") is not None


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """A dialogue begins where the persona changes: two in a row with the same persona become one. Without
    personas, or where they are blank, each pair of lines is a dialogue of its own. Dialogues are named by
    the position of their first line."""
    reading.files = _files(reading.path)
    dialogue, utterances, before = 0, list[Utterance](), ""
    for line, (source, target, *personas) in aligned(reading, reading.files):
        persona = personas[0] if personas else ""
        if persona != before or not persona.strip():
            if utterances:
                yield from turns(dialogue, utterances, reading)
            dialogue, utterances, before = line - 1, [], persona
        facts = tuple(fact.strip() for fact in persona.split(_SEPARATOR) if fact.strip())
        utterances += [
            Utterance(line, source.strip(), reading.system),
            Utterance(line, target.strip(), reading.system, facts),
        ]
    if utterances:
        yield from turns(dialogue, utterances, reading)


def _files(source: Path) -> list[Path]:
    part = _part(source)
    if part != "src":
        given = _sibling(source, "src")
        hint = f": {quote(given.name)}" if given else ", named src-*.txt"
        raise InputError(f"expected the source file of parallel files{hint}; the others are found from it", source)
    target = _sibling(source, "tgt")
    if target is None:
        name = quote(_PART.sub("tgt", source.name))
        raise InputError(f"expected the target file {name} beside this source file, found none", source)
    persona = _sibling(source, "per")
    return [source, target, *([persona] if persona else [])]


def _part(path: Path) -> str | None:
    match = _PART.search(path.name)
    return match[1] if match else None


def _sibling(path: Path, part: str) -> Path | None:
    """The file with the same name but for the part; it may be compressed where this one is not."""
    if _part(path) is None:
        return None
    name = _PART.sub(part, path.name, count=1)
    candidates = (path.with_name(each) for each in (name, f"{name}.gz", name.removesuffix(".gz")))
    return next((each for each in candidates if each != path and each.is_file()), None)


PARALLEL = Reader("parallel", "src-*.txt with tgt-*.txt and per-*.txt beside it", sniff, read)
