"""How near requests to an endpoint come to the ideal at the concurrency allowed, and what kept answers cost.

    python -m benchmarks.judge [REQUESTS]

An endpoint in a process of its own takes 50 ms for each of REQUESTS requests, 1,000 by default. Ideal is that many
times 50 ms, over the requests that may be under way at once. Each row begins anew: nothing is kept, and the pace starts
at four requests. The last column is a second run, which reads all answers from disk and sends nothing.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.serving.scripted import Scripted, chat, delayed

from dialogauge.endpoint.chat import ChatRequest
from dialogauge.endpoint.endpoint import AskOptions
from dialogauge.endpoint.endpoints import Endpoints
from dialogauge.tables import Cell, Header, Table, to_text

TAKES = 0.05
CONCURRENCY = (4, 8, 16, 32)
WANTED = 1.3


def serve(addresses: multiprocessing.Queue[str]) -> None:
    with Scripted(delayed(TAKES, chat('{"score": 4}'))) as server:
        addresses.put(server.url)
        time.sleep(3600)


@contextmanager
def serving() -> Iterator[str]:
    context = multiprocessing.get_context("spawn")
    addresses: multiprocessing.Queue[str] = context.Queue()
    process = context.Process(target=serve, args=(addresses,), daemon=True)
    process.start()
    try:
        yield addresses.get()
    finally:
        process.terminate()
        process.join()


def seconds(url: str, requests: list[ChatRequest], concurrency: int, folder: Path) -> tuple[float, int]:
    endpoint = Endpoints(AskOptions(concurrency=concurrency), folder).get(url)
    began = time.perf_counter()
    endpoint.ask(requests)
    return time.perf_counter() - began, endpoint.sent.count


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    requests = [
        ChatRequest({"model": "m", "messages": [{"role": "user", "content": f"{place} " + "word " * 200}]})
        for place in range(count)
    ]
    rows = []
    with serving() as url:
        for concurrency in CONCURRENCY:
            with tempfile.TemporaryDirectory() as folder:
                took, sent = seconds(url, requests, concurrency, Path(folder))
                again, sent_again = seconds(url, requests, concurrency, Path(folder))
            assert (sent, sent_again) == (count, 0)
            ideal = count * TAKES / concurrency
            numbers = (f"{ideal:.2f}", f"{took:.2f}", f"{took / ideal:.2f}", f"{again:.2f}")
            rows.append([Cell(str(concurrency)), *map(Cell, numbers)])
    headers = [Header(name) for name in ("under way", "ideal, s", "took, s", "ratio", "second run, s")]
    notes = [f"{count} requests of {TAKES * 1000:.0f} ms; the ratio should be below {WANTED}"]
    print(to_text(Table(headers, rows, notes)))


if __name__ == "__main__":
    main()
