"""The networks of the BERT-RUBER paper's tables and what they are trained on: exchanges of DailyDialog, and rated
pairs."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from dialogauge.agreement.points import mean_rating, ratings_of
from dialogauge.corpus.corpus import Corpus, SourceFile
from dialogauge.corpus.load import load
from dialogauge.corpus.readers.bert_ruber import BERT_RUBER
from dialogauge.corpus.turn import Turn, unit_of
from dialogauge.encode.base import Encoder
from dialogauge.errors import Caveat, InputError
from dialogauge.learned.directory import SavedModel, read_model, write_model
from dialogauge.learned.ruber.model import KIND
from dialogauge.learned.ruber.pairs import bare
from dialogauge.learned.ruber.recipe import PAPER, RuberRecipe
from dialogauge.learned.ruber.train import Sources, make_card, readable_card
from dialogauge.learned.ruber.train_networks import TrainedRuber, checkpoints_of, train_all
from dialogauge.learned.ruber.training_data import RuberData, make_training_data, read_data
from dialogauge.learned.training.checkpoint import checkpoint_folder
from dialogauge.papers.ruber.rows import Variant
from dialogauge.papers.side_by_side import files_of, is_read_by
from dialogauge.progress import progress_bar
from dialogauge.stats.arrays import Floats

DIMENSION, SYSTEM = "appropriateness", "generated"


@dataclass(frozen=True)
class Rated:
    """The responses that people rated, with what networks must not have seen. Entry i of `ratings` is the mean of
    turn i."""

    corpus: Corpus
    turns: list[Turn]
    ratings: Floats
    queries: frozenset[str]
    """By `bare`."""
    caveats: list[Caveat]


def read_rated(folder: Path) -> Rated:
    """The 300 generated responses. One without a rating, a query or a true reply is left out and counted."""
    corpus = load(rated_file(folder), reader=BERT_RUBER.name)
    queries = frozenset(bare(turn.context[-1]) for turn in corpus if turn.context)
    all_turns = corpus.select([SYSTEM]).turns
    turns = [turn for turn in all_turns if turn.context and turn.references and _ratings(turn)]
    caveats = list(corpus.caveats)
    if len(turns) < len(all_turns):
        message = f"{len(all_turns) - len(turns)} of {len(all_turns)} responses lack a rating, a query or a true reply"
        caveats.append(Caveat("unrated", f"{message}, and are left out"))
    ratings = np.array([mean_rating(_ratings(turn)) for turn in turns])
    return Rated(Corpus(turns, corpus.files), turns, ratings, queries, caveats)


def rated_file(folder: Path) -> Path:
    """The one file of rated pairs in the folder, by its content."""
    if not folder.is_dir():
        raise InputError("no such folder; expected the one with the BERT-RUBER paper's rated pairs", folder)
    found = [path for path in sorted(folder.iterdir()) if is_read_by(BERT_RUBER, path)]
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise InputError(
            "expected one file of rated pairs (Eng_Scores_queries_gen_gtruth_replies.csv of "
            f"github.com/PlusLabNLP/PredictiveEngagement), found {names}",
            folder,
        )
    return found[0]


def _ratings(turn: Turn) -> tuple[float | None, ...]:
    return ratings_of(turn, DIMENSION, "turn")


@dataclass(frozen=True)
class Exchanges:
    """Texts and pairs of the second halves of the files, less those whose query was rated."""

    data: RuberData
    files: tuple[SourceFile, ...]
    left_out: int
    caveats: list[Caveat]

    @property
    def pairs(self) -> list[int]:
        """To train on, to validate with."""
        return [len(self.data.train), len(self.data.held)]


def read_exchanges(
    conversations: Sequence[str | Path], validation: Sequence[str | Path], rated: Collection[str], progress: bool
) -> Exchanges:
    corpora = [load(files, progress=progress) for files in (conversations, validation)]
    both = [exchanges(corpus) for corpus in corpora]
    kept = [[turn for turn in turns if bare(turn.context[-1]) not in rated] for turns in both]
    data = read_data(kept[0], kept[1], PAPER)
    return Exchanges(
        data=data,
        files=files_of(corpora),
        left_out=sum(map(len, both)) - sum(map(len, kept)),
        caveats=[*(caveat for corpus in corpora for caveat in corpus.caveats), *data.caveats],
    )


def exchanges(corpus: Corpus) -> list[Turn]:
    """Utterances 1 and 2, 3 and 4, … of the second half of the dialogues (of an odd number, the larger part): the paper
    trained the system that was rated on the first."""
    dialogues = list(dict.fromkeys(map(unit_of, corpus)))
    second = set(dialogues[len(dialogues) // 2 :])
    return [turn for turn in corpus if len(turn.context) % 2 and unit_of(turn) in second]


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
            # Losses and seeds share what is encoded, and are trained side by side; the training data of one group at a
            # time is in memory.
            for _, group in groupby(_by_training_data(networks), key=_training_data_key):
                self._train_group(list(group), count)

    def _train_group(self, networks: Sequence[PaperNetwork], count: Any) -> None:
        variant = networks[0].variant
        name, encoder = self.encoders[variant.embedding]
        recipe = replace(networks[0].recipe(self.base), seed=MATERIAL_SEED)
        training_data = make_training_data(self.exchanges.data, encoder, recipe)
        recipes = [network.recipe(self.base) for network in networks]
        folders = [checkpoint_folder(self.directory(network)) for network in networks]
        with count(networks):
            all_trained = train_all(training_data, recipes, folders, self.progress)
        for network, trained in zip(networks, all_trained, strict=True):
            self._write(network, trained, name)

    def _write(self, network: PaperNetwork, trained: TrainedRuber, encoder: str) -> None:
        target, folder = self.directory(network), checkpoint_folder(self.directory(network))
        card = make_card(trained, encoder, Sources(self.exchanges.files))
        if not target.exists():  # as it does where another process was faster
            write_model(target, trained.weights(half=False), card, readable_card(target.name, card))
        for checkpoint in checkpoints_of(folder, trained.recipe, trained.training_data):
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
    """A bar that says which networks of how many are being trained."""
    with progress_bar(total=total, shown=progress, unit="network") as bar:

        @contextmanager
        def count(networks: Sequence[PaperNetwork]) -> Iterator[None]:
            names = ", ".join(network.folder for network in networks)
            bar.set_description(f"networks {bar.n + 1} to {bar.n + len(networks)} of {total}: {names}")
            yield
            bar.update(len(networks))

        yield count
