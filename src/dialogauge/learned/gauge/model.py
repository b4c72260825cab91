"""A trained gauge: from contexts and replies to what it thinks of them, in shares of real replies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PARTS = ("overall", "relevance", "fluency", "specificity")
OVERALL, RELEVANCE, FLUENCY, SPECIFICITY = range(len(PARTS))
"""What the network says of a reply; "overall" is what the score stands on."""


def said_before(context: Sequence[str], utterances: int) -> str:
    """The last utterances, one space between them."""
    kept = [text for text in (utterance.strip() for utterance in context) if text]
    return " ".join(kept[-utterances:])
