"""Semantic similarity and distance: how near a response is to what was said before it, less so where it is dull."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.encode.base import Coverage, Encoder, Pool
from dialogauge.errors import Caveat, InputError, unknown
from dialogauge.files import expanded
from dialogauge.metrics.base import UNSIGNED, Floats, Values
from dialogauge.metrics.dialogue.dull import DullPhrases, dull_factor, own_phrases, read_phrases
from dialogauge.metrics.encoding import (
    COVERAGE,
    NAMED,
    EncoderMetric,
    PreparedEncoding,
    ReadMeans,
    layer_recipe,
    text_caveats,
    together,
)
from dialogauge.metrics.prepared import Sums
from dialogauge.stats.arrays import cosine

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders

ROUNDING = 1e-5
"""By so much, of its largest number, a vector may depend on what else is encoded."""


class Seen(NamedTuple):
    """A text as the encoder sees it."""

    vector: Floats | None
    """None where it is seen as an empty text is: without words, or without any that is known."""
    cut: bool
    coverage: Coverage
    """Illegible where the vector says nothing of the text."""


def see(
    encoder: Encoder, texts: Iterable[str], pool: Pool, layer: int | None = None, from_end: bool = False
) -> dict[str, Seen]:
    """Each text, without its end where it is too long, or without its beginning if it is read `from_end`."""
    distinct = list(dict.fromkeys(["", *texts]))
    found = encoder.pooled(distinct, pool, layer)
    vectors = found.vectors.astype(np.float64)
    long = np.flatnonzero(found.dropped)
    if from_end and len(long):
        shorter = [without_first(distinct[place], int(found.dropped[place])) for place in long]
        vectors[long] = encoder.pooled(shorter, pool, layer).vectors
    empty = vectors[0]
    silent = np.abs(vectors - empty).max(axis=1) <= ROUNDING * np.abs(empty).max()
    seen = {}
    for place, text in enumerate(distinct):
        tokens, unknown, illegible = found.coverage[place].tolist()
        coverage = Coverage(tokens, unknown, bool(illegible) and not silent[place])
        seen[text] = Seen(None if silent[place] else vectors[place], bool(found.dropped[place]), coverage)
    return seen


def without_first(text: str, tokens: int) -> str:
    """Without its first words, as many as the encoder found tokens too many: no word is less than a token. As it is
    where it has no more words than that, as in scripts without spaces."""
    return " ".join(text.split()[tokens:]) or text


History = Literal["last", "second_last", "last_two"]
"""The last utterance before the response, the one before that, or both as one text."""
SCORE, DIFFERENCE, COSINE, FACTOR, COMPARED, CUT, SILENT = range(7)
"""A row: the score; how much more it is than the references' (0 without any); cosine and factor; whether there are
references, whether a text was too long, whether response or history has no vector."""


def history_of(turn: Turn, history: History) -> str | None:
    """What the response is held against; None where nothing was said there."""
    if history == "last_two":
        return " ".join(turn.context[-2:]).strip() if turn.context else None
    place = 1 if history == "last" else 2
    return turn.context[-place].strip() if len(turn.context) >= place else None


@dataclass(frozen=True)
class SemanticMetric(EncoderMetric[Floats, Sums], ReadMeans):
    """The mean over turns of a value from the cosine of response and history and the dullness of the response. A text
    without a vector has cosine 0, counted. Where the encoder cannot read response or history, a turn has no score."""

    bounds = (-np.inf, np.inf)
    needs = (frozenset({"context"}),)
    parts = ("difference", "cosine", "factor")

    history: History = "last"
    pool: Pool = field(default="mean", metadata=UNSIGNED)
    layer: int | None = field(default=None, metadata=UNSIGNED)
    dull: bool = field(default=True, metadata=UNSIGNED)
    patterns: str | None = field(default=None, metadata=NAMED)
    """A file of dull phrases; None for those that come with dialogauge."""

    def __post_init__(self) -> None:
        for option, choices in (("history", History), ("pool", Pool)):
            if getattr(self, option) not in get_args(choices):
                raise unknown(f"{option} of {self.name}", str(getattr(self, option)), get_args(choices))
        if self.patterns and not self.dull:
            raise InputError(f"{self.name}: patterns are of no use with dull=false; leave one of them out")

    @abstractmethod
    def value(self, likeness: float, words: int, left: int) -> float:
        """Of the cosine of a response and its history, the content words of the response, and those of them that are
        left without dull phrases."""

    @abstractmethod
    def factor(self, words: int, left: int) -> float:
        """What dullness alone does to the value."""

    def asked_of(self, encoders: Encoders) -> Encoder:
        found = encoders.get(self.encoder, self.dtype)
        found.expect(self.pool, pairs=False, layer=self.layer)
        return found

    def open(self, encoders: Encoders, known: None) -> PreparedSemantic:
        encoder = self.asked_of(encoders)
        if not self.dull:
            return PreparedSemantic(self, known, encoder, None)
        phrases = read_phrases(expanded(self.patterns)) if self.patterns else own_phrases()
        return PreparedSemantic(self, known, encoder, phrases)

    def mean_of(self, part: str) -> int | None:
        return None if part == "difference" else super().mean_of(part)

    def conclude(self, summary: Sums) -> Values:
        """The difference is the mean over the turns that have references."""
        with np.errstate(invalid="ignore", divide="ignore"):
            difference = summary.total[..., DIFFERENCE] / summary.total[..., COMPARED]
        return {**super().conclude(summary), "difference": difference}

    def caveats(self, summary: Sums) -> list[Caveat]:
        turns, compared, silent = int(summary.n), int(summary.total[COMPARED]), int(summary.total[SILENT])
        what = "the end of a response, or the beginning of what was said before,"
        caveats = text_caveats(self.label, turns, float(summary.total[CUT]), 0.0, what)
        if silent:
            message = f"{self.label}: {silent} of {turns} turns have a text without any vector, like no other: cosine 0"
            caveats.append(Caveat("no_vectors", message))
        if 0 < compared < turns:
            message = (
                f"{self.label}.difference: {turns - compared} of {turns} turns have no references that can be read and "
                "are left out"
            )
            caveats.append(Caveat("missing_input", message))
        return caveats


@dataclass(frozen=True)
class PreparedSemantic(PreparedEncoding[Floats, Sums]):
    """With the phrases that are dull; None where dullness does not count."""

    asked: SemanticMetric
    phrases: DullPhrases | None

    def measure(self, turns: Sequence[Turn]) -> Floats:
        metric = self.asked
        before = [history_of(turn, metric.history) for turn in turns]
        scored = [(turn, said) for turn, said in zip(turns, before, strict=True) if said is not None]
        texts = [text.strip() for turn, _ in scored for text in (turn.response, *turn.references)]
        answers = see(self.encoder, texts, metric.pool, metric.layer)
        histories = see(self.encoder, [said for _, said in scored], metric.pool, metric.layer, from_end=True)
        rows = [
            [np.nan] * (SILENT + 1 + COVERAGE) if said is None else self._row(turn, histories[said], answers)
            for turn, said in zip(turns, before, strict=True)
        ]
        return np.array(rows, dtype=np.float64).reshape(len(turns), SILENT + 1 + COVERAGE)

    def _row(self, turn: Turn, history: Seen, answers: dict[str, Seen]) -> list[float]:
        response, *references = (text.strip() for text in (turn.response, *turn.references))
        lost = history.coverage.illegible or answers[response].coverage.illegible
        texts = [response, *(text for text in references if not answers[text].coverage.illegible)]
        (score, likeness, factor), *others = (self._judge(text, history, answers[text]) for text in texts)
        read = (history, *(answers[text] for text in (response, *references)))
        return [
            np.nan if lost else score,
            score - float(np.mean([other[SCORE] for other in others])) if others else 0.0,
            likeness,
            factor,
            bool(others),
            history.cut or any(answers[text].cut for text in texts),
            history.vector is None or answers[response].vector is None,
            *together((seen.coverage for seen in read), lost),
        ]

    def _judge(self, text: str, history: Seen, answer: Seen) -> tuple[float, float, float]:
        """Score, cosine and factor of a response or a reference."""
        likeness = 0.0 if answer.vector is None or history.vector is None else cosine(answer.vector, history.vector)
        words, left = (0, 0) if self.phrases is None else self.phrases.count(text)
        return self.asked.value(likeness, words, left), likeness, self.asked.factor(words, left)

    def recipe(self) -> dict[str, str]:
        return {
            **super().recipe(),
            "pool": self.asked.pool,
            **layer_recipe(self.asked.layer, self.encoder),
            "dull": f"@{self.phrases.digest}" if self.phrases else "no",
        }


def semantic_similarity(likeness: float, words: int, left: int) -> float:
    """The cosine of response and history, times 1 + log10((2 + m) / (2 + n)) for n content words of the response, of
    which m are left without dull phrases (the code of Dziri et al. 2019)."""
    return likeness * dull_factor(words, left)


@dataclass(frozen=True)
class SemanticSimilarity(SemanticMetric):
    """The mean over turns of `semantic_similarity`."""

    name = "semantic_similarity"
    title = "likeness of a response to what was said before it, less for dull ones"
    citations = ("dziri2019evaluating", "dziri2019augmenting")
    higher_is_better = True

    def value(self, likeness: float, words: int, left: int) -> float:
        return semantic_similarity(likeness, words, left)

    def factor(self, words: int, left: int) -> float:
        return dull_factor(words, left)

    def limits(self, part: str) -> tuple[float, float]:
        """The factor has no lower end, and can turn the sign of a cosine."""
        if part == "factor":
            return (-np.inf, 1.0) if self.dull else (1.0, 1.0)
        if part == "cosine" or (part == "" and not self.dull):
            return (-1.0, 1.0)
        return (-np.inf, np.inf) if self.dull else (-2.0, 2.0)


def semantic_distance(likeness: float, words: int, left: int) -> float:
    """1 less the cosine of response and history, times 1 + log10((2 + n) / (2 + m)) for n content words of the
    response, of which m are left without dull phrases (Dziri et al. 2019, the THRED paper)."""
    return max(0.0, 1 - likeness) * dull_factor(left, words)


@dataclass(frozen=True)
class SemanticDistance(SemanticMetric):
    """The mean over turns of `semantic_distance`."""

    name = "semantic_distance"
    title = "distance of a response from what was said before it, more for dull ones"
    citations = ("dziri2019evaluating", "dziri2019augmenting")
    higher_is_better = False

    def value(self, likeness: float, words: int, left: int) -> float:
        return semantic_distance(likeness, words, left)

    def factor(self, words: int, left: int) -> float:
        return dull_factor(left, words)

    def direction(self, part: str) -> bool | None:
        return True if part == "cosine" else self.higher_is_better

    def limits(self, part: str) -> tuple[float, float]:
        if part == "cosine":
            return (-1.0, 1.0)
        if part == "factor":
            return (1.0, np.inf if self.dull else 1.0)
        if part == "difference":
            return (-np.inf, np.inf) if self.dull else (-2.0, 2.0)
        return (0.0, np.inf if self.dull else 2.0)
