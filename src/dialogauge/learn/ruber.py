"""The whole way from files of conversations to a model of RUBER's unreferenced metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dialogauge.corpus.columns import ColumnMap
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.load import load
from dialogauge.encode.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import Caveat, InputError
from dialogauge.learn.material import SHARE, make_training_data, read_data
from dialogauge.learn.output import check_output, checkpoint_folder
from dialogauge.learn.pairs import bare
from dialogauge.learn.provenance import TrainingResult
from dialogauge.learn.recipe import TOWERS, RuberRecipe
from dialogauge.learn.ruber_card import Sources, make_card, readable_card
from dialogauge.learn.training import checkpoints_of, train
from dialogauge.models.directory import CARD, write_model
from dialogauge.tables import Cell, Header, Table


@dataclass(frozen=True)
class Conversations:
    """Files to learn from; to validate with, or the share of the former to validate with; and files of turns whose
    queries are left out of both."""

    files: Sequence[str | Path]
    validation: Sequence[str | Path] | None = None
    share: float = SHARE
    leave_out: Sequence[str | Path] | None = None
    reader: str | None = None
    skip_invalid: bool = False
    mapping: ColumnMap = field(default_factory=dict)

    def load(self, paths: Sequence[str | Path], progress: bool) -> Corpus:
        return load(paths, reader=self.reader, skip_invalid=self.skip_invalid, progress=progress, mapping=self.mapping)


class RuberResult(TrainingResult):
    def _records(self) -> list[dict[str, Any]]:
        return [
            {"network": place, "best": curve["best"], **epoch}
            for place, curve in enumerate(self.card["curves"], start=1)
            for epoch in curve["epochs"]
        ]

    def _table(self) -> Table:
        held, training = self.card["validation"], self.card["training"]
        rows = [
            [Cell("random"), Cell(f"{held['ranking_accuracy']:.4f}", f"[{held['low']:.4f}, {held['high']:.4f}]")],
            *([Cell(kind), Cell(f"{value:.4f}")] for kind, value in held["by_negatives"].items()),
        ]
        epochs = ", ".join(str(len(curve["epochs"])) for curve in self.card["curves"])
        notes = [
            "how often the true response scores above another, by how the other was drawn; [low, high]: 95% interval "
            "over dialogues",
            f"validated with {held['pairs']} pairs of {held['dialogues']} dialogues, trained with {training['pairs']} "
            f"pairs of {training['dialogues']}; epochs: {epochs}; {training['seconds']:g} s",
            f"model: {self.directory} (README.md, {CARD})",
        ]
        return Table([Header("negatives", align="left"), Header("ranking accuracy", "higher")], rows, notes)


def train_ruber(
    conversations: Conversations | str | Path | Sequence[str | Path],
    out: str | Path,
    recipe: RuberRecipe | None = None,
    *,
    encoder: str = "minilm",
    half: bool = False,
    overwrite: bool = False,
    cache: bool = True,
    progress: bool = False,
) -> TrainingResult:
    """Trains a model of `ruber_unreferenced` and writes it to a directory. Broken off, the same call goes on where it
    stopped.

    Args:
        conversations: Files with whole conversations, or `Conversations` where others are for validation.
        out: The directory, for `ruber_unreferenced[model=DIRECTORY]`.
        recipe: What is trained and how; towers by default.
        encoder: The name of the encoder whose vectors are learned from.
        half: Whether weights are kept in half precision.
        overwrite: Whether a model that is there already is replaced.
        cache: Whether what is encoded is kept on disk.
        progress: Whether stderr shows how far training has come.

    Examples:
        >>> import dialogauge
        >>> dialogauge.train_ruber("examples/conversations.jsonl", "models/mine")  # doctest: +SKIP
        >>> dialogauge.evaluate("responses.jsonl", "ruber_unreferenced[model=models/mine]")  # doctest: +SKIP
    """
    given = conversations if isinstance(conversations, Conversations) else Conversations(_paths(conversations))
    recipe, target = recipe or TOWERS, Path(out)
    check_output(target, overwrite)
    encoders = Encoders(Cache() if cache else None, progress)
    vectors = encoders.get(encoder)
    corpus = given.load(given.files, progress)
    validation = given.load(given.validation, progress) if given.validation else None
    asked = load(given.leave_out, skip_invalid=given.skip_invalid, progress=progress) if given.leave_out else None
    leave_out = {bare(turn.context[-1]) for turn in asked or () if turn.context}
    data = read_data(corpus, validation, recipe, leave_out, given.share)
    training_data = make_training_data(data, vectors, recipe)
    share = None if validation else given.share
    sources = Sources(corpus.files, validation.files if validation else (), share, asked.files if asked else ())
    trained = train(training_data, recipe, checkpoint_folder(target), progress)
    card = make_card(trained, encoder, sources)
    write_model(target, trained.weights(half), card, readable_card(target.name, card), overwrite)
    for checkpoint in checkpoints_of(checkpoint_folder(target), recipe, training_data):
        checkpoint.remove()
    loaded = [caveat for read in (corpus, validation, asked) if read for caveat in read.caveats]
    return RuberResult(target, card, [*loaded, *_response_caveats(corpus), *data.caveats, *encoders.caveats()])


def _response_caveats(corpus: Corpus) -> list[Caveat]:
    """A warning where turns look like responses to be judged, not like conversations to learn from."""
    rated = sum(bool(turn.ratings or turn.references) for turn in corpus)
    if not rated:
        return []
    message = f"{rated} of {len(corpus)} turns have ratings or references: are these conversations between people?"
    return [Caveat("system_responses", message)]


def _paths(given: str | Path | Sequence[str | Path]) -> list[str | Path]:
    paths = [given] if isinstance(given, str | Path) else list(given)
    if not all(isinstance(path, str | Path) for path in paths):
        raise InputError("expected paths of files with conversations, found something else")
    return paths
