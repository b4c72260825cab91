"""Tables in a terminal of a certain width."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

from dialogauge.tables.table import width


def in_terminal(columns, *arguments):
    """What a terminal of so many columns receives."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    command = [sys.executable, "-m", "dialogauge", *map(str, arguments)]
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE, env=environment) as running:
        os.close(theirs)
        received = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux's end of file
                break
            if not piece:
                break
            received += piece
        assert running.wait() == 0
    os.close(ours)
    return received.decode().replace("\r\n", "\n")


def widest(text):
    return max(map(width, text.split("\n")))


def test_tables_fit_the_terminal_that_they_are_printed_to(responses):
    call = ("score", responses, "--metrics", "bleu,rouge_l,meteor,distinct,length")
    assert 70 < widest(in_terminal(80, *call)) <= 80
    assert widest(in_terminal(80, *call, "--wide")) > 100


def test_columns_from_the_environment_hold_for_pipes_too(dialogauge, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert widest(dialogauge("metrics").out) > 300
    monkeypatch.setenv("COLUMNS", "80")
    narrow = dialogauge("metrics").out
    assert widest(narrow) <= 80
    assert "no room for options; parts: --wide, or --format json" in narrow
    assert widest(dialogauge("metrics", "--wide").out) > 300
    for verb in ("encoders", "corpora", "doctor"):
        assert widest(dialogauge(verb).out) <= 80
