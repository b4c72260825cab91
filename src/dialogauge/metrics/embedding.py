"""What the metrics that compare word vectors of response and reference have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.encode.base import Tokens
from dialogauge.errors import Caveat
from dialogauge.metrics.base import UNSIGNED, Floats
from dialogauge.metrics.encoding import COVERAGE, EncoderMetric, ReadMeanMetric, text_caveats, together
from dialogauge.metrics.sums import Sums

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders

SCORE, CUT, SILENT, UNKNOWN, WORDS = range(5)
"""A row: the score; whether a text was too long, whether a text has no vector; unknown words, and words."""


@dataclass(frozen=True)
class EmbeddingMetric(EncoderMetric, ReadMeanMetric):
    """The similarity of response and reference by the vectors of their words; of several references the best.

    A text without a vector (empty, or with static vectors of unknown words alone) is like nothing: 0, counted. With one
    that a transformer cannot read, a turn has no score.
    """

    higher_is_better = True
    bounds = (-1.0, 1.0)
    needs = (frozenset({"references"}),)

    layer: int | None = field(default=None, metadata=UNSIGNED)

    @abstractmethod
    def reduce(self, words: Floats, unknown: int) -> Any:
        """What is kept of a text: of its word vectors, of which there is at least one, and of how many words have
        none."""

    @abstractmethod
    def similarity(self, response: Any, reference: Any) -> float:
        """Of two texts as `reduce` left them."""

    def prepare(self, corpus: Corpus, real: Corpus | None = None, encoders: Encoders | None = None) -> Self:
        ready = super().prepare(corpus, real, encoders)
        ready.vectors.expect("tokens", pairs=False, layer=self.layer)
        return ready

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        return self.vectors.tokens(texts, layer=self.layer)

    def measure(self, turns: Sequence[Turn]) -> Floats:
        mentioned = (text for turn in turns for text in (turn.response, *self.references(turn)))
        texts = list(dict.fromkeys(self.vectors.spelled(text) for text in mentioned))
        tokens = dict(zip(texts, self.tokens(texts), strict=True))
        kept = {
            text: self.reduce(found.words.astype(np.float64), found.unknown)
            for text, found in tokens.items()
            if len(found.words)
        }
        rows = [self._row(turn, tokens, kept) for turn in turns]
        return np.array(rows, dtype=np.float64).reshape(len(turns), WORDS + 1 + COVERAGE)

    def _row(self, turn: Turn, tokens: dict[str, Tokens], kept: dict[str, Any]) -> list[float]:
        response = self.vectors.spelled(turn.response)
        references = [self.vectors.spelled(text) for text in self.references(turn)]
        legible = [text for text in references if not _illegible(tokens[text])]
        lost = _illegible(tokens[response]) or not legible
        comparable = [reference for reference in legible if response in kept and reference in kept]
        scores = [self.similarity(kept[response], kept[reference]) for reference in comparable]
        said = [tokens[text] for text in (response, *references)]
        unknown = sum(text.unknown for text in said)
        return [
            np.nan if lost else max(scores, default=0.0),
            any(text.dropped for text in said),
            not comparable,
            unknown,
            unknown + sum(len(text.words) for text in said),
            *together((text.coverage for text in said), lost),
        ]

    def caveats(self, summary: Sums) -> list[Caveat]:
        cut, silent, unknown, words = (int(total) for total in summary.total[CUT : WORDS + 1])
        caveats = text_caveats(self.label, summary.n, cut, silent)
        if unknown:
            message = f"{self.label}: {unknown} of {words} words have no vector and are left out"
            caveats.append(Caveat("unknown_words", message))
        return caveats

    def recipe(self) -> dict[str, str]:
        layer = self.layer
        if layer is None and self.asked is not None:
            layer = self.asked.last_layer
        return super().recipe() | ({} if layer is None else {"layer": str(layer)})


def _illegible(tokens: Tokens) -> bool:
    """Whether there are vectors, and none of them says anything of the text."""
    return tokens.coverage.illegible and len(tokens.words) > 0
