"""What came of training a gauge, and what it says of itself, to programs and to people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dialogauge.learned.directory import CARD
from dialogauge.learned.gauge.examples import HUMAN
from dialogauge.learned.gauge.model import KIND, GaugeModel
from dialogauge.learned.training.card import TrainingResult, describe_data, list_data, made_by, made_for, made_from
from dialogauge.tables import Cell, Header, Table, in_words, printable

if TYPE_CHECKING:
    from dialogauge.learned.gauge.train import TrainedGauge


class GaugeResult(TrainingResult):
    def _records(self) -> list[dict[str, Any]]:
        return [
            {"part": curve["from"], "best": curve["best"], **stage}
            for curve in self.card["curves"]
            for stage in curve["epochs"]
        ]

    def _table(self) -> Table:
        held, training = self.card["validation"], self.card["training"]
        rows = [[Cell(kind), Cell(f"{value:.4f}")] for kind, value in held["accuracy"].items()]
        notes = [
            "how often a real reply of conversations held back scores above one of each kind",
            f"{training['examples']} replies learned from, {held['examples']} held back; {training['seconds']:g} s",
        ]
        if held["ratings"] is not None:
            notes.append(
                f"of two replies that people rated differently ({held['rated']} held back), the better one scores "
                f"higher in {100 * held['ratings']:.1f} % of cases"
            )
        notes.append(f"model: {self.directory} (README.md, {CARD})")
        return Table([Header("kind", align="left"), Header("accuracy", "higher")], rows, notes)


def make_card(trained: TrainedGauge, encoder: str) -> dict[str, Any]:
    data, rated = trained.data, trained.data.rated
    kinds = Counter(data.examples.kinds[row] for row in data.train.tolist())
    return {
        **made_from(KIND, encoder, trained.encoder, data.examples.replies),
        "network": asdict(trained.shape),
        "calibration": trained.calibration.record(),
        "validation": {
            "examples": len(data.held),
            "accuracy": trained.accuracy,
            "ratings": None if rated is None else _defined(trained.fitted["ratings"].curve[-1].accuracy),
            "rated": 0 if rated is None else len(rated.held),
        },
        "training": {
            "recipe": trained.recipe.record(),
            "examples": len(data.train),
            "kinds": dict(sorted(kinds.items())),
            "teachers": [_teacher(teacher) for teacher in trained.teachers],
            "conversations": describe_data(data.sources["conversations"]),
            "replies": describe_data(data.sources["replies"]),
            "ratings": describe_data(data.sources["ratings"]),
            "rated": 0 if rated is None else len(rated.examples),
            "dimensions": {} if rated is None else rated.dimensions,
            "seconds": round(trained.seconds, 1),
            "device": trained.device,
        },
        **_made_by(trained),
    }


def _made_by(trained: TrainedGauge) -> dict[str, Any]:
    made = made_by(list(trained.fitted.values()))
    curves = [{"from": name, **curve} for name, curve in zip(trained.fitted, made["curves"], strict=True)]
    return {**made, "curves": curves}


def _defined(accuracy: float) -> float | None:
    """None where all replies held back are rated the same."""
    return None if math.isnan(accuracy) else round(accuracy, 6)


def _teacher(teacher: GaugeModel) -> dict[str, Any]:
    """With what it learned from itself."""
    saved = teacher.saved
    return {"identity": saved.identity, "encoder": saved.card["encoder"], "training": saved.card["training"]}


def readable_card(name: str, card: Mapping[str, Any]) -> str:
    """Markdown, from the card for programs alone."""
    training, held, network = card["training"], card["validation"], card["network"]
    kinds = ", ".join(f"{count} {kind}" for kind, count in training["kinds"].items() if kind != HUMAN)
    rows = "\n".join(f"| {kind} | {value:.4f} |" for kind, value in held["accuracy"].items())
    tuned = f"low-rank adapters of rank {network['rank']}" if network["rank"] else "all weights tuned"
    mean, deviation = card["calibration"]["likeness"]
    text = f"""\
# {name}

Says how good a reply is in its context, from 0 to 100: the share of people's replies that it ranks below. Its scores
compare systems on the same contexts; by themselves they say little.

    dialogauge score responses.jsonl --metrics 'gauge[model={name}]'

## What it is

- Encoder: {card["encoder"]["identity"]} (`{card["encoder"]["name"]}`) reads the last {network["context"]} utterances
  and the reply at once ({tuned}); {network["pool"]} of its states, one linear layer on top.
- Where a turn has references, the likeness to the likest of them has the weight {card["calibration"]["weight"]:g}: the
  cosine of mean states, of which two people's replies to the same utterance have {mean:g} on average (standard
  deviation {deviation:g}).
- Made for {made_for(card)}.

## What it learned from

{training["kinds"].get(HUMAN, 0)} replies of people; beside them {kinds}.{_taught(training)}

{list_data([*training["conversations"], *training["replies"]])}
{_ratings(training)}
## How good it is

How often a real reply of conversations held back scores above one of each kind ({held["examples"]} replies):

| kind | accuracy |
|---|---|
{rows}

How far scores agree with people is another question: `dialogauge correlate`.

{training["seconds"]:g} s ({training["device"]}). All settings, hashes and curves: card.json.
"""
    return printable(text, keep="\n")


def _taught(training: Mapping[str, Any]) -> str:
    teachers = training["teachers"]
    if not teachers:
        return ""
    names = [f"{teacher['identity']} on {teacher['encoder']['identity']}" for teacher in teachers]
    rated = max(teacher["training"]["rated"] for teacher in teachers)
    tuned = f", which had learned from {rated} ratings of people, too" if rated else ""
    likelihood = training["recipe"]["likelihood"]
    asked = f"; a language model's opinion of machine-made ones has the weight {likelihood:g}" if likelihood else ""
    who = "a teacher" if len(teachers) == 1 else f"{len(teachers)} teachers"
    return f" What a reply is worth was said by {who}, {in_words(names)}{tuned}{asked} (card.json)."


def _ratings(training: Mapping[str, Any]) -> str:
    if not training["rated"]:
        return ""
    rated = ", ".join(f"{name} ({dimension})" for name, dimension in training["dimensions"].items())
    return f"\nThen from {training['rated']} replies that people rated: {rated}.\n"
