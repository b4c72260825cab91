"""A result in the run of an experiment tracker: MLflow's, or that of Weights & Biases."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dialogauge import __version__
from dialogauge.errors import InputError, MissingPackage, unknown
from dialogauge.evaluation.result import column_signatures

if TYPE_CHECKING:
    from dialogauge.evaluation.result import Result

REFUSED_BY_MLFLOW = re.compile(r"[^\w./ -]")
"""In names of metrics and tags; a colon is refused on Windows alone."""


def log_result(result: Result, tracker: str, step: int | None) -> None:
    if tracker not in TRACKERS:
        raise unknown("tracker", tracker, TRACKERS)
    try:
        package = import_module(tracker)
    except ImportError:
        raise MissingPackage(tracker, tracker, f"log_to({tracker!r})") from None
    TRACKERS[tracker](package, result, step)


def _to_mlflow(mlflow: Any, result: Result, step: int | None) -> None:
    """To the run that is open, else to one that MLflow opens."""
    values = _values(result)
    named = {REFUSED_BY_MLFLOW.sub("_", name): value for name, value in values.items()}
    if len(named) < len(values):
        raise InputError(
            "log_to('mlflow'): MLflow takes no brackets and the like; with underscores for them two names are one: "
            + ", ".join(sorted(values))
        )
    mlflow.log_metrics(named, step=step)
    mlflow.set_tags({REFUSED_BY_MLFLOW.sub("_", name): str(value) for name, value in _settings(result).items()})
    mlflow.log_text(result.render("markdown"), "dialogauge/scores.md")
    mlflow.log_text(result.render("json"), "dialogauge/scores.json")


def _to_wandb(wandb: Any, result: Result, step: int | None) -> None:
    if wandb.run is None:
        raise InputError("log_to('wandb'): no run is open; wandb.init(project=...) opens one")
    records = result.to_records()
    table = wandb.Table(columns=list(records[0]), data=[list(record.values()) for record in records])
    wandb.run.config.update(_settings(result), allow_val_change=True)
    wandb.run.log({**_values(result), "dialogauge/scores": table}, step=step)


TRACKERS: dict[str, Callable[[Any, Result, int | None], None]] = {"mlflow": _to_mlflow, "wandb": _to_wandb}


def _values(result: Result) -> dict[str, float]:
    """Each score as SYSTEM/METRIC, with the ends of its interval."""
    return {
        f"{score.system}/{score.metric}{end}": value
        for score in result.scores
        for end, value in (("", score.value), (".low", score.low), (".high", score.high))
        if value is not None
    }


def _settings(result: Result) -> dict[str, Any]:
    signatures = {f"dialogauge.signature.{name}": signature for name, signature in column_signatures(result).items()}
    settings = {f"dialogauge.{name}": value for name, value in asdict(result.settings).items()}
    return {"dialogauge.version": __version__, **settings, **signatures}
