"""A person at the rating page: reads what is shown, and answers by the keyboard alone."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect


class Person:
    def __init__(self, page: Page) -> None:
        self.page = page
        self.form: Locator = page.locator("form.asked")
        self.given: dict[tuple[str, ...], list[object]] = {}
        """What was answered to items that count, by what was shown."""

    def said(self) -> tuple[str, ...]:
        """The conversation on the screen, its reply last."""
        return tuple(self.page.locator(".bubble").all_inner_texts())

    def place(self) -> str:
        """ "Item 3 of 8"."""
        return self.page.locator(".place").inner_text()

    def is_practice(self) -> bool:
        return self.place().startswith("Practice")

    def fits(self) -> bool:
        """Whether the reply is about what was asked for; both name one topic."""
        *_, asked, reply = self.said()
        return re.sub(r".* about |\W+$", "", asked) in reply

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def agree(self) -> None:
        self.press("Tab", "Enter")
        expect(self.form).to_be_visible()

    def goes_on(self, before: str) -> None:
        expect(self.page.locator(".place")).not_to_have_text(before)
