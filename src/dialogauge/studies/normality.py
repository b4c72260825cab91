"""Whether the vectors that FBD takes for Gaussian are: Shapiro and Wilk's test of the vectors of each system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, get_args

import numpy as np

from dialogauge import __version__
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.frames import CorpusLike, as_corpus, as_source
from dialogauge.encode.base import Dtype, Pool, Text
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import COUNT, Caveat, InputError, check_whole, unknown
from dialogauge.evaluation.measuring.real_turns import read_real
from dialogauge.evaluation.options import Settings, chosen_systems
from dialogauge.metrics.distance.distribution import RealSide
from dialogauge.metrics.distance.fbd import Fbd
from dialogauge.metrics.encoding import text_caveats
from dialogauge.stats.arrays import one_blas_thread
from dialogauge.stats.gaussian_tests import LEAST, MOST
from dialogauge.studies.normality_result import Normality, NormalityRow, VectorsKind

FEW = 20
"""Below so many vectors, hardly any departure from a Gaussian can be found."""


@one_blas_thread()
def normality(
    corpus: CorpusLike,
    *,
    encoder: str | None = None,
    dtype: str | None = None,
    pool: Literal["cls", "mean", "max"] = "cls",
    layer: int | None = None,
    context: int | None = 1,
    systems: Sequence[str] | None = None,
    cache: bool = True,
    seed: int = 0,
    progress: bool = False,
    real: CorpusLike | None = None,
) -> Normality:
    """Tests whether vectors of (context, response) pairs are Gaussian, as `fbd` takes them to be.

    Args:
        corpus: Whatever holds turns, as for `evaluate`.
        encoder: It makes the vectors, as for `fbd`; so do `dtype`, `pool`, `layer` and `context`.
        systems: Only these systems, in this order.
        cache: Whether what is encoded is kept on disk.
        seed: Of the random directions, of the Gaussian samples, and of the draw where there are more than 5,000 pairs.
            What is found of one system does not depend on which others are there.
        real: Real conversations, whose responses are tested as well.

    Returns:
        A row for the first references (each context with each of them once), one for every system's responses, and one
        for those of `real` conversations.

    Examples:
        >>> import dialogauge
        >>> result = dialogauge.normality("examples/everyday.jsonl")  # doctest: +SKIP
        >>> result.row("good").directions_p  # below 0.05, the vectors are not Gaussian  # doctest: +SKIP
        0.005
    """
    metric = check_plan(encoder, dtype, pool, layer, context, seed)
    corpus = as_corpus(corpus).select(chosen_systems(systems))
    if not corpus.turns:
        raise InputError("expected turns, found none")
    real_corpus, real_caveats = None, list[Caveat]()
    if real is not None:
        real_corpus, _, real_caveats = read_real(as_source(real), progress)
    encoders = Encoders(Cache() if cache else None, progress)
    ready = metric.open(encoders, RealSide())
    rows, pairs, cut, lost = [], 0, 0, 0
    for name, kind, texts in _texts(metric, corpus, real_corpus):
        found = ready.encode(_drawn(texts, seed))
        legible = found.coverage[:, -1] == 0
        rows.append(NormalityRow.from_vectors(name, kind, found.vectors[legible], len(texts), seed))
        pairs, cut, lost = pairs + len(legible), cut + int((found.dropped > 0).sum()), lost + int((~legible).sum())
    parts = {**{key: value for key, value in ready.recipe().items() if key != "real"}, "dialogauge": __version__}
    return Normality(
        rows=rows,
        dimensions=rows[0].dimensions,
        systems={system: len(turns) for system, turns in corpus.by_system.items()},
        files=(*corpus.files, *(real_corpus.files if real_corpus else ())),
        caveats=[
            *corpus.caveats,
            *real_caveats,
            *_corpus_caveats(corpus),
            *text_caveats("normality", pairs, cut, 0),
            *_illegible_caveats(pairs, lost),
            *_row_caveats(rows, seed),
            *encoders.caveats(),
        ],
        seed=seed,
        signature="|".join(["normality", *(f"{key}:{value}" for key, value in parts.items())]),
    )


def check_plan(
    encoder: str | None, dtype: str | None, pool: str, layer: int | None, context: int | None, seed: int
) -> Fbd:
    """The metric that makes the vectors; refuses what cannot be asked for, before any work is done."""
    Settings(seed)
    if pool not in get_args(Pool):
        raise unknown("pooling", pool, get_args(Pool))
    if dtype is not None and dtype not in get_args(Dtype):
        raise unknown("dtype", dtype, get_args(Dtype))
    for name, number in (("layer", layer), ("context", context)):
        if number is not None:
            check_whole(name, number, 0, COUNT)
    given: dict[str, Any] = {"encoder": encoder, "dtype": dtype}
    return Fbd(
        **{name: value for name, value in given.items() if value is not None},
        pool=pool,  # type: ignore[arg-type]
        layer=layer,
        context=context,
    )


def _texts(metric: Fbd, corpus: Corpus, real: Corpus | None) -> Iterator[tuple[str, VectorsKind, list[Text]]]:
    firsts = {(turn.context, turn.references[0]): turn for turn in corpus if turn.references}
    if firsts:
        yield "references", "references", [metric.text(turn, reference) for (_, reference), turn in firsts.items()]
    if real is not None:
        yield "real", "real", [metric.text(turn, turn.response) for turn in real]
    for system, turns in corpus.by_system.items():
        yield system, "system", [metric.text(turn, turn.response) for turn in turns]


def _drawn(texts: list[Text], seed: int) -> list[Text]:
    if len(texts) <= MOST:
        return texts
    chosen = np.random.default_rng([seed, 3]).choice(len(texts), MOST, replace=False)
    return [texts[place] for place in np.sort(chosen)]


def _illegible_caveats(pairs: int, lost: int) -> list[Caveat]:
    if not lost:
        return []
    message = f"normality: the encoder cannot read the response of {lost} of {pairs} pairs: all its tokens are unknown;"
    return [Caveat("illegible_text", f"{message} they are left out")]


def _corpus_caveats(corpus: Corpus) -> list[Caveat]:
    caveats = []
    empty = sum(not turn.response.strip() for turn in corpus)
    if empty:
        message = f"{empty} of {len(corpus)} responses are empty; they count, as a context with nothing after it"
        caveats.append(Caveat("empty_responses", message))
    bare = sum(not turn.references for turn in corpus)
    if bare:
        message = f"{bare} of {len(corpus)} turns have no references; they add nothing to the row of references"
        if bare == len(corpus):
            message = "no turn has a reference: there is no row of references"
        caveats.append(Caveat("missing_input", message))
    return caveats


def _row_caveats(rows: Sequence[NormalityRow], seed: int) -> list[Caveat]:
    caveats = []
    for row in rows:
        if row.n < LEAST:
            message = f"{row.name}: no test of {row.n} vectors; it needs {LEAST}"
            caveats.append(Caveat("undefined_scores", message))
        elif row.n < FEW:
            message = f"{row.name}: only {row.n} vectors; below {FEW} hardly any are found not to be Gaussian"
            caveats.append(Caveat("few_samples", message))
        if row.n < row.available:
            message = (
                f"{row.name}: of {row.available} vectors {row.n} are tested, drawn by chance (seed {seed}); "
                "p-values for more are not accurate"
            )
            caveats.append(Caveat("part_tested", message))
    still: dict[int, list[str]] = {}
    for row in rows:
        if row.n >= LEAST and row.constant:
            still.setdefault(row.constant, []).append(row.name)
    for count, names in still.items():
        message = f"{count} of {rows[0].dimensions} dimensions do not vary and have no test: {', '.join(names)}"
        caveats.append(Caveat("constant_dimensions", message))
    sizes = [row.n for row in rows]
    if min(sizes) < max(sizes):
        message = (
            f"rows have {min(sizes)} to {max(sizes)} vectors; the more there are, the smaller the departures that are "
            "found: compare rows of one size"
        )
        caveats.append(Caveat("different_sizes", message))
    return caveats
