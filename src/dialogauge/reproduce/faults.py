"""What is wrong with the published files of the FBD paper (Xiang et al. 2021), counted anew from the files.

`corpus/known.toml` claims these faults; here is the evidence, for whoever wants to see it with their own copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dialogauge import tables
from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import Caveat, unknown
from dialogauge.evaluation.forms import Forms
from dialogauge.reproduce.fault_checks import CHECKS, RARE, Fault
from dialogauge.reproduce.fault_files import FaultFiles

SCHEMA = "dialogauge.faults/1"


@dataclass(frozen=True, repr=False)
class Faults(Forms):
    """What `faults` gives."""

    rows: list[Fault]
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]

    def to_records(self) -> list[dict[str, Any]]:
        """One per row."""
        return [asdict(row) for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "files": [asdict(file) for file in self.files],
            "rows": self.to_records(),
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }

    def to_table(self) -> tables.Table:
        """The evidence stands last, since its length varies most."""
        left = [tables.Header(name, align="left") for name in ("corpus", "fault")]
        headers = [*left, tables.Header("found"), tables.Header("of"), tables.Header("evidence", align="left")]
        rows = [(row.corpus, row.fault, str(row.found), str(row.of), row.evidence) for row in self.rows]
        notes = [
            f"rare word: one that at most {RARE:.0%} of the corpus' contexts have",
            "by chance: how many there would be beside any other context of the corpus, on average",
        ]
        used = any("by chance" in row.evidence for row in self.rows)
        return tables.Table(headers, [[tables.Cell(text) for text in row] for row in rows], notes if used else [])


def faults(
    folder: Path, only: str | None = None, *, grade: Path | None = None, conversations: Sequence[Path] = ()
) -> Faults:
    """Counts the faults of the six annotation files in `folder`; `only` names one check of `CHECKS`.

    `grade` is GRADE's directory, which holds `eval_data`: with it, responses are looked up beside the contexts that
    they were rated with. `conversations` are files of conversations between people (DailyDialog and ConvAI2 are to
    the point), in which responses that may be random are looked up. Each adds rows; a caveat says which are missing.
    """
    if only is not None and only not in CHECKS:
        raise unknown("fault", only, CHECKS)
    files = FaultFiles(folder, grade, conversations)
    rows = [row for name, check in CHECKS.items() if only in (None, name) for row in check(files, name)]
    return Faults(rows, tuple(files.files), files.caveats)
