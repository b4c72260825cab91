"""What a run would ask of an endpoint, before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dialogauge.endpoint.chat import CHARACTERS_PER_TOKEN, ChatRequest
from dialogauge.endpoint.endpoint import Endpoint
from dialogauge.errors import InputError
from dialogauge.tables import counted

MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """Of a million tokens that go in, and of a million that come out, in whatever money."""

    sent: float
    answered: float

    @classmethod
    def parse(cls, text: str) -> Price:
        """`0.15,0.60`, or one number for both."""
        try:
            numbers = [float(piece) for piece in text.split(",")]
        except ValueError:
            numbers = []
        if len(numbers) not in (1, 2) or not all(0 <= number < float("inf") for number in numbers):
            raise InputError(f"--price: expected IN,OUT for a million tokens each, as 0.15,0.60, found {text!r}")
        return cls(numbers[0], numbers[-1])


@dataclass(frozen=True)
class AskingPlan:
    """Plans add up."""

    requests: int
    """That are wanted, each distinct one once."""
    kept: int
    """Of which the answers are kept."""
    tokens: int
    """That would be sent, estimated at four characters a token."""
    most_tokens: int
    """That may be answered at most."""

    @classmethod
    def made(cls, endpoint: Endpoint, requests: Iterable[ChatRequest]) -> AskingPlan:
        wanted = {request.key(endpoint.url): request for request in requests}
        missing = endpoint.missing(wanted.values())
        tokens, most = (sum(getattr(each, name) for each in missing) for name in ("tokens", "most_tokens"))
        return cls(len(wanted), len(wanted) - len(missing), tokens, most)

    def __add__(self, other: AskingPlan) -> AskingPlan:
        return AskingPlan(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    @property
    def to_send(self) -> int:
        return self.requests - self.kept

    def cost(self, price: Price) -> tuple[float, float]:
        """Of what is sent, and of that with the longest answers."""
        least = self.tokens * price.sent / MILLION
        return least, least + self.most_tokens * price.answered / MILLION

    def sentences(self, price: Price | None = None) -> list[str]:
        """For people, one line each."""
        said = [
            f"{counted(self.to_send, 'request')} to be sent, {self.kept} of {self.requests} answers kept already",
            f"about {self.tokens:,} tokens to be sent (at {CHARACTERS_PER_TOKEN} characters a token), "
            f"{self.most_tokens:,} in answers at most",
        ]
        if price is not None:
            least, most = self.cost(price)
            said.append(f"price: {least:.4g} for what is sent, up to {most:.4g} with the longest answers")
        return said

    def to_dict(self, price: Price | None = None) -> dict[str, Any]:
        """For JSON."""
        found: dict[str, Any] = {"requests": self.requests, "kept": self.kept, "to_send": self.to_send}
        found |= {"tokens": self.tokens, "most_tokens": self.most_tokens}
        if price is not None:
            found["price"] = dict(zip(("least", "most"), self.cost(price), strict=True))
        return found
