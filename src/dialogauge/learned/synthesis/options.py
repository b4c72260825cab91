"""Every count and probability of the synthesis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dialogauge.corpus.inference import SPLITS, Label
from dialogauge.errors import COUNT, InputError, check_number, check_seed, check_whole, unknown
from dialogauge.learned.synthesis.contrast.kinds import KINDS

MOST_PER_ENTAILMENT, MOST_PAIRS = 1000, 10**9


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
    contrast: Mapping[str, float] = field(default_factory=dict)
    """The share of contradictions that are contrasts of each kind; there are as many entailments and neutral pairs of
    it."""
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
        if not self.history:
            raise InputError("history: expected numbers of utterances, found none")
        for length in self.history:
            check_whole("history", length, 1, COUNT)
        for name in ("neutral", "contradiction"):
            check_number(name, getattr(self, name), 0, MOST_PER_ENTAILMENT)
        for name in ("generic", "nli", "facts", "negation", "restated", "with_facts", "salad_length"):
            check_number(name, getattr(self, name), 0, 1)
        self._check_contrasts()
        _check_weights("splits", self.splits, "shares of train, validation and test")
        _check_weights("salad_words", self.salad_words, "weights of response, premise and dialogue")
        if self.pairs is not None:
            check_whole("pairs", self.pairs, 1, MOST_PAIRS)
        check_seed(self.seed)

    def _check_contrasts(self) -> None:
        for kind, share in self.contrast.items():
            if kind not in KINDS:
                raise unknown("kind of contrast", str(kind), KINDS)
            check_number(f"contrast {kind}", share, 0, 1)
        rest: tuple[tuple[Label, float], ...] = (("entailment", self.restated), ("neutral", self.generic))
        for label, taken in rest:
            total = taken + sum(self.contrast_shares(label).values())
            if total > 1 + 1e-9:
                raise InputError(
                    f"contrast: expected shares that leave room for as many pairs of {label}, found {total:.3g} of "
                    "them taken; make them smaller, or --contradiction"
                )

    def contrast_shares(self, label: Label) -> dict[str, float]:
        """Of the pairs of a label: of each kind there are as many of every label."""
        rate = {"entailment": 1.0, "neutral": self.neutral, "contradiction": self.contradiction}[label]
        return {kind: share * self.contradiction / rate if rate else 0.0 for kind, share in self.contrast.items()}

    def contradiction_shares(self, nli: bool, facts: bool) -> dict[str, float]:
        """Of the sources but for salad, which takes the rest. Those of files have none where no files are given."""
        shares = {"nli": self.nli if nli else 0.0, "facts": self.facts if facts else 0.0, "negation": self.negation}
        shares |= self.contrast_shares("contradiction")
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
        total = math.fsum(self.splits)
        return {split: share / total for split, share in zip(SPLITS, self.splits, strict=True) if share}


def _check_weights(name: str, values: Sequence[float], what: str) -> None:
    if len(values) != 3 or not all(0 <= value <= COUNT for value in values) or not sum(values):
        found = ",".join(f"{value:g}" for value in values) or "none"
        raise InputError(f"{name}: expected three {what} from 0 to {COUNT:,}, not all 0, found {found}")
