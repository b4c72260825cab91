"""A trained model on disk: weights, a card for programs, a card for people, and the encoder it was trained with.
Nothing in it is ever executed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.reading.json import parse_object
from dialogauge.encode.base import Encoder
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import InputError, UnsuitedEncoder, quote, require_neural
from dialogauge.files import check_writable, expanded, whole_directory
from dialogauge.tables import to_json
from dialogauge.text.languages import MadeFor

WEIGHTS, CARD, README = "model.safetensors", "card.json", "README.md"
FILES = (CARD, WEIGHTS, README)
SCHEMA = "dialogauge.model/1"
LANGUAGES = "languages"
"""Of a card: those that the model learned from, by the names of `text.languages`."""
AGAIN = "copy the model again or train it anew"

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class SavedModel:
    """A model directory that was read and found whole."""

    directory: Path
    card: dict[str, Any]
    weights: Arrays

    @property
    def identity(self) -> str:
        """Its name and the first digits of a hash of all that decides its numbers, for signatures."""
        parts = {name: self.card.get(name) for name in ("weights", "network", "normalisation")}
        if "calibration" in self.card:
            parts["calibration"] = self.card["calibration"]
        return f"{self.directory.resolve().name}@{hashlib.sha256(to_json(parts).encode()).hexdigest()[:8]}"

    @property
    def made_for(self) -> tuple[MadeFor, ...]:
        """The languages of the texts that it learned from, where its card says."""
        languages = self.card.get(LANGUAGES)
        if not isinstance(languages, list) or not languages:
            return ()
        return (MadeFor(f"the model {self.identity}", frozenset(map(str, languages))),)

    def error(self, message: str) -> InputError:
        return InputError(message, self.directory)

    @contextmanager
    def using(self, what: str) -> Iterator[None]:
        """Refuses the model where this part of its card has an entry missing, or one that is not as expected."""
        try:
            yield
        except (KeyError, TypeError, InputError) as error:
            raise self.error(f"its {what} cannot be used: {error}; {AGAIN}") from None

    def section(self, name: str) -> dict[str, Any]:
        """A part of the card that is an object."""
        if not isinstance(found := self.card.get(name), dict):
            raise self.error(f"its {CARD} has no {name!r}: the model is not whole; {AGAIN}")
        return found


def check_model_writable(directory: Path, overwrite: bool) -> None:
    """Refuses a directory that is there already, before any work is done."""
    named = str(directory)
    if not directory.name or set("[],") & set(named) or named.lower() in ("none", "all"):
        raise InputError(
            "cannot be named as a metric's model; choose a name of its own, without [ ] and commas", directory
        )
    check_writable(directory, overwrite, FILES, "a model")
    if (directory / CARD).exists() and _read_card(directory / CARD).get("schema") != SCHEMA:
        raise InputError("is not a model of ours and is not overwritten", directory)


def write_model(
    directory: Path, weights: Arrays, card: Mapping[str, Any], readme: str, overwrite: bool = False
) -> Path:
    """`card` says at least of which `kind` the model is; the schema and the weights' hash are added."""
    from safetensors.numpy import save

    check_model_writable(directory, overwrite)
    content = save({name: np.asarray(array, order="C") for name, array in weights.items()})
    hashed = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    with whole_directory(directory, overwrite) as new:
        (new / WEIGHTS).write_bytes(content)
        (new / CARD).write_text(to_json({"schema": SCHEMA, **card, "weights": hashed}) + "\n", encoding="utf-8")
        (new / README).write_text(readme, encoding="utf-8")
    return directory


def read_model(directory: Path, kind: str) -> SavedModel:
    """A model of this kind, checked against its card."""
    require_neural(f"a trained model ({kind})")
    if not _is_directory(directory):
        raise InputError(f"no model here: expected a directory with {WEIGHTS} and {CARD}", directory)
    if missing := [name for name in (WEIGHTS, CARD) if not (directory / name).is_file()]:
        raise InputError(f"is no model of dialogauge: it has no {' and no '.join(missing)}; {AGAIN}", directory)
    card = _read_card(directory / CARD)
    if card.get("schema") != SCHEMA:
        found = quote(str(card.get("schema")))
        raise InputError(f"expected a model card of the schema {SCHEMA}, found {found}", directory / CARD)
    if card.get("kind") != kind:
        found = quote(str(card.get("kind")))
        raise InputError(f"expected a model of the kind {kind!r}, found {found}", directory)
    hashed = card.get("weights")
    content = (directory / WEIGHTS).read_bytes()
    if not isinstance(hashed, dict) or hashed.get("sha256") != hashlib.sha256(content).hexdigest():
        raise InputError(
            f"is not the file that {CARD} describes: it was changed or damaged; {AGAIN}", directory / WEIGHTS
        )
    return SavedModel(directory, card, _unpack(content, directory / WEIGHTS))


def _is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _read_card(path: Path) -> dict[str, Any]:
    try:
        return parse_object(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise InputError(f"expected UTF-8 text; {AGAIN}", path) from None
    except InputError as error:
        raise InputError(f"{error.message}; {AGAIN}", path) from None


def _unpack(content: bytes, path: Path) -> Arrays:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return load(content)
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise InputError(f"cannot be read as safetensors: {error}; {AGAIN}", path) from None


def refuse_other_tensors(model: SavedModel, expected: Mapping[str, tuple[int, ...]]) -> None:
    """Refuses weights that are not those of the network the card describes."""
    found = {name: array.shape for name, array in model.weights.items()}
    for name in sorted(expected.keys() | found.keys()):
        if found.get(name) != expected.get(name):
            there, wanted = found.get(name, "nothing"), expected.get(name, "nothing")
            raise model.error(
                f"its weights are of another network: {name} is {there}, its card makes it {wanted}; {AGAIN}"
            )
    for name, array in model.weights.items():
        if array.dtype.kind != "f" or not np.isfinite(array).all():
            raise model.error(f"its weights are damaged: {name} holds numbers that are not finite; {AGAIN}")


def model_path(given: str | Path | None, shipped: str) -> Path:
    """Where a model is: the directory given; without one, or by its name, that which comes with dialogauge."""
    here = shipped if given is None else given
    if str(here) == shipped and not Path(shipped).is_dir():
        return Path(__file__).parent / "data" / shipped
    return expanded(here)


def encoder_name(saved: SavedModel) -> str:
    """The name that the model has for its encoder."""
    return str(saved.section("encoder")["name"])


def find_encoder(saved: SavedModel, given: str | None, encoders: Encoders) -> Encoder:
    """The model's encoder as the run has it, by the name `given` or, where there is none, by the model's own, which is
    not asked of the hub: a card may come from anybody."""
    try:
        found = encoders.get(given) if given else encoders.get(encoder_name(saved), hub=False)
    except InputError as error:
        hint = "" if given else f"; it is the encoder of the model {saved.directory}: say with encoder= where it is"
        raise type(error)(f"{error.message}{hint}", error.path) from None
    check_encoder(saved, found)
    return found


def check_encoder(saved: SavedModel, encoder: Encoder) -> None:
    """Refuses an encoder other than the one the model was trained with, by whatever name."""
    wanted = saved.section("encoder")["identity"]
    if encoder.identity.rpartition("@")[2] != str(wanted).rpartition("@")[2]:
        message = (
            f"was trained with the encoder {wanted}, found {encoder.identity}; give the metric its own, "
            f"[encoder={encoder_name(saved)}], or train a model with `dialogauge train {saved.card['kind']} --encoder "
            "NAME`"
        )
        raise UnsuitedEncoder(message, saved.directory)
