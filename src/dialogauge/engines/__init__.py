"""Where work is done: in this process, in several, or on a Ray cluster, with the same bits as its result. Knows nothing
of turns and metrics."""

from dialogauge.engines.cores import usable_cores
from dialogauge.engines.fold import Engine, Work
from dialogauge.engines.make import make_engine

__all__ = ["Engine", "Work", "make_engine", "usable_cores"]
