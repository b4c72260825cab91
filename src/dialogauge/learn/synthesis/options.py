"""Every count and probability of the synthesis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dialogauge.corpus.inference import SPLITS
from dialogauge.errors import InputError


@dataclass(frozen=True)
class Options:
    """The defaults give the shares of labels in the train column of table 1 of Dziri et al. 2019."""

    history: tuple[int, ...] = (2,)
    """Utterances of the premise; with several numbers each turn gives a set of pairs for each."""
    neutral: float = 579.5 / 218.2
    contradiction: float = 261.9 / 218.2
    """So many pairs, on average, for each of entailment."""
    generic: float = 0.1
    """The share of neutral pairs that are generic replies; the others are random utterances."""
    nli: float = 0.5
    """The share of contradictions that come from NLI files, where such are given."""
    facts: float = 0.2
    """The share that contradict a fact, where Dialogue NLI is given."""
    negation: float = 0.0
    """The share that turn a statement into its opposite; all other contradictions are word salad."""
    restated: float = 0.0
    """The share of entailments that say a statement again; all others are the next utterance."""
    with_facts: float = 0.5
    """How likely a premise begins with the facts, where there are any."""
    salad_words: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Weights of the response, the premise and the whole dialogue, from which words of salad are drawn."""
    salad_length: float = 0.25
    """How much longer or shorter than the response salad can be, as a share of its words."""
    splits: tuple[float, float, float] = (0.9, 0.05, 0.05)
    pairs: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.history or any(length < 1 for length in self.history):
            raise InputError(f"history: expected numbers of utterances from 1, found {_list(self.history)}")
        for name in ("neutral", "contradiction"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InputError(f"{name}: expected a number from 0, found {getattr(self, name):g}")
        for name in ("generic", "nli", "facts", "negation", "restated", "with_facts", "salad_length"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name}: expected a share from 0 to 1, found {getattr(self, name):g}")
        _check_weights("splits", self.splits, "shares of train, validation and test")
        _check_weights("salad_words", self.salad_words, "weights of response, premise and dialogue")
        if self.pairs is not None and self.pairs < 1:
            raise InputError(f"pairs: expected a number from 1, found {self.pairs}")
        if self.seed < 0:
            raise InputError(f"seed must not be negative, found {self.seed}")

    def contradiction_shares(self, nli: bool, facts: bool) -> dict[str, float]:
        """Of the sources but for salad, which takes the rest. Those of files have none where no files are given."""
        shares = {"nli": self.nli if nli else 0.0, "facts": self.facts if facts else 0.0, "negation": self.negation}
        if sum(shares.values()) > 1 + 1e-9:
            given = ", ".join(f"{source} {share:g}" for source, share in shares.items() if share)
            raise InputError(f"contradictions: expected shares of at most 1 together, found {given}")
        return shares

    @property
    def per_entailment(self) -> float:
        """Pairs of all labels for each of entailment."""
        return 1 + self.neutral + self.contradiction

    @property
    def split_shares(self) -> dict[str, float]:
        """Those that are not 0; they add up to 1."""
        total = sum(self.splits)
        return {split: share / total for split, share in zip(SPLITS, self.splits, strict=True) if share}


def _check_weights(name: str, values: Sequence[float], what: str) -> None:
    if len(values) != 3 or not all(0 <= value < math.inf for value in values) or not sum(values):
        raise InputError(f"{name}: expected three {what} from 0, not all 0, found {_list(values)}")


def _list(values: Sequence[float]) -> str:
    return ",".join(f"{value:g}" for value in values) or "none"
