"""The FBD paper's files, by the names of the corpora they hold."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dialogauge.corpus import load
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.known import corpora
from dialogauge.errors import InputError


def annotation_file(folder: Path, corpus: str) -> Path:
    """Where a corpus stands; refused where there is no such file."""
    path = folder / f"{corpus.removeprefix('fbd-')}_annotation.json"
    if not path.is_file():
        source = next(known.source.partition(";")[0] for known in corpora() if known.name == corpus)
        raise InputError(f"no such file; expected the folder with the FBD paper's files: {source}", path)
    return path


def load_corpora(folder: Path, names: Iterable[str]) -> dict[str, Corpus]:
    """All files are looked for before any is read."""
    paths = {name: annotation_file(folder, name) for name in names}
    return {name: load(path, reader="fbd") for name, path in paths.items()}
