"""Small files for the tests of readers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from dialogauge.corpus import load
from dialogauge.errors import InputError


def write(path: Path, content: str | bytes) -> Path:
    """Writes the content as it is, compressed if the name ends in `.gz`."""
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(raw, mtime=0) if path.suffix == ".gz" else raw)
    return path


def write_lines(path: Path, *records: Any) -> Path:
    """Writes the records as JSON lines; a record that is text is written as it is."""
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    return write(path, "".join(f"{line}\n" for line in lines))


def refusal(path: Path, **options: Any) -> str:
    """The message with which the file is refused, less its path: `:LINE: ...` or `: ...`."""
    with pytest.raises(InputError) as caught:
        load(path, **options)
    message = str(caught.value)
    assert message.startswith(f"{path}:")
    assert message.isprintable()
    return message.removeprefix(str(path))
