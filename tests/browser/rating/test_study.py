"""A whole study in real browsers, against the real program."""

import json
import signal

from playwright.sync_api import Error, expect

from tests.browser.hostile_texts import write_turns
from tests.browser.pages import call
from tests.browser.rating.person import Person
from tests.browser.rating.program import Rate, free_port
from tests.people.page.studies import turns

SCALE = {True: "4", False: "1"}


def answer_with_our_keys(person: Person) -> None:
    """A digit, a slider by its arrows, Enter. Attentive: a reply that does not fit gets a 1."""
    said, place, practice = person.said(), person.place(), person.is_practice()
    chosen = SCALE[person.fits() or practice]
    person.press(chosen, "End", "ArrowLeft", "Enter")
    if practice:
        expect(person.page.locator(".explained")).to_be_visible()
        person.press("Enter")
    else:
        person.given[said] = [float(chosen), 99.0]
    person.goes_on(place)


def answer_without_script(person: Person) -> None:
    """Tab, arrows and Enter as every browser has them. Careless: a 5 for everything, and a number or not applicable."""
    said, place, practice = person.said(), person.place(), person.is_practice()
    person.press("Tab", "Space", *["ArrowRight"] * 4, "Tab")
    skipped = len(person.given) % 2 == 1
    person.press(*(["Tab", "Space", "Enter"] if skipped else ["7", "3", "Enter"]))
    if practice:
        expect(person.page.locator(".explained")).to_be_visible()
        person.press("Tab", "Enter")
    else:
        person.given[said] = [5.0, None if skipped else 73.0]
    person.goes_on(place)


def to_the_end(person: Person, answer) -> None:
    while person.form.is_visible():
        answer(person)
    expect(person.page).to_have_title("All answered")
    person.press("Tab", "Enter")
    expect(person.page).to_have_title("Thank you")


def test_two_raters_to_the_end_by_keyboard_through_reload_and_kill(rater, watched_rater, tmp_path):
    rows = [
        {"id": turn.id, "context": list(turn.context), "response": turn.response, "system": turn.system}
        for turn in turns(3)
    ]
    responses, folder = write_turns(tmp_path / "responses.jsonl", rows), tmp_path / "study"
    asked = ("--ask", "coherence 1-5", "--ask", "overall 0-100 n/a", "--completion-code", "C0DE")
    design = ("--raters", "2", "--people", "2", "--time-floor", "0", "--port", str(free_port()))
    with Rate(responses, "--study", folder, *asked, *design) as program:
        names = [name for name in program.links if name != "organiser"]
        origin = program.links["organiser"].rpartition("/o/")[0]
        paths = [program.links[name].removeprefix(origin) for name in names]
        page, watch = watched_rater(origin, paths[0])
        one = Person(page)
        one.agree()
        for _ in range(4):
            answer_with_our_keys(one)
        assert one.place().startswith("Item 3 of ")
        shown = one.said()
        page.reload()
        assert one.said() == shown
        program.end(signal.SIGKILL)
        one.press("4", "End", "Enter")  # nobody is there to take it
        page.wait_for_load_state()
    assert watch.noted == [] or all("ERR_CONNECTION_REFUSED" in line for line in watch.noted)
    with Rate("--study", folder) as program:
        assert [program.links[name].removeprefix(origin) for name in names] == paths, "links hold after a crash"
        try:
            page.goto(f"{origin}{paths[0]}")
        except Error:  # the page of the browser that said so went by meanwhile
            page.goto(f"{origin}{paths[0]}")
        assert one.said() == shown, "where it was"
        to_the_end(one, answer_with_our_keys)
        expect(page.locator("main")).to_contain_text("C0DE")
        two = Person(rater(origin, paths[1], java_script_enabled=False))
        two.agree()
        to_the_end(two, answer_without_script)
        organiser = rater(origin, program.links["organiser"].removeprefix(origin))
        expect(organiser.get_by_role("row", name=names[1])).to_contain_text("failed 1 of 1 attention checks")
        expect(organiser.get_by_role("row", name=names[0])).not_to_contain_text("failed 1")
        expect(organiser.locator(".tiles")).to_contain_text("12 of 12")

    call("rate", "--export", folder, "--quiet")
    exported = [json.loads(line) for line in (folder / "ratings.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [{key: line[key] for key in rows[0]} for line in exported] == rows
    for line in exported:
        said = (*line["context"], line["response"])
        for place, dimension in enumerate(("coherence", "overall")):
            by_rater = dict(zip(line["raters"][dimension], line["ratings"][dimension], strict=True))
            given = {name: person.given[said][place] for name, person in zip(names, (one, two), strict=True)}
            assert by_rater == given
            trusted = dict(zip(line["raters"][dimension], line["trusted"][dimension], strict=True))
            assert trusted == {names[0]: True, names[1]: False}
