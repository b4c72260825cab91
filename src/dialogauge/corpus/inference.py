"""Files of premises and hypotheses, whatever their format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dialogauge.corpus.head import FileHead
from dialogauge.corpus.inference_formats import choose_format
from dialogauge.corpus.inference_pair import LABELS, SPLITS, InferencePair, Label, Unlabelled
from dialogauge.corpus.reading import Reading
from dialogauge.corpus.source import refuse_missing
from dialogauge.errors import Caveat, InputError
from dialogauge.tables import counted

__all__ = ["LABELS", "SPLITS", "InferenceFile", "InferencePair", "Label", "read_inference"]


def read_inference(path: str | Path, skip_invalid: bool = False) -> InferenceFile:
    """The pairs of a file, one at a time. The format is recognised by content: our own JSON lines, SNLI and MultiNLI
    as JSON lines or tables, tables with the columns premise, hypothesis and label, Dialogue NLI, and the parallel
    files of e-SNLI (`s1.dev`, with `s2.dev` and `labels.dev` beside it). Gzip is fine.

    A line that cannot be read raises an `InputError`; with `skip_invalid` it is left out. What comes back is an
    iterator; its `caveats` say, when it has ended, how many were left out.
    """
    return InferenceFile(path, skip_invalid)


class InferenceFile(Iterator[InferencePair]):
    """A file being read. Pairs whose annotators did not agree (gold label "-") are left out and counted."""

    def __init__(self, path: str | Path, skip_invalid: bool = False) -> None:
        self.path = Path(path)
        self.caveats: list[Caveat] = []
        self._reading = Reading(self.path, skip_invalid)
        refuse_missing(self.path)
        self._format = choose_format(FileHead.read(self.path))
        self._pairs = self._read()

    @property
    def files(self) -> list[Path]:
        """The files that were read: those beside a parallel one too."""
        return self._reading.files

    def __next__(self) -> InferencePair:
        return next(self._pairs)

    def _read(self) -> Iterator[InferencePair]:
        found = unlabelled = 0
        for pair in self._format(self._reading):
            if isinstance(pair, Unlabelled):
                unlabelled += 1
            else:
                found += 1
                yield pair
        if unlabelled:
            self._reading.remark(
                "unlabelled_pairs", f'{counted(unlabelled, "pair")} without a gold label ("-") left out'
            )
        self.caveats += self._reading.caveats()
        if not found:
            why = "".join(f"; {caveat.message.removeprefix(f'{self.path}: ')}" for caveat in self.caveats)
            raise InputError(f"expected pairs of premise and hypothesis, found none{why}", self.path)
