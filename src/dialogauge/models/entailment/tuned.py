"""A transformer as training left it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dialogauge.encode.find import ModelFiles
from dialogauge.models.directory import AGAIN, SavedModel, refuse_other_tensors
from dialogauge.models.entailment.shape import EntailmentShape

ENCODER, HEAD = "encoder.", "head."


@dataclass(frozen=True)
class Tuned:
    """What a model directory changes of its encoder's weights."""

    saved: SavedModel
    shape: EntailmentShape

    @property
    def digest(self) -> str:
        return str(self.saved.section("weights")["sha256"])

    def apply(self, model: Any) -> None:
        import torch

        from dialogauge.models.entailment.low_rank import merge

        tensors = {
            name.removeprefix(ENCODER): torch.from_numpy(array.astype(np.float32))
            for name, array in self.saved.weights.items()
            if name.startswith(ENCODER)
        }
        if self.shape.rank:
            merge(model, tensors)
        else:
            model.load_state_dict(tensors, strict=False)

    def check(self, files: ModelFiles) -> None:
        """Refuses weights that are not those of this encoder, tuned."""
        from dialogauge.encode.network import skeleton

        encoder = skeleton(files)
        if self.shape.width != encoder.config.hidden_size:
            found = f"vectors of {encoder.config.hidden_size} numbers, its card says {self.shape.width}"
            raise self.saved.error(f"its encoder {files.identity} gives {found}; {AGAIN}")
        refuse_other_tensors(self.saved, expected_tensors(encoder, self.shape))


def expected_tensors(encoder: Any, shape: EntailmentShape) -> Mapping[str, tuple[int, ...]]:
    """Names and shapes in a model directory."""
    import torch

    from dialogauge.models.entailment.head import ClassHead
    from dialogauge.models.entailment.low_rank import expected

    with torch.device("meta"):
        head = ClassHead(shape).state_dict()
    if shape.rank:
        tuned = expected(encoder, shape.rank)
    else:
        named = encoder.named_parameters()
        tuned = {name: tuple(tensor.shape) for name, tensor in named if "pooler" not in name.split(".")}
    return {ENCODER + name: size for name, size in tuned.items()} | {
        HEAD + name: tuple(tensor.shape) for name, tensor in head.items()
    }
