"""What axe-core finds in a page that people without eyes, hands or full colour vision would miss."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from tests.browser.chromium import AXE_SCRIPT

GRAVE = ("serious", "critical")


def violations(page: Page, *, grave_only: bool = True) -> list[str]:
    """One line each. The script comes in by the debugger's door, which a page's policy does not rule."""
    page.evaluate(AXE_SCRIPT.read_text(encoding="utf-8") + ";undefined")
    found: list[dict[str, Any]] = page.evaluate("axe.run(document).then(result => result.violations)")
    return [
        f"{rule['impact']} {rule['id']}: {node['html'][:150]} ({node['failureSummary'].splitlines()[-1].strip()})"
        for rule in found
        if not grave_only or rule["impact"] in GRAVE
        for node in rule["nodes"]
    ]
