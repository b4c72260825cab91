"""What a response is held against: the history, as one text."""

from __future__ import annotations

from collections.abc import Sequence


def premise_of(context: Sequence[str], history: int | None = None) -> str:
    """All that was said, the earliest first, one space between utterances; with a `history` above 0 so many of the last
    utterances, below 0 one alone: -1 the last, -2 the one before it. Empty where there is no such utterance."""
    if history is None:
        kept = context
    elif history > 0:
        kept = context[-history:]
    else:
        kept = context[len(context) + history :][:1] if len(context) + history >= 0 else ()
    return " ".join(filter(None, (utterance.strip() for utterance in kept)))
