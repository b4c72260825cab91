"""`dialogauge.rate` and `dialogauge.open_study`: rating studies from Python."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dialogauge.corpus.frames import CorpusLike
from dialogauge.people.rating.questions import parse_questions
from dialogauge.people.rating.settings import StudySettings
from dialogauge.people.rating.study import Study


def rate(
    corpus: CorpusLike, directory: str | Path, ask: str | Sequence[str] = (), *, pairwise: bool = False, **settings: Any
) -> Study:
    """Makes a rating study: plans who rates what, and writes its directory, whole or not at all.

    Args:
        corpus: Whatever holds turns, as for `evaluate`.
        directory: A new one; `dialogauge rate --study DIR` serves it.
        ask: Questions, as "coherence 1-5" or "overall 0-100 (worst | best)"; by default "overall", of 1 to 5.
        pairwise: Whether two replies to a context are compared; questions have no scale then.
        **settings: The other fields of `StudySettings`: `raters`, `people`, `contexts`, `unit`, `seed`, ….

    Returns:
        The study. `links` has the raters' tokens, `organiser_view()` how it stands, `export()` the ratings so far and
        `datasheet()` what to tell of it.

    Examples:
        >>> import dialogauge
        >>> study = dialogauge.rate("examples/everyday.jsonl", "study", "coherence 1-5", raters=2, people=8)
        >>> view = study.organiser_view()
        >>> view.items, view.planned, len(view.raters)
        (192, 384, 8)
        >>> study.close()
    """
    asked = [ask] if isinstance(ask, str) else list(ask)
    questions = parse_questions(asked, pairwise=pairwise)
    return Study.create(directory, corpus, StudySettings(questions=questions, pairwise=pairwise, **settings))


def open_study(directory: str | Path) -> Study:
    """A rating study that was made before, also while it is served."""
    return Study.open(directory)
