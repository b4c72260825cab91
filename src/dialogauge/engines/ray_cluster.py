"""A Ray cluster to work on: one that runs, or one of our own on this machine, for as long as it is needed."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dialogauge.engines.cores import usable_cores
from dialogauge.errors import InputError, MissingPackage
from dialogauge.files import NEW, unfinished

SCHEME = "ray://"
LONGEST = 20
"""Bytes of a folder for temporary files in which Ray's have room."""


def check_ray(address: str | None) -> None:
    """Refuses an address that is none, and a machine without Ray; imports and starts nothing."""
    if address is not None and not address.partition(":")[0]:
        raise InputError("--engine: expected ray, or ray://HOST:PORT where a cluster runs, found ray:// alone")
    for package in ("ray", "grpc") if address else ("ray",):
        if find_spec(package) is None:
            raise MissingPackage(package, "ray", "the engine ray")


class Cluster:
    """What this process is connected to until it is closed. A connection that was there before stays; so does a cluster
    that was not started here."""

    def __init__(self, address: str | None, workers: int | None) -> None:
        """`address`: host:port of a cluster that runs; without one the cluster of RAY_ADDRESS, else one of our own."""
        check_ray(address)
        import ray

        self._at_end = ExitStack()
        if ray.is_initialized():
            return
        named = SCHEME + address if address else os.environ.get("RAY_ADDRESS", "")
        with _signals_kept(), ExitStack() as started:
            if named and named != "local":
                _join(named)
            else:
                folder = started.enter_context(unfinished(_temporary() / "ray")) / NEW
                folder.mkdir()
                started.callback(ray.shutdown)
                _start(str(folder), workers or usable_cores())
            started.callback(ray.shutdown)
            self._at_end = started.pop_all()

    def close(self) -> None:
        with _signals_kept():
            self._at_end.close()

    def nodes(self) -> dict[str, dict[str, float]]:
        """Those that are there, with their resources."""
        import ray

        return {node["NodeID"]: node["Resources"] for node in ray.nodes() if node["Alive"]}


def _join(address: str) -> None:
    import ray

    try:
        with warnings.catch_warnings(action="ignore"):  # the error says it, too
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        found = str(error).strip().partition("\n")[0]
        hint = (
            "give ray://HOST:PORT of Ray's client server (10001), or RAY_ADDRESS=HOST:PORT on a machine of the cluster"
        )
        raise InputError(f"no Ray cluster can be used at {address}: {found}; {hint}") from None


def _temporary() -> Path:
    """Ray's sockets lie in it, and names of sockets may have 107 bytes."""
    usual = Path(tempfile.gettempdir())
    return usual if len(os.fsencode(usual)) <= LONGEST else Path("/tmp")


def _start(folder: str, cores: int) -> None:
    """On the loopback address alone, with nothing told to Ray's makers."""
    with _environment({"RAY_USAGE_STATS_ENABLED": "0", "RAY_ADDRESS": "local"}), _on_loopback():
        import ray

        ray.init(
            address="local",
            num_cpus=cores,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            _temp_dir=folder,
        )


@contextmanager
def _on_loopback() -> Iterator[None]:
    """Ray binds to 127.0.0.1 where clusters of several machines are switched off, which is read when it is imported."""
    from ray._private import ray_constants

    before = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Ray takes SIGTERM for itself."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: Any = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        with suppress(TypeError):  # one that was set outside of Python
            signal.signal(signal.SIGTERM, before)
