"""DailyDialog's text files: one conversation per line, each utterance ended by `__eou__`."""

from __future__ import annotations

from collections.abc import Iterator

from dialogauge.corpus.conversation import Utterance, turns
from dialogauge.corpus.head import FileHead
from dialogauge.corpus.quote import quote
from dialogauge.corpus.reading import LocatedTurn, Reader, Reading
from dialogauge.errors import InputError

_END = "__eou__"


def sniff(head: FileHead) -> bool:
    return _END in head.first_line and not head.first_line.lstrip().startswith("{")


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """Dialogues are named by their position; space around an utterance is left out."""
    for line, text in reading.lines():
        with reading.record(line):
            if _END not in text:
                raise InputError(f"expected utterances that end in {_END}, found {quote(text)}")
            said = [part.strip() for part in text.split(_END)]
            # After the last mark stands nothing, or an utterance whose mark was forgotten.
            if not said[-1]:
                said.pop()
            dialogue = reading.position(reading.system)
            utterances = [Utterance(line, utterance, reading.system) for utterance in said]
            yield from turns(dialogue, utterances, reading)


DAILYDIALOG = Reader("dailydialog", "DailyDialog text, utterances ended by __eou__", sniff, read)
