"""How much of the machine this process may use."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")


def usable_cores() -> int:
    """The cores that this process may run on, and no more than its control group's share of time (cgroup v2's
    `cpu.max`) fills."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min(cores, math.ceil(_quota())))


def _quota() -> float:
    """Seconds of computing that every second has, in the tightest of the groups around this process."""
    least = math.inf
    with suppress(OSError):
        group = next(
            (line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::")), "/"
        )
        folder = CGROUPS / group.lstrip("/")
        for level in (folder, *folder.parents):
            least = min(least, _share(level / "cpu.max"))
            if level == CGROUPS:
                break
    return least if math.isfinite(least) else 10**6


def _share(file: Path) -> float:
    try:
        quota, period = file.read_text().split()
        return math.inf if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return math.inf


def count_gpus() -> int:
    """Imports torch, where it is installed."""
    try:
        import torch
    except ImportError:
        return 0
    return torch.cuda.device_count() if torch.cuda.is_available() else 0
