"""A directory of plain text files, one line per turn: `responses.txt`, or `responses.SYSTEM.txt` for each system;
`contexts.txt`; and `references.txt`, or `references.1.txt`, `references.2.txt`, ... for several."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from dialogauge.corpus.aligned import aligned, utterances
from dialogauge.corpus.head import FileHead
from dialogauge.corpus.quote import quote
from dialogauge.corpus.reading import LocatedTurn, Reader, Reading
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError

_NAME = re.compile(r"(contexts|responses|references)(?:[._-](.+))?\.txt(?:\.gz)?")


def sniff(head: FileHead) -> bool:
    return head.holds("responses*.txt*")


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """Ids count lines from 0. Utterances of a context are separated by `|||` or by
    tabs, references in one line by tabs; a blank line is no context and no reference, but an empty response.
    `responses.txt` is of a system named after the directory."""
    parts = _parts(reading)
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


def _parts(reading: Reading) -> dict[str, list[tuple[str, Path]]]:
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


TEXT = Reader("text", "a directory with contexts.txt, responses.SYSTEM.txt and references.txt", sniff, read)
