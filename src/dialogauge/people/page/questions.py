"""Questions as a form, and what a form that comes back says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dialogauge.errors import InputError
from dialogauge.people.page.markup import text

if TYPE_CHECKING:
    from dialogauge.people.rating.questions import RatingQuestion, Value

NOT_APPLICABLE = "na"
SIDES = {"a": "A is better", "tie": "About equal", "b": "B is better"}
YES_NO = {"1": "Yes", "0": "No"}
KEYS = {"a": "a", "tie": "t", "b": "b", NOT_APPLICABLE: "x"}
SHORT = 11
"""Characters of a label that finds room below its number, on a phone too."""


def fieldsets(questions: Sequence[RatingQuestion], given: Mapping[str, str], missing: Sequence[int] = ()) -> str:
    """`given` holds what is chosen already, by the names of the form; `missing` the places without an answer."""
    return "\n".join(_fieldset(i, question, given, i in missing) for i, question in enumerate(questions))


def as_form(questions: Sequence[RatingQuestion], answers: Mapping[str, Value]) -> dict[str, str]:
    """Answers by the names of the form."""
    form = {}
    for i, question in enumerate(questions):
        if question.dimension in answers:
            value = answers[question.dimension]
            name = _skip_name(f"q{i}") if value is None and question.kind == "slider" else f"q{i}"
            form[name] = NOT_APPLICABLE if value is None else value if isinstance(value, str) else f"{value:.0f}"
    return form


def read_form(questions: Sequence[RatingQuestion], form: Mapping[str, str]) -> tuple[dict[str, Value], list[int]]:
    """The answers by dimension, and the places of the questions that have none, or one that they cannot have."""
    answers: dict[str, Value] = {}
    missing = []
    for i, question in enumerate(questions):
        sent = NOT_APPLICABLE if _skip_name(f"q{i}") in form else form.get(f"q{i}", "")
        try:
            answers[question.dimension] = question.checked(_value(question, sent))
        except (InputError, ValueError):
            missing.append(i)
    return answers, missing


def _value(question: RatingQuestion, sent: str) -> Value:
    if sent == NOT_APPLICABLE:
        return None
    return sent if question.kind == "pairwise" else float(sent)


def _skip_name(name: str) -> str:
    """A slider's "not applicable" stands beside its number."""
    return f"{name}-skip"


def _fieldset(place: int, question: RatingQuestion, given: Mapping[str, str], missing: bool) -> str:
    name = f"q{place}"
    inside = _slider(name, question, given) if question.kind == "slider" else _scale(name, question, given.get(name))
    wanting = f'<p class="wanting" id="{name}-wanting">{_wanting(question)}</p>' if missing else ""
    described = f' aria-describedby="{name}-wanting"' if missing else ""
    asked = text(question.text or question.dimension)
    return (
        f'<fieldset class="question" id="{name}"{described}><legend dir="auto">{asked}</legend>'
        f"{wanting}{inside}</fieldset>"
    )


def _wanting(question: RatingQuestion) -> str:
    if question.kind == "slider":
        return f"Please choose a whole number from {question.low} to {question.high}."
    return "Please choose an answer."


def _scale(name: str, question: RatingQuestion, chosen: str | None) -> str:
    """Radio buttons in a row; one below the other where every point has a label that needs room."""
    if question.kind == "likert":
        body = _points(name, question, chosen)
    else:
        choices = SIDES if question.kind == "pairwise" else YES_NO
        radios = (
            _radio(name, value, said, chosen, KEYS.get(value, said[0].lower())) for value, said in choices.items()
        )
        body = f'<div class="scale sides of-{len(choices)}">{"".join(radios)}</div>'
    if question.na:
        skip = _radio(name, NOT_APPLICABLE, "Not applicable", chosen, KEYS[NOT_APPLICABLE])
        body += f'<div class="scale skip">{skip}</div>'
    return body


def _points(name: str, question: RatingQuestion, chosen: str | None) -> str:
    labels = question.point_labels
    listed = any(len(label) > SHORT for label in labels)
    radios = []
    for place, point in enumerate(range(question.low, question.high + 1)):
        label = labels[place] if labels else ""
        end = {question.low: question.low_label, question.high: question.high_label}.get(point, "")
        unseen = f'<span class="unseen">, {text(end)}</span>' if end and not label else ""
        more = f'<span class="point" dir="auto">{text(label)}</span>' if label else unseen
        radios.append(_radio(name, str(point), str(point), chosen, str(point) if 0 <= point < 10 else "", more))
    kind = "listed" if listed else f"in-row of-{len(radios)}"
    body = f'<div class="scale {kind}">{"".join(radios)}</div>'
    return body if labels else body + _ends(question, hidden=True)


def _ends(question: RatingQuestion, *, hidden: bool) -> str:
    """What the ends mean; hidden from those who are read it with the ends themselves."""
    low, high = text(question.low_label), text(question.high_label)
    unread = ' aria-hidden="true"' if hidden else ""
    return f'<div class="ends"{unread}><span dir="auto">{low}</span><span dir="auto">{high}</span></div>'


def _radio(name: str, value: str, said: str, chosen: str | None, key: str, more: str = "") -> str:
    """Not `required`: a browser's bubble tells of one question at a time, and not in the page's words."""
    marks = (" checked" if value == chosen else "") + (f' data-key="{key}"' if key else "")
    return (
        f'<label class="choice"><input type="radio" name="{name}" value="{value}"{marks}>'
        f'<span class="said">{said}</span>{more}</label>'
    )


def _slider(name: str, question: RatingQuestion, given: Mapping[str, str]) -> str:
    """A number, empty until somebody chooses one; our script shows a slider that writes it. A slider by itself has a
    value before it is touched."""
    bounds = f'min="{question.low}" max="{question.high}" step="1"'
    asked = text(question.text or question.dimension)
    body = (
        f'<div class="slider"><div class="line"><input type="range" {bounds} aria-label="{asked}" '
        f'data-for="{name}-number" hidden>{_ends(question, hidden=False)}</div>'
        f'<label class="number"><span class="said">{question.low} to {question.high}:</span> '
        f'<input type="number" id="{name}-number" name="{name}" {bounds} inputmode="numeric" autocomplete="off" '
        f'value="{text(given.get(name, ""))}"></label></div>'
    )
    if question.na:
        checked = " checked" if _skip_name(name) in given else ""
        box = f'<input type="checkbox" name="{_skip_name(name)}" value="1" data-key="{KEYS[NOT_APPLICABLE]}"{checked}>'
        body += (
            f'<div class="scale skip"><label class="choice">{box}<span class="said">Not applicable</span></label></div>'
        )
    return body
