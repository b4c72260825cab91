"""Calls that fail as on a disk that is full or broken."""

import errno
import io
import os
from contextlib import contextmanager

import pytest

resource = pytest.importorskip("resource", reason="needs a system with limits for processes")

CALLS = [(os, name) for name in ("mkdir", "rename", "replace", "link", "fsync", "unlink", "rmdir", "open")]
CALLS.append((io, "open"))


@contextmanager
def failing(number, code=errno.EIO):
    """Fails the call of this number, of all that change files or write to them; says whether there were so many."""
    calls = 0
    originals = {(module, name): getattr(module, name) for module, name in CALLS}

    def counted(original, path=None):
        def call(*arguments, **options):
            nonlocal calls
            calls += 1
            if calls == number:
                raise OSError(code, "made to fail", str(path or arguments[0]))
            done = original(*arguments, **options)
            if isinstance(done, io.BufferedWriter | io.TextIOWrapper):
                done.write = counted(done.write, done.name)
            return done

        return call

    for (module, name), original in originals.items():
        setattr(module, name, counted(original))
    try:
        yield lambda: calls >= number
    finally:
        for (module, name), original in originals.items():
            setattr(module, name, original)


@contextmanager
def largest_file(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
