"""A language model of conversations: tuned on them, it draws replies and says how likely replies are.

A text is <|endoftext|>, then utterances that a newline ends each. Conversations are cut into pieces of 1 to 7
utterances, so that any can come first: the likelihood of a reply without its context is then well-defined.
"""

from __future__ import annotations

import copy
import math
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import smollm2
import torch
from transformers import DynamicCache

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
STARTED = time.monotonic()
REPLY_TOKENS, CONTEXT_TOKENS, LONGEST_REPLY = 40, 256, 256  # drawn; of a context, its end; of a reply that is scored
CONTEXT_UTTERANCES = 6
NUCLEUS = 0.95
NUCLEUS_TOKENS = 256  # it is looked for among the likeliest: sorting the whole vocabulary costs more than the model
ROWS_AT_ONCE, TOKENS_TO_DRAW_FROM, TOKENS_TO_SCORE = 2048, 262144, 65536
CHAT = "You are chatting with a friend. Answer in one short sentence."

Tokens = list[int]


@dataclass(frozen=True)
class Conversation:
    name: str
    utterances: list[str]
    tokens: list[Tokens]  # each with its newline


def say(text: str) -> None:
    print(f"[{time.monotonic() - STARTED:6.1f} s] {text}", flush=True)


class LanguageModel:
    """A model with its tokenizer: draws replies and says how likely they are."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model, self.tokenizer = model.to(DEVICE).eval(), tokenizer
        self.start = tokenizer.token_to_id(smollm2.START)
        self.newline = tokenizer.token_to_id(smollm2.NEWLINE)

    def encode(self, utterances: Iterable[str]) -> list[Tokens]:
        texts = [" ".join(utterance.split()) for utterance in utterances]
        return [[*encoding.ids, self.newline] for encoding in self.tokenizer.encode_batch(texts)]

    def prompts(self, contexts: Sequence[Sequence[str]]) -> list[Tokens]:
        encoded = iter(self.encode(utterance for context in contexts for utterance in context))
        texts = [[token for _ in context for token in next(encoded)] for context in contexts]
        return [[self.start, *tokens[-CONTEXT_TOKENS:]] for tokens in texts]

    def chat_prompt(self, context: Sequence[str]) -> Tokens:
        turns = [("user" if (len(context) - n) % 2 else "assistant", text) for n, text in enumerate(context)]
        said = "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in [("system", CHAT), *turns])
        ids: Tokens = self.tokenizer.encode(said + "<|im_start|>assistant\n").ids
        return ids

    @torch.no_grad()
    def replies(self, prompts: Sequence[Tokens], temperature: float, generator: torch.Generator) -> list[str | None]:
        model = copy.deepcopy(self.model).to(torch.bfloat16) if DEVICE == "cuda" else self.model
        replies: list[str | None] = [None] * len(prompts)
        for rows in batches([len(prompt) for prompt in prompts], TOKENS_TO_DRAW_FROM):
            drawn = self._draw(model, [prompts[row] for row in rows], temperature, generator)
            for row, tokens in zip(rows, drawn.tolist(), strict=True):
                replies[row] = self._text(tokens)
        return replies

    def _draw(self, model: Any, prompts: list[Tokens], temperature: float, generator: torch.Generator) -> torch.Tensor:
        width = max(map(len, prompts))
        step = torch.tensor([[self.start] * (width - len(p)) + p for p in prompts], device=DEVICE)
        mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts], device=DEVICE)
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        ends = torch.tensor(self._ends(), device=DEVICE)
        ended = torch.zeros(len(prompts), 1, dtype=torch.bool, device=DEVICE)
        cache = DynamicCache()
        drawn: list[torch.Tensor] = []
        while len(drawn) <= REPLY_TOKENS and not ended.all():
            output = model(
                input_ids=step, attention_mask=mask, position_ids=positions, past_key_values=cache, logits_to_keep=1
            )
            shares, likeliest = (output.logits[:, -1].float() / temperature).softmax(1).topk(NUCLEUS_TOKENS)
            shares[shares.cumsum(1) - shares > NUCLEUS] = 0
            step = likeliest.gather(1, torch.multinomial(shares, 1, generator=generator))
            drawn.append(step)
            ended |= torch.isin(step, ends)
            mask = torch.cat([mask, torch.ones_like(step)], 1)
            positions = positions[:, -1:] + 1
        return torch.cat(drawn, 1)

    def _ends(self) -> Tokens:
        return [self.newline, self.start, self.tokenizer.token_to_id("<|im_end|>")]

    def _text(self, tokens: Tokens) -> str | None:
        """What was drawn up to its end; where it has none, up to its last whole sentence, or nothing."""
        end = next((place for place, token in enumerate(tokens) if token in self._ends()), None)
        text = " ".join(
            self.tokenizer.decode(tokens[: REPLY_TOKENS if end is None else end]).replace("\ufffd", "").split()
        )
        if end is None:
            sentences = re.match(r".*[.!?]", text)
            text = sentences.group() if sentences else ""
        return text or None

    def likelihoods(self, prompts: Sequence[Tokens], replies: Sequence[str]) -> list[dict[str, float]]:
        """Natural logarithms, summed over a reply's tokens and its newline: `tokens` in number."""
        encoded = [reply[:LONGEST_REPLY] for reply in self.encode(replies)]
        given = self._log_p(prompts, encoded)
        alone = self._log_p([[self.start]] * len(encoded), encoded)
        return [
            {"log_p_given": round(g, 3), "log_p_alone": round(a, 3), "tokens": len(reply)}
            for g, a, reply in zip(given, alone, encoded, strict=True)
        ]

    @torch.no_grad()
    def _log_p(self, prompts: Sequence[Tokens], replies: Sequence[Tokens]) -> list[float]:
        log_p = np.zeros(len(replies))
        for rows in batches([len(p) + len(r) for p, r in zip(prompts, replies, strict=True)], TOKENS_TO_SCORE):
            width = max(len(prompts[row]) + len(replies[row]) for row in rows)
            texts = [prompts[row] + replies[row] for row in rows]
            ids = torch.tensor([text + [self.newline] * (width - len(text)) for text in texts], device=DEVICE)
            place = torch.arange(1, width, device=DEVICE)
            begins = torch.tensor([[len(prompts[row])] for row in rows], device=DEVICE)
            stops = torch.tensor([[len(text)] for text in texts], device=DEVICE)
            counted = (place >= begins) & (place < stops)
            with autocast():  # padding comes last, which causal attention never sees
                hidden = self.model.model(input_ids=ids).last_hidden_state[:, :-1]
                logits = self.model.lm_head(hidden[counted])
            sums = torch.zeros(counted.shape, device=DEVICE)
            sums[counted] = -torch.nn.functional.cross_entropy(logits.float(), ids[:, 1:][counted], reduction="none")
            log_p[rows] = sums.sum(1).cpu().numpy()
        return [float(value) for value in log_p]


def autocast() -> torch.autocast:
    return torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda")


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Rows of like length, padded to the longest no more than so many tokens at once."""
    rows: list[int] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if rows and (len(rows) == ROWS_AT_ONCE or (len(rows) + 1) * lengths[row] > tokens):
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


def tune(lm: LanguageModel, train: list[Conversation], held_back: list[Conversation], options: Any) -> None:
    """All weights; the rate warms up over a tenth of the steps and then falls along a cosine."""
    rng = np.random.default_rng(options.seed)
    validation = packed(lm, held_back, np.random.default_rng(0), options)
    say(f"held-back loss {loss_over(lm, validation):.4f} before tuning")
    optimizer = torch.optim.AdamW(lm.model.parameters(), lr=options.rate, betas=(0.9, 0.95), weight_decay=0.01)
    epochs = [packed(lm, train, rng, options) for _ in range(options.epochs)]
    steps = sum(map(len, epochs))
    warm_up = max(1, steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm_up, 0.55 + 0.45 * math.cos(math.pi * step / steps))
    )
    for number, epoch in enumerate(epochs, 1):
        lm.model.train()
        losses = []
        for ids in epoch:
            with autocast():
                loss = lm.model(input_ids=ids.to(DEVICE), labels=ids.to(DEVICE), use_cache=False).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(lm.model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            schedule.step()
            losses.append(loss.detach())
        lm.model.eval()
        mean = float(torch.stack(losses).mean())
        held = loss_over(lm, validation)
        say(f"epoch {number}: {len(epoch)} steps, train loss {mean:.4f}, held-back loss {held:.4f}")


def packed(
    lm: LanguageModel, conversations: list[Conversation], rng: np.random.Generator, options: Any
) -> list[torch.Tensor]:
    """Pieces of 1 to 7 utterances in random order, so that what stands before a piece says nothing about it."""
    pieces: list[Tokens] = []
    for conversation in conversations:
        first = 0
        while first < len(conversation.tokens):
            last = first + int(rng.integers(1, CONTEXT_UTTERANCES + 1, endpoint=True))
            pieces.append([lm.start, *(token for tokens in conversation.tokens[first:last] for token in tokens)])
            first = last
    stream = [token for place in rng.permutation(len(pieces)) for token in pieces[place]]
    whole = len(stream) // options.length * options.length
    sequences = torch.tensor(stream[:whole]).view(-1, options.length)
    return [sequences[row : row + options.batch] for row in range(0, len(sequences), options.batch)]


@torch.no_grad()
def loss_over(lm: LanguageModel, held_back: Sequence[torch.Tensor]) -> float:
    with autocast():
        losses = [lm.model(input_ids=ids.to(DEVICE), labels=ids.to(DEVICE)).loss for ids in held_back]
    return float(torch.stack(losses).mean())
