"""Corpora made worse on purpose: a share of the responses is changed, to see which metrics notice."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, TypeAlias

import numpy as np

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.frames import CorpusLike, as_corpus
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import Caveat, InputError, check_number, check_seed, unknown
from dialogauge.tables import counted
from dialogauge.text.words import SPACED_WORD

GENERIC = (
    "I don't know.",
    "I'm not sure about that.",
    "That sounds good.",
    "Yes, I think so too.",
    "What do you mean?",
)
"""What dull systems say to everything: the sentences of `repeat`, unless others are given."""

REFERENCE = "reference"
"""The system that references are turned into."""

ItemKey: TypeAlias = tuple[str, tuple[str, ...], int]
"""What turns of different systems share where they are paired: id and context. The number tells apart turns of one
system that have both in common, which no loaded corpus has."""


@dataclass(frozen=True, slots=True)
class ChosenTurn:
    """A turn whose response is to be changed, with what the change may draw on."""

    turn: Turn
    following: str
    """The response of the turn chosen after this one; after the last comes the first."""
    stream: int
    """The seed of this turn's own random numbers: they never depend on how many turns are chosen beside it."""
    words: Sequence[str]
    sentences: Sequence[str]

    def random(self) -> np.random.Generator:
        return np.random.default_rng(self.stream)


@dataclass(frozen=True)
class Perturbation:
    """A way to change a response; `change` gives the new text, or None where there is none."""

    change: Callable[[ChosenTurn], str | None]
    excuse: str
    """Why a chosen turn can be left as it is."""


def noise(chosen: ChosenTurn) -> str | None:
    """Inserts a quarter to a half as many words as there are, at least one. Number, places and words are uniform."""
    if not chosen.words:
        return None
    words = SPACED_WORD.findall(chosen.turn.response)
    random = chosen.random()
    count = random.integers(max(1, math.ceil(len(words) / 4)), max(1, len(words) // 2), endpoint=True)
    slots: list[list[str]] = [[] for _ in range(len(words) + 1)]
    places = random.integers(len(slots), size=count).tolist()
    drawn = random.integers(len(chosen.words), size=count).tolist()
    for place, word in zip(places, drawn, strict=True):
        slots[place].append(chosen.words[word])
    *before, after = slots
    if not words:
        return " ".join(after)
    widened = [" ".join([*inserted, own]) for inserted, own in zip(before, words, strict=True)]
    widened[-1] = " ".join([widened[-1], *after])
    return _with_words(chosen.turn.response, widened)


def mismatch(chosen: ChosenTurn) -> str:
    return chosen.following


def permute(chosen: ChosenTurn) -> str | None:
    """Puts the words in another order; the spaces between them stay in their places."""
    words = SPACED_WORD.findall(chosen.turn.response)
    if len(set(words)) < 2:
        return None
    random = chosen.random()
    shuffled = words
    while shuffled == words:
        shuffled = [words[place] for place in random.permutation(len(words))]
    return _with_words(chosen.turn.response, shuffled)


def repeat(chosen: ChosenTurn) -> str | None:
    """Says a generic sentence, another one where the response is one already."""
    others = [sentence for sentence in chosen.sentences if sentence != chosen.turn.response]
    return others[chosen.random().integers(len(others))] if others else None


def truncate(chosen: ChosenTurn) -> str | None:
    """Keeps the first half of the words, rounded down, but at least one."""
    ends = [word.end() for word in SPACED_WORD.finditer(chosen.turn.response)]
    return chosen.turn.response[: ends[len(ends) // 2 - 1]] if len(ends) > 1 else None


def parrot(chosen: ChosenTurn) -> str | None:
    """Says the last utterance of the context back."""
    last = chosen.turn.context[-1] if chosen.turn.context else ""
    return last if last.strip() else None


def _with_words(text: str, words: Sequence[str]) -> str:
    """The text with these words in place of its own, and its own spaces."""
    following = iter(words)
    return SPACED_WORD.sub(lambda _: next(following), text)


KINDS = {
    "noise": Perturbation(noise, "there are no words to insert"),
    "mismatch": Perturbation(mismatch, "no other response was chosen to take, or one with the same text"),
    "permute": Perturbation(permute, "the response has fewer than two different words"),
    "repeat": Perturbation(repeat, "the response is the only generic sentence there is"),
    "truncate": Perturbation(truncate, "the response has fewer than two words"),
    "parrot": Perturbation(parrot, "there is no last utterance to say back, or the response says it already"),
}


def perturb(
    corpus: CorpusLike,
    kind: str,
    ratio: float,
    seed: int = 0,
    of: Literal["response", "reference"] = "response",
    *,
    words: Sequence[str] | None = None,
    sentences: Sequence[str] = GENERIC,
) -> Corpus:
    """The corpus with a share of each system's responses changed; the share is rounded to the nearest count.

    One seed gives one order of the corpus's (id, context) pairs, whatever the kind, and every ratio takes turns from
    its beginning: the turns changed at 0.2 are among those changed at 0.5 and get the same text, but that under
    `mismatch` the last one takes the first one's response, and which is last depends on the ratio. Pairs are put in
    order by id and context before the draw, so the order of the file does not matter where ids are given.

    A chosen turn that cannot be changed stays as it is; a caveat counts such turns. A changed turn loses its ratings,
    which are of the old text; nothing else about it changes.

    Args:
        corpus: Whatever holds turns, as for `evaluate`.
        kind: One of `KINDS`: "noise", "mismatch", "permute", "repeat", "truncate", "parrot".
        ratio: The share, from 0 to 1.
        seed: Of what is drawn by chance.
        of: "reference" changes the references in place of the responses (see `references_as_system`).
        words: From which `noise` draws, in place of the different words of all responses.
        sentences: In place of the generic ones of `repeat`.

    Examples:
        >>> import dialogauge
        >>> corpus = dialogauge.load("examples/everyday.jsonl").select(["good"])
        >>> worse = dialogauge.perturb(corpus, "truncate", 0.5)
        >>> sum(old.response != new.response for old, new in zip(corpus, worse)), len(corpus)
        (32, 64)
    """
    corpus = as_corpus(corpus)
    check_call(kind, ratio, seed)
    if of not in ("response", "reference"):
        raise unknown("text to change", of, ("response", "reference"))
    if of == "reference":
        corpus = references_as_system(corpus)
    if words is None:
        words = _all_words(corpus) if kind == "noise" else ()
    else:
        _refuse_blank("words", words)
    _refuse_blank("sentences", sentences)

    turns = list(corpus.turns)
    chosen = left = 0
    for drawn in _drawn(corpus.turns, ratio, seed):
        for (place, stream), (next_place, _) in zip(drawn, drawn[1:] + drawn[:1], strict=True):
            turn, following = corpus.turns[place], corpus.turns[next_place].response
            text = KINDS[kind].change(ChosenTurn(turn, following, stream, words, sentences))
            chosen += 1
            if text is None or text == turn.response:
                left += 1
            else:
                turns[place] = replace(turn, response=text, ratings=NOTHING)
    return Corpus(turns, corpus.files, (*corpus.caveats, *_left_alone(kind, left, chosen)), corpus.users)


def references_as_system(corpus: Corpus) -> Corpus:
    """The first reference of every (id, context) as the response of a system "reference", so that real replies can be
    perturbed.

    Each comes from the first system that has one there, with all its references. Ratings and `extra` are left out:
    they are about the response of another system. Where one id stands for different contexts, the later ones are
    called `ID#2`, `ID#3`, and so on. Pairs without any reference are counted in a caveat.
    """
    first: dict[tuple[str, tuple[str, ...]], Turn | None] = {}
    for turn in chain.from_iterable(corpus.by_system.values()):
        pair = (turn.id, turn.context)
        if first.get(pair) is None:
            first[pair] = turn if turn.references else None
    taken = {turn.id for turn in first.values() if turn}
    used: set[str] = set()
    turns = []
    for turn in filter(None, first.values()):
        name = turn.id if turn.id not in used else _free(turn.id, taken)
        used.add(turn.id)
        taken.add(name)
        said = turn.references[0]
        turns.append(replace(turn, id=name, response=said, system=REFERENCE, ratings=NOTHING, extra=NOTHING))
    if not turns:
        raise InputError("expected turns with references, found none")
    caveats = corpus.caveats
    if missing := len(first) - len(turns):
        message = f"{missing} of {counted(len(first), 'context')} left out: no turn there has a reference"
        caveats = (*caveats, Caveat("no_reference", message))
    return Corpus(turns, corpus.files, caveats)


def check_call(kind: str, ratio: float, seed: int) -> None:
    """Refuses what cannot be asked for, before any work is done."""
    if kind not in KINDS:
        raise unknown("perturbation", kind, KINDS)
    check_number("ratio", ratio, 0, 1)
    check_seed(seed)


def _drawn(turns: Sequence[Turn], ratio: float, seed: int) -> Iterator[list[tuple[int, int]]]:
    """For each system, the positions of its chosen turns in the order drawn, each with the seed of its own numbers."""
    items = _items(turns)
    number = {item: place for place, item in enumerate(sorted(set(items)))}
    random = np.random.default_rng(seed)
    ranks = random.permutation(len(number)).tolist()
    streams = random.integers(1 << 63, size=len(number)).tolist()
    systems: dict[str, list[tuple[int, int]]] = {}
    for position, (turn, item) in enumerate(zip(turns, items, strict=True)):
        systems.setdefault(turn.system, []).append((ranks[number[item]], position))
    for ranked in systems.values():
        wanted = math.floor(ratio * len(ranked) + 0.5)
        yield [(position, streams[number[items[position]]]) for _, position in sorted(ranked)[:wanted]]


def _items(turns: Sequence[Turn]) -> list[ItemKey]:
    seen: Counter[tuple[str, str, tuple[str, ...]]] = Counter()
    items = []
    for turn in turns:
        same = (turn.system, turn.id, turn.context)
        items.append((turn.id, turn.context, seen[same]))
        seen[same] += 1
    return items


def _all_words(corpus: Corpus) -> list[str]:
    return sorted({word for turn in corpus.turns for word in SPACED_WORD.findall(turn.response)})


def _left_alone(kind: str, left: int, chosen: int) -> list[Caveat]:
    if not left:
        return []
    message = f"{kind}: {left} of {counted(chosen, 'chosen turn')} unchanged: {KINDS[kind].excuse}"
    return [Caveat("not_perturbed", message)]


def _refuse_blank(name: str, texts: Sequence[str]) -> None:
    if not texts or not all(text.strip() for text in texts):
        raise InputError(f"{name}: expected at least one text and none that is blank, found {list(texts)[:3]!r}")


def _free(name: str, taken: set[str]) -> str:
    number = 2
    while f"{name}#{number}" in taken:
        number += 1
    return f"{name}#{number}"
