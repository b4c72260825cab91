"""What is asked and what is answered."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dialogauge.errors import DialogaugeError

CHARACTERS_PER_TOKEN = 4
"""Of English, about; what a request costs is estimated by it."""


class EndpointError(DialogaugeError):
    """An endpoint could not be asked, or did not answer."""


@dataclass(frozen=True)
class ChatRequest:
    """The JSON body of a POST to /chat/completions. `sample` tells apart repeated requests with one body, each of which
    has an answer of its own; it is not sent."""

    body: Mapping[str, Any]
    sample: int = 0

    @property
    def sent(self) -> bytes:
        """What goes over the wire: the same bytes for the same body."""
        return canonical(self.body)

    def key(self, url: str) -> bytes:
        """256 bits that stand for the whole request: where it goes, all that is sent, and which repetition it is."""
        return hashlib.sha256(canonical({"url": url, "body": self.body, "sample": self.sample})).digest()

    @property
    def tokens(self) -> int:
        """Of its messages, estimated."""
        texts = (str(message.get("content", "")) for message in self.body.get("messages", ()))
        return sum(-(-len(text) // CHARACTERS_PER_TOKEN) for text in texts)

    @property
    def most_tokens(self) -> int:
        """That may come back, where the request says so."""
        return int(self.body.get("max_tokens") or self.body.get("max_completion_tokens") or 0)


@dataclass(frozen=True)
class ChatAnswer:
    """What came back. A request that the endpoint refused as wrong (400, 413 or 422) has no `content`."""

    status: int
    body: Mapping[str, Any] = field(repr=False)

    @property
    def refused(self) -> bool:
        return self.status != 200

    @property
    def reason(self) -> str:
        """Of a refusal, in the endpoint's words."""
        return str(self.body.get("refusal", ""))

    @property
    def content(self) -> str | None:
        """The text; None where the model gave none, or the request was refused."""
        if self.refused:
            return None
        content = self._choice["message"].get("content")
        return content if isinstance(content, str) else None

    @property
    def logprobs(self) -> list[Mapping[str, Any]]:
        """One entry per token of the content, with `token` and `top_logprobs`; empty where there are none."""
        found = (None if self.refused else self._choice.get("logprobs")) or {}
        tokens = found.get("content") if isinstance(found, Mapping) else None
        return [token for token in tokens if isinstance(token, Mapping)] if isinstance(tokens, list) else []

    @property
    def model(self) -> str:
        """The name that the endpoint gives to what answered."""
        return str(self.body.get("model") or "")

    @property
    def fingerprint(self) -> str:
        return str(self.body.get("system_fingerprint") or "")

    @property
    def _choice(self) -> Mapping[str, Any]:
        choice: Mapping[str, Any] = self.body["choices"][0]
        return choice


def is_chat(body: Any) -> bool:
    """Whether this is an answer of /chat/completions."""
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return False
    message = choices[0].get("message")
    return isinstance(message, dict) and isinstance(message.get("content"), str | None)


def canonical(value: Any) -> bytes:
    """The one spelling of a JSON value, in ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")
