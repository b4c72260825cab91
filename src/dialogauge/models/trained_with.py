"""The encoder that a model was trained with, and no other."""

from __future__ import annotations

from dialogauge.encode.base import Encoder
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import InputError
from dialogauge.models.directory import SavedModel


def encoder_name(saved: SavedModel) -> str:
    """The name that the model has for its encoder."""
    return str(saved.section("encoder")["name"])


def find_encoder(saved: SavedModel, given: str | None, encoders: Encoders) -> Encoder:
    """The model's encoder as the run has it, by the name `given` or, where there is none, by the model's own."""
    try:
        found = encoders.get(given or encoder_name(saved))
    except InputError as error:
        hint = "" if given else f"; it is the encoder of the model {saved.directory}: say with encoder= where it is"
        raise InputError(f"{error.message}{hint}", error.path) from None
    check_encoder(saved, found)
    return found


def check_encoder(saved: SavedModel, encoder: Encoder) -> None:
    """Refuses an encoder other than the one the model was trained with, by whatever name."""
    wanted = saved.section("encoder")["identity"]
    if encoder.identity.rpartition("@")[2] != str(wanted).rpartition("@")[2]:
        raise saved.error(
            f"was trained with the encoder {wanted}, found {encoder.identity}; give the metric its own, "
            f"[encoder={encoder_name(saved)}], or train a model with `dialogauge train {saved.card['kind']} --encoder "
            "NAME`"
        )
