"""The whole way from files of conversations to a model of RUBER's unreferenced metric, and what it says of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dialogauge.corpus.corpus import Corpus, SourceFile
from dialogauge.corpus.load import load
from dialogauge.corpus.reading.columns import ColumnMap
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import InputError
from dialogauge.learned.directory import CARD, write_model
from dialogauge.learned.ruber.model import KIND
from dialogauge.learned.ruber.pairs import bare, response_caveats
from dialogauge.learned.ruber.recipe import TOWERS, RuberRecipe
from dialogauge.learned.ruber.train_networks import TrainedRuber, checkpoints_of, train
from dialogauge.learned.ruber.training_data import SHARE, make_training_data, read_data
from dialogauge.learned.training.card import TrainingResult, describe_data, list_data, made_by, made_for, made_from
from dialogauge.learned.training.checkpoint import check_output, checkpoint_folder
from dialogauge.tables import Cell, Header, Table, printable

SENTENCES = {
    "rnn": "two layers of bidirectional gated recurrent units over the vectors of the words",
    "max": "the largest value of the words' vectors in each dimension",
    "mean": "the mean of the words' vectors",
}
NETWORKS = {
    "ruber": "RUBER's, three layers over both sentences",
    "towers": "two towers, one for queries and one for responses, compared by the cosine",
}
LOSSES = {
    "cross_entropy": "cross-entropy",
    "ranking": "ranking with a margin",
    "softmax": "softmax over the responses of a batch",
}


@dataclass(frozen=True)
class Sources:
    """Files that were learned from; validated with (or the share of the former); and whose queries were left out."""

    training: Sequence[SourceFile]
    validation: Sequence[SourceFile] = ()
    share: float | None = None
    left_out: Sequence[SourceFile] = ()


def make_card(trained: TrainedRuber, encoder: str, sources: Sources) -> dict[str, Any]:
    training_data, recipe = trained.training_data, trained.recipe
    return {
        **made_from(KIND, encoder, training_data.encoder, training_data.data.texts),
        "network": {**asdict(trained.shape), "members": recipe.members, "context": recipe.context},
        "normalisation": trained.validation.normalisation.record(),
        "validation": {
            **trained.validation.record(training_data),
            "files": describe_data(sources.validation),
            "share": sources.share,
        },
        "training": {
            "recipe": recipe.record(),
            "pairs": len(training_data.data.train),
            "dialogues": len(set(training_data.data.train.dialogues.tolist())),
            "files": describe_data(sources.training),
            "left_out": {"files": describe_data(sources.left_out), "turns": training_data.data.left_out},
            "seconds": round(trained.seconds, 1),
            "device": training_data.device.type,
        },
        **made_by(trained.members),
    }


def readable_card(name: str, card: Mapping[str, Any]) -> str:
    """Markdown, from the card for programs alone."""
    network, training, held = card["network"], card["training"], card["validation"]
    recipe, ranges = training["recipe"], card["normalisation"]
    rows = "\n".join(f"| {kind.replace('_', ' ')} | {value:.4f} |" for kind, value in held["by_negatives"].items())
    files, others = list_data(training["files"]), list_data(held["files"])
    left_out = training["left_out"]["turns"]
    queries = f" {left_out} turns with queries that were to be left out are not among them." if left_out else ""
    gap = "\n\n" if others else ""
    held_back = "of other files" if held["files"] else "held back"
    members = [
        f"{place}. {len(curve['epochs'])} epochs, best {curve['best']}: loss {best['loss']:.4f}, validation loss "
        f"{best['validation_loss']:.4f}, ranking accuracy {best['ranking_accuracy']:.4f}"
        for place, curve in enumerate(card["curves"], start=1)
        for best in [curve["epochs"][curve["best"] - 1]]
    ]
    networks = "one network" if network["members"] == 1 else f"the mean of {network['members']} networks"
    layers = f", side by side from layers {', '.join(map(str, network['layers']))}" if network["layers"] else ""
    query = "the last utterance" if network["context"] == 1 else f"the last {network['context']} utterances"
    text = f"""\
# {name}

Says how related a response is to {query} before it, from 0 to 1: RUBER's unreferenced metric. Learned from
conversations alone, without ratings.

    dialogauge score responses.jsonl --metrics 'ruber_unreferenced[model={name}]'

## What it is

- Encoder: {card["encoder"]["identity"]} (`{card["encoder"]["name"]}`), as it is.
- A sentence: {SENTENCES[network["sentence"]]}{layers}.
- The network: {NETWORKS[network["network"]]}; dropout {network["dropout"]:g}.
- {networks[0].upper()}{networks[1:]}.
- Made for {made_for(card)}.

## What it learned from

{training["pairs"]} pairs of {training["dialogues"]} dialogues.{queries} Loss: {LOSSES[recipe["loss"]]}; negatives:
{", ".join(recipe["negatives"])}; seed {recipe["seed"]}.
{training["seconds"]:g} s ({training["device"]}), encoding aside.

{files}

{chr(10).join(members)}

## How good it is

On {held["pairs"]} pairs of {held["dialogues"]} dialogues {held_back}, the true response scores above a random one in
{100 * held["ranking_accuracy"]:.2f} % of comparisons (95 % interval over dialogues: {100 * held["low"]:.2f} to
{100 * held["high"]:.2f} %), {held["negatives"]} for each pair. Against other negatives:

| negatives | ranking accuracy |
|---|---|
{rows}

{others + gap}These numbers decided when to stop, so that new conversations may fare a little worse. How far scores
agree with people is another question: `dialogauge correlate`.

## Ranges

For `ruber`, the relatedness from {ranges["unreferenced"]["low"]:.6g} to {ranges["unreferenced"]["high"]:.6g} and the
likeness to a reference from {ranges["referenced"]["low"]:.6g} to {ranges["referenced"]["high"]:.6g}
({ranges["pool"]} of the words' vectors) become 0 to 1.

All settings, hashes and curves: card.json.
"""
    return printable(text, keep="\n")


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
    rated = sum(bool(turn.ratings or turn.references) for turn in corpus)
    loaded = [caveat for read in (corpus, validation, asked) if read for caveat in read.caveats]
    return RuberResult(
        target, card, [*loaded, *response_caveats(rated, len(corpus)), *data.caveats, *encoders.caveats()]
    )


def _paths(given: str | Path | Sequence[str | Path]) -> list[str | Path]:
    paths = [given] if isinstance(given, str | Path) else list(given)
    if not all(isinstance(path, str | Path) for path in paths):
        raise InputError("expected paths of files with conversations, found something else")
    return paths
