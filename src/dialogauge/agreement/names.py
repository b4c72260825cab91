"""What corpora are called in a table."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, ValuesView
from itertools import chain, count
from os import PathLike
from pathlib import Path
from typing import Any

from dialogauge.agreement.result import MEAN
from dialogauge.corpus import known
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.frames import CorpusLike, as_corpus
from dialogauge.corpus.source import STDIN
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError

Given = CorpusLike | Iterable[CorpusLike] | Mapping[str, CorpusLike]


def name_corpora(given: Given) -> dict[str, Corpus]:
    """By the names given, else by their own."""
    if isinstance(given, Mapping):
        named = {name: as_corpus(corpus) for name, corpus in given.items()}
    else:
        named = {}
        for item in _listed(given):
            corpus = as_corpus(item)
            path = Path(item) if isinstance(item, str | PathLike) else None
            named[free_name(corpus_name(corpus, path), named)] = corpus
    if not named:
        raise InputError("expected at least one corpus, found none")
    if MEAN in named:
        raise InputError(f"no corpus can be called {MEAN!r}: the mean over corpora is")
    return named


def _listed(given: Any) -> list[Any]:
    """The corpora in a list of them; a list of records is one corpus."""
    if not isinstance(given, list | tuple | ValuesView | Iterator):
        return [given]
    items = list(given)
    return [items] if any(isinstance(item, Mapping | Turn) for item in items) else items


def free_name(name: str, taken: Container[str]) -> str:
    """The name, with a number where it is taken."""
    return next(found for found in chain([name], (f"{name} ({n})" for n in count(2))) if found not in taken)


def corpus_name(corpus: Corpus, path: Path | None = None) -> str:
    """That of the public corpus that it is, else the path's or the first file's."""
    public = known.with_contents({file.sha256 for file in corpus.files})
    if len(public) == 1:
        return public[0].name
    if path is None:
        path = Path(corpus.files[0].path) if corpus.files else Path("corpus")
    path = Path("stdin") if path == STDIN else path.resolve()
    name = path.name if path.is_dir() else path.with_suffix("").stem if path.suffix == ".gz" else path.stem
    return name if name and name != MEAN else f"corpus {name}".strip()
