"""Makes replies of many kinds to contexts of conversations, each with its likelihood by a tuned language model.

    python scripts/make_replies.py --conversations chitchat.jsonl --model SmolLM2-135M-Instruct.Q4_1.gguf \\
        --out replies.jsonl.gz --contexts 60000 --seed 0

SmolLM2-135M (smollm2.py) is tuned on the conversations (conversation_lm.py); 3 % of them are held back, for the
validation loss alone. Every context gets at most one reply of each kind:

    human          what the person answered
    lm, lm_low     drawn from the tuned model at temperature 1 and .6, nucleus of .95
    lm_wrong       the tuned model's answer (lm) to a context of another conversation
    untuned        the model as it was before, by its chat template, for a quarter of the contexts
    random         a reply of another conversation
    same_dialogue  what the same person said elsewhere in the same conversation
    similar        the reply that followed the last utterance nearest by TF-IDF in another conversation
    broken         the person's reply with its language broken, in one of the ways that the gauge learns from
    generic        a reply that fits everywhere
    parrot         the context said back

Replies have at most 40 tokens, people's too, so that length does not tell them apart. A reply that says the same as the
person's is left out, and one that was drawn without an end or a whole sentence: kinds have fewer replies than contexts.

--score adds the likelihoods to replies that exist already. --keep writes the tuned model, which --model reads again:

    python scripts/make_replies.py --model tuned --score rated.jsonl --score-out scored.jsonl.gz
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import re
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import smollm2
import torch
from conversation_lm import (
    CONTEXT_UTTERANCES,
    DEVICE,
    REPLY_TOKENS,
    STARTED,
    Conversation,
    LanguageModel,
    Tokens,
    say,
    tune,
)

from dialogauge.learned.gauge.worsen import BROKEN, Exchange, parrot
from dialogauge.learned.synthesis.sources import read_generic

HELD_BACK = 3  # per cent of the conversations
BLOCK = 8192  # contexts that are answered, scored and written together
UNTUNED_SHARE = 4  # one context in so many
PARROT_SHARE = 4
WORD_COLUMNS = 16384

Replies = dict[str, list[str | None]]


@dataclass(frozen=True)
class Turn:
    conversation: Conversation
    index: int  # of the reply
    first: int  # of the context

    @property
    def context(self) -> list[str]:
        return self.conversation.utterances[self.first : self.index]

    @property
    def reply(self) -> str:
        return self.conversation.utterances[self.index]


def turns_of(conversations: list[Conversation], rng: np.random.Generator) -> list[Turn]:
    """Every utterance that is short enough, as the reply to the 1 to 6 before it."""
    return [
        Turn(conversation, index, max(0, index - int(rng.integers(1, CONTEXT_UTTERANCES, endpoint=True))))
        for conversation in conversations
        for index in range(1, len(conversation.tokens))
        if short(conversation, index)
    ]


def short(conversation: Conversation, index: int) -> bool:
    return len(conversation.tokens[index]) <= REPLY_TOKENS + 1


class Retriever:
    """The turn of another conversation whose last utterance before the reply is nearest by the cosine of TF-IDF."""

    def __init__(self, turns: list[Turn], generator: torch.Generator) -> None:
        self.turns, self.generator = turns, generator
        counts = self._counts(turns)
        self.rarity = (len(turns) / (1 + (counts > 0).sum(0))).log().clamp(min=0).half()
        self.index = self._weighted(counts)
        names = {name: n for n, name in enumerate(sorted({turn.conversation.name for turn in turns}))}
        self.conversation = torch.tensor([names[turn.conversation.name] for turn in turns], device=DEVICE)

    def _counts(self, turns: list[Turn]) -> torch.Tensor:
        counts = np.zeros((len(turns), WORD_COLUMNS), np.float16)
        for row, turn in enumerate(turns):
            for word in re.findall(r"\w+", turn.context[-1].lower()):
                counts[row, zlib.crc32(word.encode()) % WORD_COLUMNS] += 1
        return torch.from_numpy(counts).to(DEVICE)

    def _weighted(self, counts: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.normalize(counts * self.rarity, dim=1, eps=1e-4)

    def replies(self, rows: Sequence[int]) -> list[str | None]:
        found: list[str | None] = []
        for first in range(0, len(rows), 1024):
            chunk = torch.tensor(rows[first : first + 1024], device=DEVICE)
            cosines = (self.index[chunk] @ self.index.T).float()
            # many turns end in "hi": which of the equals is taken is left to chance
            cosines += 1e-3 * torch.rand(cosines.shape, generator=self.generator, device=DEVICE)
            cosines[self.conversation[chunk][:, None] == self.conversation] = -1
            found += [self.turns[nearest].reply for nearest in cosines.argmax(1).tolist()]
        return found


class Answers:
    """Replies of every kind to blocks of turns."""

    def __init__(self, turns: list[Turn], tuned: LanguageModel, untuned: LanguageModel, seed: int) -> None:
        self.turns, self.tuned, self.untuned = turns, tuned, untuned
        self.rng = np.random.default_rng(seed)
        self.generator = torch.Generator(DEVICE).manual_seed(seed)
        self.retriever = Retriever(turns, self.generator)
        self.generic = read_generic()

    def __call__(self, rows: Sequence[int], prompts: Sequence[Tokens]) -> Replies:
        turns = [self.turns[row] for row in rows]
        asked = turns[: len(turns) // UNTUNED_SHARE]
        chats = [self.untuned.chat_prompt(turn.context) for turn in asked]
        lm = self.tuned.replies(prompts, 1.0, self.generator)
        others = [self.turns[row] for row in self.rng.integers(len(self.turns), size=len(turns))]
        return {
            "human": [turn.reply for turn in turns],
            "lm": lm,
            "lm_low": self.tuned.replies(prompts, 0.6, self.generator),
            "lm_wrong": elsewhere(turns, turns[1:] + turns[:1], lm[1:] + lm[:1]),
            "untuned": self.untuned.replies(chats, 1.0, self.generator) + [None] * (len(turns) - len(asked)),
            "random": elsewhere(turns, others, [turn.reply for turn in others]),
            "same_dialogue": [self._same_dialogue(turn) for turn in turns],
            "similar": self.retriever.replies(rows),
            **self._worse(turns, others),
        }

    def _worse(self, turns: list[Turn], others: list[Turn]) -> Replies:
        exchanges = [Exchange(turn.context, turn.reply, other.reply) for turn, other in zip(turns, others, strict=True)]
        parrots = [parrot(exchange, self.rng) for exchange in exchanges[: len(exchanges) // PARROT_SHARE]]
        return {
            "broken": [BROKEN[self.rng.integers(len(BROKEN))](exchange, self.rng) for exchange in exchanges],
            "generic": [self.generic[self.rng.integers(len(self.generic))] for _ in exchanges],
            "parrot": [*parrots, *[None] * (len(exchanges) - len(parrots))],
        }

    def _same_dialogue(self, turn: Turn) -> str | None:
        said = range(turn.index % 2, len(turn.conversation.utterances), 2)
        apart = [n for n in said if abs(n - turn.index) > 2 and not turn.first <= n < turn.index]
        apart = [n for n in apart if short(turn.conversation, n)]
        return turn.conversation.utterances[self.rng.choice(apart)] if apart else None


def elsewhere(turns: list[Turn], others: list[Turn], replies: Sequence[str | None]) -> list[str | None]:
    pairs = zip(turns, others, replies, strict=True)
    return [reply if turn.conversation is not other.conversation else None for turn, other, reply in pairs]


def differs(kind: str, text: str, human: str) -> bool:
    """Broken language may have the same words in another order."""
    return text.split() != human.split() if kind == "broken" else plain(text) != plain(human)


def plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold())) or text


def write_replies(out: Path, answers: Answers, options: Any) -> None:
    """Block after block, each whole in the file, while the next is likely to end within the time limit."""
    order = np.random.default_rng(options.seed).permutation(len(answers.turns))[: options.contexts].tolist()
    out.unlink(missing_ok=True)
    counts: Counter[str] = Counter()
    for first in range(0, len(order), BLOCK):
        began = time.monotonic()
        rows = order[first : first + BLOCK]
        turns = [answers.turns[row] for row in rows]
        prompts = answers.tuned.prompts([turn.context for turn in turns])
        replies = answers(rows, prompts)
        drawn = time.monotonic()
        pairs = [
            (n, kind, text)
            for n, turn in enumerate(turns)
            for kind in replies
            if (text := replies[kind][n]) and (kind == "human" or differs(kind, text, turn.reply))
        ]
        measured = answers.tuned.likelihoods([prompts[n] for n, _, _ in pairs], [text for _, _, text in pairs])
        write_lines(
            out,
            (
                {
                    "id": f"{turns[n].conversation.name}:{turns[n].index}",
                    "dialogue": turns[n].conversation.name,
                    "context": turns[n].context,
                    "response": text,
                    "system": kind,
                    "extra": extra,
                }
                for (n, kind, text), extra in zip(pairs, measured, strict=True)
            ),
        )
        counts.update(kind for _, kind, _ in pairs)
        took = time.monotonic() - began
        say(f"{first + len(rows)} contexts: {drawn - began:.1f} s drawn, {began + took - drawn:.1f} s scored, {out}")
        if time.monotonic() - STARTED + took > 60 * options.minutes_limit:
            say(f"stopped for the time limit of {options.minutes_limit} minutes")
            break
    say(f"replies: {dict(counts)}")


def score(lm: LanguageModel, source: Path, out: Path) -> None:
    rows = list(read_lines(source))
    contexts = [[context] if isinstance(context := row.get("context") or [], str) else context for row in rows]
    measured = lm.likelihoods(lm.prompts(contexts), [row["response"] for row in rows])
    out.unlink(missing_ok=True)
    write_lines(
        out, ({**row, "extra": {**(row.get("extra") or {}), **m}} for row, m in zip(rows, measured, strict=True))
    )
    say(f"{len(rows)} replies of {source} scored: {out}")


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        yield from map(json.loads, filter(str.strip, lines))


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Appends a gzip member of its own; no time of day in it, so that the same rows are the same bytes."""
    with gzip.GzipFile(path, "ab", compresslevel=6, mtime=0) as file:
        file.writelines((json.dumps(row, ensure_ascii=False) + "\n").encode() for row in rows)


def read_conversations(path: Path, lm: LanguageModel) -> tuple[list[Conversation], list[Conversation]]:
    train: list[Conversation] = []
    held_back: list[Conversation] = []
    for row in read_lines(path):
        name, utterances = str(row["dialogue"]), row["utterances"]
        part = held_back if zlib.crc32(name.encode()) % 100 < HELD_BACK else train
        part.append(Conversation(name, utterances, lm.encode(utterances)))
    tokens = sum(len(utterance) for conversation in train for utterance in conversation.tokens)
    say(f"{len(train)} conversations of {tokens} tokens to learn from, {len(held_back)} held back")
    return train, held_back


def parsed() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="GGUF file, or folder of smollm2.py or --keep")
    parser.add_argument("--conversations", type=Path, help='JSON lines {"dialogue", "utterances"}, plain or .gz')
    parser.add_argument("--epochs", type=int, default=2, help="0: the model is taken as it is")
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--batch", type=int, default=64, help="sequences in a step")
    parser.add_argument("--length", type=int, default=512, help="tokens in a sequence")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the tuned model goes, in float16")
    parser.add_argument("--score", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--score-out", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--out", type=Path, help="gzip JSON lines")
    parser.add_argument("--contexts", type=int, default=60000)
    parser.add_argument("--minutes-limit", type=float, default=float("inf"), help="of the whole run")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if len(options.score) != len(options.score_out):
        parser.error("--score and --score-out need as many files")
    if options.out and not options.conversations:
        parser.error("--out needs --conversations")
    return options


def main() -> None:
    options = parsed()
    torch.manual_seed(options.seed)
    tuned = LanguageModel(*smollm2.load(options.model))
    say(f"model read, on {DEVICE}")
    if options.conversations:
        train, held_back = read_conversations(options.conversations, tuned)
        untuned = LanguageModel(copy.deepcopy(tuned.model), tuned.tokenizer)
        if options.epochs:
            tune(tuned, train, held_back, options)
    if options.keep:
        smollm2.save(tuned.model, tuned.tokenizer, options.keep)
        say(f"tuned model kept in {options.keep}")
    for source, out in zip(options.score, options.score_out, strict=True):
        score(tuned, source, out)
    if options.out:
        turns = turns_of(train, np.random.default_rng(options.seed))
        say(f"{len(turns)} contexts to draw {options.contexts} from")
        write_replies(options.out, Answers(turns, tuned, untuned, options.seed), options)


if __name__ == "__main__":
    main()
