"""From an encoder's name to its files: where weights are looked for, and what is checked before they are used."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

from dialogauge.corpus.reading.source import FileState, state_of
from dialogauge.encode.model_files import (
    MINILM_DIGEST,
    MINILM_INSTALL,
    MINILM_SHA256,
    MPNET_DIGEST,
    MPNET_INSTALL,
    MPNET_SHA256,
    minilm_directory,
    mpnet_directory,
    mpnet_parts,
    read_json,
    refuse_odd_files,
    whole,
)
from dialogauge.errors import InputError, MissingWeights, require_neural
from dialogauge.text.languages import ENGLISH

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
TEXTS = [
    "config.json",
    "tokenizer*",
    "*vocab*",
    "merges.txt",
    "*.model",
    "*.spm",
    "*.codes",
    "added_tokens.json",
    "special_tokens_map.json",
]
"""A model's files beside its weights."""
SHARDS = ["model-*.safetensors", INDEX]
PLACES = "in $DIALOGAUGE_MODELS, {}in the Hugging Face cache and on the hub (unless HF_HUB_OFFLINE is set)"
MOST_LAYERS = 1000
WIDTHS = ("hidden_size", "dim", "d_model", "emb_dim", "n_embd")
"""What families call the size of their vectors."""
UNLIMITED = 512
"""The most tokens for a model that names no limit of its own, such as XLNet."""
POSITIONS_AFTER_PADDING = {
    "camembert",
    "data2vec-text",
    "ibert",
    "longformer",
    "luke",
    "mpnet",
    "roberta",
    "roberta-prelayernorm",
    "xlm-roberta",
    "xlm-roberta-xl",
    "xmod",
}
"""Models that number positions from the padding token's id on, and so have fewer than their table."""
MADE_FOR_ENGLISH = re.compile(
    r"(distil)?bert-(base|large)-(un)?cased|(distil)?roberta-(base|large)|(mpnet|deberta|deberta-v3|electra)-"
    r"(small|base|large|base-discriminator)|all-\S+-v[12]"
)
"""Names of widely used encoders that were trained on English alone."""


@dataclass(frozen=True)
class KnownEncoder:
    """An encoder that is known by a short name."""

    title: str
    about: str
    hub: str
    sha256: str
    digest: str
    package: Callable[[], Path | None]
    parts: Callable[[], list[Path]]
    """What an installed package carries, without unpacking it."""
    command: str


KNOWN = {
    "minilm": KnownEncoder(
        title="minilm-l6-v2",
        about="all-MiniLM-L6-v2: 6 layers, 384-d, the default",
        hub="sentence-transformers/all-MiniLM-L6-v2",
        sha256=MINILM_SHA256,
        digest=MINILM_DIGEST,
        package=minilm_directory,
        parts=lambda: [directory] if (directory := minilm_directory()) else [],
        command=MINILM_INSTALL,
    ),
    "mpnet": KnownEncoder(
        title="mpnet-base-v2",
        about="all-mpnet-base-v2: 12 layers, 768-d",
        hub="sentence-transformers/all-mpnet-base-v2",
        sha256=MPNET_SHA256,
        digest=MPNET_DIGEST,
        package=mpnet_directory,
        parts=mpnet_parts,
        command=MPNET_INSTALL,
    ),
}


@dataclass(frozen=True)
class ModelFiles:
    """A model's directory, in the layout of Hugging Face."""

    title: str
    directory: Path
    sha256: str
    """Of the weights; of several files, of their hashes in the order of their names."""
    states: Mapping[Path, FileState] = field(default_factory=dict, compare=False, repr=False)
    """Of what `digest` covers, before any of it was read."""

    def refuse_changed(self) -> None:
        """Call it after something was loaded: it must be what was hashed."""
        now = _states(self.directory)
        for file in sorted(now.keys() | self.states.keys()):
            if now.get(file) != self.states.get(file):
                raise InputError("was changed while the model was read; try again, once nobody writes to it", file)

    @cached_property
    def config(self) -> dict[str, Any]:
        return read_json(self.directory / CONFIG)

    @cached_property
    def digest(self) -> str:
        """Of everything that could change a vector: weights, configuration and tokeniser."""
        files = {file for pattern in TEXTS for file in self.directory.glob(pattern) if file.is_file()}
        if not (self.directory / WEIGHTS).is_file():
            files.add(self.directory / INDEX)
        parts = [f"{file.name} {file_sha256(file)}" for file in sorted(files)]
        return hashlib.sha256("\n".join([self.sha256, *parts]).encode()).hexdigest()

    @property
    def identity(self) -> str:
        """The title with the first digits of a hash: of the weights where every file is as a known encoder's was
        published, else of all files together. So whatever is changed of an encoder shows."""
        known = any(self.digest == model.digest for model in KNOWN.values())
        return f"{self.title}@{(self.sha256 if known else self.digest)[:8]}"

    @property
    def languages(self) -> frozenset[str] | None:
        """Those the model was made for; None where that is not known of it."""
        known = any(self.sha256 == model.sha256 for model in KNOWN.values())
        return frozenset({ENGLISH}) if known or MADE_FOR_ENGLISH.fullmatch(self.title) else None

    @cached_property
    def limit(self) -> int:
        """The most tokens the model takes, special tokens included."""
        positions = self.whole_number("max_position_embeddings", -1) or self.whole_number("n_positions", -1)
        if positions and positions > 0 and self.kind in POSITIONS_AFTER_PADDING:
            padding = self.whole_number("pad_token_id")
            positions -= (1 if padding is None else padding) + 1
            if positions < 1:
                file = self.directory / CONFIG
                raise InputError(f"pad_token_id: {padding} leaves no positions for tokens", file)
        file = self.directory / "tokenizer_config.json"
        stated = read_json(file, missing={}).get("model_max_length")
        if stated is not None and (not isinstance(stated, int | float) or isinstance(stated, bool)):
            raise InputError(f"model_max_length: expected a number, found {shortened(stated)}", file)
        limits = [int(limit) for limit in (positions, stated) if limit and 1 <= limit < 1_000_000]
        return min(limits, default=UNLIMITED)

    @property
    def kind(self) -> str | None:
        """The family, as `bert`."""
        kind = self.config.get("model_type")
        if kind is not None and not isinstance(kind, str):
            raise InputError(f"model_type: expected a name, found {shortened(kind)}", self.directory / CONFIG)
        return kind

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        found = next((self.whole_number(name, 1) for name in WIDTHS if name in self.config), None)
        if found is None:
            raise InputError("hidden_size: expected how many numbers a vector has, found none", self.directory / CONFIG)
        return found

    @property
    def vocabulary(self) -> int | None:
        """How many tokens the model knows, where it says so."""
        return self.whole_number("vocab_size", 1)

    @property
    def segments(self) -> bool:
        """Whether the model is told which of a pair's texts a token is of."""
        kinds = self.whole_number("type_vocab_size")
        return self.kind not in {"distilbert", "mpnet"} and (kinds is None or kinds > 1)

    @property
    def layers(self) -> int:
        names = ("num_hidden_layers", "n_layers", "n_layer")
        stated = [count for name in names if (count := self.whole_number(name, 1, MOST_LAYERS)) is not None]
        if not stated:
            raise InputError("does not say how many layers there are", self.directory / CONFIG)
        return stated[0]

    def check(self) -> None:
        """Refuses fields that are not what they should be, before a library meets them."""
        _ = self.kind, self.layers, self.width, self.segments, self.limit
        if self.vocabulary is not None:
            self.whole_number("pad_token_id", -1, self.vocabulary - 1)

    def weights(self) -> list[Path]:
        return _weights(self.directory)

    def whole_number(self, name: str, least: int = 0, most: int = 2**31 - 1) -> int | None:
        return whole(self.config, name, self.directory / CONFIG, least, most)


def find_model(name: str, what: str = "encoder", hub: bool = True) -> ModelFiles:
    """The files of an encoder, or of what else is asked for: a directory, or a name that is looked for in
    $DIALOGAUGE_MODELS, in an installed weights package, in the Hugging Face cache and on the hub, in this order.
    Without `hub`, which is for names that stand in files and that nobody typed, only known encoders are asked for
    there."""
    require_neural(f"the {what} {shortened(name)}")
    known = KNOWN.get(name)
    if known is None and (given := directory_named(name)):
        return _checked(given.name, given, None)
    title, repository = (known.title, known.hub) if known else (name, name)
    directory = (
        _in_models(name, repository)
        or (known.package() if known else None)
        or _in_hub_cache(repository)
        or (_from_hub(repository) if hub or known else None)
    )
    if directory is None:
        command = known.command if known else f"hf download {shlex.quote(name)}"
        own = PLACES.format("in installed weights packages, ") if known else f"as a directory, {PLACES.format('')}"
        near = get_close_matches(name, KNOWN, n=1)
        hint = f" (did you mean {near[0]}?)" if near and not known else ""
        kind = MissingWeights if known else InputError
        if not hub and not known:
            own = own.replace(
                " and on the hub (unless HF_HUB_OFFLINE is set)", ", not on the hub, since a file names it"
            )
        raise kind(f"no {what} {name!r}{hint}: looked for it {own}; to get it: {command}")
    return _checked(title.rpartition("/")[2], directory, known.sha256 if known else None)


def at_hand(name: str) -> Path | None:
    """Where a known encoder would be found without going to the hub; nothing is unpacked or checked."""
    known = KNOWN[name]
    return _in_models(name, known.hub) or next(iter(known.parts()), None) or _in_hub_cache(known.hub)


def directory_named(name: str) -> Path | None:
    try:
        path = Path(name).expanduser()
        return path.resolve() if path.is_dir() else None
    except (OSError, RuntimeError):  # a name that no file can have
        return None


def _checked(title: str, directory: Path, sha256: str | None) -> ModelFiles:
    refuse_odd_files(directory)
    states = _states(directory)
    if not (directory / CONFIG).is_file():
        raise InputError("is no model directory: expected config.json, tokenizer.json and model.safetensors", directory)
    files = _weights(directory)
    hashes = [file_sha256(file) for file in files]
    found = hashes[0] if len(hashes) == 1 else hashlib.sha256(" ".join(hashes).encode()).hexdigest()
    if sha256 and found != sha256:
        raise InputError(f"these are not the weights of {title}: expected sha256 {sha256}, found {found}", files[0])
    return ModelFiles(title, directory, found, states)


def _states(directory: Path) -> dict[Path, FileState]:
    patterns = [*TEXTS, INDEX, "*.safetensors"]
    return {file: state_of(file) for pattern in patterns for file in directory.glob(pattern)}


def _weights(directory: Path) -> list[Path]:
    if (directory / WEIGHTS).is_file():
        return [directory / WEIGHTS]
    if (directory / INDEX).is_file():
        shards = read_json(directory / INDEX).get("weight_map")
        if not isinstance(shards, dict) or not shards or not all(isinstance(name, str) for name in shards.values()):
            raise InputError("weight_map: expected the names of files", directory / INDEX)
        names = sorted(set(shards.values()))
        if elsewhere := [name for name in names if Path(name).name != name]:
            raise InputError(
                f"weight_map: expected files beside it, found {shortened(elsewhere[0])}", directory / INDEX
            )
        return [directory / name for name in names]
    others = ", ".join(sorted(file.name for file in directory.glob("*.bin"))) or "none"
    raise InputError(f"has no {WEIGHTS} (other weights: {others}); only safetensors are loaded", directory)


def _in_models(name: str, repository: str) -> Path | None:
    folder = os.environ.get("DIALOGAUGE_MODELS")
    choices = (name, repository, repository.rpartition("/")[2])
    found = (directory_named(f"{folder}/{choice}") for choice in choices) if folder else ()
    return next((directory for directory in found if directory), None)


def _in_hub_cache(repository: str) -> Path | None:
    """Only with weights: after other uses, the cache may hold no more than a tokeniser."""
    found = _snapshot(repository, local_files_only=True)
    return found if found and any((found / name).is_file() for name in (WEIGHTS, INDEX)) else None


def _from_hub(repository: str) -> Path | None:
    return None if hub_is_off() else _snapshot(repository, local_files_only=False)


def hub_is_off() -> bool:
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}


def _snapshot(repository: str, *, local_files_only: bool) -> Path | None:
    """None where it is not there or cannot be reached: the error that follows names every place."""
    if find_spec("huggingface_hub") is None:
        return None
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        wanted = [*TEXTS, WEIGHTS]
        found = Path(snapshot_download(repository, allow_patterns=wanted, local_files_only=local_files_only))
        if not (found / WEIGHTS).is_file():
            wanted += SHARDS
            found = Path(snapshot_download(repository, allow_patterns=wanted, local_files_only=local_files_only))
    except (HFValidationError, HfHubHTTPError, LocalEntryNotFoundError, OSError, ValueError):
        return None
    return found if (found / "config.json").is_file() else None


def file_sha256(file: Path) -> str:
    try:
        with file.open("rb") as data:
            return hashlib.file_digest(data, "sha256").hexdigest()
    except FileNotFoundError:
        raise InputError("is missing though the index of the weights names it", file) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", file) from None
