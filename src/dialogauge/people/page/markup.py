"""Text as HTML: nothing that a file, a rater or an organiser wrote becomes markup."""

from __future__ import annotations

import html
import re
from importlib.resources import files

UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""Characters that HTML or UTF-8 cannot hold, or that nobody could see."""
ASSETS = {"page.css": "text/css", "keys.js": "text/javascript", "icon.svg": "image/svg+xml"}


def text(value: str) -> str:
    """The text, safe inside an element and inside a quoted attribute. What cannot be seen stands as its sign (␛), half
    a pair of surrogates as �; lines end as they did."""
    return html.escape(UNSEEN.sub(_sign, value)).replace("\r", "&#13;")


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"


def asset(name: str) -> bytes:
    return files("dialogauge.people.page").joinpath("data", name).read_bytes()


def document(title: str, main: str, *, top: str = "", kind: str = "") -> str:
    """A whole page. Style and script are files of their own: the policy lets nothing else in."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{text(title)}</title>
<link rel="icon" href="/asset/icon.svg">
<link rel="stylesheet" href="/asset/page.css">
<script src="/asset/keys.js" defer></script>
</head>
<body{f' class="{kind}"' if kind else ""}>
{top}<main id="main">
{main}
</main>
</body>
</html>
"""
