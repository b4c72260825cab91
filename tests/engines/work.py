"""Work for engines to do, as it comes in life: numbers whose sum depends on the order, errors, deaths, printing."""

import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from dialogauge.errors import InputError


@dataclass(frozen=True)
class Order:
    """A part that knows how it was added."""

    text: str
    number: float

    def __add__(self, other):
        return Order(f"({self.text}{other.text})", self.number + other.number)


class Plain:
    """An item is a number; its part is itself."""

    def open(self):
        return lambda item: (Order(str(item), 1 / (item + 3)), None)

    def describe(self, item):
        return f"item {item}"

    def split(self, item):  # noqa: ARG002
        return []


class Floats(Plain):
    """An item is a float, and so is its part: bits depend on the order in which they are added."""

    def open(self):
        return lambda item: (item, None)


class Asides(Plain):
    def open(self):
        return lambda item: (item, None if item % 2 else f"about {item}".encode())


class Slow(Plain):
    """The first is the last to be done."""

    def open(self):
        def do(item):
            time.sleep(0.3 if item == 0 else 0)
            return Order(str(item), item), None

        return do


@dataclass
class Bad(Plain):
    """Some items are bad, the first of them the slowest to be found out."""

    bad: tuple[int, ...]

    def open(self):
        def do(item):
            if item in self.bad:
                time.sleep(0.4 if item == min(self.bad) else 0)
                raise InputError("expected a turn, found nothing", "replies.jsonl", item)
            return item, None

        return do


@dataclass
class Raising(Plain):
    error: str

    def open(self):
        def do(item):
            if self.error == "local":

                class Unsendable(Exception):
                    pass

                raise Unsendable("cannot be pickled")
            raise {"key": KeyError, "exit": SystemExit}[self.error]("odd")

        return do


class BadOpen(Plain):
    def open(self):
        raise InputError("there are no weights")


@dataclass
class Killing(Plain):
    """The process dies at some items, so many times each; counted by files in a folder."""

    folder: Path
    at: tuple[int, ...]
    times: int = 1
    by: int = signal.SIGKILL

    def open(self):
        def do(item):
            if item in self.at:
                before = len(list(self.folder.glob(f"{item}-*")))
                (self.folder / f"{item}-{before}").touch()
                if before < self.times:
                    os.kill(os.getpid(), self.by)
            return Order(str(item), item), None

        return do


@dataclass
class Large(Plain):
    """An item is a range, and one with more than `fits` numbers needs too much memory."""

    fits: int
    killed: bool = False

    def open(self):
        def do(item):
            start, stop = item
            if stop - start > self.fits:
                if self.killed:
                    os.kill(os.getpid(), signal.SIGKILL)
                raise MemoryError
            return sum(range(start, stop)), repr(item).encode()

        return do

    def describe(self, item):
        return f"numbers {item[0]} to {item[1]}"

    def split(self, item):
        start, stop = item
        middle = (start + stop) // 2
        return [(start, middle), (middle, stop)] if stop - start > 1 else []


class Printing(Plain):
    def open(self):
        print("opened")

        def do(item):
            print("an item", item)
            os.write(1, b"from below\n")
            sys.stdout.flush()
            return item, None

        return do


class Processes(Plain):
    """Parts say which process made them, and what it sees."""

    def open(self):
        number = os.getpid()
        return lambda item: ([(number, os.environ.get("OMP_NUM_THREADS"), time.sleep(item))[:2]], None)


class Unpicklable(Plain):
    def __init__(self):
        self.function = lambda item: item


class LambdaParts(Plain):
    def open(self):
        return lambda item: (lambda: item, None)


class Endless(Plain):
    """Says that it began, and computes until it is stopped."""

    def __init__(self, folder):
        self.folder = folder

    def open(self):
        def do(item):
            (self.folder / str(os.getpid())).touch()
            while True:
                pass

        return do


class Arrays(Plain):
    """Parts too large to travel with an answer, which takes a while: an item is the seed of one."""

    def open(self):
        def do(item):
            import numpy as np

            time.sleep(0.2)
            return np.random.default_rng(item).normal(size=50_000) * 10.0**item, os.getpid()

        return do


@dataclass
class Imported(Plain):
    """Parts say which heavy packages a worker has, once it can measure."""

    learned: dict

    def open(self):
        from dialogauge.corpus.how import HowToRead
        from dialogauge.evaluation.measuring.chunk_work import Measuring

        Measuring(HowToRead(), learned=self.learned, cache=False).open()
        heavy = ("torch", "transformers", "sklearn", "matplotlib")
        return lambda _: ([name for name in heavy if name in sys.modules], None)
