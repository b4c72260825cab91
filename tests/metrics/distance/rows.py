"""Rows of real and generated vectors that are placed by hand, with or without an encoder in between."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from dialogauge.corpus import Corpus, Turn
from dialogauge.encode.base import Encoder, Pooled, fully_covered
from dialogauge.metrics.distance.paired_rows import PairedRows, join_rows


def noise(seed, n, d, shift=0.0):
    return np.random.default_rng(seed).normal(size=(n, d)) + shift


def line(*places):
    """Vectors of one dimension."""
    return np.array(places, dtype=np.float64)[:, None]


def units(*numbers):
    return np.array(numbers, dtype=np.uint64)


def side_rows(real, generated, unit=None, counts=None, cut=None):
    """By default one real vector and a unit of its own for each row."""
    counts = np.ones(len(real), dtype=np.int64) if counts is None else np.asarray(counts)
    unit = np.arange(len(counts), dtype=np.uint64) if unit is None else np.asarray(unit, dtype=np.uint64)
    cut = np.zeros(len(counts), dtype=np.bool_) if cut is None else np.asarray(cut)
    return PairedRows.from_vectors(real, counts, generated, unit, cut)


def apart(real, generated):
    """Real and generated vectors in rows of their own, as with real conversations; no two have a unit in common."""
    n, m = len(real), len(generated)
    alone = side_rows(generated[:0], generated, np.arange(n, n + m), np.zeros(m, dtype=np.int64))
    return join_rows([side_rows(real, real[:0]), alone])


def value(metric, rows):
    """Of rows, by a metric that was asked for or that is prepared."""
    metric = getattr(metric, "metric", metric)
    return metric.conclude(metric.summarise(rows))


class Placed(Encoder):
    """Gives every text the vector it is told to, and a pair that of its second text."""

    identity = "placed"

    def __init__(self, vectors):
        self.known = vectors

    def recipe(self):
        return {"enc": self.identity}

    def pooled(self, texts, *_):
        vectors = [self.known[text if isinstance(text, str) else text[1]] for text in texts]
        return Pooled(
            np.array(vectors, dtype=np.float32), np.zeros(len(texts), dtype=np.int32), fully_covered(len(texts))
        )


def placed(metric, sides, real=None):
    """The metric ready for one system for each pair of equally many real and generated vectors, and its turns: the
    vectors are those of references and responses, or of `real` conversations and responses."""
    known, turns, given = {}, [], None
    for system, (references, responses) in sides.items():
        for i, (reference, response) in enumerate(zip(references, responses, strict=True)):
            texts = f"reference {i} {system}", f"response {i} {system}"
            known |= dict(zip(texts, (reference, response), strict=True))
            turns.append(Turn(str(i), texts[1], references=texts[:1], system=system))
    if real is not None:
        known |= {f"real {i}": vector for i, vector in enumerate(real)}
        given = Corpus([Turn(str(i), f"real {i}") for i in range(len(real))])
    encoder = Placed(known)
    ready = metric.prepare(Corpus(turns), given, SimpleNamespace(get=lambda *_: encoder))
    return ready, Corpus(turns)


def shuffled(rows, seed=0):
    return rows[np.random.default_rng(seed).permutation(len(rows))]


def with_units(rows, unit):
    return replace(rows, unit=np.asarray(unit, dtype=np.uint64))
