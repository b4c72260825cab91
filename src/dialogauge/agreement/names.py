"""What corpora are called in a table."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import chain, count
from pathlib import Path

from dialogauge.agreement.result import MEAN
from dialogauge.corpus import known
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.source import STDIN
from dialogauge.errors import InputError

Given = Corpus | Sequence[Corpus] | Mapping[str, Corpus]


def name_corpora(corpora: Given) -> dict[str, Corpus]:
    """By the names given, else by their own."""
    if isinstance(corpora, Mapping):
        named = dict(corpora)
    else:
        listed = [corpora] if isinstance(corpora, Corpus) else list(corpora)
        named = {}
        for corpus in listed:
            named[free_name(corpus_name(corpus), named)] = corpus
    if not named:
        raise InputError("expected at least one corpus, found none")
    if MEAN in named:
        raise InputError(f"no corpus can be called {MEAN!r}: the mean over corpora is")
    return named


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
