"""What stands in the JSON files of a model directory, checked: an error names the file and the field."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dialogauge.corpus.strict_json import parse_object
from dialogauge.errors import InputError
from dialogauge.numbers import check_whole

LARGEST_FILE = 200 * 2**20
"""Bytes; the largest tokenizer.json in use has a tenth of that."""


def refuse_odd_files(directory: Path) -> None:
    """Pipes, sockets and devices: whoever opened one of them might wait for ever."""
    for path in directory.iterdir():
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise InputError("expected a plain file, found a pipe, a socket or a device", path)


def read_json(file: Path, missing: dict[str, Any] | None = None) -> dict[str, Any]:
    """The object in a file; `missing` where there is no such file."""
    if not file.is_file():
        if missing is None or file.exists():
            raise InputError("is not there" if not file.exists() else "is no file", file)
        return missing
    if file.stat().st_size > LARGEST_FILE:
        raise InputError(f"is larger than {LARGEST_FILE} bytes; no model's is", file)
    try:
        return parse_object(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise InputError("is not JSON: expected UTF-8 text", file) from None
    except InputError as error:
        raise InputError(error.message.replace("not valid JSON", "is not JSON", 1), file) from None


def whole(config: Mapping[str, Any], name: str, file: Path, least: int = 0, most: int = 2**31 - 1) -> int | None:
    """A field that is a whole number; None where it is absent or null."""
    value: int | None = config.get(name)
    if value is not None:
        check_whole(name, value, least, most, file)
    return value
