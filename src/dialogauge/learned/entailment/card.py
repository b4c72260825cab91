"""How often an entailment model is right, and what it says of itself, to programs and to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.inference import LABELS
from dialogauge.learned.entailment.data import Rows
from dialogauge.learned.entailment.model import KIND
from dialogauge.learned.training.card import describe_data, list_data, made_by, made_for, made_from
from dialogauge.stats.resampling import clustered_mean
from dialogauge.tables import printable

if TYPE_CHECKING:
    from dialogauge.learned.entailment.train import TrainedEntailment

BINS = 15
HOTTEST = 100.0
LogitRows = NDArray[np.float64]


@dataclass(frozen=True)
class Assessment:
    """Of labelled pairs. `confusion[i][j]`: pairs of class i that were taken for class j."""

    accuracy: float
    low: float
    high: float
    """The 95 % interval over dialogues (where there are none, over premises)."""
    majority: float
    """The accuracy of always saying the commonest class of these pairs."""
    calibration_error: float
    """The mean difference between how sure the model is and how often it is right (expected calibration error)."""
    confusion: list[list[int]]
    by_source: dict[str, float]
    """The accuracy on pairs made in each way."""
    pairs: int
    groups: int

    def record(self) -> dict[str, Any]:
        rounded = ("accuracy", "low", "high", "majority", "calibration_error")
        values = {name: round(getattr(self, name), 6) for name in rounded}
        by_source = {name: round(value, 6) for name, value in self.by_source.items()}
        return {
            "pairs": self.pairs,
            "groups": self.groups,
            **values,
            "labels": list(LABELS),
            "confusion": self.confusion,
            "by_source": by_source,
        }


def assess(logits: LogitRows, temperature: float, labels: Rows, groups: Rows, sources: Sequence[str]) -> Assessment:
    """Row i of `logits`, and entry i of the others, belong to pair i."""
    from scipy.special import softmax

    probabilities = softmax(logits / temperature, axis=1)
    said = probabilities.argmax(axis=1)
    right = (said == labels).astype(np.float64)
    accuracy = clustered_mean(right, groups)
    confusion = np.zeros((len(LABELS), len(LABELS)), np.int64)
    np.add.at(confusion, (labels, said), 1)
    made = np.array(sources)
    return Assessment(
        accuracy=accuracy.value,
        low=accuracy.low,
        high=accuracy.high,
        majority=float(np.bincount(labels).max() / len(labels)),
        calibration_error=calibration_error(probabilities.max(axis=1), right),
        confusion=confusion.tolist(),
        by_source={str(name): float(right[made == name].mean()) for name in np.unique(made)},
        pairs=len(labels),
        groups=len(np.unique(groups)),
    )


def calibration_error(sure: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """Pairs are gathered by how sure the model is, in bins of equal width (Guo et al. 2017)."""
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, weights=right - sure, minlength=BINS)
    return float(np.abs(gaps).sum() / len(sure))


def fit_temperature(logits: LogitRows, labels: Rows) -> float:
    """What logits are divided by so that the labels are as likely as can be (Guo et al. 2017). Where a model is always
    right, the colder the better, and nothing is known: 1."""
    from scipy.optimize import minimize_scalar
    from scipy.special import logsumexp

    def loss(log_temperature: float) -> float:
        scaled = logits / np.exp(log_temperature)
        return float((logsumexp(scaled, axis=1) - scaled[np.arange(len(labels)), labels]).mean())

    if (logits.argmax(axis=1) == labels).all():
        return 1.0
    limit = np.log(HOTTEST)
    # Digits beyond the fifth differ by how a processor rounds.
    return float(f"{np.exp(minimize_scalar(loss, bounds=(-limit, limit), method='bounded').x):.5g}")


def make_card(trained: TrainedEntailment, encoder: str) -> dict[str, Any]:
    data, recipe = trained.data, trained.recipe
    counts = np.bincount(data.pairs.labels[data.train], minlength=len(LABELS)).tolist()
    files = {name: describe_data(source) for name, source in data.sources.items()}
    return {
        **made_from(KIND, encoder, trained.encoder, [*data.pairs.premises, *data.pairs.hypotheses]),
        "network": asdict(trained.shape),
        "calibration": {"temperature": trained.temperature, "error_before": round(trained.uncalibrated, 6)},
        "validation": {
            **trained.validation.record(),
            "files": files["validation"],
            "share": data.share,
        },
        "tests": {name: found.record() for name, found in trained.tests.items()},
        "training": {
            "recipe": recipe.record(),
            "pairs": len(data.train),
            "labels": dict(zip(LABELS, counts, strict=True)),
            "files": files["training"],
            "test_files": files["tests"],
            "seconds": round(trained.seconds, 1),
            "device": trained.device,
        },
        **made_by([trained.fitted]),
    }


def readable_card(name: str, card: Mapping[str, Any]) -> str:
    """Markdown, from the card for programs alone."""
    training, held = card["training"], card["validation"]
    recipe, (curve,) = training["recipe"], card["curves"]
    best = curve["epochs"][curve["best"] - 1]
    labels = ", ".join(f"{count} {label}" for label, count in training["labels"].items())
    judged = {"validation": held, **card["tests"]}
    rows = "\n".join(
        f"| {pairs} | {on['pairs']} | {on['accuracy']:.4f} [{on['low']:.4f}, {on['high']:.4f}] | {on['majority']:.4f} |"
        for pairs, on in judged.items()
    )
    matrix = "\n".join(
        f"| {label} | {' | '.join(map(str, row))} |"
        for label, row in zip(held["labels"], held["confusion"], strict=True)
    )
    hidden = (
        " The premise was hidden from it: it only shows what hypotheses give away." if recipe["hypothesis_only"] else ""
    )
    text = f"""\
# {name}

Says whether a response follows from what was said before it (entailment), ignores it (neutral) or contradicts it, with
a probability for each (Dziri et al. 2019).{hidden}

    dialogauge score responses.jsonl --metrics 'entailment[model={name}]'

## What it is

- Encoder: {card["encoder"]["identity"]} (`{card["encoder"]["name"]}`).
- The network: {_network(card["network"])}; dropout {card["network"]["dropout"]:g}.
- Logits are divided by the temperature {card["calibration"]["temperature"]:g}: the calibration error on pairs held back
  is {card["calibration"]["error_before"]:.4f} before and {held["calibration_error"]:.4f} after.
- Made for {made_for(card)}.

## What it learned from

{training["pairs"]} pairs: {labels}. Seed {recipe["seed"]}. {training["seconds"]:g} s ({training["device"]}).

{list_data(training["files"])}

{len(curve["epochs"])} stages, best {curve["best"]} (epoch {best["epoch"]:g}): loss {best["loss"]:.4f}, validation loss
{best["validation_loss"]:.4f}, accuracy {best["accuracy"]:.4f}.

## How good it is

| pairs | number | accuracy | commonest class |
|---|---|---|---|
{rows}

95 % intervals over dialogues or premises. Validation decided when to stop. The classes of the pairs held back (rows)
and what the model took them for (columns):

| | {" | ".join(held["labels"])} |
|---|---|---|---|
{matrix}

How far scores agree with people is another question: `dialogauge correlate`.

All settings, hashes and curves: card.json.
"""
    return printable(text, keep="\n")


def _network(network: Mapping[str, Any]) -> str:
    if network["network"] == "esim":
        return f"ESIM with {network['units']} units each way, over the encoder's vectors of words"
    tuned = f"low-rank adapters of rank {network['rank']}" if network["rank"] else "all weights tuned"
    return (
        f"the encoder reads history and response at once ({tuned}), {network['pool']} of its states, two layers on top"
    )
