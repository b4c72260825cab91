"""The parts of the page that its script fills: the list of replies, one reply with its context, and the points of a
metric against people or another metric."""

from __future__ import annotations

from importlib.resources import files

from dialogauge.figures.report.turns import ReportTurns

SCRIPTS = ("turns.js", "selection.js", "list.js", "reply.js", "scatter.js", "controls.js", "replies.js")
"""In the order in which they stand on each other."""
PRINTED = 30
"""Replies of the list that go on paper."""


def replies_section(turns: ReportTurns) -> str:
    """With the points of two metrics where people rated nothing."""
    two_metrics = not turns.ratings and len(turns.metrics) > 1
    scatter = f'<div id="scatter"><h3>Two metrics, reply by reply</h3>\n{_SCATTER}</div>' if two_metrics else ""
    why = "" if turns.texts else f'<p class="replies-note">{NO_TEXTS}</p>'
    return f"""<section id="replies" aria-labelledby="replies-title" data-printed="{PRINTED}">
<h2 id="replies-title">Replies</h2>
<p class="replies-lead">Every reply with its numbers. Choose one to see what it answers, and what the other systems
said in its place.</p>
{why}
<p class="replies-wait" role="status" hidden>Reading the replies …</p>
<noscript><p class="replies-note">The list of replies needs JavaScript, which is switched off here.</p></noscript>
{_TOOLS}
{_LIST}
{scatter}
</section>
{_REPLY}"""


def people_section(turns: ReportTurns) -> str:
    """The points of a metric against people's ratings; nothing where there are no ratings or no metric's values."""
    if not turns.ratings or not turns.metrics:
        return ""
    return f"""<section id="scatter" aria-labelledby="scatter-title">
<h2 id="scatter-title">Metrics and people, reply by reply</h2>
{_SCATTER}
</section>"""


NO_TEXTS = (
    "The texts of these replies were not kept, so that the list has their names and numbers alone. A run that is "
    "scored without --no-texts, or fewer turns at once, brings them here."
)

_TOOLS = """<form class="replies-tools" role="search" aria-label="Replies" hidden>
<div class="replies-line">
<label class="replies-search"><span>Search</span>
<input type="search" id="replies-query" autocomplete="off" spellcheck="false" dir="auto" disabled></label>
<label><span>in</span> <select id="replies-where"></select></label>
</div>
<div class="replies-line">
<div class="replies-views" role="group" aria-label="Which replies come first">
<button type="button" data-view="file">All, in order</button>
<button type="button" data-view="best">Best</button>
<button type="button" data-view="worst">Worst</button>
<button type="button" data-view="apart">Most disputed</button>
<button type="button" data-view="push">Push a distance most</button>
</div>
<label id="replies-by-label"><span>by</span> <select id="replies-by"></select></label>
<label id="replies-against-label"><span>against</span> <select id="replies-against"></select></label>
</div>
<details id="replies-filters"><summary>Filters <span class="replies-badge" id="replies-active"></span></summary>
<div class="replies-fields">
<fieldset id="replies-systems"><legend>System</legend><div class="replies-chips"></div></fieldset>
<fieldset id="replies-corpora"><legend>Corpus</legend><div class="replies-chips"></div></fieldset>
<fieldset id="replies-flags"><legend>Caveat</legend><div class="replies-chips"></div></fieldset>
<fieldset class="replies-range" id="replies-value"><legend>Value</legend>
<select aria-label="Metric"></select>
<input type="number" step="any" aria-label="Lowest value" placeholder="from">
<input type="number" step="any" aria-label="Highest value" placeholder="to"></fieldset>
<fieldset class="replies-range" id="replies-rating"><legend>Rating</legend>
<select aria-label="Dimension"></select>
<input type="number" step="any" aria-label="Lowest rating" placeholder="from">
<input type="number" step="any" aria-label="Highest rating" placeholder="to"></fieldset>
</div>
</details>
<div class="replies-line replies-status">
<p><strong id="replies-count" role="status"></strong> <span id="replies-view"></span></p>
<button type="button" id="replies-clear" hidden>Clear search and filters</button>
<label><span>Sort</span> <select id="replies-sort"></select></label>
<button type="button" id="replies-direction"></button>
<details id="replies-columns"><summary>Columns</summary><div class="replies-menu"></div></details>
</div>
</form>"""

_LIST = """<div class="replies-empty" hidden><p>No reply is like this.</p>
<button type="button">Clear search and filters</button></div>
<div class="replies-list" id="replies-list" role="grid" aria-label="Replies" aria-describedby="replies-keys" hidden>
<div role="rowgroup" class="replies-head"></div>
<div role="rowgroup" class="replies-rows"></div>
</div>
<p class="replies-note" id="replies-end" hidden></p>
<p class="replies-keys" id="replies-keys" hidden>Arrow keys, Page Up, Page Down, Home and End move through the list;
Enter opens a reply; Escape closes it.</p>
<div class="replies-print"></div>"""

_SCATTER = """<noscript><p class="replies-note">The points need JavaScript, which is switched off here.</p></noscript>
<div class="scatter-tools" hidden>
<label><span>Up</span> <select id="scatter-up"></select></label>
<label><span>Across</span> <select id="scatter-across"></select></label>
<div class="scatter-legend" role="group" aria-label="Systems shown"></div>
</div>
<div class="scatter-plot" hidden>
<canvas id="scatter-canvas" tabindex="0" role="img" aria-describedby="scatter-keys"></canvas>
<div class="scatter-card"></div>
</div>
<p class="replies-keys" id="scatter-keys" hidden>Point at a reply, or walk through them: left and right by the one
number, up and down by the other. Enter or a click opens the reply. The list of replies has the same numbers.</p>"""

_REPLY = """<dialog id="reply" aria-labelledby="reply-title">
<header class="reply-head">
<h2 id="reply-title"></h2>
<p id="reply-place"></p>
<div class="reply-steps">
<button type="button" id="reply-back" aria-label="Previous reply" title="Previous (left arrow)">‹</button>
<button type="button" id="reply-on" aria-label="Next reply" title="Next (right arrow)">›</button>
<button type="button" id="reply-close" aria-label="Close" title="Close (Escape)">×</button>
</div>
</header>
<div class="reply-body" tabindex="0" autofocus></div>
</dialog>"""


def _script() -> str:
    """One function around all parts, which shares nothing with the rest of the page."""
    parts = "\n".join(_data(name) for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


def _data(name: str) -> str:
    return files("dialogauge.figures.report").joinpath(f"data/replies/{name}").read_text(encoding="utf-8")


SCRIPT = _script()
STYLE = _data("replies.css")
