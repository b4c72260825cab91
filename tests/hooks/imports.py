"""Packages of others that take seconds to import, or warn while they are."""

import sys
import warnings
from types import ModuleType

import pytest


def import_evaluate() -> ModuleType:
    """Hugging Face's `evaluate` without its pipelines, for which it would import all of transformers."""
    loaded = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "transformers"}
    sys.modules.update(dict.fromkeys(["transformers", *loaded]))  # None: as if it were not installed
    try:
        return quietly("evaluate")
    finally:
        del sys.modules["transformers"]
        sys.modules.update(loaded)


def quietly(name: str) -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: ModuleType = pytest.importorskip(name)
        return found
