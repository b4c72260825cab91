"""What metrics say of every single turn."""

from __future__ import annotations

from dialogauge.agreement.points import Scope, rated_turns
from dialogauge.corpus.corpus import Corpus
from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation.evaluate_corpus import measure_run
from dialogauge.evaluation.options import Metrics, RunOptions
from dialogauge.stats.arrays import Floats
from dialogauge.tables import in_words


def turn_values(corpus: Corpus, metrics: Metrics, run: RunOptions) -> tuple[dict[str, Floats], list[Caveat]]:
    """By metric one value per turn in the order of the corpus, NaN where a turn has none; and what the reader must
    know. A metric that has no values of single turns is refused."""
    measured = measure_run(corpus, metrics, run)
    values = rated_turns(list(corpus), measured, [Scope("", "", "turn")]).values
    missing = [request.name for request in measured.requests if request.name not in values]
    if missing:
        have = "have" if len(missing) > 1 else "has"
        raise InputError(f"expected metrics with a value for every turn, found {in_words(missing)}, which {have} none")
    return values, measured.caveats
