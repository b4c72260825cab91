"""A report of many turns: how large it is, how soon it can be used, and how long a search takes.

    python -m benchmarks.report [TURNS]

Texts are made of the words of the examples (tests/browser/many.py); the page is opened in the tests' Chromium.
"Usable" is when the first rows stand in the table and its search can be typed into, counted from opening the file.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright
from tests.browser import chromium
from tests.browser.many import LAST_WORD, write_many

import dialogauge
from dialogauge.tables import Cell, Header, Table, to_text

METRICS = "bleu,rouge_l,length,distinct"
OPENINGS = 5
ROWS = "document.querySelector('.replies-rows')"
QUERY = "document.querySelector('#replies-query')"
USABLE = f"{QUERY}?.checkVisibility() && {ROWS}.querySelector('[role=row]')"
TO_THE_END = "const list = document.querySelector('#replies-list'); list.scrollTop = list.scrollHeight"
LAST_SHOWN = f"{ROWS}.textContent.includes('{LAST_WORD}')"
SEARCH = f"{QUERY}.value = '{LAST_WORD}'; {QUERY}.dispatchEvent(new Event('input', {{bubbles: true}}))"
FOUND = f"{ROWS}.querySelectorAll('[role=row]').length === 1 && {LAST_SHOWN}"


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        corpus = write_many(Path(folder) / "many.jsonl", count)
        path = Path(folder) / "report.html"
        result = dialogauge.evaluate(str(corpus), METRICS, resamples=200)
        started = time.perf_counter()
        dialogauge.write_report(result, path)
        made = time.perf_counter() - started
        opened, searched, last = zip(*(_look(path) for _ in range(OPENINGS)), strict=True)
        size = path.stat().st_size
    rows = [
        ("size of the file, MB", f"{size / 1e6:.1f}", ""),
        ("making the page, s", f"{made:.2f}", ""),
        ("until usable, s", f"{sorted(opened)[OPENINGS // 2]:.2f}", f"{max(opened):.2f}"),
        ("a search, s", f"{sorted(searched)[OPENINGS // 2]:.2f}", f"{max(searched):.2f}"),
        ("to the last row, s", f"{sorted(last)[OPENINGS // 2]:.2f}", f"{max(last):.2f}"),
    ]
    headers = [Header(f"{count:,} turns", align="left"), Header("median"), Header("slowest")]
    notes = [f"{METRICS}, 4 systems; {OPENINGS} openings, each in a new browser"]
    print(to_text(Table(headers, [[Cell(text) for text in row] for row in rows], notes)))


def _look(path: Path) -> tuple[float, float, float]:
    """Seconds until the page is usable, of a search, and of the way to the last row, by the page's own clock."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**chromium.install().launch_options())
        page = browser.new_page()
        page.goto(path.as_uri(), wait_until="commit")
        opened = page.evaluate(_until(USABLE))
        last = page.evaluate(_until(LAST_SHOWN, after=TO_THE_END))
        searched = page.evaluate(_until(FOUND, after=SEARCH))
        browser.close()
    return opened, searched, last


def _until(seen: str, after: str = "") -> str:
    """JavaScript for the seconds until something is `seen`, `after` something was done, or else since the opening."""
    return f"""(async () => {{
        const start = {"performance.now()" if after else "0"};
        {after};
        while (!({seen})) await new Promise(requestAnimationFrame);
        return (performance.now() - start) / 1000;
    }})()"""


if __name__ == "__main__":
    main()
