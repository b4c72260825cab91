"""What the reader of the scores must know, found by looking at the corpus and at what was left out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat
from dialogauge.evaluation.measuring.language_fit import instead
from dialogauge.evaluation.sample import Sample
from dialogauge.evaluation.units import add_all
from dialogauge.metrics.base import AnyMetric
from dialogauge.metrics.default_set import DEFAULT
from dialogauge.metrics.prepared import AnyPrepared
from dialogauge.metrics.registry import BUILT_IN, PLUG_INS, Request
from dialogauge.stats.resampling import GROUPS
from dialogauge.text.languages import Languages

NUMBER = re.compile(r"(?<![\w.=])\d+(?:\.\d+)?(?![\w\]])")
"""A number that stands by itself, not as part of a name or as an option's value."""
PLURAL = re.compile(r"s\b")

TOO_MANY = Caveat("large_corpus", "too many turns to keep")
IN_SHARDS = Caveat("in_shards", "measured in shards, which keep no single turns")
"""Why no turns are kept."""

FEW = 20
MANY_UNKNOWN = 0.1
"""The share of unknown tokens from which on an encoder says too little of the texts."""


def corpus_caveats(
    systems: Mapping[str, int],
    empty: int,
    kind: str,
    metrics: Collection[AnyMetric],
    not_kept_because: Caveat | None,
    from_part: bool = True,
) -> list[Caveat]:
    """`systems` has the number of turns of each; `from_part` says that metrics learned from the first turns alone;
    `not_kept_because`, why no turns are kept, where none are."""
    caveats = []
    if empty:
        message = f"{empty} of {sum(systems.values())} responses are empty; they count, with no words and no overlap"
        caveats.append(Caveat("empty_responses", message))
    sensitive = [metric.label for metric in metrics if metric.grows]
    least, most = min(systems.values()), max(systems.values())
    if sensitive and least < most:
        message = (
            f"systems have {least} to {most} turns; {', '.join(sensitive)} changes with the number of turns:"
            " compare systems of one size"
        )
        caveats.append(Caveat("different_sizes", message))
    if not_kept_because is not None:
        message = (
            f"{not_kept_because.message}: all intervals come from the jackknife over {GROUPS} groups of {kind},"
            " and a run kept with --out cannot be compared with others"
        )
        caveats.append(Caveat(not_kept_because.code, message))
        learners = [metric.label for metric in metrics if metric.learns]
        if learners and from_part:
            message = f"{', '.join(learners)}: what is learned from the corpus comes from the first turns alone"
            caveats.append(Caveat("learned_from_part", message))
    return caveats


def why_no_measures(found: Iterable[Caveat]) -> str:
    """What a kept run without measures is, by its caveats."""
    if any(caveat.code == IN_SHARDS.code for caveat in found):
        return "was measured in shards, which keep no measures of single turns"
    return "was too large to keep what it measured (more than 200,000 turns)"


def unit_caveats(samples: Sequence[Sample], kind: str) -> list[Caveat]:
    """Where a metric stands on few units, or on different ones for different systems."""
    caveats = []
    silent: dict[str, list[str]] = {}
    for sample in samples:
        if not sample.fewest_units:
            silent.setdefault(sample.label, []).append(sample.system)
    for label, systems in silent.items():
        caveats.append(Caveat("no_score", f"{label}: no turn of {', '.join(systems)} can be scored"))
    few = [sample for sample in samples if 0 < sample.fewest_units < FEW]
    if few:
        which = ", ".join(dict.fromkeys(sample.label for sample in few))
        smallest = min(sample.fewest_units for sample in few)
        rough = f"below {FEW}, intervals and p are rough or missing"
        message = f"{which}: a score stands on only {smallest} {kind}; {rough}"
        caveats.append(Caveat("few_samples", message))
    apart = [
        label
        for label, mine in _by_label(samples).items()
        if any(not mine[0].stands_on_units_of(other) for other in mine[1:])
    ]
    if apart:
        message = (
            f"{', '.join(apart)}: the systems are scored on different {kind}, part of any difference may be theirs"
        )
        caveats.append(Caveat("unpaired", message))
    return caveats


def sample_caveats(samples: Sequence[Sample], metrics: Mapping[str, AnyPrepared], turns: int) -> list[Caveat]:
    """What was left out of each metric, over all systems, and what the metric itself has to say."""
    caveats: list[Caveat] = []
    for label, mine in _by_label(samples).items():
        ready = metrics[label]
        measured = sum(sample.turns for sample in mine)
        if measured < turns:
            message = f"{label}: {turns - measured} of {turns} turns have no {ready.asked.needed()} and are left out"
            caveats.append(Caveat("missing_input", message))
        total = add_all([sample.summary for sample in mine])
        illegible = sum(int(sample.coverage[-1]) for sample in mine if sample.coverage is not None)
        undefined = measured - int(total.n) - illegible
        if undefined:
            why = f" ({ready.undefined_because})" if ready.undefined_because else ""
            message = f"{label}: no value for {undefined} of {measured} turns{why}; they are left out"
            caveats.append(Caveat("undefined_scores", message))
        caveats += ready.caveats(total)
        scored = [sample for sample in mine if sample.summary.n]
        if scored:
            units = {sample.system: sample.fewest_units for sample in scored}
            caveats += ready.asked.caveats_of_systems({sample.system: sample.summary for sample in scored}, units)
    return caveats


def coverage_caveats(
    samples: Sequence[Sample], metrics: Mapping[str, AnyPrepared], languages: Languages
) -> list[Caveat]:
    """What encoders could not read: once for all metrics that left out the same turns, once for each encoder."""
    lost: dict[str, list[str]] = {}
    shares: dict[str, dict[str, float]] = {}
    for label, mine in _by_label(samples).items():
        reader = metrics[label].reader
        read = [(sample, sample.coverage) for sample in mine if sample.coverage is not None]
        if reader is None or not read:
            continue
        unread = [f"{known[-1]} of {sample.turns} turns of {sample.system}" for sample, known in read if known[-1]]
        if unread:
            lost.setdefault(f"{reader.identity} cannot read a text of {', '.join(unread)}", []).append(label)
        tokens, unknown, _ = np.sum([known for _, known in read], axis=0)
        if unknown > MANY_UNKNOWN * tokens:
            shares.setdefault(reader.identity, {})[label] = unknown / tokens
    caveats = [
        Caveat("illegible_text", f"{', '.join(labels)}: {what}: all its tokens are unknown; they have no value")
        for what, labels in lost.items()
    ]
    for encoder, by_label in shares.items():
        least, most = (round(100 * share) for share in (min(by_label.values()), max(by_label.values())))
        share = f"{most} %" if least == most else f"{least} to {most} %"
        message = (
            f"{', '.join(by_label)}: {share} of the tokens are unknown to {encoder}, which says little of such texts"
        )
        caveats.append(Caveat("unknown_tokens", f"{message}: {instead(languages.counts)}"))
    return caveats


def compat_caveats(requests: Sequence[Request], compat: str | None) -> list[Caveat]:
    """Which of the metrics keep our own recipe though another was asked for."""
    ours = [request.label for request in requests if request.compat != compat]
    if not ours:
        return []
    return [Caveat("own_recipe", f"{compat} has no recipe for {', '.join(dict.fromkeys(ours))}: scored by our own")]


def ratings_caveats(requests: Sequence[Request], turns: Iterable[Turn]) -> list[Caveat]:
    """Where a file that was given without any wish has more to tell."""
    if not any(request.group == DEFAULT for request in requests) or not any(turn.ratings for turn in turns):
        return []
    message = "people rated these turns: `dialogauge correlate` says how far metrics agree with them"
    return [Caveat("ratings_unused", message)]


def plug_in_caveats(requests: Sequence[Request]) -> list[Caveat]:
    """Which of the metrics two packages have under one name; beside groups, all that packages add and that cannot be
    used."""
    if any(request.group not in (None, DEFAULT) for request in requests):
        return PLUG_INS.load()[1]
    added = {request.metric.name for request in requests} - BUILT_IN.keys()
    return PLUG_INS.contested(added) if added else []


def number_free(message: str) -> str:
    """What is left of a message without its numbers: the same for messages that differ in nothing else."""
    return PLURAL.sub("", NUMBER.sub("#", message))


def _by_label(samples: Sequence[Sample]) -> dict[str, list[Sample]]:
    groups: dict[str, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(sample.label, []).append(sample)
    return groups
