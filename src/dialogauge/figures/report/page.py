"""One HTML page that shows what was measured, how sure it is, and the replies behind it. It opens from disk with no
server and no request: style, script and data are inside, and its policy lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from dialogauge.agreement.result import MEAN, Agreement
from dialogauge.errors import InputError
from dialogauge.evaluation.comparison import Comparison
from dialogauge.evaluation.digits import check_digits
from dialogauge.evaluation.kept.save import provenance
from dialogauge.figures.report import replies
from dialogauge.figures.report.content import Origin, ReportContent, Reported, file_name, report_content
from dialogauge.figures.report.export import Exports
from dialogauge.figures.report.made import made_section
from dialogauge.figures.report.sections import (
    agreement_section,
    answer_section,
    no_replies_section,
    pairs_section,
    scores_section,
    spreads_section,
)
from dialogauge.figures.report.turns import data_block
from dialogauge.files import check_writable_file, whole_file
from dialogauge.tables import counted, cut, first_few, html_escape, printable

ENDINGS = (".html", ".htm")
LONGEST_TITLE = 90
NAVIGATION = {
    "answer": "Answer",
    "scores": "Scores",
    "pairs": "Pairs",
    "agreement": "Agreement",
    "scatter": "Scatter",
    "spreads": "Values",
    "replies": "Replies",
    "made": "How it was made",
}


def check_report_path(path: str | Path, inputs: Iterable[str | Path] = ()) -> Path:
    """The path, if a page can be written there: asked before any work is done. It is none of the `inputs`."""
    path = Path(path)
    check_writable_file(path, overwrite=True, inputs=map(Path, inputs))
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"expected a name that ends in {' or '.join(ENDINGS)} for a page", path)
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"cannot be written: no permission to write in {folder}", path)
    return path


def write_report(
    result: Reported,
    path: str | Path,
    *,
    command: Sequence[str] | None = None,
    names: Mapping[str, str] | None = None,
    digits: int | None = None,
    texts: bool = True,
    progress: bool = False,
) -> Path:
    """Writes one HTML page with the answer, every score with its interval, the replies behind them, and how it was
    made. It opens offline, holds the texts of all turns that are at hand, and is the same for the same result.

    Args:
        result: What `evaluate`, `compare` or `correlate` gave.
        path: The file, which is replaced where it is there already.
        command: The command line that made the result, for the page to show.
        names: Names to show for metrics and systems, as {"bleu": "BLEU-4"}.
        digits: Decimals of every value, in place of as many as intervals justify.
        texts: Whether the page holds the turns' texts, which whoever has it can read.
        progress: Whether stderr shows how far the tests of pairs have come.

    Examples:
        >>> import dialogauge
        >>> result = dialogauge.evaluate("examples/everyday.jsonl", "rouge_l,length")
        >>> dialogauge.write_report(result, "report.html").name
        'report.html'
    """
    path = check_report_path(path)
    check_digits(digits)
    origin = Origin(command, provenance(None)["versions"])
    content = report_content(result, origin, names=names, digits=digits, texts=texts, progress=progress)
    return write_page(content, path)


def write_page(content: ReportContent, path: Path) -> Path:
    """The file is either whole or absent."""
    page = report_page(content).encode("utf-8")
    with whole_file(path, overwrite=True) as file:
        file.write(page)
    return path


def report_page(content: ReportContent) -> str:
    """The page as text."""
    exports, turns = Exports(), content.turns
    sections = {
        "answer": answer_section(content),
        "scores": scores_section(content, exports),
        "pairs": pairs_section(content, exports),
        "agreement": agreement_section(content, exports),
        "scatter": replies.people_section(turns) if turns else "",
        "spreads": spreads_section(content),
        "replies": replies.replies_section(turns) if turns else no_replies_section(content),
        "made": made_section(content, exports),
    }
    shown = {name: section for name, section in sections.items() if section}
    style, script = _data("page.css") + replies.STYLE, _data("page.js") + replies.SCRIPT
    title, about = _title(content.result)
    links = "".join(f'<li><a href="#{name}">{NAVIGATION[name]}</a></li>' for name in shown)
    body = "\n".join(shown.values())
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="dialogauge">
<title>{html_escape(title)} – dialogauge report</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#answer">To the answer</a>
<header class="top">
<p class="brand">dialogauge</p>
<nav aria-label="Sections"><ul>{links}</ul></nav>
<button type="button" id="theme" hidden>Theme</button>
</header>
<main>
<div class="title">
{f'<p class="kind">{html_escape(_kind(content.result))}</p>' if content.result.files else ""}
<h1 dir="auto">{html_escape(title)}</h1>
<p class="about">{html_escape(about)}</p>
</div>
{body}
</main>
<footer><p>Made by dialogauge. Nothing in this page is sent anywhere: it works offline.</p></footer>
<p id="said" role="status" class="unseen"></p>
{exports.block()}
{data_block(turns) if turns else ""}
<script>{script}</script>
</body>
</html>
"""


def _title(result: Reported) -> tuple[str, str]:
    """What it is about, and how much."""
    names = [file_name(file.path) for file in result.files]
    about = "" if isinstance(result, Agreement) else result.contents()
    if isinstance(result, Agreement):
        corpora = [name for name in dict.fromkeys(row.corpus for row in result.rows) if name != MEAN]
        turns = sum(len(part.turns) for part in result.rated)
        about = f"{counted(len(result.metrics), 'metric')} against people's ratings of {counted(turns, 'turn')}"
        if len(corpora) > 1:
            names, about = corpora, f"{about}, {len(corpora)} corpora"
    title = first_few(dict.fromkeys(names), 3) if names else _kind(result)
    return cut(printable(title), LONGEST_TITLE), about


def _kind(result: Reported) -> str:
    if isinstance(result, Agreement):
        return "Agreement with people"
    return "Comparison of systems" if isinstance(result, Comparison) else "Scores of systems"


def _policy(style: str, script: str) -> str:
    """Nothing but this style and this script: no request, no frame, no form, no eval."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )


def _data(name: str) -> str:
    return files("dialogauge.figures.report").joinpath(f"data/{name}").read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"
