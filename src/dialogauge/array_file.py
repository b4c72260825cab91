"""Files of arrays (npz) that may come from anybody: nothing is unpickled, nothing is larger than the file can hold."""

from __future__ import annotations

import math
import os
import stat
import zipfile
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.files import ANY_SIZE, RATIO, most_unpacked

LARGEST_RATIO = 1040
"""Deflate makes nothing smaller than by 1,032."""
KINDS = "biufSU"
"""Truth values, whole numbers, numbers and texts; no objects, which could run code."""


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """ValueError (or what zipfile raises) where it is not such a file, or declares more than it can hold."""
    with open_plain(path) as file, zipfile.ZipFile(file) as archive:
        size = os.fstat(file.fileno()).st_size
        members = archive.infolist()
        if sum(member.compress_size for member in members) > size:
            raise ValueError("its parts overlap")
        for member in members:
            _refuse_odd(member)
        refuse_unpacked(sum(member.file_size for member in members), file, path.name)
        if len({member.filename for member in members}) < len(members):
            raise ValueError("a part is there twice")
        return {member.filename.removesuffix(".npy"): _read_array(archive, member) for member in members}


def refuse_unpacked(unpacked: int, file: BufferedReader, name: str) -> None:
    """ValueError where a file that was found to hold so many bytes has far fewer on disk."""
    if unpacked > most_unpacked(os.fstat(file.fileno()).st_size):
        what = f"{name} unpacks to more than {RATIO} times its size"
        raise ValueError(f"{what}, found {unpacked:,} bytes; {ANY_SIZE}=1 reads it all the same")


def open_plain(path: Path) -> BufferedReader:
    """Without waiting, should it be a pipe."""
    file = os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise ValueError(f"{path.name} is not a plain file")
    return file


def _refuse_odd(member: zipfile.ZipInfo) -> None:
    name = member.filename
    if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name} is encrypted, or packed in another way than ours")
    if member.file_size > member.compress_size * LARGEST_RATIO + 1024:
        raise ValueError(f"{name} declares {member.file_size:,} bytes, more than it can hold")


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    name = member.filename
    with archive.open(member) as part:
        version = np.lib.format.read_magic(part)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in readers:
            raise ValueError(f"{name} is of an unknown version {version}")
        shape, fortran, dtype = readers[version](part)
        if dtype.kind not in KINDS or dtype.names or not dtype.itemsize:
            raise ValueError(f"{name} holds {dtype}, expected numbers or texts")
        wanted = math.prod(shape) * dtype.itemsize
        if min(shape, default=0) < 0 or wanted != member.file_size - part.tell():
            raise ValueError(f"{name} declares {wanted:,} bytes of values, found {member.file_size - part.tell():,}")
        return np.frombuffer(part.read(wanted), dtype).reshape(shape, order="F" if fortran else "C").copy()
