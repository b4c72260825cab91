"""What a language model behind an endpoint says of replies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, InputError, check_number, check_whole
from dialogauge.metrics.base import UNSIGNED, Floats, Learned, spell_file
from dialogauge.metrics.judge.judgement import read_judgement, signed_name
from dialogauge.metrics.judge.other_replies import OtherReplies
from dialogauge.metrics.judge.prompt import JudgePrompt, open_prompt, shipped
from dialogauge.metrics.prepared import MeansOfRows, Prepared, Sums

if TYPE_CHECKING:
    from dialogauge.corpus.corpus import Corpus
    from dialogauge.encode.encoders import Encoders
    from dialogauge.endpoint.chat import ChatAnswer, ChatRequest
    from dialogauge.endpoint.endpoint import Endpoint
    from dialogauge.metrics.judge.way import JudgeRequests, Way

ANSWERS, UNREAD, WITHOUT_LOGPROBS, OTHER_MODEL, OTHER_FINGERPRINT, TURNED = range(1, 7)
"""Columns after the score, which count answers, those of them that could not be read, that came without logprobs, from
another model and from another version of it than the first; and pairs whose choice turned with their order."""
TIE = [0.5, *[0.0] * TURNED]
MOST_SAMPLES, MOST_TOKENS = 1000, 100_000


def _spell_prompt(name: str) -> str:
    return name if name in shipped() else spell_file(name)


@lru_cache(maxsize=64)
def _opened(name: str) -> JudgePrompt:
    return open_prompt(name)


class KnownWay(NamedTuple):
    """What is found out once and sent to all processes."""

    prompt: JudgePrompt
    way: Way
    others: OtherReplies | None = None


@dataclass(frozen=True)
class ModelJudge(MeansOfRows):
    """The mean over turns of what the model answers. Of a Likert prompt: on its scale, by the expectation over it where
    the endpoint gives the probabilities of tokens, else by the mean of `samples` answers. Of a pairwise prompt:
    the share of pairs that the reply wins against the turn's first reference, or against what the system `against`
    replied to the same context, a tie half a win, asked in both orders.
    An answer that cannot be read has no value; a turn without any is left out, and counted."""

    name = "judge"
    title = "what a language model behind an endpoint says of a reply"
    citations = ("liu2023geval", "zheng2023judging")
    higher_is_better = True
    needs = (frozenset({"context"}),)
    asks_endpoints = True

    prompt: str = field(default="overall", metadata={**UNSIGNED, "spell": _spell_prompt})
    """One that comes along, or a file."""
    model: str = ""
    """As the endpoint calls it."""
    url: str = field(default="", metadata=UNSIGNED)
    """The endpoint's address, such as http://localhost:8000/v1."""
    samples: int = 1
    """Answers for each turn, where there are no logprobs."""
    temperature: float | None = 0.0
    """None: not sent, and so the endpoint's own."""
    tokens: int = 32
    """The most that an answer may have."""
    logprobs: bool = field(default=True, metadata=UNSIGNED)
    """Whether the probabilities of tokens are asked for."""

    against: str = field(default="", metadata=UNSIGNED)
    """Of a pairwise prompt, the system whose replies the others are compared with; none: the references."""

    def __post_init__(self) -> None:
        check_whole("option samples of judge", self.samples, 1, MOST_SAMPLES)
        check_whole("option tokens of judge", self.tokens, 1, MOST_TOKENS)
        if self.temperature is not None:
            check_number("option temperature of judge", self.temperature, 0.0, 10.0)
        if self.samples > 1 and self.temperature == 0.0:
            raise InputError("option samples of judge: repeated answers at temperature 0 are one; add temperature=1")

    @property
    def bounds(self) -> tuple[float, float]:  # type: ignore[override]
        """Those of the prompt; none where its file is no more, as of a kept run read elsewhere."""
        try:
            return _opened(self.prompt).bounds
        except InputError:
            return (-np.inf, np.inf)

    @property
    def level(self) -> Literal["turn", "dialogue"]:  # type: ignore[override]
        try:
            return _opened(self.prompt).level
        except InputError:
            return "turn"

    @property
    def label(self) -> str:
        """Without the address, which says nothing about the score, and makes columns wide."""
        start, _, rest = super().label.partition("[")
        kept = [option for option in rest.rstrip("]").split(",") if option and not option.startswith("url=")]
        return start + (f"[{','.join(kept)}]" if kept else "")

    @property
    def learns(self) -> bool:
        return bool(self.against)

    def survey(self, turns: Iterable[Turn], beside_real: bool = False) -> OtherReplies | None:
        """What the system replied that the others are held against; as large as that system."""
        return OtherReplies.noted(self.against, turns) if self.against else None

    def learn(
        self, surveyed: OtherReplies | None, encoders: Encoders, real: Corpus | None = None
    ) -> Learned[Floats, Sums]:
        """Which way the endpoint can be asked."""
        from dialogauge.metrics.judge.way import assumed_way, find_way

        asking = self.asking(open_prompt(self.prompt))
        if surveyed is not None:
            if not asking.prompt.pairwise:
                hint = "choose prompt=pairwise, or pairwise/coherence and so on"
                raise InputError(f"option against of judge: prompt={self.prompt} looks at one reply alone; {hint}")
            surveyed.check(self.label)
        endpoint = encoders.endpoints.get(self.url)
        find = assumed_way if endpoint.options.dry_run or endpoint.options.offline else find_way
        # Tokens may split labels of several characters.
        logprobs = self.logprobs and all(len(label) == 1 for label in asking.prompt.labels)
        return Learned(self, KnownWay(asking.prompt, find(endpoint, asking, logprobs), surveyed))

    def open(self, encoders: Encoders, known: KnownWay) -> PreparedJudge:
        return PreparedJudge(self, known, self.asking(known.prompt), encoders.endpoints.get(self.url))

    def asking(self, prompt: JudgePrompt) -> JudgeRequests:
        from dialogauge.metrics.judge.way import JudgeRequests

        if not self.model or not self.url:
            lacking = "model=NAME" if not self.model else "url=http://localhost:8000/v1"
            raise InputError(f"judge asks a model behind an endpoint, and lacks {lacking}: judge[model=NAME,url=URL]")
        return JudgeRequests(prompt, self.model, self.temperature, self.tokens)

    def caveats(self, summary: Sums) -> list[Caveat]:
        turns, counts = int(summary.n), summary.total.astype(int)
        answers = int(counts[ANSWERS]) if turns else 0
        found = []
        for column, code, what in (
            (UNREAD, "unread_answers", "could not be read and do not count"),
            (
                WITHOUT_LOGPROBS,
                "no_logprobs",
                "came without the probabilities of tokens, and count as the answer alone",
            ),
            (OTHER_FINGERPRINT, "other_fingerprint", "came from another version of the model than the signature says"),
        ):
            if turns and counts[column]:
                found.append(Caveat(code, f"{self.label}: {counts[column]} of {answers} answers {what}"))
        if turns and counts[TURNED]:
            message = (
                f"{self.label}: in {counts[TURNED]} of {turns} pairs the choice turned with the order of the replies"
            )
            found.append(Caveat("position_preference", f"{message}; both orders count"))
        return found


@dataclass(frozen=True)
class PreparedJudge(Prepared[Floats, Sums]):
    """With the endpoint that it asks."""

    asked: ModelJudge
    asking: JudgeRequests
    endpoint: Endpoint

    @property
    def way(self) -> Way:
        way: Way = self.known.way
        return way

    @property
    def undefined_because(self) -> str:
        prompt = self.asking.prompt
        reasons = ["the answer could not be read as a score, or the endpoint refused the request"]
        if prompt.pairwise:
            against = self.asked.against
            reasons.append(
                f"{against} has no reply to its context" if against else "it has no reference to compare with"
            )
        reasons += ["the turn is not the last of its dialogue"] if prompt.level == "dialogue" else []
        return ", or ".join(reasons)

    def asks(self, turns: Sequence[Turn]) -> tuple[Endpoint, list[ChatRequest]]:
        first = [self.asking.example(self.way)] if self.way.assumed else []
        return self.endpoint, [*first, *(request for own in self._by_turn(turns) for request in own)]

    def measure(self, turns: Sequence[Turn]) -> Floats:
        by_turn = self._by_turn(turns)
        answers = iter(self.endpoint.ask([request for own in by_turn for request in own], keep_refusals=True))
        rows = [
            TIE if self._tied(turn) else self._row([next(answers) for _ in own])
            for turn, own in zip(turns, by_turn, strict=True)
        ]
        return np.array(rows, dtype=np.float64).reshape(len(turns), TURNED + 1)

    def _by_turn(self, turns: Sequence[Turn]) -> list[list[ChatRequest]]:
        """Of a pair, all samples of one order, then those of the other."""
        prompt = self.asking.prompt
        judged = set(range(len(turns)))
        if prompt.level == "dialogue":
            from dialogauge.corpus.dialogues import dialogues

            judged = {places[-1] for places in dialogues(turns)}
        samples = range(1 if self.way.logprobs else self.asked.samples)
        return [
            [
                self.asking.request(shown, self.way, sample)
                for shown in prompt.judged(turn, self._other(turn))
                for sample in samples
            ]
            if place in judged and not self._tied(turn)
            else []
            for place, turn in enumerate(turns)
        ]

    def _other(self, turn: Turn) -> str | None:
        """Of a pair, the reply that the turn's is compared with."""
        if not self.asking.prompt.pairwise:
            return None
        others: OtherReplies | None = self.known.others
        return next(iter(turn.references), None) if others is None else others.to(turn)

    def _tied(self, turn: Turn) -> bool:
        """Both replies are the same, so are both orders, and whatever was answered would make a half."""
        return self._other(turn) == turn.response

    def _row(self, answers: Sequence[ChatAnswer]) -> list[float]:
        prompt = self.asking.prompt
        read = [read_judgement(answer, prompt) for answer in answers]
        values = np.array([each.value for each in read])
        orders = [values[: len(values) // 2], 1 - values[len(values) // 2 :]] if prompt.pairwise else [values]
        means = [float(np.mean(own[~np.isnan(own)])) if not np.isnan(own).all() else np.nan for own in orders]
        turned = len(means) == 2 and (means[0] - 0.5) * (means[1] - 0.5) < 0
        counts: list[Any] = [
            len(answers),
            int(np.isnan(values).sum()),
            sum(self.way.logprobs and not each.from_logprobs and not np.isnan(each.value) for each in read),
            sum(signed_name(answer.model) != self.way.model for answer in answers if not answer.refused),
            sum(signed_name(answer.fingerprint) != self.way.fingerprint for answer in answers if not answer.refused),
            turned,
        ]
        return [float(np.mean(means)) if means else np.nan, *map(float, counts)]

    def caveats(self, summary: Sums) -> list[Caveat]:
        found = super().caveats(summary)
        label, asked, returned = self.asked.label, self.asked.model, self.way.model
        if returned and not _same_model(asked, returned):
            message = f"{label}: the endpoint was asked for {asked} and says that {returned} answered"
            found.append(Caveat("other_model", message))
        if int(summary.n) and (others := int(summary.total[OTHER_MODEL])):
            message = (
                f"{label}: {others} of {int(summary.total[ANSWERS])} answers came from another model than {returned}"
            )
            found.append(Caveat("other_model", message))
        return found

    def recipe(self) -> dict[str, str]:
        prompt, way = self.asking.prompt, self.way
        scale = "pair" if prompt.pairwise else f"{prompt.scale[0]}-{prompt.scale[1]}"
        return {
            "prompt": f"{_spell_prompt(prompt.name)}@{prompt.hash}",
            "scale": scale,
            **({"against": signed_name(self.asked.against) or "first-reference"} if prompt.pairwise else {}),
            "way": way.spelled,
            "returned": way.model or "none",
            "fingerprint": way.fingerprint or "none",
        }


def _same_model(asked: str, returned: str) -> bool:
    """`gpt-4o` is answered by `gpt-4o-2024-08-06`, `org/name` by `name` or by a file of that name."""
    short = signed_name(asked).rpartition("/")[2].casefold()
    return short in returned.casefold()
