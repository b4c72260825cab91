"""The packages of the extra `neural`, which transformers and trained models run on."""

from __future__ import annotations

from importlib.util import find_spec

from dialogauge.errors import MissingPackage

EXTRA = "neural"
PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "huggingface_hub")


def require_neural(purpose: str) -> None:
    """Refuses with what to install where one of them is missing; imports none."""
    for package in PACKAGES:
        if find_spec(package) is None:
            raise MissingPackage(package, EXTRA, purpose)
