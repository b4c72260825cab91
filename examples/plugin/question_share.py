"""A metric and a reader that dialogauge finds once this package is installed: pip install examples/plugin."""

from dataclasses import dataclass

import numpy as np

from dialogauge.corpus import Reader, Turn
from dialogauge.metrics import MeanMetric


@dataclass(frozen=True)
class QuestionShare(MeanMetric):
    """Counts replies with a question mark."""

    name = "question_share"
    title = "share of replies that ask a question"
    higher_is_better = None
    bounds = (0.0, 1.0)

    mark: str = "?"

    def measure(self, turns):
        return np.array([[float(self.mark in turn.response)] for turn in turns])

    def recipe(self):
        return {"question_share": "1.0"}


def sniff(head):
    return head.first_line.startswith("Q: ")


def read(reading):
    question = ""
    for line, text in reading.lines():
        with reading.record(line):
            kind, _, said = text.partition(": ")
            if kind == "Q":
                question = said
            else:
                yield line, Turn(str(line), said, context=question, system=reading.system)


QA = Reader("qa", "questions and answers, marked Q: and A:", sniff, read)
