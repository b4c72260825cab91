"""The whole way from files of inference pairs to an entailment model, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dialogauge.encode.base import Encoder
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.encode.transformer import Transformer
from dialogauge.learned.directory import CARD, write_model
from dialogauge.learned.entailment.card import Assessment, assess, fit_temperature, make_card, readable_card
from dialogauge.learned.entailment.data import EntailmentData, Files, Rows, read_data
from dialogauge.learned.entailment.fit import EntailmentStage, EntailmentTask
from dialogauge.learned.entailment.inputs import make_inputs
from dialogauge.learned.entailment.model import EntailmentShape
from dialogauge.learned.entailment.recipe import ADAPTER, EntailmentRecipe
from dialogauge.learned.training.card import TrainingResult
from dialogauge.learned.training.checkpoint import Checkpoint, check_output, checkpoint_folder, key_of
from dialogauge.learned.training.loop import Fitted, Loop, as_arrays
from dialogauge.tables import Cell, Header, Table


class EntailmentResult(TrainingResult):
    def _records(self) -> list[dict[str, Any]]:
        (curve,) = self.card["curves"]
        return [{"best": curve["best"], **stage} for stage in curve["epochs"]]

    def _table(self) -> Table:
        card = self.card
        held, training = card["validation"], card["training"]
        judged = {"validation": held, **card["tests"]}
        rows = [_row(name, result, label) for name, result in judged.items() for label in range(len(held["labels"]))]
        headers = [
            Header("pairs", align="left"),
            Header("accuracy", "higher"),
            Header("majority"),
            Header("of class", align="left"),
            *(Header(f"as {label}") for label in held["labels"]),
        ]
        notes = [
            "majority: the accuracy of always saying the commonest class; [low, high]: 95% interval over dialogues, or "
            "premises",
            f"trained with {training['pairs']} pairs, {training['seconds']:g} s; calibration error "
            f"{card['calibration']['error_before']:.4f} before, {held['calibration_error']:.4f} after dividing by the "
            f"temperature {card['calibration']['temperature']:g}",
            f"model: {self.directory} (README.md, {CARD})",
        ]
        return Table(headers, rows, notes)


def _row(name: str, judged: Mapping[str, Any], label: int) -> list[Cell]:
    """One class of the pairs of this name; the first says how often the model is right."""
    first = label == 0
    accuracy = Cell(f"{judged['accuracy']:.4f}", f"[{judged['low']:.4f}, {judged['high']:.4f}]") if first else Cell("")
    return [
        Cell(f"{name} ({judged['pairs']})" if first else ""),
        accuracy,
        Cell(f"{judged['majority']:.4f}" if first else ""),
        Cell(judged["labels"][label]),
        *(Cell(str(count)) for count in judged["confusion"][label]),
    ]


@dataclass(frozen=True)
class TrainedEntailment:
    """A network that has learned what it could, with all that a card says about it."""

    recipe: EntailmentRecipe
    shape: EntailmentShape
    encoder: Encoder
    data: EntailmentData
    fitted: Fitted[EntailmentStage]
    temperature: float
    uncalibrated: float
    """The calibration error before the temperature."""
    validation: Assessment
    tests: dict[str, Assessment]
    seconds: float
    device: str

    def weights(self, half: bool) -> dict[str, Any]:
        return as_arrays(self.fitted.weights, half)


def train_entailment(
    files: Files | str | Path | Sequence[str | Path],
    out: str | Path,
    recipe: EntailmentRecipe = ADAPTER,
    *,
    encoder: str = "minilm",
    half: bool = False,
    overwrite: bool = False,
    cache: bool = True,
    progress: bool = False,
) -> EntailmentResult:
    """Trains a model of `entailment` and writes it to a directory. Broken off, the same call goes on where it stopped.

    Args:
        files: Pairs of premise and hypothesis, such as `synthesize_entailment` writes, or `Files` where others are for
            validation and test.
        out: The directory, for `entailment[model=DIRECTORY]`.
        recipe: What is trained and how; low-rank adapters by default.
        encoder: The name of the transformer that is trained further.
        half: Whether weights are kept in half precision.
        overwrite: Whether a model that is there already is replaced.
        cache: Whether what is encoded is kept on disk.
        progress: Whether stderr shows how far training has come.

    Examples:
        >>> import dialogauge
        >>> dialogauge.train_entailment("pairs.jsonl", "models/mine")  # doctest: +SKIP
        >>> dialogauge.evaluate("responses.jsonl", "entailment[model=models/mine]")  # doctest: +SKIP
    """
    given = files if isinstance(files, Files) else Files([files] if isinstance(files, str | Path) else list(files))
    target = Path(out)
    check_output(target, overwrite)
    encoders = Encoders(Cache() if cache else None, progress)
    vectors = encoders.get(encoder)
    data = read_data(given, recipe.seed)
    checkpoint = make_checkpoint(checkpoint_folder(target), data, vectors, recipe)
    trained = train(data, vectors, recipe, checkpoint, progress)
    card = make_card(trained, encoder)
    write_model(target, trained.weights(half), card, readable_card(target.name, card), overwrite)
    checkpoint.remove()
    return EntailmentResult(target, card, [*data.caveats, *encoders.caveats()])


def make_checkpoint(folder: Path, data: EntailmentData, encoder: Encoder, recipe: EntailmentRecipe) -> Checkpoint:
    """For the training of this recipe, with these pairs and this encoder."""
    settings = {"recipe": recipe.record(), "data": data.digest(), "encoder": encoder.recipe()}
    return Checkpoint(folder / "0.safetensors", key_of(settings))


def train(
    data: EntailmentData,
    encoder: Encoder,
    recipe: EntailmentRecipe,
    checkpoint: Checkpoint | None = None,
    progress: bool = False,
) -> TrainedEntailment:
    started = time.monotonic()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    task = make_task(data, encoder, recipe, device)
    fitted = Loop(task).run(checkpoint, progress=progress)
    return judge_itself(task, fitted, data, encoder, recipe, started)


def judge_itself(
    task: EntailmentTask,
    fitted: Fitted[EntailmentStage],
    data: EntailmentData,
    encoder: Encoder,
    recipe: EntailmentRecipe,
    started: float,
) -> TrainedEntailment:
    """The network as training left it, with its temperature and how often it is right. `started` is by
    `time.monotonic`."""
    logits = task.outputs(data.held)
    temperature = fit_temperature(logits, data.pairs.labels[data.held])
    return TrainedEntailment(
        recipe=recipe,
        shape=recipe.shape(encoder),
        encoder=encoder,
        data=data,
        fitted=fitted,
        temperature=temperature,
        uncalibrated=_assess(data, data.held, logits, 1.0).calibration_error,
        validation=_assess(data, data.held, logits, temperature),
        tests={name: _assess(data, rows, task.outputs(rows), temperature) for name, rows in data.tests.items()},
        seconds=time.monotonic() - started + fitted.earlier,
        device=task.device.type,
    )


def make_task(data: EntailmentData, encoder: Encoder, recipe: EntailmentRecipe, device: torch.device) -> EntailmentTask:
    """The training before its first step."""
    shape = recipe.shape(encoder)
    inputs = make_inputs(data.pairs, encoder, shape, device)
    network = make_network(shape, encoder, recipe.seed).to(device)
    labels = torch.from_numpy(data.pairs.labels)
    return EntailmentTask(network, inputs, labels, data.train, data.held, recipe, device)


def make_network(shape: EntailmentShape, encoder: Encoder, seed: int) -> Any:
    """The network before training; its own layers come from the seed."""
    from dialogauge.encode.network import load_model
    from dialogauge.learned.entailment.networks import ClassHead, Esim
    from dialogauge.learned.pair_network import PairNetwork

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if shape.network == "esim":
            return Esim(shape)
        assert isinstance(encoder, Transformer)
        model = load_model(encoder.files, "float32", encoder.files.layers)
        return PairNetwork(model, shape.rank, shape.pool, ClassHead(shape))


def _assess(data: EntailmentData, rows: Rows, logits: Any, temperature: float) -> Assessment:
    pairs = data.pairs
    sources = [pairs.sources[row] for row in rows.tolist()]
    return assess(
        logits, temperature, pairs.labels[rows], np.unique(pairs.groups[rows], return_inverse=True)[1], sources
    )
