"""Engines by name."""

from __future__ import annotations

from dataclasses import dataclass

from dialogauge.engines.cores import usable_cores
from dialogauge.engines.fold import Engine
from dialogauge.engines.here import Here
from dialogauge.engines.processes import Processes
from dialogauge.engines.ray_cluster import SCHEME, check_ray
from dialogauge.errors import check_whole, unknown

MOST_WORKERS = 100_000
NAMES = ("here", "processes", "ray")


@dataclass(frozen=True)
class EngineChoice:
    """What a user says of who does the work."""

    name: str | None = None
    workers: int | None = None
    """As many as there are cores, where nothing is said."""

    def make(self, items: int) -> Engine:
        """For so many items: a single one needs no other process."""
        workers = self.workers or usable_cores()
        if self.name is None and min(workers, items) < 2:
            return Here()
        return make_engine(self.name, self.workers if self.name else min(workers, items))


DEFAULT_ENGINE = EngineChoice()


def make_engine(name: str | None, workers: int | None) -> Engine:
    """`here`, `processes`, `ray` (the cluster of RAY_ADDRESS, else one of its own on this machine) or `ray://host:port`
    (a cluster that runs). Without a name this process does the work, or `workers` processes where more than one is
    asked for."""
    if workers is not None:
        check_whole("workers", workers, 1, MOST_WORKERS)
    check_engine(name)
    if name == "here" or (name is None and workers in (None, 1)):
        return Here()
    if name is None or name == "processes":
        return Processes(workers)
    from dialogauge.engines.ray_actors import RayActors

    return RayActors(_address(name), workers)


def check_engine(name: str | None) -> None:
    """Refuses an engine that is not known or lacks a package; starts nothing."""
    if name is not None and name not in NAMES and not name.startswith(SCHEME):
        raise unknown("engine", name, NAMES)
    if name is not None and name.startswith("ray"):
        check_ray(_address(name))


def _address(name: str) -> str | None:
    return name.removeprefix(SCHEME) if name.startswith(SCHEME) else None
