"""Whether a metric notices that replies were damaged: reply by reply, and on average as more and more of them are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from dialogauge.corpus.corpus import Corpus
from dialogauge.evaluation.digits import defined
from dialogauge.evaluation.evaluate_corpus import evaluate
from dialogauge.evaluation.options import RunKeywords, Settings
from dialogauge.evaluation.result import Result
from dialogauge.metrics.registry import Request
from dialogauge.stats.arrays import Floats
from dialogauge.studies.audit_result import NO_DIRECTION, AuditFinding
from dialogauge.studies.perturb import perturb
from dialogauge.studies.unit_bootstrap import over_units

WHOLE = 1.0
"""The share of replies that are damaged, where each is held against itself."""
NO_TURNS = "the metric has no values of single turns; see `dialogauge sensitivity`"
CONSTANT = "it gives every reply the same score"


def damage_findings(
    requests: Sequence[Request],
    base: Corpus,
    before: Result,
    kinds: Sequence[str],
    ratios: Mapping[str, Sequence[float]],
    settings: Settings,
    options: RunKeywords,
) -> Iterator[tuple[Request, str, AuditFinding | str]]:
    """For each metric, kind and question what is found, or why nothing is. `ratios` has the shares of replies to
    damage for "damage" and for "curve"; `before` is the result of the corpus as it is."""
    for kind in kinds:
        for ratio in sorted({ratio for own in ratios.values() for ratio in own}):
            worse = _held(perturb(base, kind, ratio, settings.seed), base, requests)
            changed = {(n.system, n.id) for n, o in zip(worse, base, strict=True) if n.response != o.response}
            after = evaluate(worse, requests, **options)
            for request in requests:
                if ratio in ratios.get("damage", ()):
                    yield request, "damage", _noticed(request, kind, _Paired(request, before, after, changed), settings)
                if ratio in ratios.get("curve", ()):
                    paired = _Paired(request, before, after, None)
                    yield request, "curve", _moved(request, kind, ratio, paired, settings)


def _held(worse: Corpus, base: Corpus, requests: Sequence[Request]) -> Corpus:
    """Systems that a judge compares others with stay as they are: else both replies of a pair would be damaged."""
    held = {getattr(request.metric, "against", "") for request in requests}
    turns = [old if old.system in held else new for new, old in zip(worse, base, strict=True)]
    return Corpus(turns, worse.files, worse.caveats, worse.users)


class _Paired:
    """The oriented values of replies before and after, and the number of each one's unit: of those that `changed`, or
    of all. Such as have no value on either side are left out."""

    def __init__(self, request: Request, before: Result, after: Result, changed: set[tuple[str, str]] | None) -> None:
        sign = -1.0 if request.metric.direction("") is False else 1.0
        intact = {sample.system: sample for sample in before.samples if sample.label == request.label}
        old, new, units = list[float](), list[float](), list[int]()
        self.scored = True
        for sample in (each for each in after.samples if each.label == request.label):
            known = intact[sample.system]
            if sample.values is None or known.values is None:
                self.scored = False
                continue
            places = {name: place for place, name in enumerate(known.ids)}
            for name, value in zip(sample.ids, sample.values, strict=True):
                if name in places and (changed is None or (sample.system, name) in changed):
                    old.append(sign * float(known.values[places[name]]))
                    new.append(sign * float(value))
                    units.append(int(known.own_keys[places[name]]))
        self.old, self.new = np.array(old), np.array(new)
        self.units = np.unique(np.array(units, dtype=np.uint64), return_inverse=True)[1]

    def __len__(self) -> int:
        return len(self.old)

    def refused(self, request: Request, kind: str) -> str | None:
        """Why nothing can be found."""
        if request.metric.direction("") is None:
            return NO_DIRECTION
        if not self.scored:
            return NO_TURNS
        return None if len(self) else f"{kind} changed no response that has a value"


def _noticed(request: Request, kind: str, paired: _Paired, settings: Settings) -> AuditFinding | str:
    """The share of damaged replies that score lower than they did intact; one that scores the same counts half."""
    if reason := paired.refused(request, kind):
        return reason
    lower = np.where(paired.new == paired.old, 0.5, paired.new < paired.old)
    value, low, high = map(defined, over_units(_mean_of(lower), paired.units, settings))
    verdict = "undefined"
    if low is not None and high is not None:
        verdict = "notices" if low > 0.5 else "prefers what is damaged" if high < 0.5 else "does not notice"
    return AuditFinding(request.name, "damage", kind, value, low, high, len(paired), 0.5, verdict)


def _moved(request: Request, kind: str, ratio: float, paired: _Paired, settings: Settings) -> AuditFinding | str:
    """By how much the mean over all replies moves, in standard deviations of single replies before."""
    if reason := paired.refused(request, kind):
        return reason
    spread = float(paired.old.std())
    if not spread:
        return CONSTANT
    change = (paired.new - paired.old) / spread
    value, low, high = map(defined, over_units(_mean_of(change), paired.units, settings))
    verdict = "undefined"
    if low is not None and high is not None:
        verdict = "falls" if high < 0 else "rises" if low > 0 else "no change shown"
    what = f"{kind}, {100 * ratio:g} %"
    return AuditFinding(request.name, "curve", what, value, low, high, len(paired), 0.0, verdict)


def _mean_of(values: Floats) -> Callable[[Floats], Floats]:
    """As a function of the weights of resamples."""
    return lambda weights: weights @ values / weights.sum(1)
