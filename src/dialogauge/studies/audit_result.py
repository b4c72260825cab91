"""What an audit found of each metric, and the table of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import Caveat
from dialogauge.evaluation.digits import fixed, interval_text, value_text
from dialogauge.evaluation.forms import MetricForms, corpus_record, find
from dialogauge.evaluation.options import Settings
from dialogauge.tables import Cell, Header, Table

SCHEMA = "dialogauge.audit/1"
DECIMALS = 2
NO_DIRECTION = "neither more nor less of it is better"
Question = Literal["length", "damage", "curve", "position", "repeats", "flips", "family", "agreement"]
QUESTIONS: dict[Question, str] = {
    "length": "by how many standard deviations the oriented metric is higher where the logarithm of the length is one "
    "higher, among replies that people rate the same where there are ratings; beside it people's own slope",
    "damage": "the share of replies that score lower once they are damaged in this way, one that scores the same as "
    "half; beside it what chance gives",
    "curve": "by how many standard deviations of single replies the mean of the oriented metric moves once this share "
    "of all replies is damaged in this way",
    "position": "the share of answers in which a judge chooses the reply that is shown first (with logprobs, its mean "
    "probability), each pair in both orders; beside it what no preference gives",
    "repeats": "the standard deviation of repeated answers about one reply, mean over replies",
    "flips": "the share of pairs of repeated answers about one reply that are not the same, mean over replies",
    "family": "by how many standard deviations the metric scores systems of its model's family higher than others that "
    "people rate the same",
    "agreement": "Spearman's correlation with people's mean rating of turns; beside it what a metric would reach that "
    "knew what people think on average",
}
"""What is asked of a metric, and what the number in answer to it is."""


@dataclass(frozen=True)
class AuditFinding:
    """The answer to one question about one metric. None where a number is undefined."""

    metric: str
    question: Question
    what: str
    """Of damages the kind, with the share of replies; of agreement and length the rated dimension, of families the
    name."""
    value: float | None
    low: float | None
    high: float | None
    n: int
    """Turns behind it."""
    beside: float | None
    """What to hold the value against: see `QUESTIONS`."""
    verdict: str


@dataclass(frozen=True, repr=False)
class Audit(MetricForms):
    """What `audit` gives."""

    findings: list[AuditFinding]
    left_out: list[str]
    """What could not be asked, and why."""
    metrics: list[str]
    signatures: dict[str, str]
    systems: dict[str, int]
    """Turns per system."""
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]
    settings: Settings
    unit: str
    """What was resampled: dialogues, contexts or turns."""

    def finding(self, metric: str, question: str, what: str | None = None) -> AuditFinding:
        """The first that fits."""
        return find(self.findings, metric=metric, question=question, **({} if what is None else {"what": what}))

    def names(self) -> list[str]:
        return self.metrics

    def to_records(self) -> list[dict[str, Any]]:
        """One per finding."""
        return [asdict(finding) for finding in self.findings]

    def to_dict(self) -> dict[str, Any]:
        """What `--format json` prints."""
        return {
            "schema": SCHEMA,
            "corpus": corpus_record(self.systems, self.files),
            "settings": {**asdict(self.settings), "unit": self.unit},
            "findings": self.to_records(),
            "not_asked": self.left_out,
            "signatures": self.signatures,
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }

    def to_table(self, digits: int | None = None) -> Table:
        decimals = DECIMALS if digits is None else digits
        headers = [Header(name, align="left") for name in ("metric", "question", "of")]
        headers += [Header("value"), Header("beside"), Header("n"), Header("verdict", align="left")]
        rows = [
            [
                Cell(each.metric),
                Cell(each.question),
                Cell(each.what),
                Cell(
                    value_text((each.value, each.low, each.high), decimals),
                    interval_text(each.low, each.high, decimals),
                ),
                Cell("" if each.beside is None else fixed(each.beside, decimals)),
                Cell(str(each.n)),
                Cell(each.verdict),
            ]
            for each in self.findings
        ]
        return Table(headers, rows, self._notes(), "audit")

    def _notes(self) -> list[str]:
        asked = dict.fromkeys(each.question for each in self.findings)
        notes = [f"{question}: {QUESTIONS[question]}" for question in asked]
        if any(each.low is not None for each in self.findings):
            notes.append(
                f"[low, high]: {100 * self.settings.confidence:.4g}% interval, bootstrap over {self.unit} "
                f"({self.settings.resamples} resamples), seed {self.settings.seed}"
            )
        notes += [f"not asked: {text}" for text in self.left_out]
        return [*notes, *(f"signature: {signature}" for signature in dict.fromkeys(self.signatures.values()))]
