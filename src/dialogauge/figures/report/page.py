"""One HTML page that shows what was measured, how sure it is, and the replies behind it. It opens from disk with no
server and no request: style, script and data are inside, and its policy lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from dialogauge import tables
from dialogauge.agreement.result import Agreement
from dialogauge.evaluation.comparison import Comparison
from dialogauge.evaluation.result import Result
from dialogauge.files import check_writable_file, whole_file
from dialogauge.tables import html_escape


def check_report_path(path: str | Path) -> Path:
    """The path, if a page can be written there: asked before any work is done."""
    path = Path(path)
    check_writable_file(path, overwrite=True)
    return path


def write_report(result: Result | Comparison | Agreement, path: str | Path) -> Path:
    """Writes the page of a result."""
    path = check_report_path(path)
    page = report_page(result)
    with whole_file(path, overwrite=True) as file:
        file.write(page.encode("utf-8"))
    return path


def report_page(result: Result | Comparison | Agreement) -> str:
    answer = "" if result.answer is None else " ".join(result.answer.sentences())
    style, script = _data("page.css"), _data("page.js")
    sections = [f'<section id="answer"><h1>dialogauge report</h1><p>{html_escape(answer)}</p></section>']
    sections += [tables.to_html(table) for table in result.all_tables()]
    data = ""
    if find_spec("dialogauge.figures.report.replies"):
        from dialogauge.figures.report import replies, turns

        style, script = style + replies.STYLE, script + replies.SCRIPT
        found = turns.turns_of_agreement(result) if isinstance(result, Agreement) else turns.turns_of_result(result)
        if found is not None:
            sections += [replies.people_section(found), replies.replies_section(found)]
            data = turns.data_block(found)
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}"
    body = "\n".join(sections)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>dialogauge report</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
{data}
<script>{script}</script>
</body>
</html>
"""


def _data(name: str) -> str:
    return files("dialogauge.figures.report").joinpath(f"data/{name}").read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"
