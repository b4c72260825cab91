"""A datasheet of a study, in Markdown: who rated what and how, which checks there were, how well people agreed. After
the questions of Gebru et al. 2021, "Datasheets for Datasets", as far as a study knows the answers."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import median, quantiles

from dialogauge.people.rating.answers import AssignedItem, StudyState, read_state
from dialogauge.people.rating.overview import DimensionAgreement, Overview, overview
from dialogauge.people.rating.planning import turn_of
from dialogauge.people.rating.store import Store, setting
from dialogauge.people.rating.trust import RULES
from dialogauge.tables import counted, printable


def datasheet(store: Store) -> str:
    """What of the study can be told to anyone: no id of a person, no link, no text of a turn."""
    state = read_state(store)
    view = overview(state)
    with store.reading() as db:
        turns = [turn_of(text) for (text,) in db.execute("SELECT record FROM turn ORDER BY id")]
        caveats = [message for _, message in json.loads(setting(db, "caveats", "[]"))]
        counts = Counter(dict(db.execute("SELECT what, count(*) FROM event GROUP BY what").fetchall()))
    systems = Counter(turn.system for turn in turns)
    chosen = [turn.extra.get("probability") for turn in turns if "probability" in turn.extra]
    parts = [
        f"# {_line(state.settings.title)}",
        f"A study of ratings by people, made with dialogauge {state.version} on {_day(state.made)}"
        f"{_period(state)}. Names of systems are as in the file; no rater saw them.",
        _section("What was rated", [*_material(state, systems), *_chosen(chosen, len(turns)), *map(_line, caveats)]),
        _section("Questions", [_question(state, place) for place in range(len(state.settings.questions))]),
        _section("Who rated", _people(state, view)),
        _section("Design", _design(state)),
        _section("Checks", _checks(view)),
        _section("Time", _time(state.answers, counts)),
        _agreement_section("Agreement of all ratings", view.agreement),
        _agreement_section("Agreement of trusted ratings alone", view.trusted_agreement),
        "## Consent and instructions\n\nRaters read this, and agreed to it before the first item (sha256 "
        f"{hashlib.sha256(state.settings.instructions.encode()).hexdigest()[:16]}):\n\n"
        + "\n".join(f"> {_line(line)}".rstrip() for line in state.settings.instructions.strip().splitlines()),
    ]
    return "\n\n".join(parts) + "\n"


def _material(state: StudyState, systems: Counter[str]) -> list[str]:
    what = (
        "pair of replies" if state.settings.pairwise else "dialogue" if state.settings.unit == "dialogue" else "reply"
    )
    plural = {"pair of replies": "pairs of replies", "reply": "replies"}.get(what, "")
    named = ", ".join(f"{_line(name)} ({number:,})" for name, number in systems.items())
    source = ", ".join(map(_line, state.settings.source)) or "turns given from Python"
    return [
        f"{counted(len(state.of_item), what, plural)} of {counted(len(systems), 'system')}, from {source}.",
        f"Turns by system: {named}.",
    ]


def _chosen(probabilities: Sequence[object], turns: int) -> list[str]:
    numbers = [
        float(value) for value in probabilities if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    if not numbers:
        return ["How the turns were chosen is not known to the study: all weigh the same."]
    spread = f"{min(numbers):.3g} to {max(numbers):.3g}"
    return [
        f"{len(numbers):,} of {turns:,} turns were chosen with known probabilities ({spread}); the export has them."
    ]


def _question(state: StudyState, place: int) -> str:
    question = state.settings.questions[place]
    wording = f' "{_line(question.text)}"' if question.text else ""
    labels = f" Points: {', '.join(map(_line, question.labels))}." if question.point_labels else ""
    return f"**{_line(question.dimension)}**:{wording} {_line(question.scale)}.{labels}"


def _people(state: StudyState, view: Overview) -> list[str]:
    states = Counter(rater.state for rater in view.raters)
    came = (
        f"by one link, known by the parameter {state.settings.id_parameter}"
        if state.settings.id_parameter
        else "by a link for each"
    )
    lengths = sorted(rater.total for rater in view.raters if rater.state != "released")
    around = f"{lengths[0]} to {lengths[-1]} items, checks and repeats included" if lengths else "no items"
    told = f"{counted(len(view.raters), 'place')}, {came}; lists of {around}."
    went = f"{view.started} agreed to take part, {states['finished']} finished"
    if states["released"]:
        went += f", {states['released']} left unfinished lists that others went on with"
    return [
        told,
        f"{went}.",
        f"{view.done:,} of {view.planned:,} ratings are there; {view.complete:,} of {view.items:,} items have all "
        f"{state.settings.raters}.",
        "Who the raters were (where they were found, what they were paid, their languages) is not known to the study: "
        "say it here.",
    ]


def _design(state: StudyState) -> list[str]:
    settings = state.settings
    contexts = (
        "All replies to a context were rated by the same people, one after the other in random order."
        if settings.contexts == "together"
        else "No one saw a context twice; everyone saw the systems equally often, as nearly as could be."
    )
    told = [
        f"Every item was given to {counted(settings.raters, 'rater')}, in lists planned before the first answer (seed "
        f"{settings.seed}).",
        contexts,
        "The order of items was drawn for each rater. Ids, links and order told nothing of systems.",
    ]
    if settings.pairwise:
        told.append("Which reply stood first was drawn and balanced; preferences are turned back in the export.")
    return told


def _checks(view: Overview) -> list[str]:
    raters = [rater for rater in view.raters if rater.done]
    checks, failed = sum(rater.checks for rater in raters), sum(rater.failed for rater in raters)
    repeats, changed = sum(rater.repeats for rater in raters), sum(rater.inconsistent for rater in raters)
    distrusted = [rater for rater in raters if not rater.trusted]
    told = [
        f"{counted(checks, 'attention check')} answered (mismatched replies), {failed} failed.",
        f"{counted(repeats, 'repeated item')} answered, {changed} otherwise than before.",
        f"{counted(sum(rater.fast for rater in raters), 'answer')} under the time floor.",
        RULES,
        f"{len(distrusted)} of {counted(len(raters), 'rater')} not trusted. Their ratings are in the export, marked.",
    ]
    return told + [f"{rater.name}: {_line('; '.join(rater.reasons))}." for rater in distrusted]


def _time(answers: Sequence[AssignedItem], counts: Counter[str]) -> list[str]:
    seconds = [answer.seconds for answer in answers if answer.done is not None and answer.seconds is not None]
    changed = f"{counted(counts['changed'], 'answer')} changed afterwards by the rater; the last one counts."
    if len(seconds) < 2:
        return [changed]
    low, _, high = quantiles(seconds, n=4)
    return [f"Median {median(seconds):.1f} s for an item, half of them from {low:.1f} to {high:.1f} s.", changed]


def _agreement_section(title: str, agreement: Sequence[DimensionAgreement]) -> str:
    rows = [
        "| question | items with two ratings or more | ratings | N/A | alpha, ordinal | alpha, interval | raters for a "
        "mean of reliability .8 |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in agreement:
        numbers = [_number(each.ordinal), _number(each.interval), str(each.raters_needed or "–")]
        cells = [_cell(each.dimension), f"{each.items:,}", f"{each.ratings:,}", f"{each.not_applicable:,}", *numbers]
        rows.append(f"| {' | '.join(cells)} |")
    note = (
        "Krippendorff's alpha: 1 is perfect agreement, 0 what chance gives. Repeats, checks and practice are left out."
    )
    return "\n".join([f"## {title}", "", *rows, "", note])


def _section(title: str, told: Sequence[str]) -> str:
    return "\n".join([f"## {title}", "", *(f"- {sentence}" for sentence in told)])


def _period(state: StudyState) -> str:
    done = [answer.done for answer in state.answers if answer.done is not None]
    return f"; answers from {_day(min(done))} to {_day(max(done))}" if done else "; no answers yet"


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _line(text: str) -> str:
    """One safe line, whatever a file or an organiser called things."""
    return printable(" ".join(text.split()))


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")
