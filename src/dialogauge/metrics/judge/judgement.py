"""From an answer to a number."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dialogauge.endpoint.chat import ChatAnswer
from dialogauge.metrics.judge.prompt import JudgePrompt


class Judgement(NamedTuple):
    value: float
    """NaN where the answer cannot be read."""
    from_logprobs: bool = False


def read_judgement(answer: ChatAnswer, prompt: JudgePrompt) -> Judgement:
    """The expectation over the labels by the probabilities of the token that the answer has in their place; where there
    are none, what the label is worth. An answer that is no label is none, whatever its tokens."""
    label = read_label(answer.content, prompt.answer_field, prompt.labels)
    if label is None:
        return Judgement(math.nan)
    expected = expectation(answer.logprobs, label, prompt.labels)
    return Judgement(prompt.labels[label]) if expected is None else Judgement(expected, True)


def read_label(content: str | None, field: str, labels: Mapping[str, float]) -> str | None:
    """The label that an answer consists of: `{"score": 4}`, `4`, `"4"`, `4.`, `Score: 4` or `4/5`. None for anything
    else, and for a number beyond the scale."""
    text = (content or "").strip()
    with_json = _in_json(text, field)
    if with_json is not None:
        return with_json if with_json in labels else None
    largest = list(labels)[-1]
    pattern = rf"(?:{field}\s*[:=]\s*)?[\"'*]*(?P<label>-?\w+)[\"'*]*(?:\s*/\s*{re.escape(largest)})?\.?"
    match = re.fullmatch(pattern, text, re.IGNORECASE)
    return match["label"] if match and match["label"] in labels else None


def _in_json(text: str, field: str) -> str | None:
    """The value of the field, as a label is spelled; "" where the text is an object and has no such value."""
    if not text.startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    found = value.get(field) if isinstance(value, dict) and len(value) == 1 else None
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    return str(found) if isinstance(found, int | str) and not isinstance(found, bool) else ""


def expectation(tokens: Sequence[Mapping[str, Any]], label: str, labels: Mapping[str, float]) -> float | None:
    """The mean of what labels are worth, by their probabilities at the token that is the answer's label: the last such,
    as a JSON object has it. Probabilities are those of the labels among the most likely tokens, taken to sum to 1.

    None where labels have several characters, which tokens may split, or where no such token came with others.
    """
    if any(len(known) > 1 for known in labels):
        return None
    place = next((token for token in reversed(tokens) if _plain(token) == label), None)
    top = place.get("top_logprobs") if place is not None else None
    if not isinstance(top, list) or not top:
        return None
    mass: dict[str, float] = {}
    for token in top:
        logprob = token.get("logprob") if isinstance(token, Mapping) else None
        if isinstance(logprob, int | float) and _plain(token) in labels and logprob <= 1e-6:
            mass[_plain(token)] = mass.get(_plain(token), 0.0) + math.exp(logprob)
    total = math.fsum(mass.values())
    return math.fsum(labels[known] * part for known, part in mass.items()) / total if total > 0 else None


def signed_name(name: str) -> str:
    """A model's name or fingerprint from outside, as a signature can hold it."""
    return re.sub(r"[^\w.:/@+-]", "_", name)[:80]


def _plain(token: Mapping[str, Any]) -> str:
    """A token without the spaces and quotation marks around it: a tokeniser has ` 4`, `"A` and `A`."""
    return str(token.get("token", "")).strip(" \t\r\n\"'\u2581\u0120")
