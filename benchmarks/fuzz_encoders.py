"""Damaged encoder directories, word vectors, kept runs and learned models, and odd command lines: whether anything but
an InputError comes of them.

    python -m benchmarks.fuzz_encoders [--cases 10000] [--seed 1] [--only CASE]

Cases run in a child process that may take 12 GiB of address space. Exits with 1 where a case raised anything but an
InputError, took longer than 20 seconds or ended the process; the line `python -m ...` that repeats it is printed.
"""

from __future__ import annotations

import argparse
import os
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from types import FrameType

from tests.hostile import SUBJECTS, outcome

from dialogauge.tables import Cell, Header, Table, to_text

LONGEST, STUCK = 20, 60
"""Seconds after which Python is interrupted, and after which a child that does not even hear that is killed."""
MEMORY = 12 * 2**30
OUTCOMES = ("used", "refused", "another exception", "too long", "ended the process")
FINE = OUTCOMES[:2]


class _TooLong(BaseException):
    """Not an Exception, so that nothing can take it for a fault of the file."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000, help="over all subjects together (default: 10000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="run this case alone, and show its exception")
    arguments = parser.parse_args()
    os.environ.update(HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false")
    cases = list(range(arguments.cases)) if arguments.only is None else [arguments.only]
    counts: dict[str, Counter[str]] = {name: Counter() for name in SUBJECTS}
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DIALOGAUGE_CACHE"] = f"{folder}/cache"
        pristine = _built(Path(folder))
        while cases:
            for case, found in _in_a_child(list(cases), arguments.seed, pristine):
                name = _subject(case)
                counts[name][found] += 1
                cases.remove(case)
                if found not in FINE:
                    call = f"python -m benchmarks.fuzz_encoders --seed {arguments.seed} --only {case}"
                    print(f"{name}: {found}: {call}", flush=True)
    print(to_text(_table(counts, time.perf_counter() - start)))
    return 1 if any(count[found] for count in counts.values() for found in OUTCOMES if found not in FINE) else 0


def _subject(case: int) -> str:
    return list(SUBJECTS)[case % len(SUBJECTS)]


def _built(folder: Path) -> dict[str, Path]:
    built = {}
    for name, (build, _, _) in SUBJECTS.items():
        home = folder / name.replace(" ", "-")
        home.mkdir()
        built[name] = build(home)
    return built


def _in_a_child(cases: Sequence[int], seed: int, pristine: dict[str, Path]) -> Iterator[tuple[int, str]]:
    """What became of the cases up to the first that ended the child."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        for case in cases:
            os.write(writer, bytes([OUTCOMES.index(_limited(case, seed, pristine))]))
        os._exit(0)
    os.close(writer)
    for case in cases:
        ready, _, _ = select.select([reader], [], [], STUCK)
        told = os.read(reader, 1) if ready else b""
        if not told:
            os.kill(child, signal.SIGKILL)
            yield case, "ended the process" if ready else "too long"
            break
        yield case, OUTCOMES[told[0]]
    os.waitpid(child, 0)
    os.close(reader)


def _limited(case: int, seed: int, pristine: dict[str, Path]) -> str:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _TooLong

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST)
    name = _subject(case)
    try:
        with tempfile.TemporaryDirectory() as folder:
            return outcome(name, pristine[name], Path(folder), Random(f"{seed}:{case}"))
    except _TooLong:
        return "too long"
    except BaseException:
        traceback.print_exc()
        return "another exception"
    finally:
        signal.alarm(0)


def _table(counts: dict[str, Counter[str]], seconds: float) -> Table:
    total: Counter[str] = sum(counts.values(), Counter())
    rows = [
        [Cell(name), Cell(str(count.total())), *(Cell(str(count[found])) for found in OUTCOMES)]
        for name, count in {**counts, "all": total}.items()
    ]
    headers = [Header("subject", align="left"), Header("cases"), *(Header(found) for found in OUTCOMES)]
    return Table(headers, rows, [f"{seconds:.0f} s"])


if __name__ == "__main__":
    sys.exit(main())
