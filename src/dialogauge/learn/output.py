"""Where training writes to."""

from __future__ import annotations

from pathlib import Path

from dialogauge.errors import InputError
from dialogauge.files import unfinished
from dialogauge.models.directory import check_model_writable


def check_output(target: Path, overwrite: bool) -> None:
    """Refuses a place that no model can be written to, before any work is done."""
    check_model_writable(target, overwrite)
    try:
        with unfinished(target):
            pass
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", target) from None


def checkpoint_folder(out: Path) -> Path:
    """Where training towards a model directory keeps its checkpoints."""
    return out.with_name(f"{out.name}.checkpoints")
