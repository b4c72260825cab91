"""The list of replies of a page, as a reader uses it."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Locator, Page, expect


class Replies:
    def __init__(self, page: Page) -> None:
        self.page = page
        self.search = page.get_by_role("searchbox", name="Search")
        self.list = page.get_by_role("grid", name="Replies")
        self.rows = self.list.locator(".replies-rows").get_by_role("row")
        self.count = page.locator("#replies-count")
        self.reply = page.get_by_role("dialog")
        expect(self.search).to_be_visible()
        expect(self.rows.first).to_be_visible()

    def head(self, name: str) -> Locator:
        return self.list.get_by_role("columnheader", name=name)

    def sort(self, name: str) -> None:
        self.head(name).get_by_role("button").click()

    def texts(self) -> list[str]:
        """The replies in sight, from the first on."""
        return self.rows.locator(".replies-reply").all_text_contents()

    def numbers(self, name: str) -> list[float]:
        """A column of the rows in sight, from the first on."""
        heads = self.list.get_by_role("columnheader").all_text_contents()
        place = next(i for i, head in enumerate(heads) if re.sub(r" [↑↓]$", "", head) == name)
        cell = "(rows, place) => rows.map(row => row.querySelectorAll('[role=gridcell]')[place].innerText)"
        cells = self.look(cell, place)
        return [float(cell.replace("−", "-")) for cell in cells]

    def look(self, function: str, argument: Any = None) -> Any:
        """What a function says of the rows in sight. The page finds them and looks at them in one step: between two it
        may draw them anew."""
        rows = "[...list.querySelectorAll('.replies-rows [role=row]')]"
        return self.list.evaluate(f"(list, argument) => ({function})({rows}, argument)", argument)

    def open_first(self) -> Locator:
        self.rows.first.click()
        expect(self.reply).to_be_visible()
        return self.reply
