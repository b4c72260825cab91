"""Word vectors from a GloVe or word2vec file: `static:PATH`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dialogauge.encode.base import Split, Tokens
from dialogauge.encode.folders import cache_folder
from dialogauge.encode.static_base import StaticEncoder
from dialogauge.encode.vector_cache import cached_store
from dialogauge.encode.vector_store import WordVectorStore
from dialogauge.files import expanded
from dialogauge.text.words import RECIPE
from dialogauge.text.words import words as nltk_words

_SUFFIXES = (".gz", ".txt", ".bin")


class StaticVectors(StaticEncoder):
    """The vectors of a file, for words as `dialogauge.text.words` finds them (lower-cased) unless `tokens` is
    given a `split`. Ids are rows in the order of the file."""

    def __init__(self, store: WordVectorStore, identity: str) -> None:
        super().__init__(identity, store.vectors)
        self._store = store

    def __len__(self) -> int:
        """How many words have a vector."""
        return len(self._store.words)

    def recipe(self) -> dict[str, str]:
        return {"enc": f"static:{self.identity}", **RECIPE, "unknown": "left-out"}

    def _each(self, texts: Sequence[str], split: Split | None) -> Iterator[Tokens]:
        return self._each_by_words(texts, split or nltk_words)

    def _rows(self, words: Iterable[str]) -> dict[str, int]:
        distinct = list(dict.fromkeys(words))
        return dict(zip(distinct, self._store.find(distinct).tolist(), strict=True))


def open_static(path: Path | str, folder: Path | None = None, progress: bool = False) -> StaticVectors:
    """The vectors of a GloVe text, word2vec text or word2vec binary file, plain or gzip. The first time it is
    converted into `folder` (by default in the cache); afterwards it opens without being read."""
    source = expanded(path)
    store = cached_store(source, folder or cache_folder() / "vectors", progress)
    return StaticVectors(store, f"{_bare_name(source)}@{store.about['sha256'][:8]}")


def _bare_name(path: Path) -> str:
    name = path.name
    while (shorter := _without_suffix(name)) != name:
        name = shorter
    return name


def _without_suffix(name: str) -> str:
    for suffix in _SUFFIXES:
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name
