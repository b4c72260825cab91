"""Metrics that hold all of a system's (context, response) pairs against real ones, in the space of an encoder."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from hashlib import blake2b
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import REAL, Turn, unit_key
from dialogauge.encode.base import Encoder, Pool, Pooled, Text
from dialogauge.errors import Caveat, InputError
from dialogauge.metrics.base import UNSIGNED, Floats, IntervalOf, Learned, Values
from dialogauge.metrics.bounded_sample import random_key
from dialogauge.metrics.distance.paired_rows import (
    NONE,
    PairedRows,
    PairedSummary,
    Side,
    flattened,
    join_rows,
    repeated,
)
from dialogauge.metrics.encoding import COVERAGE, EncoderMetric, PreparedEncoding, layer_recipe, text_caveats

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders

AT_ONCE = 4096
"""Real pairs that go to the encoder together."""
Plan = NDArray[np.int8]
"""For each summary where its real and its generated side go, of shape (summaries, 2)."""
OUT, TO_REAL, TO_GENERATED = 0, 1, 2


def spell_context(context: int | None) -> str:
    return "all" if context is None else str(context)


CONTEXT = {**UNSIGNED, "spell": spell_context}


@dataclass(frozen=True)
class RealPairs:
    """The vectors of real conversations that were given beside the corpus."""

    vectors: NDArray[np.float32]
    unit: NDArray[np.uint64]
    cut: NDArray[np.bool_]
    digest: str
    """Of their texts, for signatures."""
    order: NDArray[np.int64]
    """Their places by a hash of their texts: the same pairs in the same order, whatever the file's."""
    coverage: NDArray[np.int32]
    """A row of `Coverage` for each."""

    @property
    def legible(self) -> NDArray[np.bool_]:
        """Which vectors say something of their texts."""
        return np.asarray(self.coverage[:, -1] == 0)


@dataclass(frozen=True)
class RealSide:
    """What a distance knows beforehand: the real pairs, where they do not come from the corpus."""

    real: RealPairs | None = None


@dataclass(frozen=True)
class DistributionMetric(EncoderMetric[PairedRows, PairedSummary[Side]]):
    """A distance (or likeness) of two sets of vectors. The real one comes from the corpus's own references, to the
    same contexts as the responses, or from real conversations given beside it, whose responses count as real."""

    needs = (frozenset({"references"}), frozenset({"real"}))
    resampling = "jackknife"
    ideal: ClassVar[float] = 0.0
    """The value of two sets without any difference."""

    pool: Pool = field(default="cls", metadata=UNSIGNED)
    layer: int | None = field(default=None, metadata=UNSIGNED)
    context: int | None = field(default=1, metadata=CONTEXT)
    """How many utterances before the response count: the last ones; all where it is None. With 0 responses stand
    alone."""
    refs: Literal["first", "all"] = field(default="first", metadata=UNSIGNED)

    def __post_init__(self) -> None:
        if self.context is not None and self.context < 0:
            raise InputError(f"{self.name}: context is {self.context}; expected a number of utterances, 0 or more")

    @abstractmethod
    def sides(self, rows: PairedRows) -> tuple[Side, Side]:
        """What is kept of the real and of the generated vectors of rows: it adds, has `n`, their number, `kept`, how
        many of them count, and `empty`, the same of no vectors."""

    @property
    def interval_of(self) -> IntervalOf:
        return "another_sample" if self.grows else "population"

    @property
    def judged(self) -> tuple[str, ...]:
        """The values that have a floor: the main one and the parts that are distances as well."""
        return ("", *self.parts)

    @abstractmethod
    def rate(self, nearer: float) -> float:
        """By which power of 1/n the value of two samples of one distribution comes nearer to the ideal, where samples
        of half the size are `nearer` times as far from it."""

    def total(self, sides: Sequence[Side]) -> Side:
        """The sum of one or more."""
        return reduce(add, sides)

    def usable_beside(self, turn: Turn, beside_real: bool) -> bool:
        """Real conversations beside the corpus stand in for references."""
        return beside_real or bool(turn.references)

    def asked_of(self, encoders: Encoders) -> Encoder:
        found = encoders.get(self.encoder, self.dtype)
        found.expect(self.pool, pairs=self.context != 0, layer=self.layer)
        return found

    def learn(
        self, surveyed: Any, encoders: Encoders, real: Corpus | None = None
    ) -> Learned[PairedRows, PairedSummary[Side]]:
        return Learned(self, RealSide(self.encode_real(real, encoders)))

    def encode_real(self, real: Corpus | None, encoders: Encoders) -> RealPairs | None:
        if real is None:
            return None
        encoder, turns = self.asked_of(encoders), real.turns
        texts = [self.text(turn, turn.response) for turn in turns]
        starts = range(0, len(texts), AT_ONCE)
        parts = [encoder.pooled(texts[start : start + AT_ONCE], self.pool, self.layer) for start in starts]
        # Sorted: what the real pairs are does not depend on their order.
        content = "\0".join(sorted(map(repr, texts))).encode("utf-8", "surrogatepass")
        return RealPairs(
            np.concatenate([part.vectors for part in parts]),
            _units(turns, REAL),
            np.concatenate([part.dropped > 0 for part in parts]),
            blake2b(content, digest_size=4).hexdigest(),
            np.array(sorted(range(len(texts)), key=[random_key(text) for text in texts].__getitem__), dtype=np.int64),
            np.concatenate([part.coverage for part in parts]),
        )

    def open(self, encoders: Encoders, known: RealSide) -> PreparedDistribution[Side]:
        return PreparedDistribution(self, known, self.asked_of(encoders))

    def text(self, turn: Turn, response: str) -> Text:
        """The pair as it goes to the encoder: utterances joined by one space, no space around either text."""
        if self.context == 0:
            return response.strip()
        kept = turn.context if self.context is None else turn.context[-self.context :]
        return " ".join(kept).strip(), response.strip()

    def references(self, turn: Turn) -> tuple[str, ...]:
        """Those that stand for the real side, where the corpus's own do."""
        return turn.references if self.refs == "all" else turn.references[:1]

    def defined(self, measures: PairedRows) -> NDArray[np.bool_]:
        return np.asarray(measures.coverage[:, -1] == 0)

    def coverage(self, measures: PairedRows) -> NDArray[np.int64]:
        return np.asarray(measures.coverage.sum(axis=0, dtype=np.int64))

    def join(self, batches: Sequence[PairedRows]) -> PairedRows:
        return join_rows(batches)

    def pack(self, measures: PairedRows) -> dict[str, NDArray[Any]]:
        """Only the vectors that the rows hold."""
        return {
            "real": measures.real_vectors,
            "counts": measures.counts,
            "generated": measures.generated_vectors,
            "has_generated": measures.place != NONE,
            "unit": measures.unit,
            "cut": measures.cut,
        }

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> PairedRows:
        rows = PairedRows.from_vectors(
            arrays["real"], arrays["counts"], arrays["generated"][:0], arrays["unit"], arrays["cut"]
        )
        has = arrays["has_generated"]
        lengths = {len(arrays[name]) for name in ("counts", "has_generated", "unit", "cut")}
        if (
            (rows.counts < 0).any()
            or rows.last[-1:].sum() != len(rows.real)
            or has.sum() != len(arrays["generated"])
            or len(lengths) > 1
        ):
            raise ValueError(f"the vectors of {self.name} do not fit together")
        place = np.where(has, np.cumsum(has) - 1, rows.place)
        return replace(rows, generated=arrays["generated"], place=place)

    def summarise(self, measures: PairedRows, weights: Floats | None = None) -> PairedSummary[Side]:
        measures = repeated(measures, weights)
        has = measures.place != NONE
        return PairedSummary(int(has.sum()), int(measures.cut[has].sum()), *self.sides(measures))

    @property
    def distance(self) -> DistributionMetric[Side]:
        return self

    def recombine(self, summaries: Sequence[PairedSummary[Side]], plans: Sequence[Plan]) -> Iterable[Values]:
        """For each plan the values of the sum of the summaries with their sides where it sends them."""
        return (self.conclude(self.sent(summaries, plan)) for plan in plans)

    def sent(self, summaries: Sequence[PairedSummary[Side]], plan: Plan) -> PairedSummary[Side]:
        sides, to = flattened(summaries), plan.ravel()
        real, generated = (
            self.total([sides[place] for place in np.flatnonzero(to == where)] or [sides[0].empty()])
            for where in (TO_REAL, TO_GENERATED)
        )
        return PairedSummary(generated.n, 0, real, generated)

    def leave_one_out(self, summaries: Sequence[PairedSummary[Side]]) -> Iterable[Values]:
        plans = np.tile(np.array([TO_REAL, TO_GENERATED], dtype=np.int8), (len(summaries), len(summaries), 1))
        plans[np.arange(len(summaries)), np.arange(len(summaries))] = OUT
        return self.recombine(summaries, list(plans))

    def recipe_with(self, encoder: Encoder, known: RealSide) -> dict[str, str]:
        pair = {None: "all", 0: "no"}.get(self.context, f"last{self.context}")
        return {
            **super().recipe_with(encoder, known),
            "pool": self.pool,
            **layer_recipe(self.layer, encoder),
            "pair": pair,
            "real": f"references-{self.refs}" if known.real is None else f"@{known.real.digest}",
        }


@dataclass(frozen=True)
class PreparedDistribution(PreparedEncoding[PairedRows, PairedSummary[Side]]):
    """Turns to rows with a real and a generated vector."""

    asked: DistributionMetric[Side]
    known: RealSide

    def usable(self, turn: Turn) -> bool:
        return self.asked.usable_beside(turn, self.known.real is not None)

    def encode(self, texts: Sequence[Text]) -> Pooled:
        return self.encoder.pooled(texts, self.asked.pool, self.asked.layer)

    def references(self, turn: Turn) -> tuple[str, ...]:
        """Those that stand for the real side."""
        return self.asked.references(turn) if self.known.real is None else ()

    def measure(self, turns: Sequence[Turn]) -> PairedRows:
        """A reference that the encoder cannot read is left out; without any other, its turn is undefined."""
        given = np.array([len(self.references(turn)) for turn in turns], dtype=np.int64)
        real = [self.asked.text(turn, reference) for turn in turns for reference in self.references(turn)]
        found = self.encode([*real, *(self.asked.text(turn, turn.response) for turn in turns)])
        of_turn = np.concatenate([np.repeat(np.arange(len(turns)), given), np.arange(len(turns))])
        any_cut = np.bincount(of_turn, found.dropped > 0, minlength=len(turns)) > 0
        legible = np.flatnonzero(found.coverage[: len(real), -1] == 0)
        counts = np.bincount(of_turn[legible], minlength=len(turns))
        coverage = np.zeros((len(turns), COVERAGE), dtype=np.int32)
        np.add.at(coverage, of_turn, found.coverage)
        coverage[:, -1] = (found.coverage[len(real) :, -1] > 0) | (counts < np.minimum(given, 1))
        return PairedRows.from_vectors(
            found.vectors[legible], counts, found.vectors[len(real) :], _units(turns), any_cut, coverage
        )

    def real_rows(self, system: str) -> PairedRows | None:
        real = self.known.real
        if real is None:
            return None
        ones = np.ones(len(real.vectors), dtype=np.int64)
        return PairedRows.from_vectors(real.vectors, ones, real.vectors[:0], real.unit, real.cut, real.coverage)

    def caveats(self, summary: PairedSummary[Side]) -> list[Caveat]:
        label, real = self.asked.label, self.known.real
        caveats = text_caveats(label, summary.n, summary.cut, 0, "the beginning of its context")
        if real is not None and real.cut.any():
            message = f"{label}: {real.cut.sum()} of {len(real.cut)} real turns are longer than the encoder "
            caveats.append(Caveat("cut_text", f"{message}takes; the beginning of their context is cut"))
        if real is not None and not real.legible.all():
            message = f"{label}: {(~real.legible).sum()} of {len(real.legible)} real responses are"
            caveats.append(Caveat("illegible_text", f"{message} unknown tokens alone to the encoder, and are left out"))
        if real is None and summary.real.n != summary.generated.n:
            message = f"{label}: some responses have several references, and cannot change places with them"
            caveats.append(Caveat("no_floor", f"{message} one for one: there is no floor"))
        return [*caveats, *super().caveats(summary)]


def _units(turns: Sequence[Turn], prefix: str = "") -> NDArray[np.uint64]:
    return np.array([unit_key(turn, prefix) for turn in turns], dtype=np.uint64)
