"""dialogauge rate: a rating study on localhost, its export and what its organiser does in between."""

from __future__ import annotations

import argparse
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from dialogauge.cli.common.inputs import add_inputs, listed_names, number, reading, whole
from dialogauge.cli.common.output import add_format, print_table, remark, warn
from dialogauge.errors import InputError, check_whole
from dialogauge.files import check_writable_file, plain_file, whole_file
from dialogauge.tables import printable

if TYPE_CHECKING:
    from dialogauge.people.rating.settings import StudySettings
    from dialogauge.people.rating.study import Study

HELP = "ask people: a rating page on localhost, and what they answered"
DESCRIPTION = """\
Plans a rating study of any readable file, serves its page on localhost, and prints one link per rater and one for the
organiser. Raters never learn which system a reply is from. Every answer is on the disk before the page goes on; after
a stop or a crash, `rate --study DIR` goes on where it was. `rate --export DIR` writes the ratings as JSON lines that
every other command reads, and a datasheet for a paper."""
EXAMPLES = """\
examples:
  dialogauge rate responses.jsonl --study study --ask "coherence 1-5" --ask "overall 0-100"
  dialogauge rate --study study                       go on with it, with the same links
  dialogauge rate --study study --status              how far it has come
  dialogauge rate --export study --out rated.jsonl    the ratings, also while it goes on
  dialogauge rate responses.jsonl --study pairs --pairwise --ask "overall: Which reply is better?"
  dialogauge rate chats.jsonl --study dialogues --unit dialogue --raters 5 --instructions consent.md
  dialogauge rate responses.jsonl --study crowd --people 40 --id-parameter PROLIFIC_PID \\
      --completion-url 'https://app.prolific.com/submissions/complete?cc={code}' --completion-code C1A2B3

Questions: a name, a scale, and what you like of: labels of its ends or points, n/a, the words that raters read:
  --ask "humour 1-5 (not funny | very funny) n/a: How funny is the reply?"     --ask "fluent yes/no"
Beyond this machine raters come through a proxy with TLS: --host 0.0.0.0 --public-url https://rate.example.org"""

OF_FILES = ("systems", "role", "reader", "map")
SETTINGS = (
    *("raters", "people", "per_rater", "contexts", "unit", "against", "check_every", "check_on", "repeat_every"),
    *("time_floor", "title", "id_parameter", "completion_code", "completion_url", "seed"),
)
CARE = ("status", "backup", "new_link", "release", "exclude", "include")
PORT = 8765
NONE = "none"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="responses or conversations, for a new study; gzip is fine"
    )
    parser.add_argument("--study", metavar="DIR", type=Path, help="the study: a new directory, or one to go on with")
    parser.add_argument("--export", metavar="DIR", type=Path, help="write the ratings of this study, and its datasheet")
    _add_design(parser.add_argument_group("a new study"))
    _add_people(parser.add_argument_group("raters of a new study"))
    _add_serving(parser.add_argument_group("serving"))
    _add_care(parser.add_argument_group("a study under way"))
    add_inputs(parser)
    add_format(parser)


def _add_design(group: Any) -> None:
    group.add_argument(
        "--ask", metavar="QUESTION", action="append", help='as "coherence 1-5"; may be repeated (default: overall 1-5)'
    )
    group.add_argument("--pairwise", action="store_true", help="two replies to one context: A, B or tie")
    group.add_argument("--against", metavar="SYSTEM", help="only pairs with this system (default: all pairs)")
    group.add_argument("--unit", choices=("turn", "dialogue"), help="what is rated (default: turn)")
    group.add_argument("--raters", metavar="K", type=whole, help="people for every item (default: 3)")
    group.add_argument(
        "--contexts",
        choices=("together", "apart"),
        help="the same people rate all replies to a context, one after the other, or no one sees one twice"
        " (default: together)",
    )
    group.add_argument(
        "--check-every", metavar="N", type=whole, help="an attention check for every N items, 0 for none (default: 10)"
    )
    group.add_argument(
        "--check-on", metavar="NAME", help="the question by which checks are judged (default: one on coherence)"
    )
    group.add_argument(
        "--repeat-every", metavar="N", type=whole, help="an item again for every N, 0 for none (default: 20)"
    )
    group.add_argument(
        "--time-floor", metavar="SECONDS", type=number, help="mark faster answers, 0 for never (default: 1)"
    )
    group.add_argument(
        "--practice", metavar="FILE", help=f"turns to practise on, or {NONE} (default: two of ours, in English)"
    )
    group.add_argument("--seed", metavar="N", type=whole, help="same seed, same lists (default: 0)")


def _add_people(group: Any) -> None:
    group.add_argument("--people", metavar="N", type=whole, help="how many (default: as --per-rater asks for)")
    group.add_argument("--per-rater", metavar="N", type=whole, help="items in a list, about (default: 50)")
    group.add_argument("--title", metavar="TEXT", help="what raters see above everything")
    group.add_argument(
        "--instructions", metavar="FILE", type=Path, help="Markdown that raters read first, and consent to"
    )
    group.add_argument(
        "--id-parameter", metavar="NAME", help="one link for all; raters are known by this parameter, as PROLIFIC_PID"
    )
    group.add_argument("--completion-code", metavar="CODE", help="shown at the end (default: one for each rater)")
    group.add_argument("--completion-url", metavar="URL", help="where raters go at the end; {code} and {id} filled in")


def _add_serving(group: Any) -> None:
    group.add_argument("--host", metavar="NAME", help="where to listen (default: localhost)")
    group.add_argument(
        "--port", metavar="N", type=whole, help="0: one that is free (default: the one before; at first 8765, if free)"
    )
    group.add_argument("--public-url", metavar="URL", help="how raters reach the page, where not on this machine")
    group.add_argument("--no-serve", action="store_true", help="only make the study; links come when it is served")


def _add_care(group: Any) -> None:
    group.add_argument("--status", action="store_true", help="how far it has come, raters, checks and agreement")
    group.add_argument("--backup", metavar="FILE", type=Path, help="a whole copy of its database, also while it runs")
    group.add_argument(
        "--new-link", metavar="NAME", help="a new link for a rater, `organiser` or `join`; the old one ends"
    )
    group.add_argument("--release", metavar="NAME", help="hand what a rater left undone to a new link")
    group.add_argument("--exclude", metavar="NAME", help="mark a rater's ratings as not trusted")
    group.add_argument("--reason", metavar="TEXT", help="of --exclude")
    group.add_argument("--include", metavar="NAME", help="take --exclude back")
    group.add_argument("--out", metavar="FILE", type=Path, help="of --export (default: DIR/ratings.jsonl); - is stdout")
    group.add_argument(
        "--datasheet", metavar="FILE", type=Path, help="of --export (default: DIR/datasheet.md, made anew each time)"
    )
    group.add_argument("--overwrite", action="store_true", help="replace the files of --out, --datasheet and --backup")


def run(arguments: argparse.Namespace) -> int:
    if (arguments.study is None) == (arguments.export is None):
        raise InputError("give --study DIR to make a study or to go on with one, or --export DIR for its ratings")
    if arguments.export is not None:
        return _export(arguments)
    _refuse(arguments, ("out", "datasheet"), "belong to --export")
    if arguments.port is not None:
        check_whole("--port", arguments.port, 0, 65535)
    if arguments.public_url is not None:
        from dialogauge.people.page.gate import check_public_url

        arguments.public_url = check_public_url("localhost", arguments.public_url)
    if arguments.reason and not arguments.exclude:
        raise InputError("--reason belongs to --exclude")
    if arguments.files:
        _refuse(arguments, CARE, "are for a study that was made before; make it first")
        _create(arguments)
        if arguments.no_serve:
            return 0
    else:
        made = ("ask", "pairwise", "instructions", "practice", "no_serve", *OF_FILES, *SETTINGS)
        _refuse(arguments, made, _fixed(arguments.study))
    return _go_on(arguments)


def _create(arguments: argparse.Namespace) -> None:
    from dialogauge.corpus import load
    from dialogauge.people.rating.planning import refuse_existing, write_study

    settings = _settings(arguments)
    refuse_existing(arguments.study)
    corpus = load(arguments.files, **reading(arguments), progress=not arguments.quiet)
    corpus = corpus.select(listed_names(arguments.systems))
    warn([*corpus.caveats, *write_study(arguments.study, corpus, settings)], arguments)
    remark(f"{arguments.study}: made", arguments)


def _settings(arguments: argparse.Namespace) -> StudySettings:
    """Refuses what no study can have, before any file is read."""
    from dialogauge.people.rating.questions import parse_questions
    from dialogauge.people.rating.settings import StudySettings

    given = {name: getattr(arguments, name) for name in SETTINGS if getattr(arguments, name) is not None}
    if arguments.instructions is not None:
        given["instructions"] = _text(arguments.instructions)
    if arguments.practice is not None:
        given["practice"] = _practice(arguments.practice)
    questions = parse_questions(arguments.ask or (), pairwise=arguments.pairwise)
    names = tuple(Path(file).name for file in arguments.files)
    return StudySettings(questions=questions, pairwise=arguments.pairwise, source=names, **given)


def _practice(given: str) -> tuple[Any, ...]:
    from dialogauge.corpus import load

    return () if given == NONE else tuple(load(given).turns)


def _text(path: Path) -> str:
    try:
        return plain_file(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError("expected Markdown in UTF-8", path) from None


def _go_on(arguments: argparse.Namespace) -> int:
    from dialogauge.people.rating.study import Study

    with Study.open(arguments.study) as study:
        asked = [what for what in CARE if getattr(arguments, what) not in (None, False)]
        for what in asked:
            _care_for(study, what, arguments)
        return 0 if asked else _serve(study, arguments)


def _care_for(study: Study, what: str, arguments: argparse.Namespace) -> None:
    from dialogauge.people.rating.links import link

    origin = arguments.public_url or study.address.get("origin") or f"http://localhost:{PORT}"
    if what == "status":
        _print_status(study, arguments)
    elif what == "backup":
        study.backup(arguments.backup, arguments.overwrite)
        remark(f"{arguments.backup}: the study as it is now", arguments)
    elif what == "new_link":
        role = {"organiser": "organiser", "join": "join"}.get(arguments.new_link, "rater")
        print(link(origin, role, study.new_link(arguments.new_link)))  # type: ignore[arg-type]
    elif what == "release":
        name, token = study.release(arguments.release)
        remark(f"{arguments.release}: released; {name} has the rest of the list", arguments)
        if token is not None:
            print(link(origin, "rater", token))
    elif what == "exclude":
        study.exclude(arguments.exclude, arguments.reason or "")
    else:
        study.include(arguments.include)


def _print_status(study: Study, arguments: argparse.Namespace) -> None:
    from dialogauge.people.rating.overview import overview_record
    from dialogauge.people.rating.status import status_table

    view = study.organiser_view()
    record = overview_record(view)
    print_table(arguments, status_table(view), record["raters"], record)


def _serve(study: Study, arguments: argparse.Namespace) -> int:
    """Where it was served before, unless told otherwise: links that were handed out hold."""
    from dialogauge.people.page.server import serve

    before = study.address
    host = arguments.host or before.get("host") or "localhost"
    port = before.get("port") if arguments.port is None else arguments.port
    public = arguments.public_url or before.get("public_url")

    def announce(origin: str) -> None:
        study.serves_at(host, port, public, origin)
        for sentence in _where(study, origin):
            print(printable(sentence, keep="\t"), flush=True)

    port = port or _free_port(PORT if port is None else 0)
    _stop_gently()
    try:
        serve(study, host, port, public, announce)
    except KeyboardInterrupt:
        remark(f"stopped; every answer is kept, and `dialogauge rate --study {study.directory}` goes on", arguments)
    return 0


def _free_port(wanted: int) -> int:
    """The one wanted, or another where something listens there already. It is chosen before the server starts, and
    kept, so that links hold after a crash."""
    for port in (wanted, 0):
        with socket.socket() as trial, suppress(OSError):
            trial.bind(("127.0.0.1", port))
            return int(trial.getsockname()[1])
    return 0


def _where(study: Study, origin: str) -> list[str]:
    """The links, in a form that a program can read: who, a tab, the link."""
    links = study.links
    if links is None:
        how = f"`dialogauge rate --study {study.directory} --new-link NAME` makes a new one"
        return [f"{study.title}: {origin}", f"links.txt is not there, and links are kept nowhere else; {how}"]
    return [f"{name}\t{link}" for name, link in links.lines(origin, study.settings.id_parameter)]


def _stop_gently() -> None:
    """Ctrl-C and SIGTERM end the server, and the log is written back into the study's one file."""

    def stop(_number: int, _frame: Any) -> NoReturn:
        raise KeyboardInterrupt

    signal.set_wakeup_fd(-1)
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)


def _export(arguments: argparse.Namespace) -> int:
    from dialogauge.people.rating.study import Study

    _refuse(arguments, ("files", "ask", "pairwise", *SETTINGS, *CARE, "no_serve"), "do not belong to --export")
    folder = arguments.export
    out, sheet = arguments.out or folder / "ratings.jsonl", arguments.datasheet or folder / "datasheet.md"
    if sheet == Path("-"):
        raise InputError("--datasheet: expected the name of a file, found -; only --out goes to stdout")
    if out != Path("-") and out.resolve() == sheet.resolve():
        raise InputError("--out and --datasheet are the same file; choose another name for one of them", out)
    with Study.open(folder) as study:
        for path, given in ((out, arguments.out), (sheet, arguments.datasheet)):
            if path != Path("-"):
                study.refuse_own(path)
                check_writable_file(path, arguments.overwrite or given is None)
        lines, caveats = study.export()
        if out == Path("-"):
            for line in lines:
                sys.stdout.buffer.write(f"{line}\n".encode())
        else:
            with whole_file(out, overwrite=True) as file:
                file.writelines(f"{line}\n".encode() for line in lines)
        with whole_file(sheet, overwrite=True) as file:
            file.write(study.datasheet().encode())
    warn(caveats, arguments)
    remark(f"written: {out if out != Path('-') else 'ratings to stdout'}, {sheet}", arguments)
    return 0


def _fixed(study: Path) -> str:
    return (
        f"belong to a new study, and {study} was made already"
        if study.exists()
        else ("need the files that the study is about")
    )


def _refuse(arguments: argparse.Namespace, names: tuple[str, ...], why: str) -> None:
    values = {name: getattr(arguments, name) for name in names}
    given = [name for name, value in values.items() if value or (value == 0 and value is not False)]
    if given:
        options = ", ".join("FILE" if name == "files" else f"--{name.replace('_', '-')}" for name in given)
        raise InputError(f"{options}: {why}")
