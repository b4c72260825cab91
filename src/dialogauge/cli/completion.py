"""dialogauge completion: a script by which a shell completes commands, options and their choices.

Scripts are made of the parsers themselves and hold all names, so that completing starts no process. A place is where
in the tree of commands a line stands: "" at the top, "/train/ruber" two below.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dialogauge.tables import printable

HELP = "complete commands and options in a shell"
DESCRIPTION = "Prints a script by which bash, zsh or fish completes commands, options and what they can be."
EXAMPLES = """\
examples:
  dialogauge completion bash > ~/.local/share/bash-completion/completions/dialogauge
  dialogauge completion zsh > ~/.zfunc/_dialogauge       with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc
  dialogauge completion fish > ~/.config/fish/completions/dialogauge.fish"""
METRICS = "metrics"
"""The option whose values are names of metrics."""


@dataclass
class Option:
    names: Sequence[str]
    about: str
    takes_value: bool
    choices: Sequence[str]


@dataclass
class CommandPlace:
    path: str
    commands: dict[str, str] = field(default_factory=dict)
    options: list[Option] = field(default_factory=list)
    choices: Sequence[str] = ()
    """Of the first argument that is no option; files where there are none."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=list(SCRIPTS), help="the shell that is to complete")


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.cli.main import build_parser

    print(SCRIPTS[arguments.shell](list(_places(build_parser()))))
    return 0


def _places(parser: argparse.ArgumentParser, path: str = "") -> Iterator[CommandPlace]:
    """A parser and all below it."""
    place, below = CommandPlace(path), dict[str, argparse.ArgumentParser]()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            below = dict(action.choices)
            place.commands = {each.dest: _one_line(each.help or "") for each in action._choices_actions}
        elif action.help == argparse.SUPPRESS:
            continue
        elif action.option_strings:
            about = _one_line(parser._get_formatter()._expand_help(action)) if action.help else ""
            place.options.append(Option(action.option_strings, about, action.nargs != 0, _choices(action)))
        else:
            place.choices = place.choices or _choices(action)
    yield place
    for name, child in below.items():
        yield from _places(child, f"{path}/{name}")


def _choices(action: argparse.Action) -> list[str]:
    if action.dest == METRICS and action.option_strings:
        from dialogauge.metrics.registry import known_names

        return known_names()
    return list(map(str, action.choices or ()))


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def _options(place: CommandPlace) -> dict[str, str]:
    return {name: option.about for option in place.options for name in option.names}


def _paths(places: Sequence[CommandPlace]) -> str:
    return "|".join(place.path for place in places if place.path)


def _valued(places: Sequence[CommandPlace]) -> Iterator[tuple[str, Option]]:
    """Each option that has a value, as shells match it: "/score --format"."""
    for place in places:
        for option in place.options:
            if option.takes_value:
                yield "|".join(shlex.quote(f"{place.path} {name}") for name in option.names), option


def bash(places: Sequence[CommandPlace]) -> str:
    """Without a match files are completed, as `-o default` says."""
    values = [f"    {names}) words={shlex.quote(' '.join(each.choices))} ;;" for names, each in _valued(places)]
    words = [
        f"      {shlex.quote(place.path)}) words={shlex.quote(' '.join([*place.commands, *place.choices]))}"
        f" options={shlex.quote(' '.join(_options(place)))} ;;"
        for place in places
    ]
    return "\n".join(
        [
            "_dialogauge() {",
            '  local place="" words="" options="" word current=${COMP_WORDS[COMP_CWORD]}',
            '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
            f'    case "$place/$word" in {_paths(places)}) place="$place/$word" ;; esac',
            "  done",
            '  case "$place ${COMP_WORDS[COMP_CWORD-1]}" in',
            *values,
            '    *) case "$place" in',
            *words,
            "    esac ;;",
            "  esac",
            "  [[ $current == -* ]] && words=$options",
            '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
            "}",
            "complete -o default -F _dialogauge dialogauge",
        ]
    )


def zsh(places: Sequence[CommandPlace]) -> str:
    values = [f"    {names}) found=({_quoted(option.choices)}) ;;" for names, option in _valued(places)]
    words = [
        f"      {shlex.quote(place.path)}) found=({_described(place.commands | dict.fromkeys(place.choices, ''))})"
        f" options=({_described(_options(place))}) ;;"
        for place in places
    ]
    return "\n".join(
        [
            "#compdef dialogauge",
            "_dialogauge() {",
            '  local place="" word',
            "  local -a found options",
            '  for word in "${(@)words[2,CURRENT-1]}"; do',
            f'    case "$place/$word" in {_paths(places)}) place="$place/$word" ;; esac',
            "  done",
            '  case "$place ${words[CURRENT-1]}" in',
            *values,
            '    *) case "$place" in',
            *words,
            "    esac ;;",
            "  esac",
            "  [[ $PREFIX == -* ]] && found=($options)",
            "  _describe dialogauge found || _files",
            "}",
            'if [[ $funcstack[1] == _dialogauge ]]; then _dialogauge "$@"; else compdef _dialogauge dialogauge; fi',
        ]
    )


def _described(words: Mapping[str, str]) -> str:
    return _quoted([f"{word}:{about}" for word, about in words.items()])


def _quoted(words: Sequence[str]) -> str:
    return " ".join(map(shlex.quote, words))


def fish(places: Sequence[CommandPlace]) -> str:
    lines = [
        "function __dialogauge_at",
        "  set -l place ''",
        "  for word in (commandline -opc)[2..-1]",
        f"    contains -- $place/$word {' '.join(place.path for place in places if place.path)}",
        "    and set place $place/$word",
        "  end",
        '  test "$place" = "$argv[1]"',
        "end",
    ]
    for place in places:
        start = f"complete -c dialogauge -n '__dialogauge_at \"{place.path}\"'"
        lines += [f"{start} -f -a {name} -d {_in_fish(about)}" for name, about in place.commands.items()]
        lines += [f"{start} -f -a {_in_fish(' '.join(place.choices))}"] if place.choices else []
        for option in place.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            given = f" -x -a {_in_fish(' '.join(option.choices))}" if option.choices else " -r"
            lines.append(f"{start} {names}{given if option.takes_value else ''} -d {_in_fish(option.about)}")
    return "\n".join(lines)


def _in_fish(text: str) -> str:
    """Fish knows \\\\ and \\' within single quotes, where other shells know neither."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SCRIPTS = {"bash": bash, "zsh": zsh, "fish": fish}
