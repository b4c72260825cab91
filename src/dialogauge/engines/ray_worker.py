"""What runs in an actor on a Ray cluster. Short answers go to the driver; parts stay where they were made."""

from __future__ import annotations

import os
import platform
from functools import reduce
from operator import add
from typing import Any

from dialogauge.engines.worker import Worker


class RayWorker:
    """Does items, and adds parts, one after another. References come in lists: Ray would fetch any others itself, and
    end the call where one is lost."""

    def __init__(self, environment: dict[str, str], driver: str) -> None:
        """The environment is set before any library that reads it is there. `driver`: the name of its machine."""
        os.environ.update(environment)
        if platform.node() != driver:
            from dialogauge.files import cache_folder

            # Homes are often shared between machines, and a cache never may be.
            os.environ["DIALOGAUGE_CACHE"] = str(cache_folder() / platform.node())
        self.worker = Worker()
        self.fold = -1

    def hello(self) -> tuple[str, str]:
        """Its version, and the node that it is on."""
        import ray

        import dialogauge

        return dialogauge.__version__, ray.get_runtime_context().get_node_id()

    def do(self, fold: int, work: list[Any], item: bytes, before: list[Any]) -> tuple[tuple[Any, ...], Any]:
        """An item's answer, and its part; added to the part `before`, where there is one."""
        import ray

        if fold != self.fold:
            self.worker.take(ray.get(work[0]))
            self.fold = fold
        kind, *content = self.worker.do(item)
        if kind != "part":
            return (kind, *content), None
        part, aside = content
        return _added(before, [part], aside)

    def sum(self, parts: list[Any]) -> tuple[tuple[Any, ...], Any]:
        """The sum of two parts."""
        return _added(parts, [], None)


def _added(references: list[Any], parts: list[Any], aside: Any) -> tuple[tuple[Any, ...], Any]:
    """What is answered for the sum of all, and the sum; ("lost", places) where references lead nowhere any more."""
    import ray
    from ray.exceptions import ObjectLostError

    found, lost = [], []
    for place, reference in enumerate(references):
        try:
            found.append(ray.get(reference))
        except ObjectLostError:
            lost.append(place)
    if lost:
        return ("lost", lost), None
    try:
        return ("part", aside), reduce(add, found + parts)
    except MemoryError:
        return ("memory",), None
