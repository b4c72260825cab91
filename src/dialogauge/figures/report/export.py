"""What the page's buttons copy and save: texts that lie in the page, and figures that it shows."""

from __future__ import annotations

import json
from collections.abc import Mapping

from dialogauge.evaluation.forms import MetricForms
from dialogauge.tables import html_escape

FORMS = {"latex": ("LaTeX", "tex"), "markdown": ("Markdown", "md"), "csv": ("CSV", "csv")}


class Exports:
    """Texts by the name of the file that they would be saved as."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def buttons(self, name: str, texts: Mapping[str, str], what: str) -> str:
        """Copies and saves each text; its key is a form, as "latex"."""
        copy, save = [], []
        for form, text in texts.items():
            words, ending = FORMS[form]
            file = f"{name}.{ending}"
            self.texts[file] = text + "\n"
            copy.append(_button("copy", file, words, f"Copy {what} as {words}"))
            save.append(_button("save", file, f".{ending}", f"Save {what} as {file}"))
        inside = f"<span>Copy</span>{''.join(copy)}<span>Save</span>{''.join(save)}"
        return f'<div class="tools" role="group" aria-label="{html_escape(what)}" hidden>{inside}</div>'

    def table_buttons(self, name: str, result: MetricForms, what: str, digits: int | None) -> str:
        return self.buttons(name, {form: result.render(form, digits=digits) for form in FORMS}, what)

    def copy_button(self, name: str, text: str, what: str) -> str:
        self.texts[name] = text + "\n"
        return f'<div class="tools" hidden>{_button("copy", name, "Copy", f"Copy {what}")}</div>'

    def block(self) -> str:
        """The texts as JSON that no text can close."""
        data = json.dumps(self.texts, ensure_ascii=True).replace("<", "\\u003c")
        return f'<script type="application/json" id="texts">{data}</script>'


def figure_button(figure: str, what: str) -> str:
    """Saves the pictures of a figure as one."""
    button = _button("figure", figure, "SVG", f"Save {what} as {figure}.svg")
    return f'<div class="tools" role="group" aria-label="{html_escape(what)}" hidden><span>Save</span>{button}</div>'


def _button(action: str, value: str, words: str, said: str) -> str:
    return (
        f'<button type="button" data-{action}="{html_escape(value)}" aria-label="{html_escape(said)}">{words}</button>'
    )
