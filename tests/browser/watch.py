"""What a page does beside being shown: whatever is noted here, a report must never do."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Page, Request


class Watch:
    """Notes errors (violations of the policy among them), dialogs, windows and requests of a context's pages."""

    def __init__(self, context: BrowserContext) -> None:
        self.noted: list[str] = []
        self.home = ""
        context.on("console", self._console)
        context.on("weberror", lambda error: self.noted.append(f"error: {error.error}"))
        context.on("request", self._request)
        context.on("dialog", self._dialog)
        context.on("page", self._page)

    def _console(self, message: ConsoleMessage) -> None:
        self.noted.append(f"console {message.type}: {message.text}")

    def _request(self, request: Request) -> None:
        # A blob is made by the page itself, for a download.
        if request.url.partition("#")[0] != self.home and not request.url.startswith("blob:"):
            self.noted.append(f"request: {request.url[:200]}")

    def _dialog(self, dialog: Dialog) -> None:
        self.noted.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _page(self, page: Page) -> None:
        if self.home:
            self.noted.append(f"window: {page.url}")
        page.on("crash", lambda _: self.noted.append("crash"))
