"""The picture of a report that README.md and docs/report.md show.

python -m tests.browser.picture    # writes docs/report.png
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser import chromium
from tests.browser.pages import EXAMPLES, call

PICTURE = EXAMPLES.parent / "docs" / "report.png"
WIDTH, HEIGHT, SHARPNESS = 1200, 890, 1.5
COLOURS = 64


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "report.html"
        call("score", EXAMPLES / "everyday.jsonl", "--quiet", "--html", path)
        browser = playwright.chromium.launch(**chromium.install().launch_options())
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=SHARPNESS)
        page.goto(path.as_uri())
        image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        browser.close()
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
