"""What networks are trained on: pairs, those held back to validate with, and the vectors of all their texts."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import torch

from dialogauge.corpus.turn import Turn
from dialogauge.encode.base import Encoder
from dialogauge.errors import Caveat, InputError, check_share
from dialogauge.learned.ruber.fit import Held
from dialogauge.learned.ruber.inputs import RuberShape, TextInputs, make_inputs, width_of
from dialogauge.learned.ruber.pairs import Pairs, Sampler, Texts, read_pairs, same_texts
from dialogauge.learned.ruber.recipe import RuberRecipe
from dialogauge.stats.arrays import unit_rows

SHARE = 0.05
"""Of the dialogues, held back where no others are given to validate with."""
HELD_NEGATIVES = 5
FEWEST_HELD, FEWEST_DIALOGUES = 100, 20
"""Validation figures of fewer pairs or dialogues are worth a warning."""
OFTEN = 0.05
"""So is a larger share of them that is also learned from; a few are everyone's "hello" and "hi"."""


@dataclass(frozen=True)
class RuberData:
    """Texts and pairs, before anything is encoded."""

    texts: list[str]
    train: Pairs
    held: Pairs
    caveats: list[Caveat]
    left_out: int = 0
    """Turns that were not to be learned from, nor to be validated with."""

    def digest(self) -> str:
        """The same for the same texts and pairs, and for no other."""
        found = hashlib.sha256("\0".join(self.texts).encode("utf-8", "surrogatepass"))
        for pairs in (self.train, self.held):
            for rows in (pairs.queries, pairs.responses, pairs.previous, pairs.dialogues):
                found.update(rows.tobytes())
        return found.hexdigest()


def read_data(
    turns: Iterable[Turn],
    validation: Iterable[Turn] | None,
    recipe: RuberRecipe,
    leave_out: Collection[str] = (),
    share: float = SHARE,
) -> RuberData:
    """Pairs to learn from and pairs to validate with: of a share of the dialogues, unless `validation` gives others."""
    check_share("the share to validate with", share)
    texts = Texts()
    reading = read_pairs(turns, texts, recipe.context, recipe.network, leave_out)
    caveats, left_out = reading.caveats(), reading.left_out
    if validation is None:
        train, held = reading.pairs.divide(share, np.random.default_rng([recipe.seed, 1]))
    else:
        other = read_pairs(validation, texts, recipe.context, recipe.network, leave_out)
        train, held = reading.pairs, other.pairs
        caveats += other.caveats()
        left_out += other.left_out
    caveats += _held_caveats(train, held)
    return RuberData(texts.listed(), train, held, caveats, left_out)


def _held_caveats(train: Pairs, held: Pairs) -> list[Caveat]:
    """What speaks against the pairs to validate with."""
    caveats = []
    dialogues = len(np.unique(held.dialogues))
    if len(held) < FEWEST_HELD or dialogues < FEWEST_DIALOGUES:
        message = (
            f"only {len(held)} pairs of {dialogues} dialogues to validate with: when to stop, and the accuracy, are "
            "little more than chance"
        )
        caveats.append(Caveat("few_held", message))
    seen = set(zip(train.queries.tolist(), train.responses.tolist(), strict=True))
    again = sum(pair in seen for pair in zip(held.queries.tolist(), held.responses.tolist(), strict=True))
    if again > OFTEN * len(held):
        message = f"{again} of {len(held)} pairs to validate with are also learned from: the accuracy is too high"
        caveats.append(Caveat("held_seen", message))
    return caveats


@dataclass(frozen=True)
class TrainingData:
    """Data with its vectors, from which any number of networks can be trained."""

    data: RuberData
    encoder: Encoder
    shape: RuberShape
    inputs: TextInputs
    sampler: Sampler
    held_sampler: Sampler
    held: Held
    device: torch.device


def make_training_data(data: RuberData, encoder: Encoder, recipe: RuberRecipe) -> TrainingData:
    """Every text is encoded once. The negatives that validation is done with are drawn here, at random."""
    encoder.tokens(["an encoder without vectors for words is refused before any work is done"])
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    shape = shape_of(recipe, encoder)
    encoded = make_inputs(encoder, data.texts, shape, device, means=True)
    vectors = unit_rows(np.asarray(encoded.means))
    same = same_texts(data.texts)
    if len(np.unique(same[data.train.responses])) > 1 and len(np.unique(same[data.held.responses])) < 2:
        pairs = len(data.train) + len(data.held)
        raise InputError(
            f"only one response to validate with ({len(data.held)} of {pairs} pairs are held back): give more "
            "conversations, others with --validation, or a larger --validation-share"
        )
    sampler, held_sampler = (Sampler(pairs, data.texts, same, vectors) for pairs in (data.train, data.held))
    everyone = np.arange(len(data.held))
    negatives = held_sampler.draw(["random"] * HELD_NEGATIVES, everyone, 1, np.random.default_rng([recipe.seed, 2]))
    held = Held(data.held, negatives)
    return TrainingData(data, encoder, shape, encoded.inputs, sampler, held_sampler, held, device)


def shape_of(recipe: RuberRecipe, encoder: Encoder) -> RuberShape:
    """Towers look at the last layer and the one half way to it, unless the recipe names layers."""
    layers, last = recipe.layers, encoder.last_layer
    if recipe.network == "towers" and not layers and last:
        layers = (last, last // 2)
    if layers and last is None:
        raise InputError(f"layers: the encoder {encoder.identity} has none")
    return RuberShape(width_of(encoder), recipe.network, recipe.sentence, layers, recipe.dropout)
