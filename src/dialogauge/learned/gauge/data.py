"""Files that a gauge learns from: conversations, replies that machines made up, and turns that people rated."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np

from dialogauge.corpus.corpus import Corpus, SourceFile
from dialogauge.corpus.load import load
from dialogauge.corpus.reading.columns import RATINGS, ColumnMap
from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, InputError, check_share
from dialogauge.learned.gauge.examples import (
    HUMAN,
    Examples,
    conversation_of,
    exchanges_of,
    learned_examples,
    rated_examples,
    same_utterance_replies,
)
from dialogauge.learned.gauge.model import OVERALL
from dialogauge.learned.gauge.recipe import GaugeRecipe
from dialogauge.learned.ruber.pairs import response_caveats
from dialogauge.learned.training.token_pairs import Rows

SHARE = 0.05
"""Of the conversations, held back."""
FEWEST_RATED = 20
RATED_SHARE = 0.1
"""Of the rated conversations, held back: they decide nothing, and say how well ratings are told."""
Paths = Sequence[str | Path]


@dataclass(frozen=True)
class GaugeFiles:
    """Conversations to learn from; machine-made replies, as scripts/make_replies.py makes them; turns with ratings."""

    conversations: Paths
    replies: Paths = ()
    ratings: Paths = ()
    dimension: str | None = None
    """What was rated; by default "overall" or what is called so."""
    share: float = SHARE
    reader: str | None = None
    skip_invalid: bool = False
    mapping: ColumnMap = field(default_factory=dict)
    """Columns of the conversations; those of ratings are of the rated turns, where there are any."""

    def columns(self, *, rated: bool) -> ColumnMap:
        """What the mapping says of the rated turns, or of the conversations."""
        if not self.ratings:
            return self.mapping
        return {name: column for name, column in self.mapping.items() if _of_ratings(name) == rated}


def _of_ratings(name: str) -> bool:
    return f"{name}.".startswith(RATINGS)


@dataclass(frozen=True)
class RatedExamples:
    """Replies that people rated, of any number of corpora."""

    examples: Examples
    train: Rows
    held: Rows
    dimensions: dict[str, str]
    """What was rated, by the name of the rated file."""


@dataclass(frozen=True)
class GaugeData:
    examples: Examples
    train: Rows
    held: Rows
    made: int
    """The first row of replies that machines made up; those before it are of conversations."""
    rated: RatedExamples | None
    alike: list[tuple[str, str]]
    """Two people's replies to the same utterance."""
    sources: dict[str, tuple[SourceFile, ...]]
    """The files of "conversations", "replies" and "ratings"."""
    caveats: list[Caveat]

    def digest(self) -> str:
        rated = self.rated.examples.digest() if self.rated else ""
        return f"{self.examples.digest()}{hashlib.sha256(self.held.tobytes()).hexdigest()}{rated}"


def read_data(files: GaugeFiles, recipe: GaugeRecipe, progress: bool = False) -> GaugeData:
    check_share("the share to validate with", files.share)
    corpus = load(
        files.conversations,
        reader=files.reader,
        skip_invalid=files.skip_invalid,
        progress=progress,
        mapping=files.columns(rated=False),
    )
    rated, rated_corpora, unrated = _rated(files, recipe, progress)
    exchanges = exchanges_of(corpus)
    drawn = some_of(exchanges, recipe.exchanges, recipe.seed)
    replies = [load(path, skip_invalid=files.skip_invalid, progress=progress) for path in files.replies]
    examples, made = learned_examples(drawn, without_repeats(replies), recipe.context, recipe.seed)
    train, held = examples.divide(files.share, np.random.default_rng([recipe.seed, 2]))
    if not any(examples.kinds[row] == HUMAN for row in held.tolist()):
        raise InputError("no reply of people among what is held back: hold back more with --validation-share")
    judged = sum(bool(turn.ratings or turn.references) for turn in corpus)
    loaded = [corpus, *replies, *rated_corpora]
    return GaugeData(
        examples,
        train,
        held,
        made,
        rated,
        same_utterance_replies(exchanges),
        {
            "conversations": corpus.files,
            "replies": tuple(file for each in replies for file in each.files),
            "ratings": tuple(file for each in rated_corpora for file in each.files),
        },
        [*(caveat for each in loaded for caveat in each.caveats), *response_caveats(judged, len(corpus)), *unrated],
    )


def without_repeats(drawn: Iterable[Iterable[Turn]]) -> Iterator[Turn]:
    """Of files that were drawn with several seeds, each reply to a context once: people's stand in all of them."""
    seen = set()
    for turn in chain.from_iterable(drawn):
        said = (conversation_of(turn), turn.context, turn.response)
        if said not in seen:
            seen.add(said)
            yield turn


def some_of(exchanges: list[Turn], most: int, seed: int) -> list[Turn]:
    """So many of them, drawn at random, in their order; all where there are no more, or `most` is 0."""
    if not 0 < most < len(exchanges):
        return exchanges
    drawn = np.random.default_rng([seed, 7]).permutation(len(exchanges))[:most]
    return [exchanges[place] for place in sorted(drawn.tolist())]


def _rated(
    files: GaugeFiles, recipe: GaugeRecipe, progress: bool
) -> tuple[RatedExamples | None, list[Corpus], list[Caveat]]:
    """Each file is a corpus of its own: its ratings are ranked among themselves."""
    turns: list[Turn] = []
    ratings: list[float] = []
    names: list[str] = []
    dimensions, corpora, caveats = {}, [], []
    for path in files.ratings:
        mapping = files.columns(rated=True)
        corpus = load(path, skip_invalid=files.skip_invalid, progress=progress, mapping=mapping)
        dimension = _dimension(corpus, files.dimension, path)
        found = [(turn, rating) for turn in corpus if (rating := _rating(turn, dimension)) is not None]
        _refuse_unfit(found, dimension, path)
        if len(found) < len(corpus):
            message = (
                f"{Path(path).name}: {len(corpus) - len(found)} of {len(corpus)} turns have no context or no rating of "
                f"{dimension!r}, and are not learned from"
            )
            caveats.append(Caveat("unrated_turns", message))
        turns += [turn for turn, _ in found]
        ratings += [rating for _, rating in found]
        names += [str(path)] * len(found)
        dimensions[Path(path).name] = dimension
        corpora.append(corpus)
    if not turns:
        return None, [], []
    examples = rated_examples(turns, ratings, names, recipe.context)
    divided = examples.divide(RATED_SHARE, np.random.default_rng([recipe.seed, 5]))
    return RatedExamples(examples, *divided, dimensions), corpora, caveats


def _refuse_unfit(found: Sequence[tuple[Turn, float]], dimension: str, path: str | Path) -> None:
    """Refuses ratings that nothing can be learned from."""
    if len(found) < FEWEST_RATED:
        wanted = f"at least {FEWEST_RATED} turns with a context and a rating of {dimension!r}"
        raise InputError(f"expected {wanted}, found {len(found)}", path)
    if len({rating for _, rating in found}) < 2:
        raise InputError(f"all {len(found)} ratings of {dimension!r} are the same: nothing to learn from", path)
    if len({conversation_of(turn) for turn, _ in found}) < 2:
        raise InputError("all rated turns are of one conversation: expected at least 2, one to hold back", path)


def _rating(turn: Turn, dimension: str) -> float | None:
    """The mean over raters, of a turn with a context."""
    given = [rating for rating in turn.ratings.get(dimension, ()) if rating is not None]
    return float(np.mean(given)) if given and any(map(str.strip, turn.context)) else None


def _dimension(corpus: Corpus, wanted: str | None, path: str | Path) -> str:
    known = list(dict.fromkeys(name for turn in corpus for name in turn.ratings))
    if not known:
        raise InputError("expected turns with ratings, found none", path)
    if wanted is not None:
        alike = [name for name in known if name.casefold() == wanted.casefold()]
    else:
        alike = [name for name in known if OVERALL in name.casefold()] if len(known) > 1 else known
    if len(alike) != 1:
        raise InputError(f"which rating is meant? Name one with --dimension: {', '.join(known)}", path)
    return alike[0]
