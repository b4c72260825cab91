"""Files in object stores and on HDFS, read through pyarrow's file systems as if they were here."""

from __future__ import annotations

import errno
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path, PosixPath
from typing import Any
from urllib.parse import urlsplit

from dialogauge.errors import InputError, require_arrow
from dialogauge.files import STORES

BLOCK = 4 * 2**20
"""Bytes of a request."""
PATIENCE = 20
"""Seconds until Google's store is given up that does not answer."""
LONGEST = 300
"""Characters of what a store says."""
HINTS = {
    "ACCESS_DENIED|INVALID_ACCESS_KEY_ID|SIGNATURE_DOES_NOT_MATCH|HTTP status 40[13]|PermissionError": "are the"
    " credentials right, and may they read it? They are those of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or of"
    " ~/.aws",
    "OAuth2|PERMISSION_DENIED|UNAUTHENTICATED": "credentials are those of GOOGLE_APPLICATION_CREDENTIALS, or of"
    " `gcloud auth application-default login`",
    "libjvm|libhdfs|CLASSPATH": "hdfs:// needs Java and Hadoop here: JAVA_HOME, HADOOP_HOME and CLASSPATH",
}


def input_path(given: str | os.PathLike[str]) -> Path:
    """A path as a user gives it: `s3://BUCKET/KEY`, `gs://BUCKET/KEY` or `hdfs://HOST:PORT/PATH`, else a file here."""
    scheme, colon, rest = os.fspath(given).partition("://")
    if not colon or scheme not in STORES:
        return Path(given)
    if os.name != "posix":
        raise InputError(f"{scheme}:// is read on Linux and macOS alone; copy the file here first", Path(given))
    require_arrow(f"reading {scheme}://")
    host, _, key = rest.partition("/")
    if not host or not key.strip("/"):
        raise InputError(f"expected {scheme}://{'HOST:PORT/PATH' if scheme == 'hdfs' else 'BUCKET/KEY'}", str(given))
    return RemotePath(f"{scheme}:", rest)


class RemotePath(PosixPath):
    """A file of a store, with those of a path's methods by which files are read. It can be sent to other processes;
    each has a connection of its own."""

    def __str__(self) -> str:
        scheme, _, rest = super().__str__().partition(":/")
        return f"{scheme}://{rest}"

    def __fspath__(self) -> str:
        return str(self)

    def exists(self, **_: Any) -> bool:
        return self._kind() != "NotFound"

    def is_file(self, **_: Any) -> bool:
        return self._kind() == "File"

    def is_dir(self, **_: Any) -> bool:
        return self._kind() == "Directory"

    def resolve(self, strict: bool = False) -> RemotePath:  # noqa: ARG002
        return self

    def stat(self, **_: Any) -> os.stat_result:
        """Size and time of the last change; all else is 0."""
        found = self._info()
        if found.type.name == "NotFound":
            raise FileNotFoundError(errno.ENOENT, "no such file", str(self))
        changed = found.mtime_ns or 0
        return os.stat_result((0, 0, 0, 0, 0, 0, found.size or 0, 0, changed // 10**9, 0), {"st_mtime_ns": changed})

    def open(self, mode: str = "r", *_: Any, **__: Any) -> Any:
        """For reading bytes, at any place."""
        if mode != "rb":
            raise io.UnsupportedOperation(f"{self}: files of a store are only read, as bytes")
        with _told():
            store, name = self._place()
            return io.BufferedReader(store.open_input_file(name), BLOCK)

    def _kind(self) -> str:
        return str(self._info().type.name)

    def _info(self) -> Any:
        with _told():
            store, name = self._place()
            return store.get_file_info(name)

    def _place(self) -> tuple[Any, str]:
        """Its store, and how that calls it."""
        scheme, _, rest = str(self).partition("://")
        host, slash, key = rest.partition("/")
        return _store(scheme, host), slash + key if scheme == "hdfs" else rest

    def why_missing(self) -> str:
        """What to look at where there is no such file."""
        scheme, _, rest = str(self).partition("://")
        host = rest.partition("/")[0]
        if scheme == "hdfs" or RemotePath(f"{scheme}:", host).exists():
            return "names are told apart by case"
        return f"there is no bucket {host}"


@cache
def _store(scheme: str, host: str) -> Any:
    """The connection of this process."""
    from pyarrow import fs

    if scheme == "gs":
        return fs.GcsFileSystem(retry_time_limit=timedelta(seconds=PATIENCE))
    if scheme == "hdfs":
        name, _, port = host.partition(":")
        return fs.HadoopFileSystem(name, int(port or 8020))
    given = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if given:
        parts = urlsplit(given)
        return fs.S3FileSystem(endpoint_override=parts.netloc, scheme=parts.scheme)
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or fs.resolve_s3_region(host)
    return fs.S3FileSystem(region=region)


@contextmanager
def _told() -> Iterator[None]:
    """What goes wrong in a store, in a line, with what to do."""
    try:
        yield
    except Exception as error:  # of many classes
        found = " ".join(str(error).split())
        hints = [hint for pattern, hint in HINTS.items() if re.search(pattern, f"{type(error).__name__} {found}")]
        short = found if len(found) <= LONGEST else f"{found[:LONGEST]}…"
        raise OSError("; ".join([short, *hints[:1]])) from None
