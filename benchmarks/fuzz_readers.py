"""Damaged files of every format: readers give turns or an InputError, never another exception, never a hang.

    python -m benchmarks.fuzz_readers [--cases N] [--seed N]

Run from the root of the repository: the small files that are damaged are those of tests/corpus. Half of the cases
have bytes changed, the others odd values in a file of the right shape; in one of fifty a stretch is repeated to 2 MB.
Exits with 1 where a case raised anything but an InputError or took longer than 5 seconds; the line `python -m ...`
that repeats such a case is printed.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import FrameType

from tests.corpus.generate import generate
from tests.corpus.mutate import enlarge, mutate
from tests.corpus.samples import Sample, compressed, samples

from dialogauge.corpus import load
from dialogauge.corpus.readers.registry import READERS
from dialogauge.errors import InputError
from dialogauge.tables import Cell, Header, Table, to_text

LONGEST = 5
BINARY = ("parquet", "gzip")
OUTCOMES = ("turns", "turns, some left out", "refused", "another exception", "too long")


class _TooLong(BaseException):
    """Not an Exception, so that no reader can take it for a fault of the file."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000, help="over all formats together (default: 10000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="run this case alone, and show its exception")
    arguments = parser.parse_args()
    inputs = list({**samples(), "gzip": compressed()}.items())
    counts: dict[str, Counter[str]] = {name: Counter() for name, _ in inputs}
    slowest = 0.0
    cases = range(arguments.cases) if arguments.only is None else [arguments.only]
    for case in cases:
        name, sample = inputs[case % len(inputs)]
        start = time.perf_counter()
        outcome = _outcome(name, sample, case // len(inputs), Random(f"{arguments.seed}:{case}"))
        slowest = max(slowest, time.perf_counter() - start)
        counts[name][outcome] += 1
        if outcome in OUTCOMES[3:]:
            print(f"{name}: {outcome}: python -m benchmarks.fuzz_readers --seed {arguments.seed} --only {case}")
    print(to_text(_table(counts, len(cases), slowest)))
    return 1 if any(count[outcome] for count in counts.values() for outcome in OUTCOMES[3:]) else 0


def _outcome(name: str, sample: Sample, turn: int, random: Random) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = sample.write(Path(folder))
        damaged = random.choice(sorted(sample.files))
        (Path(folder) / damaged).write_bytes(_damage(sample.files[damaged], name, turn, random))
        reader = name if random.random() < 0.5 and name in READERS else None
        try:
            with _limit():
                corpus = load(path, reader=reader, skip_invalid=random.random() < 0.5)
        except InputError:
            return "refused"
        except _TooLong:
            return "too long"
        except Exception:
            traceback.print_exc()
            return "another exception"
    left_out = any(caveat.code == "skipped_lines" for caveat in corpus.caveats)
    return "turns, some left out" if left_out else "turns"


def _damage(content: bytes, name: str, turn: int, random: Random) -> bytes:
    if name in BINARY:
        return mutate(content, random, most=1)
    if turn % 50 == 0:
        return enlarge(content, random)
    return generate(content, random) if turn % 2 else mutate(content, random)


@contextmanager
def _limit() -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _TooLong

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)


def _table(counts: dict[str, Counter[str]], cases: int, slowest: float) -> Table:
    rows = [
        [Cell(name), Cell(str(count.total())), *(Cell(str(count[outcome])) for outcome in OUTCOMES)]
        for name, count in counts.items()
    ]
    total = [Cell("all"), Cell(str(cases))]
    total += [Cell(str(sum(count[outcome] for count in counts.values()))) for outcome in OUTCOMES]
    headers = [Header("format", align="left"), Header("cases"), *(Header(outcome) for outcome in OUTCOMES)]
    return Table(headers, [*rows, total], [f"the slowest case took {slowest:.2f} s"])


if __name__ == "__main__":
    sys.exit(main())
