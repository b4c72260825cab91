"""A trained gauge: from contexts and replies to what it thinks of them, as shares of real replies that it ranks below.
Nothing here needs torch: vectors of pairs come from the encoder, or from its cache."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from dialogauge.encode.base import Coverage, Encoder, Pool, fully_covered
from dialogauge.encode.encoders import Encoders
from dialogauge.encode.transformer import Transformer
from dialogauge.errors import InputError
from dialogauge.learned.directory import (
    AGAIN,
    SavedModel,
    encoder_name,
    find_encoder,
    model_path,
    read_model,
    refuse_other_tensors,
)
from dialogauge.stats.arrays import unit_rows
from dialogauge.text.words import visible

OVERALL = "overall"
PARTS = (OVERALL, "relevance", "fluency", "specificity")
"""What the network says of a reply; the score stands on "overall"."""
KIND = "gauge"
SHIPPED, LARGE = "gauge-minilm", "large"
LARGE_PACKAGE, LARGE_MODEL = "dialogauge_gauge_large", "gauge-large"
CHECKOUT = Path(__file__).parents[4]
"""The repository, where this file stands in one."""
WEIGHT, BIAS = "head.parts.weight", "head.parts.bias"
CONTEXT_WORDS, REPLY_WORDS = 64, 128
"""The last words of a context and the first of a reply that are looked at."""
QUANTILES = np.arange(1, 100) / 100
WIDEST = 2**16
FARTHEST = 15.0
"""Log odds beyond it are 0 or 100 for whoever reads them."""
Floats = NDArray[np.float64]

SPLIT_SHORT_FORM = re.compile(r" (n't|'(?:s|m|d|re|ll|ve)|' (?:s|m|d|t|re|ll|ve))\b", re.IGNORECASE)
SPACE_BEFORE_MARK = re.compile(r"\s+([.,!?;:])")


@lru_cache(maxsize=2**16)
def as_written(text: str) -> str:
    """With the spaces that people write: corpora that were split into words are no worse for it."""
    joined = SPLIT_SHORT_FORM.sub(lambda match: match[1].replace(" ", ""), " ".join(text.split()))
    return SPACE_BEFORE_MARK.sub(r"\1", joined)


def said_before(context: Sequence[str], utterances: int) -> str:
    """The last utterances that say anything, one space between them; of many words, the last."""
    kept = list(filter(visible, context))[-utterances:]
    return " ".join(" ".join(map(as_written, kept)).split()[-CONTEXT_WORDS:])


def said_then(reply: str) -> str:
    """The reply; of many words, the first. Empty where nothing of it can be seen."""
    return " ".join(as_written(reply).split()[:REPLY_WORDS]) if visible(reply) else ""


@dataclass(frozen=True)
class GaugeShape:
    width: int
    """Of the encoder's vectors."""
    rank: int
    """Of what is added to each matrix of the encoder (low-rank adapters); 0 where all its weights are tuned."""
    pool: Pool = "mean"
    context: int = 3
    """How many of the last utterances are looked at."""
    dropout: float = 0.1

    def __post_init__(self) -> None:
        for name, least in (("width", 1), ("rank", 0), ("context", 1)):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= WIDEST:
                raise InputError(f"{name}: expected a whole number from {least} to {WIDEST}, found {value!r}")
        if self.pool not in get_args(Pool):
            raise InputError(f"pool: expected one of {', '.join(get_args(Pool))}, found {self.pool!r}")
        if not isinstance(self.dropout, int | float) or not 0 <= self.dropout < 1:
            raise InputError(f"dropout: expected a number from 0 to below 1, found {self.dropout!r}")


@dataclass(frozen=True)
class Calibration:
    """What logits mean, by real replies of conversations held back."""

    parts: Mapping[str, Sequence[float]]
    """For each part the logits below which 1 %, 2 %, … 99 % of real replies lie."""
    likeness: tuple[float, float]
    """Mean and standard deviation of the cosine between two people's replies to the same utterance."""
    weight: float
    """Of the likeness to a reference, where there is one."""

    def log_odds(self, part: str, logits: Floats) -> Floats:
        """Of ranking above a real reply. Between quantiles it is straight, and so it goes on beyond the outermost."""
        knots, odds = np.asarray(self.parts[part], float), np.log(QUANTILES / (1 - QUANTILES))
        low, high = (
            (odds[last] - odds[first]) / max(knots[last] - knots[first], 1e-6) for first, last in ((0, 9), (-10, -1))
        )
        below, above = np.minimum(logits - knots[0], 0), np.maximum(logits - knots[-1], 0)
        return np.asarray(np.clip(np.interp(logits, knots, odds) + low * below + high * above, -FARTHEST, FARTHEST))

    def likeness_odds(self, cosines: Floats) -> Floats:
        """The same of the likeness to a reference, were cosines normally distributed: the logistic distribution comes
        nearest to the normal one at 1.702 times its argument."""
        mean, deviation = self.likeness
        return np.asarray(1.702 * (cosines - mean) / deviation)

    def record(self) -> dict[str, Any]:
        parts = {name: [float(f"{value:.6g}") for value in knots] for name, knots in self.parts.items()}
        return {**asdict(self), "parts": parts, "likeness": list(self.likeness)}

    @classmethod
    def read(cls, saved: SavedModel) -> Calibration:
        section = saved.section("calibration")
        with saved.using("calibration"):
            parts = {part: _numbers(section["parts"][part], len(QUANTILES)) for part in PARTS}
            for part, knots in parts.items():
                if np.any(np.diff(knots) < 0):
                    raise InputError(f"{part}: expected numbers in ascending order")
            mean, deviation = _numbers(section["likeness"], 2)
            (weight,) = _numbers([section["weight"]], 1)
            if deviation <= 0 or not 0 <= weight <= 1:
                raise InputError("expected a deviation above 0 and a weight from 0 to 1")
        return cls(parts, (mean, deviation), weight)


def _numbers(values: Any, count: int) -> list[float]:
    found = np.asarray(values, dtype=float) if isinstance(values, list) else np.empty(0)
    if found.shape != (count,) or not np.isfinite(found).all():
        raise InputError(f"expected {count} numbers")
    return found.tolist()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class GaugeTuning:
    """What a model directory changes of its encoder's weights; looked at only when the encoder is loaded."""

    saved: SavedModel
    shape: GaugeShape

    @property
    def digest(self) -> str:
        return str(self.saved.section("weights")["sha256"])

    def apply(self, model: Any) -> None:
        import torch

        from dialogauge.learned.gauge.networks import GaugeHead
        from dialogauge.learned.pair_network import Tuned, expected_tensors

        with torch.device("meta"):
            head = GaugeHead(self.shape.width, self.shape.dropout)
        refuse_other_tensors(self.saved, expected_tensors(model, self.shape.rank, head))
        Tuned(self.saved, self.shape.rank).apply(model)


class Gauged(NamedTuple):
    """Entry i of each belongs to reply i."""

    logits: Floats
    """A column for each part."""
    cut: NDArray[np.bool_]
    """Replies of more words than are looked at, and pairs longer than the encoder takes."""
    coverage: NDArray[np.int32]
    """A row of `Coverage` for each pair."""


@dataclass(frozen=True)
class GaugeModel:
    """A model directory that was read."""

    saved: SavedModel
    shape: GaugeShape
    calibration: Calibration

    def ready(self, encoders: Encoders, encoder: str | None = None) -> ReadyGauge:
        """With the encoder that it was trained with, by the name given or by the model's own."""
        plain = find_encoder(self.saved, encoder, encoders)
        if not isinstance(plain, Transformer) or plain.files.width != self.shape.width:
            raise self.saved.error(f"its encoder {plain.identity} has not the vectors that its card says; {AGAIN}")
        tuned = encoders.tuned(encoder or encoder_name(self.saved), GaugeTuning(self.saved, self.shape))
        tuned.expect(self.shape.pool, pairs=True)
        return ReadyGauge(self, plain, tuned)


@dataclass(frozen=True)
class ReadyGauge:
    """A model that can judge."""

    model: GaugeModel
    plain: Transformer
    """As it was before it was tuned: for the likeness to references."""
    tuned: Encoder

    def gauged(self, contexts: Sequence[Sequence[str]], replies: Sequence[str]) -> Gauged:
        """What else is judged with a reply changes nothing for it."""
        if not replies:
            return Gauged(np.empty((0, len(PARTS))), np.empty(0, np.bool_), fully_covered(0))
        shape, weights = self.model.shape, self.model.saved.weights
        pairs = [(said_before(c, shape.context), said_then(r)) for c, r in zip(contexts, replies, strict=True)]
        found = self.tuned.pooled(pairs, shape.pool)
        head, bias = (weights[name].astype(np.float64) for name in (WEIGHT, BIAS))
        logits = _single(found.vectors.astype(np.float64) @ head.T + bias)
        long = [len(as_written(reply).split()) > REPLY_WORDS for reply in replies]
        return Gauged(logits, (found.dropped > 0) | long, found.coverage)

    def likeness(self, replies: Sequence[str], references: Sequence[Sequence[str]]) -> Floats:
        """The cosine of each reply to the likest of its references; NaN where it has none that the encoder can read."""
        rows = [
            [said_then(reply), *filter(None, map(said_then, others))]
            for reply, others in zip(replies, references, strict=True)
        ]
        vectors = self._vectors([text for row in rows if len(row) > 1 for text in row])
        found = np.full(len(rows), np.nan)
        for place, (reply, *others) in enumerate(rows):
            known = [vectors[text] for text in others if text in vectors]
            if known and reply in vectors:
                found[place] = max(float(vectors[reply] @ other) for other in known)
        return _single(found)

    def _vectors(self, texts: Sequence[str]) -> dict[str, Floats]:
        """Vectors of length 1 of those of the texts that can be read."""
        distinct = list(dict.fromkeys(filter(None, texts)))
        if not distinct:
            return {}
        found = self.plain.pooled(distinct, "mean")
        units = unit_rows(found.vectors.astype(np.float64))
        legible = (not Coverage(*row).illegible for row in found.coverage.tolist())
        return {text: unit for text, unit, read in zip(distinct, units, legible, strict=True) if read}

    def recipe(self) -> dict[str, str]:
        return {"model": self.model.saved.identity, **self.tuned.recipe(), "context": str(self.model.shape.context)}


def _single(values: Floats) -> Floats:
    """As single precision holds them: in full, sums differ by what else is in a batch."""
    return values.astype(np.float32).astype(np.float64)


def open_gauge(directory: str | Path | None = None) -> GaugeModel:
    """The model in a directory; without one, or by its name, that which comes with dialogauge; "large" for the one that
    comes in a package of its own."""
    saved = _read(directory)
    network, encoder = saved.section("network"), saved.section("encoder")
    with saved.using("card"):
        shape = GaugeShape(**{name: network[name] for name in GaugeShape.__dataclass_fields__})
        _ = str(encoder["name"]), str(encoder["identity"])
        for name, size in ((WEIGHT, (len(PARTS), shape.width)), (BIAS, (len(PARTS),))):
            if saved.weights[name].shape != size or not np.isfinite(saved.weights[name]).all():
                raise InputError(f"{name}: expected finite numbers in the shape {size}")
    return GaugeModel(saved, shape, Calibration.read(saved))


def _read(directory: str | Path | None) -> SavedModel:
    if str(directory) == LARGE:
        return read_model(_large(), KIND)
    path = model_path(directory, SHIPPED)
    if not path.exists() and get_close_matches(str(directory), [LARGE]):
        raise InputError(f"no model here; did you mean {LARGE}?", path)
    return read_model(path, KIND)


def _large() -> Path:
    """A directory of that name, the package that is installed, or its folder in a checkout of the repository."""
    if Path(LARGE).is_dir():
        return Path(LARGE)
    found = find_spec(LARGE_PACKAGE)
    installed = list(found.submodule_search_locations or ()) if found else []
    for home in (*map(Path, installed), CHECKOUT / "models" / LARGE_MODEL / "src" / LARGE_PACKAGE):
        if (home / LARGE_MODEL).is_dir():
            return home / LARGE_MODEL
    raise InputError(
        "the large gauge is a package of its own, dialogauge-gauge-large, and is not installed: pip install "
        "./models/gauge-large in a checkout of the repository; or leave model=large out for the gauge that comes along"
    )
