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
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from dialogauge.corpus.reading.remote import RemotePath
from dialogauge.errors import InputError
from dialogauge.files import NEW, RATIO, any_size, most_unpacked, unfinished

FileState = tuple[int, int, int, int] | None

STDIN = Path("-")
"""The name that stands for what is piped in."""

_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
LONGEST_LINE = 100_000_000
"""Bytes."""
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
                with _Unpacked(raw, path) as unpacked:
                    yield io.BufferedReader(cast(io.RawIOBase, unpacked), 1 << 16)
            else:
                yield raw


def raw_lines(path: Path, span: Span | None = None) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers from 1, one at a time; a line ends at "\\n" and keeps it. Of a span, the lines that
    begin in it: unless it is the file's first, the number of the first is 2, since one line at least stands before."""
    with opened(path) as stream:
        lines = iter(partial(stream.readline, longest_line()), b"")
        for number, line in enumerate(lines if span is None else span.lines_of(stream), start=1):
            place = number + bool(span and span.first)
            refuse_long_line(line, path, place)
            yield place, line


@dataclass
class Span:
    """A range of a file's bytes, and what is known of the lines that begin in it once they are read."""

    first: int
    last: int
    digest: Any = field(default_factory=hashlib.sha256)

    def lines_of(self, stream: BinaryIO) -> Iterator[bytes]:
        if self.first:
            stream.seek(self.first - 1)
            while (before := stream.readline(1 << 20)) and not before.endswith(b"\n"):
                pass
        place = stream.tell()
        while place < self.last and (line := stream.readline(longest_line())):
            place += len(line)
            self.digest.update(line)
            yield line

    def number_in(self, path: Path, line: int) -> int:
        """Where a line of this span stands in the whole file."""
        if not self.first:
            return line
        with opened(path) as stream:
            stream.seek(0)
            before, left = 0, self.first
            while left and (block := stream.read(min(left, 1 << 20))):
                before += block.count(b"\n")
                left -= len(block)
            stream.seek(self.first - 1)
            begins = stream.read(1) == b"\n"
        # Where the span begins inside a line, that line is another's, and ends after `before` others.
        return line - 1 + before + (not begins)


def is_gzip(path: Path) -> bool:
    with _failures(path):
        _refuse_unless_file(path)
        with path.open("rb") as raw:
            return raw.read(len(_GZIP)) == _GZIP


def lines_of(path: Path, enough: int) -> int:
    """How many lines a file has; where these are more than enough, how many are known to be there."""
    found = 0
    with opened(path) as stream:
        while found <= enough and (block := stream.read(1 << 20)):
            found += block.count(b"\n")
    return found


def size_of(path: Path) -> int:
    """In bytes, on disk."""
    with _failures(path):
        _refuse_unless_file(path)
        return path.stat().st_size


class _Unpacked(gzip.GzipFile):
    """Refuses a file that unpacks to far more than it is, before that is in memory."""

    def __init__(self, raw: BinaryIO, path: Path) -> None:
        super().__init__(fileobj=raw)
        self._path = path
        self._most = most_unpacked(path.stat().st_size)

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            return b"".join(iter(partial(self.read, 1 << 20), b""))
        part = super().read(size)
        if self.tell() > self._most:
            found = f"found more than {self._most:,}; --any-size reads it all the same"
            raise InputError(
                f"expected a gzip file that unpacks to at most {RATIO} times its size, {found}", self._path
            )
        return part


def longest_line() -> int:
    """How much of a line is read; -1 for all of it."""
    return -1 if any_size() else LONGEST_LINE + 1


def refuse_long_line(line: bytes, path: Path, number: int) -> None:
    if len(line) > LONGEST_LINE and not any_size():
        expected = f"expected lines of at most {LONGEST_LINE:,} bytes, found a longer one"
        raise InputError(f"{expected}; --any-size reads it all the same", path, number)


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


def state_of(path: Path) -> FileState:
    """By which a file that is replaced, or written to, is told from what it was; None where there is none."""
    try:
        found = path.stat()
    except (OSError, ValueError):  # said when it is opened
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def sha256_since(path: Path, state: FileState) -> str:
    """The SHA-256 of a file that was read after its state was noted: one that was changed meanwhile is refused, since
    it is not known which of its contents was read."""
    digest = sha256(path)
    if state_of(path) != state:
        hint = "try again, or give a copy that nobody writes to"
        raise InputError(f"was changed while it was read; {hint}", path)
    return digest


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
        if isinstance(path, RemotePath) and path.is_dir():
            raise InputError("is a directory; name the files in it", path)


def _hints(path: Path, otherwise: str) -> tuple[str, ...]:
    """What was meant, perhaps: a neighbour of a similar name; or where the path ends."""
    if isinstance(path, RemotePath):
        return path.why_missing(), otherwise
    if not path.parent.is_dir():
        return f"there is no directory {path.parent}", otherwise
    names = [neighbour.name for neighbour in islice(path.parent.iterdir(), _NEIGHBOURS)]
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.75)
    return (f"did you mean {path.with_name(near[0])}?",) if near else (otherwise,)


def _refuse_unless_file(path: Path) -> None:
    if path.is_file():
        return
    if not path.exists():
        raise InputError("no such file", path)
    if path.is_dir():
        raise InputError("is a directory; expected a file", path)
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
