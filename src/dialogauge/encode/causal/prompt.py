"""How a context and what follows it become tokens: utterances that a newline ends each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from dialogauge.encode.causal.find import LanguageModelFiles
from dialogauge.encode.tokenizer import FAILS, load_tokenizer, refuse_surrogates, tokenizer_errors
from dialogauge.errors import InputError

DOCUMENT = "<|endoftext|>"
"""What documents begin with where a vocabulary has it (GPT-2, SmolLM2, Qwen, Pythia); else its token for a start."""
ROUNDED = 64
"""What a text takes of the window is rounded up to a multiple of this, so that short texts after one long context find
the same tokens before them, which then go through the model once."""

Ids = tuple[int, ...]


class Prompt(NamedTuple):
    """What the model reads, and how many tokens of either did not fit."""

    before: Ids
    """The token for a beginning, then the end of the context."""
    text: Ids
    """The text and the newline that ends it."""
    cut_before: int = 0
    cut_text: int = 0


def as_lines(utterances: Iterable[str]) -> str:
    """One utterance a line, with single spaces; what says nothing is left out."""
    return "\n".join(filter(None, (" ".join(utterance.split()) for utterance in utterances)))


class Prompter:
    """Tokenises line by line, so that a context has the same tokens whatever follows. What reads like a special token
    is text like any other. Of what does not fit, the beginning of the context goes first, then the end of the text."""

    def __init__(self, tokenizer: Any, start: int, limit: int) -> None:
        self._tokenizer = tokenizer
        self._tokenizer.encode_special_tokens = True
        self._start = start
        self._limit = limit

    def prompts(self, pairs: Sequence[tuple[str, str]]) -> list[Prompt]:
        """Of (context, text), both as `as_lines` writes them."""
        lines = list(dict.fromkeys(line for pair in pairs for text in pair for line in text.split("\n") if line))
        refuse_surrogates(lines)
        encodings = self._tokenizer.encode_batch([f"{line}\n" for line in lines], add_special_tokens=False)
        ids = {line: encoding.ids for line, encoding in zip(lines, encodings, strict=True)}
        return [
            self._prompt(*([i for line in part.split("\n") if line for i in ids[line]] for part in pair))
            for pair in pairs
        ]

    def _prompt(self, context: list[int], text: list[int]) -> Prompt:
        kept = text[: self._limit - 1]
        taken = -(-len(kept) // ROUNDED) * ROUNDED
        room = max(0, self._limit - 1 - taken)
        before = context[max(0, len(context) - room) :]
        return Prompt((self._start, *before), tuple(kept), len(context) - len(before), len(text) - len(kept))


def open_prompter(files: LanguageModelFiles, tokenizer: Any = None) -> Prompter:
    """With the tokeniser that was read beside the weights, or that of the directory."""
    if files.directory is None:
        return Prompter(tokenizer, tokenizer.token_to_id(DOCUMENT), files.limit)
    file = files.path / "tokenizer.json"
    if not file.is_file():
        raise InputError("has no tokenizer.json", files.path)
    tokenizer = load_tokenizer(file)
    with tokenizer_errors(files.path, FAILS):
        start = tokenizer.token_to_id(DOCUMENT)
    for name in ("bos_token_id", "eos_token_id"):
        if start is None:
            start = files.directory.whole_number(name)
    if start is None:
        raise InputError("says with which token a text begins neither by bos_token_id nor by eos_token_id", files.path)
    return Prompter(tokenizer, start, files.limit)
