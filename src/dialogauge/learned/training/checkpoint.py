"""Where training writes to, and where it stands: one file that is either the new one or the old one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge.errors import InputError
from dialogauge.files import unfinished, whole_file
from dialogauge.learned.directory import check_model_writable

if TYPE_CHECKING:
    from torch import Tensor

_RECORD = "dialogauge"


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


def key_of(settings: Mapping[str, Any]) -> str:
    """The same for the same training, and for no other."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Checkpoint:
    """A file for the training that `key` stands for."""

    path: Path
    key: str

    def write(self, tensors: Mapping[str, Tensor], record: Mapping[str, Any]) -> None:
        from safetensors.torch import save

        held = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        described = {**record, "key": self.key}
        metadata = {_RECORD: json.dumps({**described, "sha256": _digest(held, described)})}
        content = save(held, metadata)
        try:
            with whole_file(self.path, overwrite=True) as file:
                file.write(content)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror or error}", self.path) from error

    def read(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """What was written last, or None where nothing was."""
        from safetensors import SafetensorError, safe_open

        if not self.path.is_file():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                record = json.loads((file.metadata() or {})[_RECORD])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118, it is no dict
            if record.pop("sha256") != _digest(tensors, record):
                raise ValueError("its numbers are not those that were written")
            key = record.pop("key")
        except (SafetensorError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"is no checkpoint of ours, or damaged ({error}); delete it to begin anew", self.path
            ) from None
        if key != self.key:
            raise InputError(
                "is a checkpoint of other data or another recipe; delete it to begin anew, or choose another --out",
                self.path,
            )
        return tensors, record

    def remove(self) -> None:
        """It has done its service; so has its folder, if nothing else is in it."""
        self.path.unlink(missing_ok=True)
        with suppress(OSError):
            self.path.parent.rmdir()


def _digest(tensors: Mapping[str, Tensor], record: Mapping[str, Any]) -> str:
    found = hashlib.sha256(json.dumps(record, sort_keys=True).encode())
    for name in sorted(tensors):
        found.update(name.encode())
        found.update(tensors[name].numpy().tobytes())
    return found.hexdigest()
