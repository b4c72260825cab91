"""How a result was made, so that others can make it again and cite what it stands on."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath

from dialogauge.agreement.result import Agreement
from dialogauge.errors import InputError
from dialogauge.evaluation.result import Result, column_signatures
from dialogauge.figures.report.content import ReportContent, Reported, file_name, without_folders
from dialogauge.figures.report.export import Exports
from dialogauge.metrics.registry import metric_class
from dialogauge.tables import Cell, Header, Table, html_escape, running_text, to_html

PATHS = ("--out", "--html", "--plot", "--figures", "--real", "--ratings")
"""Options whose value is a file or a folder."""
PROGRAM = "dialogauge"
TYPES = {"f32": "float32", "bf16": "bfloat16"}
WORDS = {
    "model": "model {}",
    "enc": "encoder {}",
    "maxlen": "texts cut after {} tokens",
    "dtype": "numbers of type {}",
    "layer": "layer {}",
    "pool": "pooled by {}",
    "context": "context: the last {} utterances",
    "pair": "context and response read together: {}",
    "history": "history: {}",
    "real": "real side: {}",
    "refs": "references weigh {}",
    "tok": "tokeniser {}",
    "words": "words as {} finds them",
    "smooth": "smoothing {}",
    "order": "n-grams up to {}",
    "lowercase": "lower-cased: {}",
    "stem": "stemming: {}",
    "syn": "synonyms of {}",
    "idf": "weighted by idf: {}",
    "baseline": "rescaled with a baseline: {}",
    "mean": "difference of means: {}",
    "cov": "covariance: {}",
    "est": "estimator: {}",
    "clusters": "{} clusters",
    "runs": "{} clusterings",
    "seed": "seed {}",
    "kernel": "kernel {}",
    "bandwidth": "bandwidth {}",
    "k": "{} nearest neighbours",
    "blend": "both parts blended by the {} mean",
    "score": "score: {}",
    "compat": "recipe of {}",
    "dialogauge": "dialogauge {}",
}


def made_section(content: ReportContent, exports: Exports) -> str:
    """Command, files, metrics with signatures, settings and versions, and whom to cite."""
    parts = [
        _again(content, exports),
        _files(content.result),
        _metrics(content.result),
        _settings(content),
        _cite(content.result, exports),
    ]
    inside = "\n".join(filter(None, parts))
    title = '<h2 id="made-title">How it was made</h2>'
    return f'<section id="made" aria-labelledby="made-title">\n{title}\n{inside}\n</section>'


def shown_command(command: Sequence[str] | None) -> str | None:
    """The command line as a shell reads it, with names of files only; None where it was no command of ours."""
    if not command or PurePath(command[0]).name.removesuffix(".exe") != PROGRAM:
        return None
    words = [PROGRAM]
    for before, word in pairwise(command):
        option, equals, value = word.partition("=")
        if before == "--html" or (option == "--html" and equals):
            words.append("report.html" if before == "--html" else "--html=report.html")
        elif before in PATHS or (not word.startswith("-") and not before.startswith("-")):
            words.append(_last(word))
        elif equals and option in PATHS:
            words.append(f"{option}={_last(value)}")
        else:
            words.append(without_folders(word))
    return shlex.join(words)


def signature_in_words(signature: str) -> str:
    """What the parts of a signature say that are known here; all of them stand in the signature itself."""
    name, *parts = signature.split("|")
    try:
        said = [metric_class(name).title]
    except InputError:  # of a kept run, by a package that is not installed here
        said = []
    for part in parts:
        key, _, value = part.partition(":")
        if key in WORDS and value:
            what, _, weights = value.partition("@")
            what = TYPES.get(what, what) if key == "dtype" else what
            shown = f"{what or 'own'} (sha256 {weights}…)" if weights else what
            said.append(WORDS[key].format(shown))
    return "; ".join(said)


def _last(path: str) -> str:
    return PurePath(path.rstrip("/\\")).name or path if os.sep in path or "/" in path else path


def _again(content: ReportContent, exports: Exports) -> str:
    command = shown_command(content.origin.command)
    text = command or _python(content.result)
    button = exports.copy_button("command.txt", text, "the command")
    return f"<h3>To make it again, where the files are</h3>\n{_code(text, 'Command', button)}"


def _python(result: Reported) -> str:
    """The call that gives this result, as far as the result knows it."""
    function = {"Result": "evaluate", "Comparison": "compare", "Agreement": "correlate"}[type(result).__name__]
    metrics = result.metrics if isinstance(result, Agreement) else result.columns
    files = [file_name(file.path) for file in result.files]
    settings = result.settings
    given = [repr(files) if files else "turns", repr(",".join(metrics))]
    given += [f"{name}={getattr(settings, name)!r}" for name in ("seed", "resamples", "confidence")]
    given += [f"compat={result.compat!r}"] if isinstance(result, Result) and result.compat else []
    call = f"result = dialogauge.{function}({', '.join(given)})"
    return f'import dialogauge\n\n{call}\ndialogauge.write_report(result, "report.html")'


def _files(result: Reported) -> str:
    if not result.files:
        return "<h3>Files</h3>\n<p>The turns came from memory; no file was read.</p>"
    headers = [Header(name, align="left") for name in ("file", "format", "sha256")]
    rows = [[Cell(file_name(file.path)), Cell(file.reader), Cell(file.sha256)] for file in result.files]
    return f"<h3>Files</h3>\n{scrolled(to_html(Table(headers, rows)), 'Files', 'hashes')}"


def _metrics(result: Reported) -> str:
    if isinstance(result, Agreement):
        signatures: Mapping[str, str] = {row.metric: row.signature for row in result.rows}
    else:
        signatures = column_signatures(result)
    items = [
        f"<dt><bdi>{html_escape(metric)}</bdi></dt>"
        f'<dd><code class="signature">{html_escape(without_folders(signature))}</code>'
        f"<span>{html_escape(without_folders(signature_in_words(signature)))}</span></dd>"
        for metric, signature in signatures.items()
    ]
    note = "A signature has everything that could change the number: where two differ, their numbers do not compare."
    return f'<h3>Metrics</h3>\n<p class="lead-in">{note}</p>\n<dl class="signatures">{"".join(items)}</dl>'


def _settings(content: ReportContent) -> str:
    settings = content.result.settings
    said = {
        "resampled": content.result.unit,
        "resamples": f"{settings.resamples:,}",
        "confidence": f"{100 * settings.confidence:.4g}%",
        "seed": str(settings.seed),
        **content.origin.versions,
    }
    items = "".join(
        f"<div><dt>{html_escape(name)}</dt><dd>{html_escape(value)}</dd></div>" for name, value in said.items()
    )
    return f'<h3>Settings and versions</h3>\n<dl class="facts">{items}</dl>'


def _cite(result: Reported, exports: Exports) -> str:
    citation = result.citation()
    entries = "\n\n".join(citation.bibtex.values())
    text = without_folders(citation.text())
    copy_text = exports.copy_button("citation.txt", text, "the text")
    copy_entries = exports.copy_button("citations.bib", entries, "the BibTeX entries")
    return (
        f'<h3>To cite it</h3>\n<div class="code"><p class="citation">{running_text(text)}</p>{copy_text}</div>\n'
        f"{_code(entries, 'BibTeX', copy_entries)}"
    )


def _code(text: str, what: str, button: str) -> str:
    lines = "\n".join(map(html_escape, text.split("\n")))
    region = f'<pre role="region" aria-label="{what}" tabindex="0"><code>{lines}</code></pre>'
    return f'<div class="code">{region}{button}</div>'


def scrolled(table: str, what: str, kind: str = "") -> str:
    """A table in a region of its own, which scrolls where the page is narrower, by keyboard too."""
    classes = f"scroll {kind}".strip()
    return f'<div class="{classes}" role="region" aria-label="{html_escape(what)}" tabindex="0">{table}</div>'
