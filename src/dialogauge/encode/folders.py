"""Where things are kept between runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from dialogauge.files import expanded


def cache_folder() -> Path:
    """$DIALOGAUGE_CACHE, else the user's cache folder. Everything in it can be deleted at any time."""
    if given := os.environ.get("DIALOGAUGE_CACHE"):
        return expanded(given)
    if sys.platform == "win32":
        home = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        home = Path.home() / "Library" / "Caches"
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "dialogauge"
