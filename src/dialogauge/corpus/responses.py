"""The responses of a model behind an endpoint to the contexts of a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.endpoint.chat import ChatAnswer, ChatRequest, EndpointError
from dialogauge.endpoint.endpoint import Endpoint
from dialogauge.errors import Caveat, InputError, quote
from dialogauge.tables import counted

MAX_TOKENS = 256


@dataclass(frozen=True)
class ModelAsked:
    """What is asked of the model beside the context. None is not sent: the endpoint does as it does."""

    model: str
    system_prompt: str | None = None
    temperature: float | None = None
    max_tokens: int | None = MAX_TOKENS
    seed: int | None = None
    facts: bool = False
    """Whether a turn's facts (persona or knowledge) stand in the system prompt."""

    def request(self, turn: Turn) -> ChatRequest:
        """The context as a chat in which the last utterance is the user's, and the model's turn is next."""
        prompt = "\n".join([*filter(None, [self.system_prompt]), *(turn.facts if self.facts else ())])
        messages = [{"role": "system", "content": prompt}] if prompt else []
        for place, utterance in enumerate(turn.context):
            is_user = (len(turn.context) - place) % 2 == 1
            messages.append({"role": "user" if is_user else "assistant", "content": utterance})
        options = {"temperature": self.temperature, "max_tokens": self.max_tokens, "seed": self.seed}
        given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        return ChatRequest({"model": self.model, "messages": messages, **given})


def contexts_of(turns: Iterable[Turn], system: str, *, own_references: bool = False) -> tuple[list[Turn], list[Caveat]]:
    """What is to be answered: one turn of `system`, without a response, for each id and context, whatever number of
    systems answered there. It keeps the dialogue and the facts, and has the references of all of them; with
    `own_references` their responses too, for conversations of people. Ratings are of other responses, and go."""
    found: dict[tuple[str, str | None, tuple[str, ...]], Turn] = {}
    without = 0
    for turn in turns:
        if not any(map(str.strip, turn.context)):
            without += 1
            continue
        references = (*turn.references, *((turn.response,) if own_references and turn.response.strip() else ()))
        key = (turn.id, turn.dialogue, turn.context)
        before = found.get(key)
        if before is None:
            found[key] = replace(
                turn, response="", references=references, system=system, ratings=NOTHING, extra=NOTHING
            )
        else:
            found[key] = replace(before, references=tuple(dict.fromkeys((*before.references, *references))))
    if not found:
        raise InputError("expected turns with a context to answer, found none")
    caveats = []
    if without:
        message = f"{counted(without, 'turn')} left out, which {'has' if without == 1 else 'have'} no context to answer"
        caveats.append(Caveat("no_context", message))
    return _own_ids(list(found.values())), caveats


def _own_ids(turns: list[Turn]) -> list[Turn]:
    """Where systems had contexts of their own under one id, the second of them is `ID#2`."""
    seen = Counter[str]()
    named = []
    taken = {turn.id for turn in turns}
    for turn in turns:
        seen[turn.id] += 1
        name = turn.id
        while seen[turn.id] > 1 and name in taken:
            name = f"{turn.id}#{seen[turn.id]}"
            seen[turn.id] += name in taken
        taken.add(name)
        named.append(turn if name == turn.id else replace(turn, id=name))
    return named


@dataclass(frozen=True)
class Responses:
    """The turns with the model's responses, and what the reader must know of them."""

    turns: list[Turn]
    caveats: list[Caveat]
    answered_by: tuple[str, ...]
    """The names and fingerprints that the endpoint gave to what answered."""


def fetch(turns: Sequence[Turn], asked: ModelAsked, endpoint: Endpoint, *, skip_refused: bool = False) -> Responses:
    """Asks for a response to every distinct context once. What was answered is kept as it comes: after an error, or a
    kill, the same call asks for the rest alone. Answers that are kept are not asked for again.

    A context that the endpoint refuses (too long, most often) is an error, or left out with `skip_refused`.
    """
    requests = [asked.request(turn) for turn in turns]
    answers = endpoint.ask(requests)
    refused = [(turn, answer) for turn, answer in zip(turns, answers, strict=True) if answer.refused]
    if refused and (not skip_refused or len(refused) == len(turns)):
        turn, answer = refused[0]
        others = f" and {len(refused) - 1} more" if len(refused) > 1 else ""
        skip = "" if len(refused) == len(turns) else "; --skip-refused leaves them out. All other answers are kept"
        what = f"refused the context of turn {quote(turn.id)}{others}"
        raise EndpointError(f"{endpoint.url}: {what}: {answer.status} {answer.reason}{skip}")
    answered = [(turn, answer) for turn, answer in zip(turns, answers, strict=True) if not answer.refused]
    responses = [replace(turn, response=(answer.content or "").strip()) for turn, answer in answered]
    found = [answer for _, answer in answered]
    return Responses(responses, _caveats(responses, found, len(refused), asked), _answered_by(found))


def _answered_by(answers: Iterable[ChatAnswer]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(" ".join(filter(None, (each.model, each.fingerprint))) or "unnamed" for each in answers))


def _caveats(responses: Sequence[Turn], answers: Sequence[ChatAnswer], refused: int, asked: ModelAsked) -> list[Caveat]:
    caveats = []
    if refused:
        caveats.append(Caveat("refused", f"{counted(refused, 'context')} left out, which the endpoint refused"))
    if empty := sum(not turn.response for turn in responses):
        caveats.append(Caveat("empty_response", f"{counted(empty, 'response')} of {len(responses)} without any text"))
    if cut := sum(_is_cut(answer) for answer in answers):
        limit = f"at {asked.max_tokens} tokens" if asked.max_tokens is not None else "by the endpoint"
        caveats.append(
            Caveat("cut_response", f"{counted(cut, 'response')} of {len(answers)} cut off {limit} (--max-tokens)")
        )
    if others := sorted({answer.model for answer in answers} - {asked.model, ""}):
        names = ", ".join(quote(name) for name in others)
        caveats.append(Caveat("other_model", f"the endpoint says that {names} answered, not {quote(asked.model)}"))
    return caveats


def _is_cut(answer: ChatAnswer) -> bool:
    return bool(answer.body["choices"][0].get("finish_reason") == "length")
