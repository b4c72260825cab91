"""A Ray cluster of two nodes on the loopback address: `python -m tests.engines.two_nodes FOLDER`. Says on stdout where
it is, by what process each node can be ended, and is there until its stdin ends."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import uuid
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORES = 2
"""Of each node."""
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": uuid.uuid4().hex, "RAY_USAGE_STATS_ENABLED": "0"}
"""Which Ray reads when it is imported, once."""
WITH_TESTS = {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}
"""The work of these tests is in modules of theirs, which every machine of a cluster needs."""
STORE = 120 * 2**20
"""Bytes of each node's objects."""


@contextmanager
def two_nodes():
    """Its address, and of each of its two nodes the process and the id; a driver is on the first."""
    # A short name: Ray's sockets lie there.
    with tempfile.TemporaryDirectory(prefix="nodes", dir="/tmp", ignore_cleanup_errors=True) as folder:
        said = Path(folder, "said")
        call = [sys.executable, "-m", "tests.engines.two_nodes", folder]
        with said.open("wb") as log:
            process = subprocess.Popen(
                call,
                cwd=ROOT,
                env={**os.environ, **TOKEN, **WITH_TESTS},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        try:
            line = process.stdout.readline()
            assert line, said.read_text()
            yield json.loads(line)
        finally:
            process.stdin.close()
            process.wait(60)
            process.stdout.close()


@contextmanager
def joined(cluster):
    """The engine `ray` is this cluster's, and finds it on the loopback address, which Ray has for single machines."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (TOKEN | {"RAY_ADDRESS": cluster["address"]}).items():
            patch.setenv(name, value)
        from ray._private import ray_constants

        patch.setattr(ray_constants, "ENABLE_RAY_CLUSTER", False)
        yield cluster


def main(folder: str) -> None:
    import ray
    from ray.cluster_utils import Cluster

    patience = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}
    own = {"num_cpus": CORES, "node_ip_address": "127.0.0.1", "object_store_memory": STORE, "include_dashboard": False}
    ray._private.utils.write_ray_address = lambda *_: None  # by which others on this machine would find it
    cluster = Cluster()
    nodes = [cluster.add_node(**own, temp_dir=folder, _system_config=patience), cluster.add_node(**own)]
    raylets = [node.all_processes["raylet"][0].process.pid for node in nodes]
    print(json.dumps({"address": cluster.address, "raylets": raylets, "nodes": [node.node_id for node in nodes]}))
    sys.stdout.flush()
    sys.stdin.read()
    cluster.shutdown()


@contextmanager
def client_server(cluster):
    """The address at which drivers that are on none of its nodes join a cluster."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    where = ["--address", cluster["address"], "--host", "127.0.0.1", "--port", port]
    call = [sys.executable, "-m", "ray.util.client.server", *where, "--mode", "specific-server"]
    environment = {**os.environ, **TOKEN, **WITH_TESTS, "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}  # as `joined`
    process = subprocess.Popen(call, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield f"ray://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main(sys.argv[1])
