"""How likely a response is after its context: the mean log p of its tokens, perplexity, and what the context adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.encode.causal.language_model import CUT_CONTEXT, CUT_TEXT, LOG_P, TOKENS
from dialogauge.encode.causal.prompt import as_lines
from dialogauge.errors import unknown
from dialogauge.metrics.base import Floats, Values
from dialogauge.metrics.likelihoods.base import LikelihoodMetric
from dialogauge.metrics.prepared import MeansOfRows, Sums

if TYPE_CHECKING:
    from dialogauge.encode.causal.language_model import LanguageModel

Norm = Literal["tokens", "root", "none"]
"""What a difference of log likelihoods is divided by: the number of tokens, its root, or nothing."""


def normalised(difference: Floats, tokens: Floats, norm: Norm = "tokens") -> Floats:
    """A difference of log likelihoods of texts of so many tokens."""
    if norm == "none":
        return difference
    return np.asarray(difference / (np.sqrt(tokens) if norm == "root" else tokens))


def _cuts(found: Floats) -> Floats:
    return np.asarray(found[:, [CUT_CONTEXT, CUT_TEXT]] > 0, dtype=np.float64)


@dataclass(frozen=True)
class Likelihood(LikelihoodMetric, MeansOfRows):
    """The mean over turns of 1/n Σ ln p(token | context and tokens before it), over a response's n tokens, the newline
    that ends it among them."""

    name = "likelihood"
    title = "mean log p of a response's tokens after its context, by a language model"
    citations = ("pang2020towards",)
    higher_is_better = True
    bounds = (-np.inf, 0.0)
    columns = 1

    def rows(self, turns: Sequence[Turn], model: LanguageModel) -> Floats:
        found = model.likelihoods([(self.before(turn), as_lines([turn.response])) for turn in turns])
        return np.column_stack([found[:, LOG_P] / found[:, TOKENS], _cuts(found)])


@dataclass(frozen=True)
class Perplexity(LikelihoodMetric):
    """exp(-Σ ln p / Σ n) over all tokens of all responses, as language models are measured; of a single turn, over its
    own. A long response counts more."""

    name = "perplexity"
    title = "how many tokens a language model wavers between, on average, at each of a response"
    citations = ("jelinek1977perplexity",)
    higher_is_better = False
    bounds = (1.0, np.inf)
    columns = 2

    def rows(self, turns: Sequence[Turn], model: LanguageModel) -> Floats:
        found = model.likelihoods([(self.before(turn), as_lines([turn.response])) for turn in turns])
        return np.column_stack([found[:, [LOG_P, TOKENS]], _cuts(found)])

    def conclude(self, summary: Sums) -> Values:
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            return {"": np.exp(-summary.total[..., 0] / summary.total[..., 1])}

    def per_turn(self, measures: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.exp(-measures[:, 0] / measures[:, 1])


@dataclass(frozen=True)
class Pmi(LikelihoodMetric, MeansOfRows):
    """The mean over turns of (ln p(response | context) - ln p(response)) / n, the pointwise mutual information of
    context and response for each of the n tokens. What is likely anywhere gains nothing from its context."""

    name = "pmi"
    title = "how much likelier a response is after its context than without, by a language model"
    citations = ("li2016diversity",)
    higher_is_better = True
    bounds = (-np.inf, np.inf)
    columns = 1
    least_context = 1

    norm: Norm = "tokens"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.norm not in get_args(Norm):
            raise unknown("norm of pmi", str(self.norm), get_args(Norm))

    def rows(self, turns: Sequence[Turn], model: LanguageModel) -> Floats:
        responses = [as_lines([turn.response]) for turn in turns]
        given = [(self.before(turn), response) for turn, response in zip(turns, responses, strict=True)]
        found = model.likelihoods([*given, *(("", response) for response in responses)])
        after, alone = np.split(found, 2)
        values = normalised(after[:, LOG_P] - alone[:, LOG_P], after[:, TOKENS], self.norm)
        return np.column_stack([values, _cuts(after)])
