"""What a rater sees: consent, one item at a time, the end, and a word where there is nothing to rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dialogauge.people.page.markdown import to_html
from dialogauge.people.page.markup import document, text
from dialogauge.people.page.questions import as_form, fieldsets
from dialogauge.tables import counted

if TYPE_CHECKING:
    from dialogauge.people.rating.questions import RatingQuestion
    from dialogauge.people.rating.study import Screen

TASKS = {"turn": "Rate the last reply", "pair": "Compare two replies", "dialogue": "Rate the whole conversation"}


def consent_page(title: str, instructions: str, items: int, here: str) -> str:
    about = f"There {'is' if items == 1 else 'are'} {counted(items, 'item')} to rate, one at a time."
    return document(
        title,
        f"""<article class="reading">
<div class="written">{to_html(instructions, title)}</div>
<p class="aside">{about} Every answer is saved as you go: you may close this page at any time, and go on later by the
same link.</p>
<form method="post" action="{here}/consent" class="actions">
<button class="primary" name="agree" value="1">I agree and want to begin</button>
</form>
<p class="aside">If you do not agree, simply close this page.</p>
</article>""",
        top=_top(title),
    )


def item_page(
    title: str,
    screen: Screen,
    here: str,
    undo: str = "",
    sent: Mapping[str, str] | None = None,
    missing: Sequence[int] = (),
) -> str:
    """One item with its questions; `undo` is the address of the answer before. An item that was answered is shown with
    its answer, to be changed. `sent` is a form that came back with answers `missing`."""
    questions, practice, answered = screen.questions, screen.stage == "practice", screen.answers is not None
    given = as_form(questions, screen.answers or {}) if sent is None else sent
    place = f"{'Practice' if practice else 'Item'} {screen.position} of {screen.total}"
    task = TASKS[screen.form]
    kept = f'<a class="go-on" href="{here}">Keep it and go on</a>' if answered and not practice else ""
    return document(
        f"{'Not saved: ' if missing else ''}{place}: {task}",
        f"""<h1 class="unseen">{place}: {task}</h1>
<div class="rate {screen.form}">
<section class="shown" aria-label="Conversation">
{_facts(screen.facts)}{_shown(screen)}
</section>
<form method="post" action="{here}/item/{screen.public_id}" class="asked" novalidate>
<h2>{task}</h2>
{_explanation(screen, here)}{_wanting(questions, missing)}{fieldsets(questions, given, missing)}
<div class="actions">
<button class="{"plain" if practice and answered else "primary"}">{"Save the change" if answered else "Next"}</button>
{kept}
{_undo_link(undo)}
</div>
{_keys(questions, bool(undo))}
</form>
</div>""",
        top=_top(title, place, screen.position - 1 + answered, screen.total),
    )


def all_answered_page(title: str, here: str, undo: str, items: int) -> str:
    return document(
        "All answered",
        f"""<article class="reading">
<h1>You have rated everything</h1>
<p>Finish here. After that, answers can no longer be changed.</p>
<form method="post" action="{here}/finish" class="actions">
<button class="primary">Finish</button>
{_undo_link(undo)}
</form>
</article>""",
        top=_top(title, "All answered", items, items),
    )


def done_page(title: str, code: str, url: str | None) -> str:
    onward = (
        f'<p class="actions"><a class="primary go-on" rel="noreferrer" href="{text(url)}">Go back and complete</a></p>'
        if url
        else ""
    )
    last = "" if url else '<p class="aside">You can close this page now.</p>'
    return document(
        "Thank you",
        f"""<article class="reading">
<h1>Thank you</h1>
<p>All your answers are saved.</p>
<p>Your completion code:</p>
<p class="code"><code>{text(code)}</code></p>
{onward}
{last}
</article>""",
        top=_top(title),
    )


def message_page(heading: str, *paragraphs: str, title: str = "dialogauge") -> str:
    """A word in place of a page. Says nothing of the study that its reader does not know."""
    said = "\n".join(f"<p>{text(paragraph)}</p>" for paragraph in paragraphs)
    return document(
        heading, f'<article class="reading">\n<h1>{text(heading)}</h1>\n{said}\n</article>', top=_top(title)
    )


def _top(title: str, place: str = "", done: int = 0, total: int = 0) -> str:
    bar = f'<progress max="{total}" value="{done}" aria-label="Progress"></progress>' if total else ""
    said = f'<p class="place">{text(place)}</p>' if place else ""
    return f'<header class="top"><p class="title" dir="auto">{text(title)}</p>{said}{bar}</header>\n'


def _facts(facts: Sequence[str]) -> str:
    if not facts:
        return ""
    items = "".join(f'<li dir="auto">{text(fact)}</li>' for fact in facts)
    heading = '<h2 id="known">Known beforehand</h2>'
    return f'<section class="facts" aria-labelledby="known">{heading}<ul>{items}</ul></section>\n'


def _shown(screen: Screen) -> str:
    if screen.form == "dialogue":
        return _chat(screen.context, ours=0, rated=range(len(screen.context)), caption="Speaker to rate")
    if screen.form == "turn":
        said = (*screen.context, *screen.responses)
        return _chat(said, ours=0, rated=range(len(said) - 1, len(said)), caption="Reply to rate")
    sides = "".join(
        f'<section class="side" aria-labelledby="side-{side}"><h2 id="side-{side}">Reply {side}</h2>'
        f'<p class="bubble" dir="auto">{text(response)}</p></section>'
        for side, response in zip("AB", screen.responses, strict=True)
    )
    return f'{_chat(screen.context, ours=1)}<div class="sides-shown">{sides}</div>'


def _chat(utterances: Sequence[str], *, ours: int, rated: range = range(0), caption: str = "") -> str:
    """Speakers take turns: `ours` is how many utterances before the end the one who is rated spoke last. The caption
    stands at the first of theirs among the `rated` places."""
    items = []
    for place, utterance in enumerate(utterances):
        is_ours = (len(utterances) - 1 - place) % 2 == ours
        is_rated = is_ours and place in rated
        captioned = f'<span class="caption">{caption}</span>' if is_rated and place - 2 not in rated else ""
        speaker = "Speaker who replies" if is_ours else "Other speaker"
        who = captioned or f'<span class="unseen">{speaker}:</span>'
        items.append(
            f'<li class="{"ours" if is_ours else "theirs"}{" rated" if is_rated else ""}">'
            f'{who}<p class="bubble" dir="auto">{text(utterance)}</p></li>'
        )
    return f'<ol class="chat">{"".join(items)}</ol>' if items else ""


def _explanation(screen: Screen, here: str) -> str:
    """Of a practice item that was answered."""
    if screen.stage != "practice" or screen.answers is None:
        return ""
    return (
        f'<div class="explained" role="status"><p dir="auto">{text(screen.feedback or "This was for practice.")}</p>'
        f'<p class="actions"><a class="primary go-on" href="{here}">Continue</a></p></div>\n'
    )


def _wanting(questions: Sequence[RatingQuestion], missing: Sequence[int]) -> str:
    if not missing:
        return ""
    links: list[str] = []
    for i in missing:
        focus = "" if links else " autofocus"
        links.append(f'<a href="#q{i}"{focus}>{text(questions[i].text or questions[i].dimension)}</a>')
    return f'<p class="alert" role="alert">Not saved yet. Please answer: {", ".join(links)}</p>\n'


def _undo_link(undo: str) -> str:
    return f'<a class="undo" href="{undo}">Undo: back to the last answer</a>' if undo else ""


def _keys(questions: Sequence[RatingQuestion], undo: bool) -> str:
    """What the keys of our script do on this page, and how to switch them off (WCAG 2.1.4): shown by the script."""
    kinds = {question.kind for question in questions}
    said = ["digits answer"] if "likert" in kinds else []
    said += ["<kbd>Y</kbd> yes, <kbd>N</kbd> no"] if "yesno" in kinds else []
    said += ["<kbd>A</kbd>, <kbd>B</kbd>, <kbd>T</kbd> about equal"] if "pairwise" in kinds else []
    said += ["arrows move a slider"] if "slider" in kinds else []
    said += ["<kbd>X</kbd> not applicable"] if any(question.na for question in questions) else []
    said += ["<kbd>Enter</kbd> next", *(["<kbd>U</kbd> undo"] if undo else [])]
    told = ", ".join(said)
    return f'<p class="keys" hidden><label><input type="checkbox" checked> Keys</label> {told}</p>'
