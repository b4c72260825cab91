"""What BERTScore takes from elsewhere: the layer to use for each model, and baselines to rescale by."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dialogauge.errors import InputError
from dialogauge.metrics.base import Floats

LAYERS = {
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-multilingual-cased": 9,
    "roberta-base": 10,
    "roberta-large": 17,
    "distilbert-base-uncased": 5,
    "distilroberta-base": 5,
    "xlnet-base-cased": 5,
    "xlnet-large-cased": 7,
    "electra-base-discriminator": 9,
    "electra-large-discriminator": 14,
    "mpnet-base": 8,
}
"""By the last part of a model's name, the layer whose scores agree best with people, as the bert-score package 0.3.13
found on WMT16."""


class Baseline(NamedTuple):
    """What unrelated sentences score under a model: F1, precision, recall."""

    values: Floats
    digest: str


def read_baseline(path: Path, layer: int) -> Baseline:
    """One row of a baseline file as the bert-score package has them: CSV with the columns LAYER, P, R and F."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read as a baseline: {error.strerror}", path) from error
    rows = csv.DictReader(data.decode("utf-8-sig", "replace").splitlines())
    try:
        if not {"LAYER", "P", "R", "F"} <= set(rows.fieldnames or ()):
            raise InputError("expected a baseline file with the columns LAYER,P,R,F", path, 1)
        for row in rows:
            number, values = int(row["LAYER"]), np.array([float(row[name]) for name in ("F", "P", "R")])
            if number == layer:
                if not (np.abs(values) < 1).all():
                    raise InputError("expected baselines below 1", path, rows.line_num)
                return Baseline(values, hashlib.blake2b(data, digest_size=4).hexdigest())
    except InputError:
        raise
    except (TypeError, ValueError):
        raise InputError("expected four numbers", path, rows.line_num) from None
    except csv.Error:
        raise InputError("expected a baseline file with the columns LAYER,P,R,F", path, 1) from None
    raise InputError(f"has no line for layer {layer}", path)
