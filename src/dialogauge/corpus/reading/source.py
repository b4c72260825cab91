"""Files on disk as lines of text: gzip and UTF-8 undone, every failure an `InputError`."""

from __future__ import annotations

import codecs
import difflib
import gzip
import hashlib
import io
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

from dialogauge.errors import InputError
from dialogauge.files import NEW, unfinished

STDIN = Path("-")
"""The name that stands for what is piped in."""

_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_NEIGHBOURS = 10_000
"""Files of a directory that are looked at for one of a similar name."""


@contextmanager
def spooled_stdin() -> Iterator[Path]:
    """What is piped in, as a file called `stdin` for as long as it is needed: files are read twice, a pipe once."""
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("expected turns, found that nothing can be piped in", STDIN)
    with unfinished(Path(tempfile.gettempdir(), "dialogauge")) as folder:
        path = folder / NEW / "stdin"
        path.parent.mkdir()
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        if not path.stat().st_size:
            raise InputError("expected turns, found nothing piped in (what is, can be read once: give - once)", STDIN)
        yield path


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The file's bytes, decompressed if it is gzip. What goes wrong while it is open is an `InputError` too:
    a gzip file shows only when it is read that it is cut short."""
    with _failures(path):
        _refuse_unless_file(path)
        with path.open("rb") as raw:
            if raw.peek(len(_GZIP))[: len(_GZIP)] == _GZIP:
                # GzipFile splits lines in Python; the buffer on top of it does so in C.
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    yield io.BufferedReader(cast(io.RawIOBase, unpacked), 1 << 16)
            else:
                yield raw


def raw_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers from 1, one at a time; a line ends at "\\n" and keeps it."""
    with opened(path) as stream:
        yield from enumerate(stream, start=1)


def decode(raw: bytes, path: Path, line: int, keep_end: bool = False) -> str:
    """One line as text, without its "\\n" or "\\r\\n" (unless `keep_end`) and without a byte order mark."""
    if line == 1:
        raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        hint = "; it looks like UTF-16" if line == 1 and raw.startswith(_UTF16) else ""
        place = f"byte 0x{raw[error.start]:02x} at position {error.start + 1} of the line"
        raise InputError(f"expected UTF-8 text, found {place}{hint}", path, line) from None
    return text if keep_end else text.removesuffix("\n").removesuffix("\r")


def sha256(path: Path) -> str:
    """Of the bytes on disk, before any decompression."""
    with _failures(path):
        _refuse_unless_file(path)
        with path.open("rb") as raw:
            return hashlib.file_digest(raw, "sha256").hexdigest()


def content_sha256(path: Path) -> str:
    """Of the content, decompressed: the same however a file was compressed."""
    digest = hashlib.sha256()
    with opened(path) as stream:
        while chunk := stream.read(1 << 16):
            digest.update(chunk)
    return digest.hexdigest()


def refuse_missing(path: Path, what: str = "file", hint: str = "") -> None:
    """Raises where there is neither a file nor a directory of the name that a user gave, or where that cannot be
    told."""
    with _failures(path):
        if path != STDIN and not path.exists():
            raise InputError("; ".join(filter(None, (f"no such {what}", *_hints(path, hint)))), path)


def _hints(path: Path, otherwise: str) -> tuple[str, ...]:
    """What was meant, perhaps: a neighbour of a similar name; or where the path ends."""
    if not path.parent.is_dir():
        return f"there is no directory {path.parent}", otherwise
    names = [neighbour.name for neighbour in islice(path.parent.iterdir(), _NEIGHBOURS)]
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.75)
    return (f"did you mean {path.with_name(near[0])}?",) if near else (otherwise,)


def _refuse_unless_file(path: Path) -> None:
    if not path.exists():
        raise InputError("no such file", path)
    if path.is_dir():
        raise InputError("is a directory; expected a file", path)
    if not path.is_file():
        # A pipe can be read only once and we read twice: to detect the format, then the turns.
        raise InputError("is not a regular file; write its content to a file, or pipe it in and give -", path)


@contextmanager
def _failures(path: Path) -> Iterator[None]:
    try:
        yield
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise InputError(f"broken gzip file: {error}", path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from None
