"""Completion, by the shells themselves: bash everywhere, zsh and fish where they are installed."""

import os
import pty
import select
import shutil
import subprocess
import time
from contextlib import redirect_stdout
from io import StringIO

import pytest

from dialogauge.cli.completion import SCRIPTS
from dialogauge.cli.main import VERBS, main

LINES = {
    "dialogauge sco": {"score"},
    "dialogauge train ": {"ruber", "entailment", "gauge"},
    "dialogauge train rub": {"ruber"},
    "dialogauge --quiet completion ": {"bash", "zsh", "fish"},
    "dialogauge score replies.jsonl --format m": {"markdown"},
    "dialogauge score --fail-b": {"--fail-below"},
    "dialogauge score --metrics rouge": {"rouge_l"},
    "dialogauge compare --fail-if": {"--fail-if-worse"},
    "dialogauge compare --out": set(),  # `score` alone has it
    "dialogauge score repl": {"replies.jsonl"},
    "dialogauge score --out repl": {"replies.jsonl"},
}


@pytest.fixture
def scripts(tmp_path):
    """The files, in a folder with one more that can be completed."""
    for shell in SCRIPTS:
        with redirect_stdout(StringIO()) as out:
            assert main(["completion", shell]) == 0
        (tmp_path / f"script.{shell}").write_text(out.getvalue())
    (tmp_path / "replies.jsonl").write_text("")
    return tmp_path


def needs(shell):
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


def asked(folder, *call):
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LD_LIBRARY_PATH": os.getenv("LD_LIBRARY_PATH", "")}
    done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


IN_BASH = """
source script.bash
while IFS= read -r line; do
  read -ra COMP_WORDS <<< "$line"
  [[ $line == *" " ]] && COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
  _dialogauge
  # What `complete -o default` does where there is nothing.
  (( ${#COMPREPLY[@]} )) || COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
  echo "${COMPREPLY[*]}"
done < lines
complete -p dialogauge
"""


@needs("bash")
def test_bash(scripts):
    (scripts / "lines").write_text("".join(f"{line}\n" for line in LINES))
    *found, registered = asked(scripts, "bash", "--norc", "-c", IN_BASH)
    assert {line: set(words.split()) for line, words in zip(LINES, found, strict=True)} == LINES
    assert registered == "complete -o default -F _dialogauge dialogauge"


@needs("fish")
def test_fish(scripts):
    for line, expected in LINES.items():
        found = asked(scripts, "fish", "--no-config", "-c", f"source script.fish; complete -C '{line}'")
        assert {each.partition("\t")[0] for each in found} == expected, line
    (described,) = asked(scripts, "fish", "--no-config", "-c", "source script.fish; complete -C 'dialogauge doct'")
    assert described == f"doctor\t{VERBS['doctor'].HELP}"


IN_ZSH = "PS1='%% '; autoload -U compinit; compinit -D -u; source script.zsh; setopt no_beep; echo ready"


@needs("zsh")
@pytest.mark.parametrize("line", [line for line, found in LINES.items() if len(found) == 1])
def test_zsh(scripts, line):
    """On a terminal, by the tabulator: zsh completes nowhere else."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(scripts)
        os.execvpe("zsh", ["zsh", "-f", "-i"], os.environ | {"TERM": "dumb", "HOME": str(scripts)})
    try:
        os.write(terminal, f"{IN_ZSH}\n".encode())
        until(terminal, b"\r\nready")
        os.write(terminal, f"{line}\t".encode())
        until(terminal, f"{line.rpartition(' ')[0]} {LINES[line].copy().pop()}".encode())
    finally:
        os.close(terminal)
        os.waitpid(child, 0)


def until(terminal, expected, patience=20):
    shown, end = b"", time.monotonic() + patience
    while expected not in shown:
        ready, _, _ = select.select([terminal], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"{shown!r} has no {expected!r}"
        shown += os.read(terminal, 4096)


def test_every_command_and_option_is_there():
    with redirect_stdout(StringIO()) as out:
        main(["completion", "bash"])
    script = out.getvalue()
    top = next(line for line in script.splitlines() if line.startswith("      '') words="))
    assert {*VERBS, "--version", "--quiet"} <= set(top.replace("'", " ").split())
    assert all(f"/{verb}" in script for verb in VERBS)
