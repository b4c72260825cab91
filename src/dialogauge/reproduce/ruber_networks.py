"""The networks of the BERT-RUBER paper's tables: trained where they are not there yet, and kept."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from dialogauge.encode.base import Encoder
from dialogauge.errors import InputError
from dialogauge.learn.material import TrainingData, make_training_data
from dialogauge.learn.output import checkpoint_folder
from dialogauge.learn.recipe import RuberRecipe
from dialogauge.learn.ruber_card import Sources, make_card, readable_card
from dialogauge.learn.training import checkpoints_of, train
from dialogauge.models.directory import SavedModel, read_model, write_model
from dialogauge.models.ruber import KIND
from dialogauge.progress import progress_bar
from dialogauge.reproduce.ruber_data import Exchanges
from dialogauge.reproduce.ruber_published import Variant

MATERIAL_SEED = 0
"""Of the negatives that all networks are validated with."""


@dataclass(frozen=True)
class PaperNetwork:
    variant: Variant
    seed: int

    @property
    def folder(self) -> str:
        return f"{self.variant.name.replace('/', '-')}-{self.seed}"

    def recipe(self, base: RuberRecipe) -> RuberRecipe:
        return replace(base, sentence=self.variant.sentence, loss=self.variant.loss, seed=self.seed)


@dataclass(frozen=True)
class Workshop:
    """All that networks are made from. `encoders` has name and encoder of each embedding."""

    keep: Path
    exchanges: Exchanges
    encoders: dict[str, tuple[str, Encoder]]
    base: RuberRecipe
    progress: bool = False

    def directory(self, network: PaperNetwork) -> Path:
        return self.keep / network.folder

    def make(self, networks: Sequence[PaperNetwork]) -> dict[PaperNetwork, SavedModel]:
        """All of them, those that are kept already checked before any other is trained."""
        for network in networks:
            if self.directory(network).exists():
                self._read(network)
        missing = [network for network in networks if not self.directory(network).exists()]
        if missing:
            check_keep(self.keep)
            self._train(missing)
        return {network: self._read(network) for network in networks}

    def _read(self, network: PaperNetwork) -> SavedModel:
        saved = read_model(self.directory(network), KIND)
        expected = self._expected(network)
        found = _identity(saved)
        if other := [name for name in expected if found[name] != expected[name]]:
            raise saved.error(
                f"is a network of another kind than this table asks for ({', '.join(other)} differ); delete it, or "
                "choose another folder with --keep"
            )
        return saved

    def _expected(self, network: PaperNetwork) -> dict[str, Any]:
        """What the card of the network must say."""
        return {
            "recipe": network.recipe(self.base).record(),
            "data files": [file.sha256 for file in self.exchanges.files],
            "numbers of pairs": self.exchanges.pairs,
            "encoder": self.encoders[network.variant.embedding][1].identity,
        }

    def _train(self, networks: Sequence[PaperNetwork]) -> None:
        with _counted(len(networks), self.progress) as count:
            # Losses and seeds share what is encoded; the training data of one at a time is in memory.
            for _, group in groupby(_by_training_data(networks), key=_training_data_key):
                self._train_group(list(group), count)

    def _train_group(self, networks: Sequence[PaperNetwork], count: Any) -> None:
        variant = networks[0].variant
        name, encoder = self.encoders[variant.embedding]
        recipe = replace(networks[0].recipe(self.base), seed=MATERIAL_SEED)
        training_data = make_training_data(self.exchanges.data, encoder, recipe)
        for network in networks:
            with count(network):
                self._train_one(network, training_data, name)

    def _train_one(self, network: PaperNetwork, training_data: TrainingData, encoder: str) -> None:
        target, files = self.directory(network), self.exchanges.files
        recipe, folder = network.recipe(self.base), checkpoint_folder(target)
        trained = train(training_data, recipe, folder, self.progress)
        card = make_card(trained, encoder, Sources(files))
        if not target.exists():  # as it does where another process was faster
            write_model(target, trained.weights(half=False), card, readable_card(target.name, card))
        for checkpoint in checkpoints_of(folder, recipe, training_data):
            checkpoint.remove()


def check_keep(keep: Path) -> None:
    """Makes the folder; refuses one that nothing can be written to."""
    try:
        keep.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"networks cannot be kept here: {error.strerror or error}", keep) from None
    if not os.access(keep, os.W_OK | os.X_OK):
        raise InputError("networks cannot be kept here: the folder cannot be written to", keep)


def _identity(saved: SavedModel) -> dict[str, Any]:
    training, validation, encoder = map(saved.section, ("training", "validation", "encoder"))
    try:
        return {
            "recipe": training["recipe"],
            "data files": [file["sha256"] for file in training["files"]],
            "numbers of pairs": [training["pairs"], validation["pairs"]],
            "encoder": encoder["identity"],
        }
    except (KeyError, TypeError) as error:
        raise saved.error(f"its card cannot be used: {error!r}") from None


def _training_data_key(network: PaperNetwork) -> tuple[str, str]:
    return network.variant.embedding, network.variant.sentence


def _by_training_data(networks: Sequence[PaperNetwork]) -> list[PaperNetwork]:
    """Those that share training data one after the other, otherwise in the order given."""
    first = {key: place for place, key in reversed(list(enumerate(map(_training_data_key, networks))))}
    return sorted(networks, key=lambda network: first[_training_data_key(network)])


@contextmanager
def _counted(total: int, progress: bool) -> Iterator[Any]:
    """A bar that says which network of how many is being trained."""
    with progress_bar(total=total, shown=progress, unit="network") as bar:

        @contextmanager
        def count(network: PaperNetwork) -> Iterator[None]:
            bar.set_description(f"network {bar.n + 1} of {total}: {network.folder}")
            yield
            bar.update()

        yield count
