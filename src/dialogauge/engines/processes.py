"""Work in several processes of this machine.

The pool is our own: that of `concurrent.futures` ends with the first process that dies, and `multiprocessing` runs the
script that called it once more in every process.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Pipe, wait
from typing import Any

from dialogauge.engines.cores import count_gpus, usable_cores
from dialogauge.engines.fold import Engine, ItemT, OrderedSum, PartT, Work
from dialogauge.engines.schedule import TRIES, FoldSchedule, Leaf
from dialogauge.errors import InputError, WorkFailed

PATIENCE = 5.0
"""Seconds that processes get to end by themselves."""
THREADS = ["OMP", "OPENBLAS", "MKL", "NUMEXPR", "RAYON", "VECLIB_MAXIMUM"]
"""Libraries that read from `..._NUM_THREADS` how many threads to use."""


class Processes(Engine):
    """So many processes, each with one item at a time; for encoders and learned models one for each GPU, and without a
    GPU a single one with as many threads."""

    def __init__(self, workers: int | None = None) -> None:
        super().__init__()
        if os.name != "posix":
            raise InputError("several processes are for Linux and macOS; use one worker here")
        self.workers = workers or usable_cores()
        self.pools: dict[bool, ProcessPool] = {}

    def fold(
        self,
        work: Work[ItemT, PartT],
        items: Sequence[ItemT],
        *,
        threads: bool = False,
        aside: Callable[[int, Any], None] | None = None,
        done: Callable[[ItemT], None] | None = None,
    ) -> PartT | None:
        if not items:
            return None
        if threads not in self.pools:
            self.pools[threads] = ProcessPool(self._environments(threads))
        schedule = FoldSchedule(work, items, aside, done, self.made_up)
        total: PartT = self.pools[threads].fold(packed(work), schedule)
        return total

    def _environments(self, threads: bool) -> list[dict[str, str]]:
        """What each process sees that differs from this one's environment."""
        if not threads:
            return [{**thread_variables(1), "TOKENIZERS_PARALLELISM": "false"}] * self.workers
        if not (gpus := count_gpus()):
            return [thread_variables(self.workers)]
        seen = os.environ.get("CUDA_VISIBLE_DEVICES")
        names = seen.split(",") if seen else [str(number) for number in range(gpus)]
        each = thread_variables(max(1, self.workers // gpus))
        return [{**each, "CUDA_VISIBLE_DEVICES": name} for name in names[:gpus]]

    def close(self) -> None:
        for pool in self.pools.values():
            pool.end(pool.processes)


def packed(what: Any) -> bytes:
    """Work or an item, to be sent."""
    try:
        return pickle.dumps(what, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise InputError(
            f"what is to be done cannot be sent to other processes ({error}); what metrics and readers hold must be"
            " picklable: functions that have a name in a module, no lambdas, no open files. Or use one worker"
        ) from None


def thread_variables(count: int) -> dict[str, str]:
    """What says to libraries how many threads they have."""
    return {f"{library}_NUM_THREADS".replace("MAXIMUM_NUM", "MAXIMUM"): str(count) for library in THREADS}


class Process:
    """A worker process, and the leaf that it has at hand."""

    def __init__(self, slot: int, environment: dict[str, str]) -> None:
        self.slot = slot
        self.ready = False
        self.opened = -1
        """The number of the fold whose work it has."""
        self.leaf: Leaf[Any] | None = None
        self.connection, theirs = Pipe()
        path = os.pathsep.join(each or os.getcwd() for each in sys.path)  # noqa: PTH109
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "dialogauge.engines.worker", str(theirs.fileno())],
                env={**os.environ, **environment, "PYTHONPATH": path},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,  # Ctrl-C is for the driver: workers see its end
            )

    def send(self, kind: str, content: bytes) -> None:
        self.connection.send_bytes(pickle.dumps((kind, content)))

    def ended(self, patience: float = PATIENCE) -> str:
        """Waits for the end, and says how it came: "was ended by SIGKILL"."""
        try:
            code = self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.connection.close()
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"


class ProcessPool:
    """Processes that are kept from one fold to the next."""

    def __init__(self, environments: list[dict[str, str]]) -> None:
        self.environments = environments
        self.processes: list[Process] = []
        self.folds = 0
        self.stillborn = 0

    def fold(self, work: bytes, schedule: FoldSchedule[Any]) -> Any:
        self.folds += 1
        self.end([process for process in self.processes if process.process.poll() is not None])
        total: OrderedSum[Any] = OrderedSum(len(schedule.items))
        try:
            while not schedule.over():
                self._start(min(len(self.environments), schedule.left))
                for process in self.processes:
                    if process.ready and process.leaf is None and (leaf := schedule.take()) is not None:
                        self._hand(process, leaf, work)
                self._hear(schedule, total)
        except BaseException:  # Ctrl-C, too: some are in the midst of an item, or of a message
            self.end([process for process in self.processes if process.leaf is not None or not process.ready])
            raise
        return total.total

    def _start(self, count: int) -> None:
        taken = {process.slot for process in self.processes}
        free = [slot for slot in range(len(self.environments)) if slot not in taken]
        for slot in free[: max(0, count - len(taken))]:
            self.processes.append(Process(slot, self.environments[slot]))

    def _hand(self, process: Process, leaf: Leaf[Any], work: bytes) -> None:
        process.leaf = leaf
        item = packed(leaf.item)
        try:
            if process.opened != self.folds:
                process.opened = self.folds
                process.send("open", work)
            process.send("do", item)
        except OSError:
            pass  # it died: its end is heard next

    def _hear(self, schedule: FoldSchedule[Any], total: OrderedSum[Any]) -> None:
        """Waits until one of them says something, or dies."""
        by_connection = {process.connection: process for process in self.processes}
        for connection in wait(list(by_connection)):
            process = by_connection[connection]  # type: ignore[index]
            try:
                answer = pickle.loads(process.connection.recv_bytes())
            except (EOFError, OSError):
                self._died(process, schedule)
                continue
            if process.leaf is None:
                process.ready, self.stillborn = True, 0
                continue
            leaf, process.leaf = process.leaf, None
            _note(answer, leaf, schedule, total)

    def _died(self, process: Process, schedule: FoldSchedule[Any]) -> None:
        self.processes.remove(process)
        how = process.ended()
        if process.leaf is not None:
            schedule.died(process.leaf, how, killed=process.process.returncode == -signal.SIGKILL)
        elif not process.ready:
            self.stillborn += 1
            if self.stillborn >= TRIES:
                raise WorkFailed(f"worker processes do not start: the last one {how}")

    def end(self, processes: Sequence[Process]) -> None:
        """All at once: each sees that the driver is gone, and is killed where it does not."""
        for process in processes:
            process.connection.close()
        end = time.monotonic() + PATIENCE
        for process in processes:
            process.ended(max(0.0, end - time.monotonic()))
        self.processes = [process for process in self.processes if process not in processes]


def _note(answer: tuple[Any, ...], leaf: Leaf[Any], schedule: FoldSchedule[Any], total: OrderedSum[Any]) -> None:
    kind, *content = answer
    if kind == "failed":
        schedule.failed(leaf, content[0])
    elif kind == "memory":
        schedule.out_of_memory(leaf)
    else:
        part, beside = content
        whole = part if leaf.part is None else leaf.part + part
        if schedule.finished(leaf, whole, beside):
            total.add(leaf.index, whole)
