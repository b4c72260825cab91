"""What a trained entailment model says of itself, to programs and to people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from dialogauge.corpus.inference import LABELS
from dialogauge.learn.provenance import describe_data, list_data, made_by, made_for, made_from
from dialogauge.models.entailment.model import KIND
from dialogauge.tables import printable

if TYPE_CHECKING:
    from dialogauge.learn.entailment.train import TrainedEntailment


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
