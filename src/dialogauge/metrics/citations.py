"""Whom to cite for a metric: BibTeX entries, from data/citations.bib or from the metric itself."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from dialogauge import __version__
from dialogauge.errors import InputError
from dialogauge.metrics.registry import metric_class

OURS = "dialogauge"
RECIPES = {"compat:fbd-paper": "xiang2021assessing"}
"""For a recipe that a signature names, whose it is."""
KEY = re.compile(r"@\w+\{\s*([^\s,]+)\s*,")


@cache
def entries() -> dict[str, str]:
    """The BibTeX entries that come with dialogauge, and that of itself, by their keys."""
    text = files("dialogauge.metrics").joinpath("data/citations.bib").read_text(encoding="utf-8")
    ours = (
        f"@misc{{{OURS},\n"
        "  author = {{The dialogauge authors}},\n"
        "  title = {dialogauge: how good a dialogue system's responses are, and how far each measure can be trusted},\n"
        f"  note = {{Version {__version__}}}\n"
        "}"
    )
    return {KEY.match(entry)[1]: entry for entry in (ours, *text.strip().split("\n\n"))}  # type: ignore[index]


def cited(signature: str) -> dict[str, str]:
    """The entries for the metric that a signature is of, by their keys; none where it is not known here."""
    name, *parts = signature.split("|")
    try:
        given = getattr(metric_class(name), "citations", ())
    except InputError:  # of a kept run, by a package that is not installed here
        given = ()
    found = {}
    for item in (*given, *(RECIPES[part] for part in parts if part in RECIPES)):
        key = KEY.match(item)
        if key:
            found[key[1]] = item.strip()
        elif item in entries():
            found[item] = entries()[item]
    return found
