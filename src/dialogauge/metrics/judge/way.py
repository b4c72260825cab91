"""How an endpoint is asked: with a schema and with logprobs where it takes them. Found by asking it once about a
conversation of our own, so that neither what is judged nor its order changes the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dialogauge.corpus.turn import Turn
from dialogauge.endpoint.chat import ChatAnswer, ChatRequest, EndpointError
from dialogauge.endpoint.endpoint import Endpoint
from dialogauge.metrics.judge.judgement import expectation, read_label, signed_name
from dialogauge.metrics.judge.prompt import Form, JudgePrompt

EXAMPLE = Turn(
    "",
    "It leaves at nine, from platform two.",
    ("Hello!", "Hi, how can I help?", "When does the next train to Leeds leave?"),
    ("At nine, from platform two.",),
    facts=("The next train to Leeds leaves at 9:00 from platform 2.",),
)
TOP = 20
"""The most likely tokens that are asked for: OpenAI's own limit."""


@dataclass(frozen=True)
class Way:
    form: Form
    logprobs: bool
    limit: str = "max_tokens"
    """What the endpoint calls the most tokens of an answer."""
    model: str = ""
    """The name that the endpoint gives itself, beside the one it was asked for."""
    fingerprint: str = ""
    assumed: bool = False
    """Whether the endpoint is yet to be asked."""

    @property
    def spelled(self) -> str:
        return f"{'logprobs' if self.logprobs else 'samples'}/{self.form}"


@dataclass(frozen=True)
class JudgeRequests:
    """What every request of a judge has in common."""

    prompt: JudgePrompt
    model: str
    temperature: float | None
    tokens: int

    def request(self, judged: Mapping[str, Any], way: Way, sample: int = 0) -> ChatRequest:
        body: dict[str, Any] = {
            "model": self.model,
            "messages": self.prompt.messages(judged, way.form),
            way.limit: self.tokens,
        }
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if way.form == "json":
            body["response_format"] = self.prompt.schema()
        if way.logprobs:
            body |= {"logprobs": True, "top_logprobs": TOP}
        return ChatRequest(body, sample)

    def example(self, way: Way) -> ChatRequest:
        return self.request(self.prompt.judged(EXAMPLE, EXAMPLE.references[0])[0], way)


def find_way(endpoint: Endpoint, asking: JudgeRequests, logprobs: bool) -> Way:
    """The first that the endpoint does not refuse. Refusals are kept only once another way is taken: they were about
    the way, then, and not about the endpoint's state."""
    refused: list[tuple[ChatRequest, ChatAnswer]] = []
    ways = [Way(form, given) for given in ((True, False) if logprobs else (False,)) for form in ("json", "parsed")]
    while ways:
        way = ways.pop(0)
        request = asking.example(way)
        answer = endpoint.ask([request])[0]
        if not answer.refused:
            for earlier, refusal in refused:
                endpoint.keep(earlier, refusal)
            return _taken(way, answer, asking.prompt)
        refused.append((request, answer))
        if "max_completion_tokens" in answer.reason and way.limit == "max_tokens":
            ways = [replace(other, limit="max_completion_tokens") for other in (way, *ways)]
    raise EndpointError(f"{endpoint.url}: {refused[-1][1].status} {refused[-1][1].reason}")


def assumed_way(endpoint: Endpoint, asking: JudgeRequests, logprobs: bool) -> Way:
    """The one that is kept, or else the first; nothing is asked."""
    first = Way("json", logprobs, assumed=True)
    return first if endpoint.missing([asking.example(first)]) else find_way(endpoint, asking, logprobs)


def _taken(way: Way, answer: ChatAnswer, prompt: JudgePrompt) -> Way:
    """What the endpoint makes of it: it may take `logprobs` and give none."""
    label = read_label(answer.content, prompt.answer_field, prompt.labels)
    given = bool(answer.logprobs) if label is None else expectation(answer.logprobs, label, prompt.labels) is not None
    return replace(
        way,
        logprobs=way.logprobs and given,
        model=signed_name(answer.model),
        fingerprint=signed_name(answer.fingerprint),
    )
