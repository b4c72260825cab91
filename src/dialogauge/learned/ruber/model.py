"""A trained relatedness model: from contexts and responses to numbers on RUBER's scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from dialogauge.encode.base import Encoder, fully_covered
from dialogauge.encode.static import StaticEncoder
from dialogauge.errors import InputError
from dialogauge.learned.directory import AGAIN, SavedModel, model_path, read_model, refuse_other_tensors
from dialogauge.learned.ruber.inputs import RuberKind, RuberShape, expect_inputs, make_inputs

if TYPE_CHECKING:
    from dialogauge.learned.ruber.networks import RuberNetwork

Pooling = Literal["maxmin", "max", "mean"]
KIND = "ruber"
SHIPPED = "ruber-minilm"
SHAPE = ("width", "network", "sentence", "layers", "dropout")


def pool_words(words: Any, pool: Pooling) -> Any:
    """One vector for a text of one row per word: in each dimension the largest value, the mean, or the largest values
    followed by the smallest (Tao et al. 2018)."""
    if pool == "mean":
        return np.asarray(words.mean(axis=0))
    highest = words.max(axis=0)
    return np.asarray(highest if pool == "max" else np.concatenate([highest, words.min(axis=0)]))


def usual_pooling(encoder: Encoder) -> Pooling:
    """The largest and smallest values of static vectors, as RUBER has it, and the mean of contextual ones, whose
    largest values are much the same whatever a text says."""
    return "maxmin" if isinstance(encoder, StaticEncoder) else "mean"


class Query(NamedTuple):
    text: str
    previous: str = ""
    """The utterance before it, where it is looked at by itself."""


def query_of(context: Sequence[str], utterances: int, network: RuberKind) -> Query:
    """The last utterances: joined by one space for RUBER's network; the last one and the one before it apart for
    towers."""
    if network == "ruber":
        return Query(" ".join(context[-utterances:]).strip())
    last, previous = (*reversed(context[-2:]), "", "")[:2]
    return Query(last.strip(), previous.strip() if utterances > 1 else "")


@dataclass(frozen=True)
class Range:
    """The smallest and the largest score of validation pairs, which become 0 and 1; scores beyond them, too."""

    low: float
    high: float

    def __post_init__(self) -> None:
        numbers = all(isinstance(end, int | float) and np.isfinite(end) for end in (self.low, self.high))
        if not numbers or not self.low < self.high:
            raise InputError(f"expected a range of numbers, found {self.low!r} to {self.high!r}")

    def __call__(self, scores: Any) -> Any:
        return np.clip((scores - self.low) / (self.high - self.low), 0.0, 1.0)


@dataclass(frozen=True)
class Normalisation:
    unreferenced: Range
    referenced: Range
    pool: Pooling
    """How the referenced score was pooled whose range this is."""

    def record(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def read(cls, saved: SavedModel) -> Normalisation:
        section = saved.section("normalisation")
        with saved.using("normalisation"):
            if section["pool"] not in get_args(Pooling):
                raise InputError(f"expected a pooling, found {section['pool']!r}")
            ranges = {name: Range(**section[name]) for name in ("unreferenced", "referenced")}
        return cls(**ranges, pool=section["pool"])


@dataclass(frozen=True)
class Related:
    """Entry i of each belongs to pair i."""

    values: NDArray[np.float64]
    """From 0 to 1."""
    cut: NDArray[np.bool_]
    """Pairs of which a text is longer than the encoder takes."""
    silent: NDArray[np.bool_]
    """Pairs of which a text has no vector."""
    coverage: NDArray[np.int32]
    """A row of `Coverage` for each: illegible where query or response is."""


@dataclass(frozen=True)
class RuberModel:
    """One network, or several that differ in their seeds alone: the relatedness is then their mean."""

    saved: SavedModel
    shape: RuberShape
    members: int
    context: int
    """How many of the last utterances are looked at."""

    @property
    def identity(self) -> str:
        return self.saved.identity

    @cached_property
    def normalisation(self) -> Normalisation:
        return Normalisation.read(self.saved)

    def expect(self, encoder: Encoder) -> None:
        expect_inputs(encoder, self.shape)

    def relatedness(self, encoder: Encoder, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> Related:
        """What else is scored with a pair changes nothing for it: networks count in 64 bits."""
        import torch

        from dialogauge.learned.ruber.networks import relatedness

        queries = [query_of(context, self.context, self.shape.network) for context in contexts]
        asked = [query.text for query in queries]
        before = [query.previous for query in queries]
        distinct = {text: row for row, text in enumerate(dict.fromkeys([*asked, *before, *responses]))}
        if not responses:
            return Related(np.empty(0), np.empty(0, bool), np.empty(0, bool), fully_covered(0))
        encoded = make_inputs(encoder, list(distinct), self.shape, torch.device("cpu"), torch.float64)
        q, r = (np.array([distinct[text] for text in texts]) for texts in (asked, responses))
        p = np.array([distinct[text] if text else -1 for text in before])
        values = relatedness(self._networks, encoded.inputs, *(torch.from_numpy(rows) for rows in (q, r, p)))
        values = values.astype(np.float32).astype(np.float64)  # in full, sums differ by what else is in a batch
        cut = encoded.cut[q] | encoded.cut[r] | ((p >= 0) & encoded.cut[p])
        coverage = encoded.coverage[q] + encoded.coverage[r]
        coverage[:, -1] = coverage[:, -1] > 0
        return Related(values, cut, encoded.silent[q] | encoded.silent[r], coverage)

    @cached_property
    def _networks(self) -> list[RuberNetwork]:
        return [self._network(f"{member}.") for member in range(self.members)]

    def _network(self, prefix: str) -> RuberNetwork:
        import torch

        from dialogauge.learned.ruber.networks import make_network

        network = make_network(self.shape).double().eval()
        weights = {name: array for name, array in self.saved.weights.items() if name.startswith(prefix)}
        network.load_state_dict(
            {name.removeprefix(prefix): torch.from_numpy(array.astype(np.float64)) for name, array in weights.items()}
        )
        return network


def open_ruber(directory: str | Path | None = None) -> RuberModel:
    """The model in a directory; without one, or by its name, that which comes with dialogauge."""
    saved = read_model(model_path(directory, SHIPPED), KIND)
    network, encoder = saved.section("network"), saved.section("encoder")
    with saved.using("card"):
        members, context = _count(network["members"]), _count(network["context"])
        values = {name: network[name] for name in SHAPE}
        shape = RuberShape(**{**values, "layers": tuple(values["layers"])})
        _ = str(encoder["name"]), str(encoder["identity"])
        if shape.network == "towers" and context > 2:
            raise InputError(f"towers look at 1 or 2 utterances, found {context}")
    if members > len(saved.weights):
        raise saved.error(f"its card speaks of {members} networks, its weights are of fewer; {AGAIN}")
    refuse_other_tensors(saved, expected_tensors(shape, members))
    return RuberModel(saved, shape, members, context)


def expected_tensors(shape: RuberShape, members: int) -> dict[str, tuple[int, ...]]:
    import torch

    from dialogauge.learned.ruber.networks import make_network

    with torch.device("meta"):
        state = make_network(shape).state_dict()
    return {f"{member}.{name}": tuple(array.shape) for member in range(members) for name, array in state.items()}


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(f"expected a whole number above 0, found {value!r}")
    return value
