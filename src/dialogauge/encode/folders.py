"""Where things are kept between runs."""

from __future__ import annotations

import os
from pathlib import Path

from dialogauge.files import expanded


def cache_folder() -> Path:
    """$DIALOGAUGE_CACHE, else the user's cache folder. Everything in it can be deleted at any time."""
    if given := os.environ.get("DIALOGAUGE_CACHE"):
        return expanded(given)
    from platformdirs import user_cache_path

    return user_cache_path("dialogauge", appauthor=False, opinion=False)
