"""A premise, a hypothesis, and whether the one entails or contradicts the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from dialogauge.corpus.fields import refuse_huge_texts
from dialogauge.corpus.quote import quote
from dialogauge.errors import InputError

Label = Literal["entailment", "neutral", "contradiction"]
LABELS: tuple[Label, ...] = get_args(Label)
SPLITS = ("train", "validation", "test")

NO_LABEL = "-"
_SPELLINGS: dict[str, Label] = {
    **{label: label for label in LABELS},
    "positive": "entailment",
    "negative": "contradiction",
}


@dataclass(frozen=True, slots=True)
class InferencePair:
    """`premise` holds utterances, oldest first; of an NLI file it is one sentence."""

    premise: tuple[str, ...]
    hypothesis: str
    label: Label
    source: str = "nli"
    """How it was made: next, random, generic, salad, nli, facts, negation, restated."""
    split: str | None = None
    """One of `SPLITS`; None where a file does not say."""
    dialogue: str | None = None


class Unlabelled:
    """Stands for a pair on whose label the annotators did not agree."""


def make_pair(
    premise: Sequence[str],
    hypothesis: str,
    label: str,
    source: str = "nli",
    split: str | None = None,
    dialogue: str | None = None,
) -> InferencePair | Unlabelled:
    """Spaces around texts are left out, and so are blank utterances of the premise."""
    name = label.strip()
    if name == NO_LABEL:
        return Unlabelled()
    if name not in _SPELLINGS:
        raise InputError(f"label: expected one of {', '.join(_SPELLINGS)}, found {quote(name)}")
    said = tuple(text for utterance in premise if (text := utterance.strip()))
    if not said or not hypothesis.strip():
        raise InputError(f"{'hypothesis' if said else 'premise'}: expected text, found none")
    refuse_huge_texts((hypothesis, *said))
    return InferencePair(said, hypothesis.strip(), _SPELLINGS[name], source, split, dialogue)
