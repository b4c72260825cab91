"""Work on a Ray cluster, by actors of our own: which of them has what, and what becomes of it when one dies. Ray's own
tasks and retries are not used: they know nothing of what an item is, and give it up, or try it for ever."""

from __future__ import annotations

import os
import platform
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

from dialogauge.engines.fold import Block, Engine, ItemT, PartT, Work, sibling
from dialogauge.engines.processes import packed, thread_variables
from dialogauge.engines.ray_cluster import Cluster
from dialogauge.engines.ray_worker import RayWorker
from dialogauge.engines.schedule import TRIES, FoldSchedule, Leaf
from dialogauge.errors import InputError, WorkFailed

LONGEST_START = 600.0
"""Seconds until the first actor answers, where a cluster is busy with other work."""
LISTEN = 5.0
HANDED_ON = ("DIALOGAUGE_ANY_SIZE", "HF_HUB_OFFLINE")
"""Variables of the driver that its workers have, too. Credentials are those of their own machines."""


@dataclass
class Addition:
    """Two neighbouring blocks, with references to their parts."""

    left: Block
    right: Block
    parts: list[Any]
    tries: int = 0

    @property
    def block(self) -> Block:
        return self.left[0], self.right[1]


@dataclass
class SumTree:
    """What is to be added next, in the order of an `OrderedSum`; the adding is done elsewhere."""

    count: int
    parts: dict[Block, Any] = field(default_factory=dict)
    additions: deque[Addition] = field(default_factory=deque)

    def put(self, block: Block, part: Any) -> None:
        other = sibling(block, self.count) if block != (0, self.count) else block
        if other == block or other not in self.parts:
            self.parts[block] = part
            return
        (left, first), (right, second) = sorted(
            [(block, part), (other, self.parts.pop(other))], key=lambda each: each[0]
        )
        self.additions.append(Addition(left, right, [first, second]))

    @property
    def total(self) -> Any:
        return self.parts.get((0, self.count))


@dataclass(eq=False)
class Actor(Generic[ItemT]):
    """An actor, and what it has at hand."""

    handle: Any
    place: str | None
    """The node that it was made for, where it was made for one."""
    node: str | None = None
    """Where it is, once it has answered; before, it is given nothing."""
    leaf: Leaf[ItemT] | None = None
    addition: Addition | None = None
    part: Any = None
    """A reference to what it makes."""


class RayActors(Engine):
    """As many actors of one core each as are asked for, or as the cluster has cores; for encoders and learned models
    one for each GPU, and without a GPU one on each node with as many threads as that has cores."""

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        super().__init__()
        self.cluster = Cluster(address, workers)
        self.workers = workers
        self.pool: ActorPool | None = None

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
        if self.pool is not None and self.pool.threads != threads:
            self.pool.end(self.pool.actors)  # they hold the cores that the others need
            self.pool = None
        if self.pool is None:
            self.pool = ActorPool(self.cluster, threads, self.workers)
        total: PartT = self.pool.fold(packed(work), FoldSchedule(work, items, aside, done, self.made_up))
        return total

    def close(self) -> None:
        if self.pool is not None:
            self.pool.end(self.pool.actors)
            self.pool = None
        self.cluster.close()


class ActorPool:
    """Actors that are kept from one fold to the next."""

    def __init__(self, cluster: Cluster, threads: bool, most: int | None) -> None:
        self.cluster, self.threads, self.most = cluster, threads, most
        self.actors: list[Actor[Any]] = []
        self.pending: dict[Any, Actor[Any]] = {}
        """By the reference to the answer that is waited for."""
        self.folds = 0
        self.stillborn = 0
        self.since = time.monotonic()

    def fold(self, work: bytes, schedule: FoldSchedule[Any]) -> Any:
        import ray

        self.folds += 1
        sent, tree = ray.put(work), SumTree(len(schedule.items))
        try:
            while (found := self._total(schedule, tree)) is None:
                self._start(max(1, schedule.left))
                for actor in self.actors:
                    if actor.node is not None and actor.leaf is None and actor.addition is None:
                        self._hand(actor, sent, schedule, tree)
                self._hear(schedule, tree)
        except BaseException:  # Ctrl-C, too
            self.end([actor for actor in self.actors if actor in self.pending.values()])
            raise
        return found[0]

    def _total(self, schedule: FoldSchedule[Any], tree: SumTree) -> list[Any] | None:
        import ray
        from ray.exceptions import ObjectLostError

        if not schedule.over() or tree.total is None:
            return None
        try:
            return [ray.get(tree.total)]
        except ObjectLostError:
            _lose(tree.parts, (0, tree.count), schedule)
            return None

    def _start(self, wanted: int) -> None:
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        for options, place, cores in self._places(wanted):
            threads = thread_variables(cores) | ({} if self.threads else {"TOKENIZERS_PARALLELISM": "false"})
            environment = threads | {name: os.environ[name] for name in HANDED_ON if name in os.environ}
            if place is not None:
                options = options | {"scheduling_strategy": NodeAffinitySchedulingStrategy(place, soft=False)}
            made = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(RayWorker)
            handle = made.options(**options).remote(environment, platform.node())
            actor: Actor[Any] = Actor(handle, place)
            self.actors.append(actor)
            self.pending[handle.hello.remote()] = actor

    def _places(self, wanted: int) -> list[tuple[dict[str, Any], str | None, int]]:
        """What actors are to be made: what is asked of Ray, a node, and how many threads they have."""
        if len(self.actors) >= wanted:
            return []
        nodes, missing = self.cluster.nodes(), wanted - len(self.actors)
        cores = int(sum(node.get("CPU", 0) for node in nodes.values()))
        gpus = int(sum(node.get("GPU", 0) for node in nodes.values())) if self.threads else 0
        if not self.threads:
            return [({}, None, 1)] * min(missing, (self.most or max(1, cores)) - len(self.actors))
        if gpus:
            each = max(1, cores // gpus)
            return [({"num_gpus": 1}, None, each)] * min(missing, gpus - len(self.actors))
        taken = {actor.place for actor in self.actors}
        free = [(node, int(found["CPU"])) for node, found in nodes.items() if found.get("CPU") and node not in taken]
        return [({}, node, min(found, self.most or found)) for node, found in free[:missing]]

    def _hand(self, actor: Actor[Any], work: Any, schedule: FoldSchedule[Any], tree: SumTree) -> None:
        """Sums first, so that few parts are kept."""
        if tree.additions:
            addition = actor.addition = tree.additions.popleft()
            answer, actor.part = actor.handle.sum.options(num_returns=2).remote(addition.parts)
        elif (leaf := schedule.take()) is not None:
            actor.leaf = leaf
            before = [] if leaf.part is None else [leaf.part]
            do = actor.handle.do.options(num_returns=2)
            answer, actor.part = do.remote(self.folds, [work], packed(leaf.item), before)
        else:
            return
        self.pending[answer] = actor

    def _hear(self, schedule: FoldSchedule[Any], tree: SumTree) -> None:
        """Waits until one of them says something, or dies."""
        import ray
        from ray.exceptions import ObjectLostError, OutOfMemoryError, RayActorError, RayTaskError

        if not self.pending:  # as where no machine with a core is there: for nothing at all, Ray does not wait
            time.sleep(LISTEN)
        for reference in ray.wait(list(self.pending), timeout=LISTEN)[0]:
            actor = self.pending.pop(reference)
            try:
                answer = ray.get(reference)
            except (RayActorError, ObjectLostError, OutOfMemoryError) as error:
                self._died(actor, error, schedule, tree)
            except RayTaskError as error:
                self._raised(actor, error, schedule)
            else:
                self._note(actor, answer, schedule, tree)
        if any(actor.node is not None for actor in self.actors):
            self.since = time.monotonic()
        elif time.monotonic() - self.since > LONGEST_START:
            raise WorkFailed(
                f"no worker could start on the Ray cluster within {LONGEST_START / 60:.0f} minutes; its cores are"
                " taken, or its machines are not there: `ray status` shows"
            )

    def _note(self, actor: Actor[Any], answer: Any, schedule: FoldSchedule[Any], tree: SumTree) -> None:
        leaf, addition, part = actor.leaf, actor.addition, actor.part
        actor.leaf = actor.addition = actor.part = None
        if leaf is not None:
            _note_leaf(answer, leaf, part, schedule, tree)
        elif addition is not None:
            _note_addition(answer, addition, part, schedule, tree)
        else:
            version, actor.node = answer
            self.stillborn = 0
            _refuse_other(version)

    def _died(self, actor: Actor[Any], error: Exception, schedule: FoldSchedule[Any], tree: SumTree) -> None:
        self.end([actor])
        how, killed = _how(error, actor.node, self.cluster)
        if actor.leaf is not None:
            schedule.died(actor.leaf, how, killed)
        elif actor.addition is not None:
            schedule.made_up["died"] += 1
            actor.addition.tries += 1
            if actor.addition.tries >= TRIES:
                raise WorkFailed(f"{TRIES} workers died while parts were added; the last one {how}")
            tree.additions.appendleft(actor.addition)
        else:
            self.stillborn += 1
            if self.stillborn >= TRIES:
                raise WorkFailed(f"Ray's workers do not start: the last one {how}: {_last_line(error)}")

    def _raised(self, actor: Actor[Any], error: Any, schedule: FoldSchedule[Any]) -> None:
        """Of what a worker does, all but sending its part is an answer, whatever is raised."""
        if actor.leaf is None:
            raise error
        leaf, actor.leaf = actor.leaf, None
        problem = InputError(f"what was measured cannot be sent to another process: {_last_line(error)}")
        schedule.failed(leaf, problem)

    def end(self, actors: Sequence[Actor[Any]]) -> None:
        import ray

        for actor in actors:
            ray.kill(actor.handle)
        self.actors = [actor for actor in self.actors if actor not in actors]
        self.pending = {reference: actor for reference, actor in self.pending.items() if actor not in actors}


def _note_leaf(answer: tuple[Any, ...], leaf: Leaf[Any], part: Any, schedule: FoldSchedule[Any], tree: SumTree) -> None:
    kind, *content = answer
    if kind == "failed":
        schedule.failed(leaf, content[0])
    elif kind == "memory":
        schedule.out_of_memory(leaf)
    elif kind == "lost":
        schedule.lost(leaf)
    elif schedule.finished(leaf, part, content[0]):
        tree.put((leaf.index, leaf.index + 1), part)


def _note_addition(
    answer: tuple[Any, ...], addition: Addition, part: Any, schedule: FoldSchedule[Any], tree: SumTree
) -> None:
    kind, *content = answer
    if kind == "memory":
        raise WorkFailed("there is too little memory on the cluster to add two parts; fewer workers leave more to each")
    if kind == "part":
        tree.put(addition.block, part)
        return
    for place, block in enumerate((addition.left, addition.right)):
        tree.parts[block] = addition.parts[place]
        if place in content[0]:
            _lose(tree.parts, block, schedule)


def _lose(parts: dict[Block, Any], block: Block, schedule: FoldSchedule[Any]) -> None:
    """A part was on a machine that is not there any more: what it was added from is done again."""
    del parts[block]
    for index in range(*block):
        schedule.lost(schedule.leaves[index])


def _refuse_other(version: str) -> None:
    from dialogauge import __version__

    if version != __version__:
        raise InputError(f"the Ray cluster has dialogauge {version}, this is {__version__}: install one version on all")


def _how(error: Exception, node: str | None, cluster: Cluster) -> tuple[str, bool]:
    """How a worker ended, and whether that may be for want of memory."""
    from ray.exceptions import OutOfMemoryError

    if isinstance(error, OutOfMemoryError) or "memory monitor" in str(error):
        return "was ended by Ray, since its machine had too little memory", True
    if "node has died" in str(error) or (node is not None and node not in cluster.nodes()):
        return "was on a machine that went away", False
    return "was killed or crashed", True


def _last_line(error: Exception) -> str:
    return str(error).strip().rpartition("\n")[2].strip()
