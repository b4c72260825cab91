"""What came of training an entailment model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialogauge.learn.provenance import TrainingResult
from dialogauge.models.directory import CARD
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
