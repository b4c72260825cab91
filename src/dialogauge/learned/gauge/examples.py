"""What a gauge learns from: replies in their contexts, with what is known of how good they are."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.turn import Turn, unit_of
from dialogauge.errors import InputError
from dialogauge.learned.gauge.model import PARTS, said_before, said_then
from dialogauge.learned.gauge.worsen import BROKEN, Exchange, parrot
from dialogauge.learned.ruber.pairs import bare
from dialogauge.learned.synthesis.sources import read_generic
from dialogauge.learned.training.token_pairs import Rows

Targets = NDArray[np.float32]
HUMAN, GENERIC = "human", "generic"
"""A generic reply says little, but may be right: people often like it, so that it is not taught as bad overall."""
FAULTS = {
    **dict.fromkeys(("random", "same_dialogue", "lm_wrong"), "relevance"),
    "broken": "fluency",
    "parrot": "specificity",
}
"""What is wrong with some kinds of machine-made replies (scripts/make_replies.py)."""
LIKELIHOODS = ("log_p_given", "log_p_alone", "tokens")
"""Fields of a machine-made reply: its log-likelihood given the context and without it, and its length."""
BROKEN_SHARE, DULL_SHARE, PARROT_SHARE = 0.5, 0.25, 0.25
"""Of the exchanges: those with a reply whose language is broken, with a generic one, and with the context said back."""


@dataclass(frozen=True)
class Examples:
    """Entry i of each belongs to reply i."""

    contexts: list[str]
    replies: list[str]
    targets: Targets
    """For each part of the score 1 where the reply is good, 0 where it is bad, NaN where nothing is known."""
    groups: Rows
    """A number for the conversation that it comes from."""
    kinds: list[str]
    """How it was made."""
    pmi: Targets
    """How much likelier the context makes it, by a language model; NaN where that is not known."""

    def __len__(self) -> int:
        return len(self.replies)

    def __add__(self, other: Self) -> Self:
        groups = np.concatenate([self.groups, other.groups + (self.groups.max(initial=-1) + 1)])
        targets = np.concatenate([self.targets, other.targets])
        contexts, replies = [*self.contexts, *other.contexts], [*self.replies, *other.replies]
        pmi = np.concatenate([self.pmi, other.pmi])
        return type(self)(contexts, replies, targets, groups, [*self.kinds, *other.kinds], pmi)

    def select(self, rows: Rows) -> Self:
        contexts, replies, kinds = (
            [texts[row] for row in rows.tolist()] for texts in (self.contexts, self.replies, self.kinds)
        )
        return type(self)(contexts, replies, self.targets[rows], self.groups[rows], kinds, self.pmi[rows])

    def divide(self, share: float, rng: np.random.Generator) -> tuple[Rows, Rows]:
        """The rows of a share of the conversations, drawn at random, apart from the others."""
        named = np.unique(self.groups)
        drawn = rng.permutation(named)[: min(max(round(share * len(named)), 1), len(named) - 1)]
        apart = np.isin(self.groups, drawn)
        return np.flatnonzero(~apart), np.flatnonzero(apart)

    def digest(self) -> str:
        found = hashlib.sha256()
        for texts in (self.contexts, self.replies):
            found.update("\0".join(texts).encode("utf-8", "surrogatepass"))
        for numbers in (self.targets, self.groups, self.pmi):
            found.update(numbers.tobytes())
        return found.hexdigest()


class _Collected:
    """Examples one by one."""

    def __init__(self, utterances: int) -> None:
        self._utterances = utterances
        self._contexts: list[str] = []
        self._replies: list[str] = []
        self._targets: list[tuple[float, ...]] = []
        self._groups: list[int] = []
        self._kinds: list[str] = []
        self._pmi: list[float] = []

    def add(
        self, context: Sequence[str], reply: str, group: int, kind: str, pmi: float = np.nan, **targets: float
    ) -> None:
        self._contexts.append(said_before(context, self._utterances))
        self._replies.append(said_then(reply))
        self._targets.append(tuple(targets.get(part, np.nan) for part in PARTS))
        self._groups.append(group)
        self._kinds.append(kind)
        self._pmi.append(pmi)

    def __len__(self) -> int:
        return len(self._replies)

    def written(self) -> Examples:
        targets = np.array(self._targets, np.float32).reshape(-1, len(PARTS))
        groups, pmi = np.array(self._groups, np.int64), np.array(self._pmi, np.float32)
        return Examples(self._contexts, self._replies, targets, groups, self._kinds, pmi)


def exchanges_of(turns: Iterable[Turn]) -> list[Turn]:
    """Those that can be learned from."""
    found = [turn for turn in turns if turn.response.strip() and any(map(str.strip, turn.context))]
    if len({conversation_of(turn) for turn in found}) < 2:
        raise InputError("nothing to learn from: expected at least 2 conversations of two utterances or more")
    return found


def conversation_of(turn: Turn) -> object:
    return turn.dialogue if turn.dialogue is not None else unit_of(turn)


def learned_examples(
    exchanges: Sequence[Turn], machines: Iterable[Turn], utterances: int, seed: int
) -> tuple[Examples, int]:
    """Of conversations between people, and then, from the row given back, of replies that machines made up to contexts
    of them."""
    out, numbers = _Collected(utterances), _Numbers()
    _add_conversations(out, exchanges, numbers, np.random.default_rng([seed, 1]))
    first = len(out)
    for turn in machines:
        if turn.system == HUMAN:
            worth = {"overall": 1.0, "relevance": 1.0}
        elif turn.system == GENERIC:
            worth = {"specificity": 0.0}
        else:
            worth = {"overall": 0.0, **({FAULTS[turn.system]: 0.0} if turn.system in FAULTS else {})}
        out.add(turn.context, turn.response, numbers[conversation_of(turn)], turn.system, pmi_of(turn), **worth)
    return out.written(), first


def pmi_of(turn: Turn) -> float:
    """Pointwise mutual information of context and reply, by the root of the reply's length: longer replies have more of
    it, and their sums vary more."""
    found = [turn.extra.get(name) for name in LIKELIHOODS]
    if not all(isinstance(value, int | float) for value in found):
        return np.nan
    given, alone, tokens = map(float, found)  # type: ignore[arg-type]
    return (given - alone) / tokens**0.5 if tokens > 0 else np.nan


class _Numbers(dict[object, int]):
    """A number for each conversation, in the order of their appearance."""

    def __missing__(self, name: object) -> int:
        return self.setdefault(name, len(self))


def _add_conversations(
    out: _Collected, exchanges: Sequence[Turn], numbers: _Numbers, random: np.random.Generator
) -> None:
    """Of every exchange: the reply that people gave; one of another conversation; one of elsewhere in the same; and of
    a share of them one whose language is broken, a generic one, and the context said back."""
    said: dict[object, list[str]] = defaultdict(list)
    for turn in exchanges:
        said[conversation_of(turn)].append(turn.response)
    generic = read_generic()
    for turn in exchanges:
        name, true = conversation_of(turn), bare(turn.response)
        context, group, here = turn.context, numbers[name], said[name]
        drawn = exchanges[int(random.integers(len(exchanges)))]
        other, near = drawn.response, here[random.integers(len(here))]
        exchange = Exchange([text for text in context if text.strip()], turn.response, other)
        out.add(context, turn.response, group, HUMAN, overall=1, relevance=1, fluency=1, specificity=1)
        if bare(other) != true and conversation_of(drawn) != name:
            out.add(context, other, group, "elsewhere", overall=0, relevance=0, fluency=1)
        if bare(near) != true:
            out.add(context, near, group, "same_conversation", overall=0, relevance=0, fluency=1)
        if random.random() < BROKEN_SHARE:
            way = BROKEN[random.integers(len(BROKEN))]
            broken = way(exchange, random)
            if broken.split() != turn.response.split():
                out.add(context, broken, group, way.__name__, overall=0, fluency=0)
        if random.random() < DULL_SHARE:
            dull = generic[random.integers(len(generic))]
            if bare(dull) != true:
                out.add(context, dull, group, GENERIC, specificity=0, fluency=1)
        if random.random() < PARROT_SHARE:
            echo = parrot(exchange, random)
            if bare(echo) != true:
                out.add(context, echo, group, "parrot", overall=0, specificity=0, relevance=0)


def rated_examples(
    turns: Sequence[Turn], ratings: Sequence[float], corpora: Sequence[str], utterances: int
) -> Examples:
    """Of every rated turn: its rank among those of its corpus, from 0 to 1."""
    values, names = np.asarray(ratings, float), np.asarray(corpora)
    targets = np.full(len(turns), np.nan)
    for name in dict.fromkeys(corpora):
        targets[names == name] = mid_ranks(values[names == name])
    numbers, out = _Numbers(), _Collected(utterances)
    for turn, name, target in zip(turns, corpora, targets.tolist(), strict=True):
        out.add(turn.context, turn.response, numbers[name, conversation_of(turn)], name, overall=target)
    return out.written()


def mid_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of values that lie below each, and half of those equal to it."""
    from scipy.stats import rankdata

    return np.asarray((rankdata(values) - 0.5) / len(values))


def same_utterance_replies(exchanges: Sequence[Turn]) -> list[tuple[str, str]]:
    """Two people's replies to the same last utterance, in two conversations; one pair for each such utterance."""
    by_utterance: dict[str, list[Turn]] = defaultdict(list)
    for turn in exchanges:
        by_utterance[bare(turn.context[-1])].append(turn)
    by_utterance.pop("", None)
    pairs = []
    for turns in by_utterance.values():
        others = [turn for turn in turns[1:] if conversation_of(turn) != conversation_of(turns[0])]
        if others:
            pairs.append((turns[0].response, others[0].response))
    return pairs
