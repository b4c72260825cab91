"""A real S3 server on the loopback address: moto's, in a process of its own."""

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 60.0


@contextmanager
def s3_server(folder: Path, **environment: str):
    """Its address. `environment`: moto's own settings."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    call = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with (folder / "moto.log").open("wb") as log:
        process = subprocess.Popen(call, stdout=log, stderr=log, env={**os.environ, **environment})
    try:
        end = time.monotonic() + PATIENCE
        while not answers(port):
            assert time.monotonic() < end, (folder / "moto.log").read_text()
            assert process.poll() is None, (folder / "moto.log").read_text()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(PATIENCE)


def answers(port: int) -> bool:
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) == 0
