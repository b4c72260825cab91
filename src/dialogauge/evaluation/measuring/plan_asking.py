"""What a run would ask of endpoints, counted before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.load import Loading
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.endpoint.plan import AskingPlan
from dialogauge.errors import InputError
from dialogauge.evaluation.measuring.asking import planned
from dialogauge.evaluation.measuring.census import Census
from dialogauge.evaluation.options import RunOptions
from dialogauge.metrics.registry import Request

EMPTY = AskingPlan(0, 0, 0, 0)


def plan_asking(corpus: Corpus | Loading, requests: Sequence[Request], run: RunOptions) -> AskingPlan:
    """Of the metrics that ask endpoints; the others are left aside. Where it is not known yet what an endpoint takes,
    the first way is assumed, and the request that finds out counts too."""
    asking = dict.fromkeys(request.metric for request in requests if request.metric.asks_endpoints)
    if not asking:
        names = ", ".join(dict.fromkeys(request.metric.name for request in requests))
        raise InputError(
            f"--dry-run counts what would be asked of endpoints, and none of the metrics asks any: {names}"
        )
    census = Census(run.systems, corpus.users)
    turns = Corpus(list(census.watch(iter(corpus) if isinstance(corpus, Corpus) else corpus.turns())))
    chosen = turns.select(list(census.systems))
    encoders = Encoders(Cache() if run.cache else None, False, replace(run.asking, dry_run=True))
    plan = EMPTY
    for metric in asking:
        wanted = list(planned([metric.prepare(chosen, None, encoders)], chosen))
        together = [request for _, own in wanted for request in own]
        plan += AskingPlan.made(wanted[0][0], together) if wanted else EMPTY
    return plan
