"""What is measured where nobody names metrics, and what is left out of a group for want of input."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, InputError, MissingPackage, MissingWeights, UnsuitedEncoder
from dialogauge.tables import in_words
from dialogauge.text.languages import Languages, MadeFor

if TYPE_CHECKING:
    from dialogauge.metrics.registry import Request

DEFAULT = "default"
DEFAULT_SET = ("gauge", "bertscore", "distinct", "length", "self_repetition", "fbd", "mmd")
"""Each where the corpus has what it needs."""
OF_DIALOGUES = frozenset({"self_repetition"})
"""Those of them that are measured where a system has several turns in one dialogue. Elsewhere they have nothing to say,
and are not spoken of."""
BESIDE_REAL = frozenset({"fbd", "mmd"})
"""Those of them that are measured against real conversations alone, though references would do: floors take time."""
JUDGES = ("gauge", "bertscore", "fbd")
"""Those of them by which a system can be called better, the first that was measured; variety and length cannot."""
MOST = 0.5
UNEQUAL = 0.05
"""By how much systems may differ in the share of turns with references."""


@dataclass
class Choice:
    """The metrics that a run measures, and those of groups that it does not, by the reason."""

    requests: list[Request]
    left_out: dict[str, list[str]] = field(default_factory=dict)
    replaced: list[Caveat] = field(default_factory=list)
    """What is said of metrics that are measured otherwise than by default."""

    @classmethod
    def by_input(
        cls,
        requests: Sequence[Request],
        turns: Collection[Turn],
        beside_real: bool,
        *,
        on_most: bool = False,
        first: bool = False,
    ) -> Choice:
        """`turns` are all, or the `first` of many. With `on_most`, metrics need what they need on most of them."""
        choice = cls([request for request in requests if not _of_dialogues(request) or several_turns(turns)])
        for request in list(choice.requests):
            if request.group and (reason := _lack(request, turns, beside_real, on_most)):
                choice.leave_out(request, f"{reason} in the first {len(turns):,} turns" if first else reason)
        if not on_most:
            choice.measure_alike(turns)
        return choice

    def measure_alike(self, turns: Iterable[Turn]) -> None:
        """Where systems differ in how many of their turns have references, a default that uses them where there are any
        goes without: else it would be one measure for one system, and another for the next."""
        shares = reference_shares(turns)
        if not shares or max(shares.values()) - min(shares.values()) <= UNEQUAL:
            return
        for place, request in enumerate(self.requests):
            metric: Any = request.metric
            if request.group == DEFAULT and getattr(metric, "with_references", False):
                alike = replace(request, metric=replace(metric, with_references=False))
                self.requests[place] = alike
                counts = ", ".join(f"{100 * share:.0f} % of {system}" for system, share in shares.items())
                message = (
                    f"{alike.label} is measured in place of {request.label}: references stand in {counts}, and with "
                    f"them systems would not be measured alike; --metrics {request.label} uses them"
                )
                self.replaced.append(Caveat("without_references", message))

    @property
    def take_real(self) -> bool:
        """Whether any looks at real conversations."""
        return any("real" in need for request in self.requests for need in request.metric.needs)

    @classmethod
    def of_turns(cls, requests: Sequence[Request]) -> Choice:
        """Where single turns count: what has a value for them."""
        choice = cls(list(requests))
        for request in requests:
            if request.group and not request.metric.scores_turns:
                choice.leave_out(request, "no value for a single turn")
        choice.refuse_nothing()
        return choice

    def leave_out(self, request: Request, reason: str) -> None:
        self.requests.remove(request)
        self.left_out.setdefault(reason, []).append(request.metric.name)

    def leave_out_missing(self, request: Request, error: MissingPackage | MissingWeights | UnsuitedEncoder) -> None:
        """What lacks a package, weights or the right encoder; raises where the metric itself was asked for."""
        if request.group is None:
            raise error
        if isinstance(error, MissingPackage):
            package, extra, _ = error.given
            self.leave_out(request, f"without the package {package}: pip install 'dialogauge[{extra}]'")
        else:
            self.leave_out(request, error.message)

    def leave_out_foreign(self, request: Request, made_for: Iterable[MadeFor], languages: Languages) -> None:
        """A default that was made for other languages than most texts are in."""
        for made in made_for if request.group == DEFAULT else ():
            if sum(languages.outside(made.languages).values()) > MOST * languages.identified:
                wanted = ", ".join(sorted(made.languages))
                self.leave_out(request, f"made for {wanted}, and most texts are in another language")
                return

    def caveats(self) -> list[Caveat]:
        if not self.left_out:
            return self.replaced
        reasons = [f"{in_words(names)} ({reason})" for reason, names in self.left_out.items()]
        return [Caveat("not_measured", f"not measured: {', '.join(reasons)}"), *self.replaced]

    def refuse_nothing(self) -> None:
        if not self.requests:
            raise InputError("; ".join(caveat.message for caveat in self.caveats()))


def judging(requests: Sequence[Request]) -> Request | None:
    """The metric by which systems are told apart, where the default set was asked for and has one that was measured. It
    may have been named beside the set."""
    whole = [request for request in requests if request.part is None]
    if not any(request.group == DEFAULT for request in whole):
        return None
    own = {request.metric.name: request for request in sorted(whole, key=lambda request: request.group == DEFAULT)}
    return next((own[name] for name in JUDGES if name in own), None)


def reference_shares(turns: Iterable[Turn]) -> dict[str, float]:
    """By system, the share of turns with references among those with a context."""
    counts: dict[str, list[int]] = {}
    for turn in turns:
        if turn.context:
            known = counts.setdefault(turn.system, [0, 0])
            known[0] += bool(turn.references)
            known[1] += 1
    return {system: there / all_turns for system, (there, all_turns) in counts.items()}


def several_turns(turns: Iterable[Turn]) -> bool:
    """Whether a system has more than one turn in a dialogue."""
    seen = set()
    for turn in turns:
        if turn.dialogue is not None:
            if (turn.system, turn.dialogue) in seen:
                return True
            seen.add((turn.system, turn.dialogue))
    return False


def _of_dialogues(request: Request) -> bool:
    return request.group == DEFAULT and request.metric.name in OF_DIALOGUES


def _lack(request: Request, turns: Collection[Turn], beside_real: bool, on_most: bool) -> str:
    """What keeps a metric from being measured; nothing where nothing does."""
    metric = request.metric
    if request.group == DEFAULT and metric.name in BESIDE_REAL:
        return "" if beside_real else "no --real"
    if on_most and _of_dialogues(request):
        return "no value for the first turns of dialogues"
    if beside_real and any("real" in need for need in metric.needs):
        return ""
    wanted = " or ".join(" and ".join(sorted(need)).replace("real", "--real") for need in metric.needs)
    if not on_most:
        return "" if any(map(metric.usable, turns)) else f"no {wanted}"
    without = sum(not metric.usable(turn) for turn in turns)
    if without <= MOST * len(turns):
        return ""
    return f"no {wanted}" if without == len(turns) else f"no {wanted} in {without} of {len(turns)} turns"
