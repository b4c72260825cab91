"""Replies made worse on purpose, and what is then wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dialogauge.text.words import SPACED_WORD


class Exchange(NamedTuple):
    """A reply in its conversation, with what a change may draw on."""

    context: Sequence[str]
    reply: str
    elsewhere: str
    """A reply of another exchange."""


Random = np.random.Generator
Worsening = Callable[[Exchange, Random], str]
"""Gives the reply back where it cannot be made worse in this way."""


def shuffle(exchange: Exchange, random: Random) -> str:
    """All words, or those of a stretch of at least three, in another order."""
    words = SPACED_WORD.findall(exchange.reply)
    start, end = _stretch(words, 3, random) if len(words) > 5 and random.random() < 0.5 else (0, len(words))
    return " ".join([*words[:start], *random.permutation(words[start:end]), *words[end:]])


def cut(exchange: Exchange, random: Random) -> str:
    """Broken off before the last words, or begun too late."""
    words = SPACED_WORD.findall(exchange.reply)
    if len(words) < 3:
        return exchange.reply
    place = int(random.integers(1, len(words) - 1, endpoint=True))
    return " ".join(words[:place] if random.random() < 0.8 else words[place:])


def stutter(exchange: Exchange, random: Random) -> str:
    """A stretch of one to four words said again, once to three times."""
    words = SPACED_WORD.findall(exchange.reply)
    start = int(random.integers(len(words)))
    end = min(len(words), start + int(random.integers(1, 5)))
    return " ".join([*words[:end], *words[start:end] * int(random.integers(1, 4)), *words[end:]])


def insert(exchange: Exchange, random: Random) -> str:
    """Words of another reply between its own: a quarter to a half as many as there are."""
    words, others = SPACED_WORD.findall(exchange.reply), SPACED_WORD.findall(exchange.elsewhere)
    if not others:
        return exchange.reply
    for _ in range(int(random.integers(len(words) // 4, len(words) // 2, endpoint=True)) or 1):
        words.insert(int(random.integers(len(words), endpoint=True)), others[random.integers(len(others))])
    return " ".join(words)


def drop(exchange: Exchange, random: Random) -> str:
    """A third of the words left out."""
    words = SPACED_WORD.findall(exchange.reply)
    if len(words) < 3:
        return exchange.reply
    left_out = set(random.permutation(len(words))[: max(1, len(words) // 3)].tolist())
    return " ".join(word for place, word in enumerate(words) if place not in left_out)


def graft(exchange: Exchange, random: Random) -> str:
    """The first words of the reply, a third of them or more, then the last of another."""
    words, others = SPACED_WORD.findall(exchange.reply), SPACED_WORD.findall(exchange.elsewhere)
    kept = int(random.integers((len(words) + 2) // 3, len(words), endpoint=True))
    return " ".join([*words[:kept], *others[len(others) // 2 :]])


def parrot(exchange: Exchange, random: Random) -> str:
    """An utterance of the context said back, most often the last; or the second half of it."""
    said = exchange.context[-1 if random.random() < 0.8 else int(random.integers(len(exchange.context)))]
    words = SPACED_WORD.findall(said)
    return said if random.random() < 0.7 or len(words) < 4 else " ".join(words[len(words) // 2 :])


def _stretch(words: Sequence[str], least: int, random: Random) -> tuple[int, int]:
    start = int(random.integers(len(words) - least, endpoint=True))
    return start, int(random.integers(start + least, len(words), endpoint=True))


BROKEN: tuple[Worsening, ...] = (shuffle, cut, stutter, insert, drop, graft)
"""Ways to break the language of a reply."""
