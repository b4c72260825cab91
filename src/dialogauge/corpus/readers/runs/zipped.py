"""Members of a zip file, deflated or packed with zstandard, which Python reads by itself from 3.14 on only."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

from dialogauge.errors import InputError, MissingPackage, quote
from dialogauge.files import RATIO, UNPACKED, any_size

_ZSTANDARD = 93
_LOCAL = struct.Struct("<4s22xHH")
"""The header before a member: its mark, and the lengths of name and extra field, which stand between both."""


def members(path: Path) -> dict[str, zipfile.ZipInfo]:
    """By name, in the order of the file; the last of several of one name, as every reader of zip takes it."""
    try:
        with path.open("rb") as raw, zipfile.ZipFile(raw) as file:
            return {info.filename: info for info in file.infolist()}
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error) as error:
        raise InputError(f"expected a zip file, found: {quote(str(error))}", path) from None


def member(path: Path, name: str) -> bytes:
    """What a member holds. One that unpacks to far more than it is, is refused."""
    info = members(path)[name]
    most = max(UNPACKED, RATIO * info.compress_size)
    try:
        with path.open("rb") as file:
            if info.compress_type == _ZSTANDARD:
                raw = _zstandard(file, info, most)
            else:
                with zipfile.ZipFile(file) as packed, packed.open(info) as stream:
                    raw = stream.read(-1 if any_size() else most + 1)
    except InputError:
        raise
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, RuntimeError, struct.error) as error:
        raise InputError(f"{quote(name)} cannot be unpacked: {quote(str(error))}", path) from None
    if len(raw) > most and not any_size():
        what = f"unpacks to more than {most:,} bytes, far more than its size; --any-size reads it"
        raise InputError(f"{quote(name)} {what}", path)
    return raw


def _zstandard(file: BinaryIO, info: zipfile.ZipInfo, most: int) -> bytes:
    zstandard = _package()
    file.seek(info.header_offset)
    mark, name, extra = _LOCAL.unpack(file.read(_LOCAL.size))
    if mark != b"PK\x03\x04":
        raise zipfile.BadZipFile("a member does not stand where the list of members says")
    file.seek(name + extra, 1)
    packed = file.read(info.compress_size)
    try:
        # A member may be several frames, one after the other.
        with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as stream:
            raw: bytes = stream.read(-1 if any_size() else most + 1)
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(str(error)) from None
    if len(raw) <= most and zlib.crc32(raw) != info.CRC:
        raise zipfile.BadZipFile("its checksum is wrong")
    return raw


def _package() -> Any:
    try:
        import zstandard
    except ImportError:
        raise MissingPackage("zstandard", "logs", "logs packed with zstandard") from None
    return zstandard
