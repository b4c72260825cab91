"""The whole way from files of inference pairs to an entailment model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dialogauge.encode.base import Encoder
from dialogauge.encode.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.encode.transformer import Transformer
from dialogauge.learn.checkpoint import Checkpoint, key_of
from dialogauge.learn.entailment.assessment import Assessment, assess, fit_temperature
from dialogauge.learn.entailment.card import make_card, readable_card
from dialogauge.learn.entailment.data import EntailmentData, Files, Rows, read_data
from dialogauge.learn.entailment.fit import EntailmentStage, EntailmentTask
from dialogauge.learn.entailment.inputs import make_inputs
from dialogauge.learn.entailment.recipe import ADAPTER, EntailmentRecipe
from dialogauge.learn.entailment.result import EntailmentResult
from dialogauge.learn.loop import Fitted, Loop, as_arrays
from dialogauge.learn.output import check_output, checkpoint_folder
from dialogauge.models.directory import write_model
from dialogauge.models.entailment.shape import EntailmentShape


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
    logits = task.logits(data.held)
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
        tests={name: _assess(data, rows, task.logits(rows), temperature) for name, rows in data.tests.items()},
        seconds=time.monotonic() - started,
        device=device.type,
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
    from dialogauge.models.entailment.classifier import PairClassifier
    from dialogauge.models.entailment.esim import Esim

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if shape.network == "esim":
            return Esim(shape)
        assert isinstance(encoder, Transformer)
        return PairClassifier(shape, load_model(encoder.files, "float32", encoder.files.layers))


def _assess(data: EntailmentData, rows: Rows, logits: Any, temperature: float) -> Assessment:
    pairs = data.pairs
    sources = [pairs.sources[row] for row in rows.tolist()]
    return assess(
        logits, temperature, pairs.labels[rows], np.unique(pairs.groups[rows], return_inverse=True)[1], sources
    )
