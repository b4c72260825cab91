"""The picture of a rating page that README.md and docs/rate.md show.

python -m tests.browser.rating.picture    # writes docs/rate.png
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from dialogauge import load
from dialogauge.people.rating.questions import parse_questions
from dialogauge.people.rating.settings import StudySettings
from dialogauge.people.rating.study import Study
from tests.browser import chromium
from tests.browser.pages import EXAMPLES
from tests.browser.rating.conftest import running

PICTURE = EXAMPLES.parent / "docs" / "rate.png"
WIDTH, HEIGHT, SHARPNESS = 1200, 560, 1.5
COLOURS = 64
ASKED = ("coherence 1-5: Does the reply fit what was said before?", "overall 0-100: How good is it, all in all?")
SHOWN = "Did you manage to finish the sales report"


def main() -> None:
    settings = StudySettings(questions=parse_questions(ASKED), raters=1, people=1, practice=(), check_every=0)
    corpus = load(str(EXAMPLES / "everyday.jsonl")).select(["good"])
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Study.create(Path(folder) / "study", corpus, settings)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(**chromium.install().launch_options())
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=SHARPNESS)
        page.goto(f"{server.origin}/r/{next(iter(server.app.study.links.raters.values()))}")
        page.get_by_role("button", name="I agree").click()
        while SHOWN not in page.locator(".chat").inner_text():
            page.keyboard.press("4")
            page.get_by_role("spinbutton").fill("70")
            page.get_by_role("button", name="Next").click()
        page.get_by_label("5").check()
        page.get_by_role("spinbutton").fill("82")
        image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        browser.close()
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
