"""What the tests of the cache share."""

import subprocess
import sys
from hashlib import shake_256
from pathlib import Path

MIB = 1 << 20
ROOT = Path(__file__).resolve().parents[3]


def made(count: int, size: int = 1536, start: int = 0) -> dict[bytes, bytes]:
    """Entries whose values follow from their keys."""
    keys = [b"key %d" % number for number in range(start, start + count)]
    return {key: shake_256(key).digest(size) for key in keys}


def on_disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def run(program: str, *arguments: object) -> str:
    """What a program prints that runs in a process of its own."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout
