"""Which encoder takes the part of each language model of a paper."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from dialogauge.encode.find import find_model
from dialogauge.errors import Caveat, InputError

STAND_INS: Mapping[str, str | None] = {
    "bert-base-uncased": "minilm",
    "roberta-base": "mpnet",
    "bert-large-uncased": None,
    "roberta-large": None,
}
"""The FBD paper's models, and what is taken where their weights are not to be had. No number is ever shown under the
name of a model that did not make it."""


def parse_models(text: str | None) -> dict[str, str]:
    """`roberta-base=my-model,bert-base-uncased=minilm`: the encoder to take for each of the paper's models."""
    chosen = {}
    for piece in filter(None, map(str.strip, (text or "").split(","))):
        published, equals, used = (part.strip() for part in piece.partition("="))
        if not equals or not used or published not in STAND_INS:
            raise InputError(f"--models: expected MODEL=ENCODER with one of {', '.join(STAND_INS)}, found {piece!r}")
        chosen[published] = used
    return chosen


def encoder_for(published: str, chosen: Mapping[str, str]) -> str | None:
    """The encoder given for a model, else the model itself, else what stands in for it; None where there is none."""
    if published in chosen:
        return chosen[published]
    return next((name for name in (published, STAND_INS[published]) if name and _there(name)), None)


@cache
def _there(name: str) -> bool:
    try:
        find_model(name)
    except InputError:
        return False
    return True


def stand_in_caveats(used: Mapping[str, str | None]) -> list[Caveat]:
    """What the reader must know of the models that were replaced or left out."""
    caveats = []
    for published, name in used.items():
        if name is None:
            instead = STAND_INS[published]
            neither = f"neither {published} nor {instead} is" if instead else f"{published} is not"
            caveats.append(
                Caveat("no_model", f"{neither} to be had, so its rows are left out; see `dialogauge encoders`")
            )
        elif name != published:
            message = (
                f"{name} stands in for {published}: its rows are another model's and need not agree with the paper"
            )
            caveats.append(Caveat("stand_in_model", message))
    return caveats
