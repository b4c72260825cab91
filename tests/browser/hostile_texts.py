"""Texts that would do harm in a page that takes them for anything but texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HARM = "window.__ran=(window.__ran||0)+1"
MARKUP = (
    f"<script>{HARM}</script>",
    f"</script><script>{HARM}</script>",
    f"--></style></title></textarea></svg></template><img src=x onerror={HARM}>",
    f"]]><svg onload={HARM}>",
    f"<!--<script>{HARM}",
    f'" onmouseover="{HARM}" autofocus onfocus="{HARM}" x="',
    f"' onclick='{HARM}'",
    f"<iframe srcdoc='<script>parent.{HARM}</script>'></iframe>",
    f"<a href=javascript:{HARM}>press</a>",
    f"javascript:{HARM}",
    '<meta http-equiv="refresh" content="0;url=https://example.org/">',
    "<base href=https://example.org/><link rel=stylesheet href=//example.org/x.css>",
    "<style>*{display:none}</style>",
    "<b>bold</b> &amp; &lt;i&gt; &#60;u&#62;",
    f"${{{HARM}}} {{{{constructor.constructor('{HARM}')()}}}} `{HARM}`",
    f'\\"}};{HARM};//',
    f"\\u003cscript>{HARM}\\u003c/script>",
)
CHARACTERS = (
    "line\u2028separator \u2029paragraph",
    "bidi \u202eesrever\u202c \u2066isolate\u2069 \u200fmark",
    "open \u202e\u2067\u202d never closed",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 bell",
    "nul \x00 and \x08 back",
    "شكرا جزيلا لك",
    "שלום עולם",
    "你好 😀 👩‍👩‍👧 é e\u0301 Z̷̡͘a̵l̴g̶o̷",
    "\ufeffbom \u00ad soft \u200b zero",
    "tab\there\r\nline",
)
HALF = "lone \ud800 high and \udfff low"
"""Half of a pair, which no file may hold; Python's strings do."""
FORMULAS = ("=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1)", '=HYPERLINK("https://example.org","x")')
NAMES = ("__proto__", "constructor", "toString", "hasOwnProperty", "length", "null", "undefined", "NaN", "../../etc")
LONG = ("w" * 5000, "long " * 2000)
TEXTS = (*MARKUP, *CHARACTERS, *FORMULAS, *NAMES, *LONG)


def turns() -> list[dict[str, Any]]:
    """Each text in every field that a file of turns has; first as a system of its own, then of a plain one."""
    return [
        {
            "id": f"{i} {text}",
            "context": [f"context {text}", f"and {text}"],
            "response": f"{said} {i} {text}",
            "references": [f"reference {text}"],
            "facts": [f"fact {text}"],
            "system": system or text,
            "ratings": {"overall": [1 + i % 5, 1 + (i + len(system)) % 5], f"how {text}": [i % 3]},
            f"extra {text}": i / 7,
        }
        for said, system in (("reply", ""), ("other reply", "plain"))
        for i, text in enumerate(TEXTS)
    ]


def write_turns(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
