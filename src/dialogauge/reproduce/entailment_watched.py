"""Long work over models and corpora, with a bar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dialogauge.reproduce.entailment_corpora import RatedCorpus
from dialogauge.reproduce.entailment_models import NamedModel

Work = tuple[NamedModel, RatedCorpus]


def watched(work: Sequence[Work], progress: bool) -> Iterator[Work]:
    """One after the other; the bar says which."""
    from tqdm import tqdm

    with tqdm(work, unit="corpus", disable=not progress, leave=False) as bar:
        for model, rated in bar:
            bar.set_description(f"{model.name}, {rated.title}")
            yield model, rated
