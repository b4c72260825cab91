"""The whole way from conversations, machine-made replies and ratings to a gauge."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dialogauge.encode.base import Encoder
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.encode.network import load_model
from dialogauge.encode.transformer import Transformer
from dialogauge.errors import Caveat, InputError
from dialogauge.learned.directory import write_model
from dialogauge.learned.gauge.card import GaugeResult, make_card, readable_card
from dialogauge.learned.gauge.data import GaugeData, GaugeFiles, RatedExamples, read_data
from dialogauge.learned.gauge.examples import HUMAN, Examples
from dialogauge.learned.gauge.fit import GaugeStage, GaugeTask, RatingTask
from dialogauge.learned.gauge.model import (
    OVERALL,
    PARTS,
    QUANTILES,
    Calibration,
    GaugeModel,
    GaugeShape,
    GaugeTuning,
    open_gauge,
    said_then,
)
from dialogauge.learned.gauge.networks import GaugeHead
from dialogauge.learned.gauge.recipe import ADAPTER, GaugeRecipe
from dialogauge.learned.pair_network import HEAD, PairNetwork, filled
from dialogauge.learned.training.checkpoint import Checkpoint, check_output, checkpoint_folder, key_of
from dialogauge.learned.training.loop import Fitted, Loop, as_arrays, earlier_seconds
from dialogauge.learned.training.token_pairs import Rows, outputs_of, token_inputs
from dialogauge.stats.arrays import unit_rows
from dialogauge.stats.correlations import concordance
from dialogauge.tables import counted

USUAL_LIKENESS, FEWEST_ALIKE = (0.3, 0.2), 20
"""Where conversations have too few utterances that two people answered."""
FEWEST_REAL = 100
"""Real replies held back, by whose percentiles scores are told."""
SCORED_AT_ONCE = 512
CONVERSATIONS, REPLIES, RATINGS = LESSONS = ("conversations", "replies", "ratings")


@dataclass(frozen=True)
class TrainedGauge:
    """A network that has learned what it could, with all that a card says about it."""

    recipe: GaugeRecipe
    shape: GaugeShape
    encoder: Encoder
    teachers: Sequence[GaugeModel]
    data: GaugeData
    fitted: dict[str, Fitted[GaugeStage]]
    """By what was learned from, in this order: conversations, replies that machines made up, ratings."""
    calibration: Calibration
    accuracy: dict[str, float]
    """How often a real reply scores above one of each kind, of conversations held back."""
    seconds: float
    device: str

    def weights(self, half: bool) -> dict[str, Any]:
        return as_arrays(list(self.fitted.values())[-1].weights, half)

    def caveats(self) -> list[Caveat]:
        caveats = []
        real = sum(self.data.examples.kinds[row] == HUMAN for row in self.data.held.tolist())
        if real < FEWEST_REAL:
            message = (
                f"{counted(real, 'real reply', 'real replies')} held back, fewer than {FEWEST_REAL}: scores from 0 to "
                "100 stand on them and are coarse; more conversations help, or a larger --validation-share"
            )
            caveats.append(Caveat("few_real", message))
        if len(self.data.alike) < FEWEST_ALIKE:
            mean, deviation = USUAL_LIKENESS
            utterances = counted(len(self.data.alike), "utterance")
            message = (
                f"{utterances} that two people answered, fewer than {FEWEST_ALIKE}: the cosine of their replies is "
                f"taken to be {mean:g} on average, with a standard deviation of {deviation:g}"
            )
            caveats.append(Caveat("few_alike", message))
        return caveats


def train_gauge(
    files: GaugeFiles | str | Path | Sequence[str | Path],
    out: str | Path,
    recipe: GaugeRecipe = ADAPTER,
    *,
    encoder: str = "minilm",
    teacher: str | Path | Sequence[str | Path] | None = None,
    half: bool = False,
    overwrite: bool = False,
    cache: bool = True,
    progress: bool = False,
) -> GaugeResult:
    """Trains a model of `gauge` and writes it to a directory. Broken off, the same call goes on where it stopped.

    Args:
        files: Files with whole conversations, or `GaugeFiles` where there are ratings or machine-made replies, too.
        out: The directory, for `gauge[model=DIRECTORY]`.
        recipe: What is trained and how; low-rank adapters by default.
        encoder: The name of the transformer that is trained further.
        teacher: The directory of a larger gauge, or of several: what they say of every reply is learned, in place of
            how the reply was made.
        half: Whether weights are kept in half precision.
        overwrite: Whether a model that is there already is replaced.
        cache: Whether what is encoded is kept on disk.
        progress: Whether stderr shows how far training has come.

    Examples:
        >>> import dialogauge
        >>> dialogauge.train_gauge("examples/conversations.jsonl", "models/mine")  # doctest: +SKIP
        >>> dialogauge.evaluate("responses.jsonl", "gauge[model=models/mine]")  # doctest: +SKIP
    """
    given = files if isinstance(files, GaugeFiles) else GaugeFiles([files] if isinstance(files, str | Path) else files)
    target = Path(out)
    check_output(target, overwrite)
    encoders = Encoders(Cache() if cache else None, progress)
    vectors = encoders.get(encoder)
    if not isinstance(vectors, Transformer):
        raise InputError(f"the encoder {vectors.identity} is no transformer, and has no weights to be tuned")
    named = [teacher] if isinstance(teacher, str | Path) else teacher
    teachers = [open_teacher(directory, recipe) for directory in named or ()]
    data = read_data(given, recipe, progress)
    checkpoints = make_checkpoints(checkpoint_folder(target), data, vectors, recipe, teachers)
    trained = train(data, vectors, recipe, checkpoints, progress, teachers)
    card = make_card(trained, encoder)
    write_model(target, trained.weights(half), card, readable_card(target.name, card), overwrite)
    for checkpoint in checkpoints.values():
        checkpoint.remove()
    return GaugeResult(target, card, [*data.caveats, *trained.caveats(), *encoders.caveats()])


def open_teacher(directory: str | Path, recipe: GaugeRecipe) -> GaugeModel:
    """Refuses one that looks at other contexts than what it teaches."""
    found = open_gauge(directory)
    if found.shape.context != recipe.context:
        raise found.saved.error(
            f"the teacher looks at {found.shape.context} utterances before a reply, what it is to teach at "
            f"{recipe.context}: both must look at as many (--context)"
        )
    return found


def make_checkpoints(
    folder: Path, data: GaugeData, encoder: Encoder, recipe: GaugeRecipe, teachers: Sequence[GaugeModel]
) -> dict[str, Checkpoint]:
    """For what is learned from conversations, from machine-made replies, and from ratings."""
    settings = {
        "recipe": recipe.record(),
        "data": data.digest(),
        "encoder": encoder.recipe(),
        "teachers": [teacher.saved.identity for teacher in teachers],
    }
    return {name: Checkpoint(folder / f"{name}.safetensors", key_of({**settings, "part": name})) for name in LESSONS}


def train(
    data: GaugeData,
    encoder: Transformer,
    recipe: GaugeRecipe,
    checkpoints: Mapping[str, Checkpoint] = MappingProxyType({}),
    progress: bool = False,
    teachers: Sequence[GaugeModel] = (),
) -> TrainedGauge:
    started = time.monotonic()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    examples = taught(data.examples, teachers, recipe, device) if teachers else data.examples
    network = make_network(recipe, encoder).to(device)
    inputs = token_inputs(encoder, examples.contexts, examples.replies, device)
    fitted: dict[str, Fitted[GaugeStage]] = {}
    for name, (rows, held) in lessons(data, all_at_once=bool(teachers)).items():
        task = GaugeTask(network, inputs, examples, rows, held, recipe, device)
        fitted[name] = Loop(task).run(checkpoints.get(name), name, progress)
    if data.rated is not None:
        drawn = np.random.default_rng([recipe.seed, 6]).permutation(rows)[: len(data.rated.examples)]
        replayed = examples.select(np.sort(drawn))
        tuning = make_rating_task(network, encoder, data.rated, replayed, recipe, device)
        fitted[RATINGS] = Loop(tuning).run(checkpoints.get(RATINGS), RATINGS, progress)
    outputs = task.outputs(data.held)
    return TrainedGauge(
        recipe=recipe,
        shape=recipe.shape(encoder),
        encoder=encoder,
        teachers=teachers,
        data=data,
        fitted=fitted,
        calibration=calibrate(data, outputs, encoder, recipe),
        accuracy=accuracy_by_kind([data.examples.kinds[row] for row in data.held.tolist()], outputs),
        seconds=time.monotonic() - started + earlier_seconds(fitted.values()),
        device=device.type,
    )


def lessons(data: GaugeData, all_at_once: bool) -> dict[str, tuple[Rows, Rows]]:
    """The rows of conversations and, after them, of machine-made replies, which are harder to tell from people's: to
    learn from, and held back. A teacher has judged all of them on one scale: they are then learned at once."""
    both = (data.train, data.held)
    apart = [[rows[rows < data.made], rows[rows >= data.made]] for rows in both]
    if all_at_once or not all(len(rows) for some in apart for rows in some):
        return {CONVERSATIONS: both}
    (said, made), (said_held, made_held) = apart
    return {CONVERSATIONS: (said, said_held), REPLIES: (made, made_held)}


def make_network(recipe: GaugeRecipe, encoder: Transformer) -> PairNetwork:
    """The network before training; what it has of its own comes from the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        model = load_model(encoder.files, "float32", encoder.files.layers)
        return PairNetwork(model, recipe.rank, recipe.pool, GaugeHead(encoder.files.width, recipe.dropout))


def make_rating_task(
    network: PairNetwork,
    encoder: Transformer,
    rated: RatedExamples,
    replayed: Examples,
    recipe: GaugeRecipe,
    device: torch.device,
) -> RatingTask:
    """Ratings, and beside them examples of conversations, so that what was learned of those is not forgotten."""
    both = rated.examples + replayed
    rows = np.concatenate([rated.train, np.arange(len(rated.examples), len(both))])
    inputs = token_inputs(encoder, both.contexts, both.replies, device)
    return RatingTask(network, inputs, both, rows, rated.held, recipe.on_ratings(), device)


def taught(examples: Examples, teachers: Sequence[GaugeModel], recipe: GaugeRecipe, device: torch.device) -> Examples:
    """The examples with what teachers say of them, and a language model where it has been asked. Of each part the mean
    of the teachers' logits; overall, each counts in standard deviations."""
    overall = PARTS.index(OVERALL)
    each = np.stack([judged(examples, teacher, device) for teacher in teachers])
    logits = each.mean(axis=0)
    mean, deviation = logits[:, overall].mean(), logits[:, overall].std()
    known = np.nan_to_num(standardised(examples.pmi.astype(np.float64)))
    said = np.mean([standardised(some[:, overall]) for some in each], axis=0)
    logits[:, overall] = mean + deviation * standardised(standardised(said) + recipe.likelihood * known)
    return replace(examples, targets=(1 / (1 + np.exp(-logits))).astype(np.float32))


def judged(examples: Examples, teacher: GaugeModel, device: torch.device) -> NDArray[np.float64]:
    """The teacher's logits, a row for each example."""
    encoder = teacher.ready(Encoders()).plain
    network = load_model(encoder.files, "float32", encoder.files.layers)
    GaugeTuning(teacher.saved, teacher.shape).apply(network)
    head = filled(GaugeHead(teacher.shape.width, 0.0), teacher.saved.weights, HEAD).float()
    pairs = PairNetwork(network, 0, teacher.shape.pool, head).to(device)
    inputs = token_inputs(encoder, examples.contexts, examples.replies, device)
    rows = np.arange(len(examples))
    return outputs_of(pairs, inputs, rows, SCORED_AT_ONCE, device, mixed=device.type == "cuda")


def standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """By the mean and the deviation of those that are known; all zero where they do not differ, or none is."""
    known = values[~np.isnan(values)]
    deviation = known.std() if len(known) else 0.0
    return np.asarray((values - known.mean()) / deviation) if deviation > 0 else np.zeros_like(values)


def calibrate(data: GaugeData, outputs: NDArray[np.float64], encoder: Transformer, recipe: GaugeRecipe) -> Calibration:
    real = np.array([data.examples.kinds[row] == HUMAN for row in data.held.tolist()])
    quantiles = np.quantile(outputs[real], QUANTILES, axis=0)
    parts = {part: quantiles[:, place].tolist() for place, part in enumerate(PARTS)}
    return Calibration(parts, likeness_of(data.alike, encoder), recipe.weight)


def likeness_of(pairs: Sequence[tuple[str, str]], encoder: Encoder) -> tuple[float, float]:
    """Mean and standard deviation of the cosines, to four digits."""
    if len(pairs) < FEWEST_ALIKE:
        return USUAL_LIKENESS
    first, second = (
        unit_rows(encoder.pooled([said_then(pair[side]) for pair in pairs], "mean").vectors) for side in (0, 1)
    )
    cosines = (first * second).sum(axis=1, dtype=np.float64)
    return float(f"{cosines.mean():.4g}"), float(f"{cosines.std(ddof=1):.4g}")


def accuracy_by_kind(kinds: Sequence[str], outputs: NDArray[np.float64]) -> dict[str, float]:
    named, overall = np.asarray(kinds), outputs[:, PARTS.index(OVERALL)]
    found = {}
    for kind in sorted({*kinds} - {HUMAN}):
        rows = (named == HUMAN) | (named == kind)
        found[kind] = round(concordance(overall[rows], named[rows] == HUMAN), 6)
    return found
