"""Parallel text files: after OpenNMT's fashion (`src-*.txt`, `tgt-*.txt`), or a directory of one line per turn
(`responses.txt`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from dialogauge.corpus.reading.reader import (
    FileHead,
    LocatedTurn,
    Reader,
    Reading,
    aligned,
    part_of,
    sibling,
    utterances,
)
from dialogauge.corpus.reading.records import Utterance, turns
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError, quote

_PART = re.compile(r"(?<![A-Za-z])(src|tgt|per)(?![A-Za-z])")
_SEPARATOR = "</s>"

_NAME = re.compile(r"(contexts|responses|references)(?:[._-](.+))?\.txt(?:\.gz)?")


def sniff_parallel(head: FileHead) -> bool:
    """By its name, since such a file is any text; its partner must stand beside it. Target and persona files
    are recognised too, so that the reader can say which file to give."""
    partner = "tgt" if part_of(head.path, _PART) == "src" else "src"
    return not head.is_directory and sibling(head.path, _PART, partner) is not None


def read_parallel(reading: Reading) -> Iterator[LocatedTurn]:
    """A dialogue begins where the persona changes: two in a row with the same persona become one. Without
    personas, or where they are blank, each pair of lines is a dialogue of its own. Dialogues are named by
    the position of their first line."""
    reading.files = _parallel_files(reading.path)
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


def sniff_directory(head: FileHead) -> bool:
    return head.holds("responses*.txt*")


def read_directory(reading: Reading) -> Iterator[LocatedTurn]:
    """Ids count lines from 0. Utterances of a context are separated by `|||` or by
    tabs, references in one line by tabs; a blank line is no context and no reference, but an empty response.
    `responses.txt` is of a system named after the directory."""
    parts = _directory_files(reading)
    contexts = [path for _, path in parts["contexts"]]
    references = [path for _, path in parts["references"]]
    reading.files = [*contexts, *references, *(path for _, path in parts["responses"])]
    for name, responses in parts["responses"]:
        system = name or reading.system
        for line, texts in aligned(reading, [responses, *contexts, *references]):
            given = [part.strip() for text in texts[1 + len(contexts) :] for part in text.split("\t")]
            turn = Turn(
                id=str(line - 1),
                response=texts[0].strip(),
                context=utterances(texts[1]) if contexts else (),
                references=tuple(part for part in given if part),
                system=system,
                numbered=True,
            )
            yield line, turn


def _parallel_files(source: Path) -> list[Path]:
    part = part_of(source, _PART)
    if part != "src":
        given = sibling(source, _PART, "src")
        hint = f": {quote(given.name)}" if given else ", named src-*.txt"
        raise InputError(f"expected the source file of parallel files{hint}; the others are found from it", source)
    target = sibling(source, _PART, "tgt")
    if target is None:
        name = quote(_PART.sub("tgt", source.name))
        raise InputError(f"expected the target file {name} beside this source file, found none", source)
    persona = sibling(source, _PART, "per")
    return [source, target, *([persona] if persona else [])]


def _directory_files(reading: Reading) -> dict[str, list[tuple[str, Path]]]:
    """The files of each kind, with the name that tells them apart, in the order of these names."""
    parts: dict[str, list[tuple[str, Path]]] = {"contexts": [], "responses": [], "references": []}
    for path in sorted(reading.path.glob("*.txt*")):
        match = _NAME.fullmatch(path.name)
        if match and path.is_file():
            parts[match[1]].append((match[2] or "", path))
    if not parts["responses"]:
        raise InputError("expected a directory with responses.txt or responses.SYSTEM.txt", reading.path)
    for kind in ("contexts", "responses"):
        names = [name for name, _ in parts[kind]]
        if len(names) > (1 if kind == "contexts" else len(set(names))):
            both = " and ".join(quote(path.name) for _, path in parts[kind])
            raise InputError(
                f"expected one file of {kind}{' a system' * (kind != 'contexts')}, found {both}", reading.path
            )
    return parts


PARALLEL = Reader("parallel", "src-*.txt with tgt-*.txt and per-*.txt beside it", sniff_parallel, read_parallel)

TEXT = Reader(
    "text", "a directory with contexts.txt, responses.SYSTEM.txt and references.txt", sniff_directory, read_directory
)
